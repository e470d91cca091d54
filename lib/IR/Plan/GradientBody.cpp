//===- GradientBody.cpp - gradients of a filter and a bias ----------------===//

#include "lib/IR/Plan/GradientBody.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/StepBody.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::mnistc;

bool mlir::mnistc::isGradientStep(StepOp step) {
  SmallVector<Operation *> roots = rootsOf(step);
  return roots.size() > 1 && isa<ConvFilterGradOp>(roots.front());
}

Value mlir::mnistc::gradientReadBy(ConvFilterGradOp gradient) {
  Value read = gradient.getOutputGrad();
  MaxUnpoolOp unpool = inlinedUnpoolOf(read);
  return unpool ? unpool.getInput() : read;
}

/// What is cast from bf16, or the value itself.
static Value unwidened(Value value) {
  auto cast = value.getDefiningOp<CastOp>();
  return cast && getElementTypeOrSelf(cast.getInput()).isBF16()
             ? cast.getInput()
             : value;
}

bool mlir::mnistc::sumsChannels(ReduceSumOp sum, ConvFilterGradOp images) {
  ArrayRef<int64_t> shape = shapeOf(sum.getInput());
  if (images.getLayout() != Layout::nchw ||
      shape.size() != shapeOf(images.getOutputGrad()).size())
    return false;
  constexpr int64_t channels = 1;
  SmallVector<int64_t> others;
  for (int64_t dim = 0, end = int64_t(shape.size()); dim < end; ++dim)
    if (dim != channels)
      others.push_back(dim);
  return sum.getDims() == ArrayRef<int64_t>(others);
}

/// Whether `result` is made of `root` element by element, and of no other root.
static bool follows(Value result, Operation *root, Operation *other) {
  bool found = false;
  SmallVector<Value> open = {result};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (op == other)
      return false;
    if (op == root)
      found = true;
    else
      llvm::append_range(open, op->getOperands());
  }
  return found;
}

/// The numbers of the results that are made of `root`.
static SmallVector<unsigned> resultsOf(StepOp step, Operation *root,
                                       Operation *other) {
  SmallVector<unsigned> results;
  for (auto [number, value] : llvm::enumerate(yieldsOf(step)))
    if (follows(value, root, other) &&
        countOf(value) == countOf(root->getResult(0)))
      results.push_back(number);
  return results;
}

FailureOr<GradientBody> mlir::mnistc::readGradientBody(StepOp step) {
  auto wrong = [&](StringRef expected) {
    step.emitError("expected ")
        << expected << " in step '" << step.getName()
        << "', which computes gradients of a filter and a bias, got otherwise";
    return failure();
  };
  SmallVector<Operation *> roots = rootsOf(step);
  GradientBody body;
  body.filter = cast<ConvFilterGradOp>(roots.front());
  body.bias = dyn_cast<ReduceSumOp>(roots.back());
  if (roots.size() != 2 || !body.bias)
    return wrong("a sum");
  if (step.getImpl() != Impl::kernel ||
      !isa_and_nonnull<WeightsAttr>(step.getScheduleAttr()))
    return wrong("weights in registers");
  if (unwidened(body.bias.getInput()) != gradientReadBy(body.filter) ||
      !sumsChannels(body.bias, body.filter))
    return wrong("the sum of what the filter's gradient reads, but for its "
                 "channels");
  // Else a parameter of one could take the place of the other's.
  if (countOf(body.filter.getFilterGrad()) == countOf(body.bias.getOutput()))
    return wrong("several weights a channel");
  body.filterResults = resultsOf(step, body.filter, body.bias);
  body.biasResults = resultsOf(step, body.bias, body.filter);
  if (body.filterResults.empty() || body.biasResults.empty() ||
      body.filterResults.size() + body.biasResults.size() !=
          step.getNumResults() ||
      firstOutOfOrder(body.filter) || firstOutOfOrder(body.bias))
    return wrong("results of each, element by element");
  return body;
}
