//===- OrderSteps.cpp - steps by when they could begin --------------------===//

#include "lib/IR/Plan/StepOrder.h"
#include "lib/IR/Plan/Target.h"
#include "lib/Passes/Passes.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_ORDERSTEPS
#include "lib/Passes/Passes.h.inc"

namespace {
struct OrderSteps : impl::OrderStepsBase<OrderSteps> {
  void runOnOperation() override;
};
} // namespace

/// The collectives among steps, and what they need.
static DenseSet<Operation *> neededForSums(ArrayRef<StepOp> steps) {
  DenseSet<Operation *> needed;
  for (StepOp step : llvm::reverse(steps))
    if (isCollectiveStep(step) ||
        llvm::any_of(step->getUsers(),
                     [&](Operation *user) { return needed.contains(user); }))
      needed.insert(step);
  return needed;
}

void OrderSteps::runOnOperation() {
  func::FuncOp function = getOperation();
  SmallVector<StepOp> steps(function.getOps<StepOp>());
  const DenseSet<Operation *> needed = neededForSums(steps);
  const DenseMap<Operation *, double> starts =
      startsOf(function, machineFor(function).times);
  DenseMap<Operation *, unsigned> numbers;
  for (auto [number, step] : llvm::enumerate(steps))
    numbers[step] = number;
  const auto place = [&](StepOp step) {
    return std::tuple(!needed.contains(step), starts.at(step),
                      numbers.at(step));
  };
  llvm::sort(steps, [&](StepOp a, StepOp b) { return place(a) < place(b); });
  for (auto [number, step] : llvm::enumerate(steps)) {
    numMoved += numbers.at(step) != number;
    step->moveBefore(function.getBody().front().getTerminator());
  }
}

} // namespace mlir::mnistc
