//===- ChooseSchedules.cpp - how each contraction is computed -------------===//

#include "lib/IR/Plan/Schedule.h"
#include "lib/IR/Plan/Target.h"
#include "lib/Passes/Passes.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_CHOOSESCHEDULES
#include "lib/Passes/Passes.h.inc"

namespace {
struct ChooseSchedules : impl::ChooseSchedulesBase<ChooseSchedules> {
  using ChooseSchedulesBase::ChooseSchedulesBase;

  void runOnOperation() override {
    getOperation().walk([&](StepOp step) {
      // A link has none.
      if (isa<StepOp>(step->getParentOp()))
        return;
      if (step.getImpl() != Impl::kernel || !hasContraction(step) ||
          isScheduled(step) || !targetFor(step).schedules)
        return;
      step.setScheduleAttr(
          scheduleAttribute(&getContext(), chooseSchedule(step, mmaOf(step))));
      ++numChosen;
    });
  }
};
} // namespace

} // namespace mlir::mnistc
