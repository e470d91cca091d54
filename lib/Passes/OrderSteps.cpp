//===- OrderSteps.cpp - steps by when they could begin --------------------===//

#include "lib/IR/Plan/StepOrder.h"
#include "lib/IR/Plan/Target.h"
#include "lib/Passes/Passes.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_ORDERSTEPS
#include "lib/Passes/Passes.h.inc"

namespace {
struct OrderSteps : impl::OrderStepsBase<OrderSteps> {
  using OrderStepsBase::OrderStepsBase;
  void runOnOperation() override;
};

/// Which collective a step comes before, by number in the order in which they
/// could begin; or after all of them.
class Sums {
public:
  Sums(func::FuncOp function, ArrayRef<StepOp> steps,
       const DenseMap<Operation *, double> &starts,
       const std::optional<StepTimes> &times, bool early);

  /// The first one that needs the step. What none needs, and needs none, comes
  /// `early`, before those that begin later, or last, as what needs one does.
  unsigned placeOf(StepOp step) const { return places.at(step); }
  /// How long it takes from the step's beginning to the end of the last one
  /// that needs it; 0 if none does.
  double tailOf(StepOp step) const { return tails.lookup(step); }

private:
  void findPlaces(ArrayRef<StepOp> steps, bool early);
  void findTails(ArrayRef<StepOp> steps, const StepTimes &times);

  const DenseMap<Operation *, double> &starts;
  SmallVector<double> begins; ///< when each could begin
  DenseMap<Operation *, unsigned> first;
  DenseSet<Operation *> needing;
  DenseMap<Operation *, unsigned> places;
  DenseMap<Operation *, double> tails;
};
} // namespace

Sums::Sums(func::FuncOp function, ArrayRef<StepOp> steps,
           const DenseMap<Operation *, double> &starts,
           const std::optional<StepTimes> &times, bool early)
    : starts(starts) {
  SmallVector<std::tuple<double, size_t>> sums;
  llvm::BitVector collectives(steps.size());
  for (auto [number, step] : llvm::enumerate(steps))
    if (isCollectiveStep(step)) {
      sums.push_back({starts.at(step), number});
      collectives.set(number);
    }
  llvm::sort(sums);
  const StepDependencies dependencies(function);
  for (auto [begin, number] : sums) {
    for (unsigned needed : dependencies.of(number).set_bits())
      first.try_emplace(steps[needed], begins.size());
    first[steps[number]] = begins.size();
    begins.push_back(begin);
  }
  for (auto [number, step] : llvm::enumerate(steps))
    if (dependencies.of(number).anyCommon(collectives))
      needing.insert(step);
  findPlaces(steps, early);
  if (times)
    findTails(steps, *times);
}

/// Of steps that could begin together, as those do that wait for a collective's
/// operands, the critical one is the first.
void Sums::findTails(ArrayRef<StepOp> steps, const StepTimes &times) {
  for (StepOp step : llvm::reverse(steps)) {
    if (!first.contains(step))
      continue;
    double after = 0;
    for (Operation *user : step->getUsers())
      after = std::max(after, tails.lookup(user));
    tails[step] = after + times.onCores(step);
  }
}

/// No step comes before what it reads.
void Sums::findPlaces(ArrayRef<StepOp> steps, bool early) {
  const unsigned last = begins.size();
  for (StepOp step : steps) {
    auto it = first.find(step);
    if (it != first.end() || !early || needing.contains(step)) {
      places[step] = it != first.end() ? it->second : last;
      continue;
    }
    unsigned place =
        llvm::upper_bound(begins, starts.at(step)) - begins.begin();
    for (Value input : step.getInputs())
      if (Operation *made = input.getDefiningOp<StepOp>())
        place = std::max(place, places.at(made));
    places[step] = place;
  }
}

void OrderSteps::runOnOperation() {
  func::FuncOp function = getOperation();
  SmallVector<StepOp> steps(function.getOps<StepOp>());
  const std::optional<StepTimes> &times = machineFor(function).times;
  const DenseMap<Operation *, double> starts = startsOf(function, times);
  const Sums sums(function, steps, starts, times, early);
  DenseMap<Operation *, unsigned> numbers;
  for (auto [number, step] : llvm::enumerate(steps))
    numbers[step] = number;
  const auto place = [&](StepOp step) {
    return std::tuple(sums.placeOf(step), starts.at(step), -sums.tailOf(step),
                      numbers.at(step));
  };
  llvm::sort(steps, [&](StepOp a, StepOp b) { return place(a) < place(b); });
  for (auto [number, step] : llvm::enumerate(steps)) {
    numMoved += numbers.at(step) != number;
    step->moveBefore(function.getBody().front().getTerminator());
  }
}

} // namespace mlir::mnistc
