//===- IndexPools.cpp - gradients of pools read where the maxima were -----===//
//
// The gradient of a maximum goes to one element of each window. Which one, a
// byte says; without it all elements have to be kept and compared again. And
// what is 0 wherever the gradient is 0 can be computed for the maxima only:
// the element there is the maximum.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/Arithmetic.h"
#include "lib/IR/Mnist/Geometry.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/Passes/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_INDEXPOOLS
#include "lib/Passes/Passes.h.inc"

/// What a byte can count.
static constexpr int64_t mostElements = 256;

namespace {
/// The gradient of a pool, and what is computed from it element by element.
class PoolGradient {
public:
  PoolGradient(PoolOpInterface pool, MaxPoolGradOp gradient)
      : pool(pool), gradient(gradient), builder(gradient),
        end(gradient.getInputGrad()), ofMaxima(gradient.getOutputGrad()) {
    maximum[gradient.getInput()] = pool->getResult(0);
  }

  void rewrite();

private:
  bool takesNext();
  bool keepsZeros(Operation *op);
  Value atMaxima(Value value);
  Value copyOf(Operation *op);

  PoolOpInterface pool;
  MaxPoolGradOp gradient;
  OpBuilder builder;
  Value end;      ///< the last value that is 0 but at the maxima
  Value ofMaxima; ///< its elements at these
  DenseMap<Value, Value> maximum; ///< values, and their elements at the maxima
};
} // namespace

/// Whether a user of `end` is 0 wherever `end` is.
bool PoolGradient::keepsZeros(Operation *op) {
  if (isa<NegOp, MulOp>(op))
    return true;
  if (auto div = dyn_cast<DivOp>(op))
    return div->getOperand(0) == end && div->getOperand(1) != end;
  if (auto select = dyn_cast<SelectOp>(op))
    return llvm::all_of(select->getOperands().drop_front(), [&](Value value) {
      return value == end || isZero(value);
    });
  return false;
}

/// Copies an elementwise op, for the maxima; null where it cannot be.
Value PoolGradient::copyOf(Operation *op) {
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    Value copied = atMaxima(operand);
    if (!copied)
      return {};
    mapping.map(operand, copied);
  }
  Operation *copy = builder.clone(*op, mapping);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  copy->getResult(0).setType(type.clone(shapeOf(ofMaxima)));
  return copy->getResult(0);
}

/// The elements of `value` at the maxima, or null: of what follows from the
/// pool's operand, or is the same everywhere.
Value PoolGradient::atMaxima(Value value) {
  if (value == end)
    return ofMaxima;
  if (Value known = maximum.lookup(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op || shapeOf(value) != shapeOf(gradient.getInput()))
    return {};
  Value result;
  auto type = typeOf(value).clone(shapeOf(ofMaxima));
  DenseElementsAttr constant;
  if (matchPattern(op, m_Constant(&constant))) {
    if (constant.isSplat())
      result =
          builder.create<ConstantOp>(op->getLoc(), constant.resizeSplat(type));
  } else if (op->hasTrait<Elementwise>()) {
    result = copyOf(op);
  }
  if (result)
    maximum[value] = result;
  return result;
}

/// Goes on to the only op that reads `end`, where that is possible.
bool PoolGradient::takesNext() {
  if (!end.hasOneUse())
    return false;
  Operation *user = *end.user_begin();
  if (user->getBlock() != pool->getBlock() || !keepsZeros(user))
    return false;
  Value next = copyOf(user);
  if (!next)
    return false;
  end = user->getResult(0), ofMaxima = next;
  return true;
}

void PoolGradient::rewrite() {
  while (takesNext())
    ;
  builder.setInsertionPointAfter(end.getDefiningOp());
  MaxPoolGradOp g = gradient;
  auto index = builder.getIntegerType(8, /*isSigned=*/false);
  OpBuilder atPool(pool);
  auto indices = atPool.create<ArgMaxPoolOp>(
      pool.getLoc(), typeOf(pool->getResult(0)).clone(index), g.getInput(),
      g.getLayout(), g.getKernel(), g.getStrides(), g.getPads(),
      g.getDilations(), /*columnMajor=*/false, /*inWindow=*/true);
  end.replaceAllUsesWith(builder.create<MaxUnpoolOp>(
      end.getLoc(), end.getType(), ofMaxima, indices, g.getLayout(),
      g.getKernel(), g.getStrides(), g.getPads(), g.getDilations()));
}

/// The pool whose gradient `op` is, where a byte says which of a window's
/// elements is the largest.
static PoolOpInterface poolOf(MaxPoolGradOp op) {
  if (!areWindowsAdjacent(op) ||
      ShapedType::getNumElements(op.getKernel()) > mostElements)
    return {};
  for (Operation *user : op.getInput().getUsers()) {
    auto pool = dyn_cast<PoolOpInterface>(user);
    if (pool && pool.getPoolResult() == PoolResult::maximum &&
        pool->getAttrDictionary() == op->getAttrDictionary() &&
        pool->getBlock() == op->getBlock() && pool->isBeforeInBlock(op) &&
        shapeOf(pool->getResult(0)) == shapeOf(op.getOutputGrad()))
      return pool;
  }
  return {};
}

namespace {
struct IndexPools : impl::IndexPoolsBase<IndexPools> {
  void runOnOperation() override {
    SmallVector<MaxPoolGradOp> gradients;
    getOperation().walk([&](MaxPoolGradOp op) { gradients.push_back(op); });
    for (MaxPoolGradOp op : gradients)
      if (PoolOpInterface pool = poolOf(op)) {
        PoolGradient(pool, op).rewrite();
        ++numIndexed;
      }
  }
};
} // namespace

} // namespace mlir::mnistc
