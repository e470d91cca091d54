//===- JoinPools.cpp - pools join the step that computes their operand ----===//
//
// Once it is known what computes a convolution: a library gives its whole
// result to memory.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Plan/PoolBody.h"
#include "lib/IR/Plan/Schedule.h"
#include "lib/IR/Plan/StepBuilder.h"
#include "lib/Passes/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_JOINPOOLS
#include "lib/Passes/Passes.h.inc"

/// The value that a step pools, if that is all that it does but for what
/// follows: its only root is a pool that reads memory.
static Value pooledBy(StepOp step) {
  Operation *root = rootOf(step);
  if (!root || step.getImpl() != Impl::kernel || step.getNumResults() != 1 ||
      isPoolStep(step) || !isJoinablePool(root))
    return {};
  auto argument = dyn_cast<BlockArgument>(root->getOperand(0));
  return argument ? step.getInputs()[argument.getArgNumber()] : Value();
}

/// Whether what a step computes can be pooled before it is stored.
static bool givesTiles(StepOp step) {
  return step.getImpl() == Impl::kernel && step.getNumResults() == 1 &&
         isa_and_present<ConvOp>(rootOf(step));
}

namespace {
/// Pools of one value, the maximum or the mean first.
struct Pools {
  SmallVector<StepOp> steps;

  bool take(StepOp step);
};

struct JoinPools : impl::JoinPoolsBase<JoinPools> {
  void runOnOperation() override;
  void join(ArrayRef<StepOp> pools);
};
} // namespace

/// Adds a pool with the same windows that is not there yet.
bool Pools::take(StepOp step) {
  Operation *root = rootOf(step);
  bool isIndices = givesIndices(root);
  for (StepOp other : steps) {
    Operation *otherRoot = rootOf(other);
    if (givesIndices(otherRoot) == isIndices ||
        !haveSameWindows(root, otherRoot) ||
        !givesMaximum(isIndices ? otherRoot : root))
      return false;
  }
  steps.insert(isIndices ? steps.end() : steps.begin(), step);
  return true;
}

/// Whether all that steps read, but for what they pool, is there at `place`.
static bool areReady(ArrayRef<StepOp> steps, Operation *place, Value pooled) {
  return llvm::all_of(steps, [&](StepOp step) {
    return llvm::all_of(step.getInputs(), [&](Value input) {
      Operation *producer = input.getDefiningOp();
      return input == pooled || !producer || producer->isBeforeInBlock(place);
    });
  });
}

/// With the step of the convolution, where the kernel can and it pays; else
/// with each other.
void JoinPools::join(ArrayRef<StepOp> pools) {
  // As it is now: what computed it may have been joined since.
  Value pooled = pooledBy(pools.front());
  SmallVector<StepOp> steps(pools);
  SmallVector<Value> results = llvm::map_to_vector(
      pools, [](StepOp step) -> Value { return step.getResult(0); });
  Operation *first = *llvm::min_element(
      pools, [](StepOp a, StepOp b) { return a->isBeforeInBlock(b); });
  auto conv = pooled.getDefiningOp<StepOp>();
  bool withConv = conv && givesTiles(conv) && areReady(pools, conv, pooled) &&
                  !givesIndices(rootOf(pools.front())) &&
                  poolPays(conv, rootOf(pools.front()));
  if (withConv) {
    steps.insert(steps.begin(), conv);
    if (llvm::any_of(pooled.getUsers(), [&](Operation *user) {
          return !llvm::is_contained(pools, dyn_cast<StepOp>(user));
        }))
      results.push_back(pooled);
    first = conv;
  }
  if (steps.size() < 2 || !areReady(pools, first, pooled))
    return;
  StepOp main = pools.front();
  std::string name = main.getName().str();
  ImplAttr impl = main.getImplAttr();
  Mma mma = withConv ? mmaOf(conv) : Mma::ffma;
  numJoined += steps.size() - 1;
  StepOp joined = mlir::mnistc::join(steps, results, name, first);
  joined.setImplAttr(impl);
  // What was best without the pool need not be with it.
  if (Attribute multiplies = mmaOnly(&getContext(), mma))
    joined.setScheduleAttr(multiplies);
}

void JoinPools::runOnOperation() {
  if (getOperation().isExternal())
    return;
  llvm::MapVector<Value, SmallVector<Pools>> poolsOf;
  for (StepOp step : getOperation().getOps<StepOp>())
    if (Value pooled = pooledBy(step)) {
      SmallVector<Pools> &all = poolsOf[pooled];
      if (llvm::none_of(all, [&](Pools &pools) { return pools.take(step); }))
        all.push_back({{step}});
    }
  // The convolution joins the first ones.
  for (auto &[pooled, all] : poolsOf)
    for (Pools &pools : all)
      join(pools.steps);
}

} // namespace mlir::mnistc
