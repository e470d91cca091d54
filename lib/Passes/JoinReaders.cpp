//===- JoinReaders.cpp - maps of what a contraction stores for others -----===//
//
// The gradient of an activation such as gelu reads what the activation read: a
// product or convolution stores it, and the activation was a step of its own.
// But all that it reads is in the product's registers.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/Parameters.h"
#include "lib/IR/Plan/PoolBody.h"
#include "lib/IR/Plan/StepBody.h"
#include "lib/IR/Plan/StepBuilder.h"
#include "lib/IR/Plan/Target.h"
#include "lib/Passes/Passes.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_JOINREADERS
#include "lib/Passes/Passes.h.inc"

/// Whether our kernel computes one contraction, which others read.
static bool isContractionStep(StepOp step) {
  return step.getImpl() == Impl::kernel && linksOf(step).empty() &&
         rootsOf(step).size() == 1 && isContraction(rootOf(step)) &&
         !isPoolStep(step);
}

static bool drawsNumbers(StepOp step) {
  Block &body = step.getBody().front();
  return llvm::any_of(body, llvm::IsaPred<RandomUniformOp>);
}

/// Whether a step may compute a map of `value`, which it makes: in the order of
/// the elements, without waiting for other tensors. A product's results are no
/// neighbours, for which a map draws random numbers at once; and a state's new
/// value would take its place too early.
static bool mayCompute(StepOp maker, StepOp map, Value value) {
  if (!isMapStep(map) || map.getNumResults() != 1 || drawsNumbers(map) ||
      countOf(map.getResult(0)) != countOf(value) ||
      oldValueOf(map.getResult(0)))
    return false;
  for (auto [number, input] : llvm::enumerate(map.getInputs())) {
    auto other = input.getDefiningOp<StepOp>();
    if (other == maker
            ? !keepsOrder(map, number) || countOf(input) != countOf(value)
            : other && !other->isBeforeInBlock(maker))
      return false;
  }
  return true;
}

/// The first map that a step may compute with what it makes, or null.
static StepOp readerFor(StepOp maker) {
  if (isContractionStep(maker))
    for (Value result : maker.getResults())
      for (Operation *user : result.getUsers())
        if (auto map = dyn_cast<StepOp>(user);
            map && mayCompute(maker, map, result))
          return map;
  return {};
}

/// Computes a map where its input is made; what nothing else reads is not
/// stored.
static StepOp joinReader(StepOp maker, StepOp map) {
  SmallVector<Value> results;
  for (Value result : maker.getResults())
    if (llvm::any_of(result.getUsers(),
                     [&](Operation *user) { return user != map; }))
      results.push_back(result);
  results.push_back(map.getResult(0));
  return joinTo(maker, {maker, map}, results, maker);
}

namespace {
struct JoinReaders : impl::JoinReadersBase<JoinReaders> {
  void runOnOperation() override {
    if (getOperation().isExternal() || !machineFor(getOperation()).joinsReaders)
      return;
    for (StepOp step : llvm::to_vector(getOperation().getOps<StepOp>()))
      // Maps, which go, make nothing that others join.
      if (!isJoined.contains(step))
        for (StepOp maker = step; StepOp map = readerFor(maker);) {
          isJoined.insert(map);
          maker = joinReader(maker, map);
          ++numJoined;
        }
  }

private:
  llvm::SmallDenseSet<Operation *> isJoined;
};
} // namespace

} // namespace mlir::mnistc
