//===- JoinProducts.cpp - products of one matrix with several weights -----===//
//
// x A, x B and x C are parts of x [A B C]: queries, keys and values of one
// sequence, or a gate and what it lets through. One product fills a machine
// that three small ones leave idle, and in the backward pass the gradient of x
// is one product, too, instead of a sum of three.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/Arithmetic.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/Passes/EraseDead.h"
#include "lib/Passes/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_JOINPRODUCTS
#include "lib/Passes/Passes.h.inc"

/// A part begins where kernels can read four elements at once.
static constexpr int64_t partWidth = 4;

namespace {
/// x W, or x W + b.
struct Product {
  MatmulOp matmul;
  Value weights;
  Value end;  ///< the last value of it
  Value bias; ///< none where it has none

  int64_t width() const { return shapeOf(end).back(); }
};

struct JoinProducts : impl::JoinProductsBase<JoinProducts> {
  using JoinProductsBase::JoinProductsBase;

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    // By the value behind reshapes, and by types and options.
    llvm::MapVector<std::tuple<Value, Type, unsigned>, SmallVector<Product>>
        groups;
    for (auto op : getOperation().getBody().front().getOps<MatmulOp>())
      if (isWeighted(op))
        groups[{sourceOf(op.getLhs()), op.getLhs().getType(),
                static_cast<unsigned>(op.getTransposed()[1])}]
            .push_back(withBias(op));
    for (auto &[key, products] : groups)
      if (products.size() > 1 && weightsOf(products) <= weights) {
        join(products);
        numJoined += products.size();
      }
    eraseDead(getOperation().getBody().front());
  }

private:
  static bool isWeighted(MatmulOp op);
  static Value sourceOf(Value value);
  static Product withBias(MatmulOp op);
  static int64_t weightsOf(ArrayRef<Product> products);
  void join(MutableArrayRef<Product> products);
};
} // namespace

/// Whether it is there before everything that is computed.
static bool isGiven(Value value) {
  return isa<BlockArgument>(value) ||
         isa<ConstantOp, ml_program::GlobalLoadOp>(value.getDefiningOp());
}

bool JoinProducts::isWeighted(MatmulOp op) {
  return op.getType().getRank() == 2 && !op.getTransposed()[0] &&
         isGiven(op.getRhs()) && op.getType().getDimSize(1) % partWidth == 0 &&
         op.getRhs().getType().getElementType() ==
             op.getLhs().getType().getElementType();
}

Value JoinProducts::sourceOf(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return value;
}

Product JoinProducts::withBias(MatmulOp op) {
  Product product{op, op.getRhs(), op.getOutput(), {}};
  Value sum = op.getOutput();
  auto next = [&] { return sum.hasOneUse() ? *sum.user_begin() : nullptr; };
  if (auto reshape = dyn_cast_or_null<ReshapeOp>(next());
      reshape && shapeOf(reshape.getOutput()).back() == product.width())
    sum = reshape.getOutput();
  auto add = dyn_cast_or_null<AddOp>(next());
  if (!add)
    return product;
  const bool isFirst = add->getOperand(0) == sum;
  auto bias = add->getOperand(isFirst ? 1 : 0).getDefiningOp<BroadcastOp>();
  if (!bias || !isGiven(bias.getInput()) ||
      bias.getDims() !=
          ArrayRef<int64_t>{typeOf(add->getResult(0)).getRank() - 1})
    return product;
  return {op, op.getRhs(), add->getResult(0), bias.getInput()};
}

/// How many elements they have in all.
int64_t JoinProducts::weightsOf(ArrayRef<Product> products) {
  int64_t count = 0;
  for (const Product &product : products)
    count += countOf(product.weights);
  return count;
}

/// All of them, one after another along `dim`, where `builder` is.
static Value concat(OpBuilder &builder, ArrayRef<Value> parts, int64_t dim) {
  SmallVector<int64_t> shape(shapeOf(parts.front()));
  shape[dim] = 0;
  SmallVector<Location> locations;
  for (Value part : parts) {
    locations.push_back(part.getLoc());
    shape[dim] += shapeOf(part)[dim];
    if (Operation *given = part.getDefiningOp();
        given && builder.getInsertionPoint()->isBeforeInBlock(given))
      given->moveBefore(&*builder.getInsertionPoint());
  }
  return builder.create<ConcatOp>(builder.getFusedLoc(locations),
                                  typeOf(parts.front()).clone(shape), parts,
                                  dim);
}

void JoinProducts::join(MutableArrayRef<Product> products) {
  MatmulOp first = products.front().matmul;
  OpBuilder builder(first);
  SmallVector<Location> locations, ends;
  SmallVector<Value> columns, biases;
  for (Product &product : products) {
    locations.push_back(product.matmul.getLoc());
    ends.push_back(product.end.getLoc());
    columns.push_back(product.weights);
    if (product.bias)
      biases.push_back(product.bias);
  }
  const bool isTransposed = first.getTransposed()[1];
  const Location loc = builder.getFusedLoc(locations);
  Value joined = builder.create<MatmulOp>(
      loc, first.getLhs(), concat(builder, columns, isTransposed ? 0 : 1),
      /*lhsT=*/false, isTransposed);
  const bool addsBiases = biases.size() == products.size();
  if (addsBiases) {
    const Location sum = builder.getFusedLoc(ends);
    Value bias = builder.create<BroadcastOp>(sum, joined.getType(),
                                             concat(builder, biases, 0),
                                             ArrayRef<int64_t>{1});
    joined = builder.create<AddOp>(sum, joined, bias);
  }
  const int64_t rows = shapeOf(joined)[0];
  int64_t begin = 0;
  for (Product &product : products) {
    Value end = addsBiases ? product.end : product.matmul.getOutput();
    const int64_t width = product.width();
    Value part = builder.create<SliceOp>(
        end.getLoc(), typeOf(joined).clone({rows, width}), joined,
        ArrayRef<int64_t>{0, begin}, ArrayRef<int64_t>{1, 1});
    end.replaceAllUsesWith(
        builder.createOrFold<ReshapeOp>(end.getLoc(), end.getType(), part));
    begin += width;
  }
}

} // namespace mlir::mnistc
