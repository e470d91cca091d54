//===- JoinMaps.cpp - maps where gradients of filters read them -----------===//
//
// Once it is known which gradients have few weights: their sums are in
// registers, and what they read of the output's gradient is loaded once for all
// of them. So what a map computes for nothing else, such as the gradient of an
// activation behind an average pool, can as well be computed there.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/Arithmetic.h"
#include "lib/IR/Mnist/Geometry.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/Schedule.h"
#include "lib/IR/Plan/StepBody.h"
#include "lib/IR/Plan/StepBuilder.h"
#include "lib/Passes/Passes.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_JOINMAPS
#include "lib/Passes/Passes.h.inc"

/// Whether each element is in one window of a pool, whose elements are next to
/// each other. As many as these have there are only where strides are as long.
static bool areWindowsApart(AvgPoolGradOp op) {
  ArrayRef<int64_t> kernel = op.getKernel();
  ImageShape in(op.getLayout(), shapeOf(op.getInputGrad())),
      out(op.getLayout(), shapeOf(op.getOutputGrad()));
  bool isExact =
      op.getLayout() == Layout::nchw &&
      llvm::all_of(op.getPads(), [](int64_t n) { return n == 0; }) &&
      llvm::all_of(op.getDilations(), [](int64_t n) { return n == 1; });
  for (size_t dim = 0; dim < kernel.size(); ++dim)
    isExact &= in.size[dim] == out.size[dim] * kernel[dim];
  return isExact;
}

/// The gradient of such a pool by ops of maps: that of a window for each of its
/// elements.
static void spreadWindows(AvgPoolGradOp op) {
  OpBuilder b(op);
  Arithmetic a{b, op.getLoc()};
  Value windows = op.getOutputGrad();
  ArrayRef<int64_t> of = shapeOf(windows);
  SmallVector<int64_t> shape = {of[0], of[1]}, dims = {0, 1};
  int64_t count = 1;
  for (auto [size, kernel] :
       llvm::zip_equal(of.drop_front(2), op.getKernel())) {
    dims.push_back(int64_t(shape.size()));
    shape.append({size, kernel});
    count *= kernel;
  }
  Type element = typeOf(windows).getElementType();
  Value all = a.broadcast(windows, dims, RankedTensorType::get(shape, element));
  Value spread = a.reshape(all, op.getType());
  op.replaceAllUsesWith(a.div(spread, a.number(spread, double(count))));
  op.erase();
}

/// Whether a step is a map, or the gradient of such a pool with what follows.
static bool isMap(StepOp step) {
  auto pool = dyn_cast_or_null<AvgPoolGradOp>(rootOf(step));
  return step.getImpl() == Impl::kernel && step.getNumResults() == 1 &&
         linksOf(step).empty() &&
         (rootsOf(step).empty() ||
          (pool && rootsOf(step).size() == 1 && areWindowsApart(pool)));
}

/// The gradient with few weights that reads nothing of a map but as the
/// gradient of the output, and is its only reader; or null.
static StepOp readerOf(StepOp map) {
  if (!isMap(map) || !map.getResult(0).hasOneUse())
    return {};
  OpOperand &use = *map.getResult(0).use_begin();
  auto reader = dyn_cast<StepOp>(use.getOwner());
  auto root = dyn_cast_or_null<ConvFilterGradOp>(
      reader ? rootsOf(reader).empty() ? nullptr : rootsOf(reader).front()
             : nullptr);
  if (!root || reader.getImpl() != Impl::kernel ||
      !isa_and_nonnull<WeightsAttr>(reader.getScheduleAttr()))
    return {};
  Value read = reader.getBody().getArgument(use.getOperandNumber());
  bool isGradient = root.getOutputGrad() == read && root.getInput() != read &&
                    llvm::all_of(read.getUsers(), [&](Operation *user) {
                      return user == root || isa<ReduceSumOp>(user);
                    });
  return isGradient ? reader : StepOp();
}

namespace {
struct JoinMaps : impl::JoinMapsBase<JoinMaps> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    SmallVector<StepOp> maps(llvm::make_filter_range(
        getOperation().getOps<StepOp>(),
        [](StepOp step) { return readerOf(step) != nullptr; }));
    // The readers, which change, are none of these.
    for (StepOp map : maps) {
      StepOp reader = readerOf(map);
      if (Operation *pool = rootOf(map))
        spreadWindows(cast<AvgPoolGradOp>(pool));
      joinTo(reader, {map, reader}, SmallVector<Value>(reader.getResults()),
             reader);
      ++numJoined;
    }
  }
};
} // namespace

} // namespace mlir::mnistc
