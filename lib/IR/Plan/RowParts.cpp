//===- RowParts.cpp - ops as reductions of rows and maps ------------------===//

#include "lib/IR/Plan/RowParts.h"
#include "lib/IR/Mnist/Arithmetic.h"
#include "lib/IR/Plan/StepBody.h"

namespace mlir::mnistc {

static bool isSoftmax(Operation *op) {
  return isa<SoftmaxOp, LogSoftmaxOp>(op);
}

/// Collects what a builder makes.
namespace {
struct Collector : OpBuilder::Listener {
  SmallVector<Operation *> ops;
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    ops.push_back(op);
  }
};
} // namespace

RowParts::RowParts(Block &block, const RowSpace &space) : space(space) {
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    if (isSoftmax(&op) || isa<ReductionOpInterface>(op))
      ops.push_back(&op);
  for (Operation *op : ops)
    rewrite(op);
}

RowParts::~RowParts() {
  for (Rewritten &one : rewritten)
    if (!one.isInlined)
      one.op->destroy();
}

void RowParts::rewrite(Operation *op) {
  std::optional<RowSpace> its = RowSpace::ofAny(op);
  if (!its)
    return;
  if (isSoftmax(op)) {
    if (*its == space)
      splitSoftmax(op);
    return;
  }
  Attribute inlined = op->removeAttr("plan.inline");
  if (space.isWhole(op))
    splitWhole(op);
  else if (inlined && (space.isReduction(op) || space.isTotal(op)))
    rewritten.push_back({op, {op}, /*isInlined=*/true});
  else if (inlined)
    op->setAttr("plan.inline", inlined);
}

void RowParts::takeOut(Operation *op, ArrayRef<Operation *> parts) {
  op->getResult(0).replaceAllUsesWith(parts.back()->getResult(0));
  rewritten.push_back({op, llvm::to_vector(parts), /*isInlined=*/false});
  op->remove();
  op->setOperands({});
}

/// x - max and the logarithm of sum(exp(x - max)), or a quotient.
void RowParts::splitSoftmax(Operation *op) {
  Collector parts;
  OpBuilder b(op, &parts);
  Arithmetic a{b, op->getLoc()};
  Value x = op->getOperand(0);
  SmallVector<int64_t> dims(space.getReducedDims()),
      kept = otherDims(dims, typeOf(x).getRank());
  Value top = b.create<ReduceMaxOp>(a.loc, x, dims);
  Value rest = a.sub(x, a.broadcast(top, kept, x.getType()));
  Value share = a.exp(rest);
  Value sum = a.sum(share, dims);
  bool isLog = isa<LogSoftmaxOp>(op);
  Value ofRow = a.broadcast(isLog ? a.log(sum) : sum, kept, x.getType());
  isLog ? a.sub(rest, ofRow) : a.div(share, ofRow);
  takeOut(op, parts.ops);
}

/// Each row, and what there is one of for each row.
void RowParts::splitWhole(Operation *op) {
  Collector parts;
  OpBuilder b(op, &parts);
  auto reduce = [&](Value x, ArrayRef<int64_t> dims, Type type) {
    OperationState state(op->getLoc(), op->getName(), x, type);
    state.addAttribute("dims", b.getDenseI64ArrayAttr(dims));
    return b.create(state)->getResult(0);
  };
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  ArrayRef<int64_t> shape = space.getRowShape();
  Value rows = reduce(op->getOperand(0), space.getReducedDims(),
                      type.clone(shape, type.getElementType()));
  reduce(rows, llvm::to_vector(llvm::seq<int64_t>(shape.size())), type);
  takeOut(op, parts.ops);
}

Operation *RowParts::firstOf(Operation *op) const {
  for (const Rewritten &one : rewritten)
    if (one.op == op)
      return one.parts.front();
  return op;
}

bool RowParts::takesNoStep(Operation *op) const {
  return llvm::any_of(rewritten, [&](const Rewritten &one) {
    return (one.isInlined || isSoftmax(one.op)) &&
           llvm::is_contained(one.parts, op);
  });
}

void RowParts::putBack(Rewritten &one) {
  if (one.isInlined) {
    one.op->setAttr("plan.inline", UnitAttr::get(one.op->getContext()));
    return;
  }
  Operation *last = one.parts.back();
  last->getBlock()->getOperations().insert(last->getIterator(), one.op);
  one.op->setOperands(one.parts.front()->getOperands());
  last->getResult(0).replaceAllUsesWith(one.op->getResult(0));
  for (Operation *part : llvm::reverse(one.parts))
    part->erase();
}

bool RowParts::putBackUnless(llvm::function_ref<bool(Operation *)> inside) {
  size_t before = rewritten.size();
  llvm::erase_if(rewritten, [&](Rewritten &one) {
    if (llvm::all_of(one.parts, inside))
      return false;
    putBack(one);
    return true;
  });
  return rewritten.size() != before;
}

} // namespace mlir::mnistc
