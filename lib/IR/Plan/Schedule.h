//===- Schedule.h - how a contraction is computed ---------------*- C++ -*-===//
//
// Between a step's schedule in the plan and what the GPU's kernels are told:
// which schedules there are, which of them a kernel can run, and which one the
// kernels' models of the machine take.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_PLAN_SCHEDULE_H
#define MNISTC_IR_PLAN_SCHEDULE_H

#include "lib/IR/Mnist/MnistOps.h"
#include "lib/IR/Plan/PlanOps.h"
#include "mnistrt/shapes.h"
#include <string>

namespace mlir::mnistc {

/// What multiplies in a step.
Mma mmaOf(StepOp step);

/// Whether a step is around a contraction: what has a schedule.
bool hasContraction(StepOp step);

/// Whether the schedule says more than what multiplies, as a kernel needs it.
bool isScheduled(StepOp step);

/// A step's schedule as its kernel is told; without one the default.
mn::ProductSchedule scheduleOf(StepOp step);

/// The same as an attribute; null for the default.
Attribute scheduleAttribute(MLIRContext *context,
                            const mn::ProductSchedule &schedule);
/// What multiplies, and nothing chosen yet; null for FMA units.
Attribute mmaOnly(MLIRContext *context, Mma mma);

/// What is best for a step on a kernel that multiplies with `mma`, by the
/// kernels' models.
mn::ProductSchedule chooseSchedule(StepOp step, Mma mma);

/// Whether a kernel can compute the convolution of `step` with a pool of its
/// result, and is expected to take less time than two.
bool poolPays(StepOp step, Operation *pool);

/// Whether the kernel of a gradient of a convolution can read the windows of a
/// pool instead of what `unpool` gives.
bool readsWindows(StepOp step, MaxUnpoolOp unpool);

/// Whether a step computes patches with a filter that is made of parameters and
/// constants only, which no step of the plan writes before: its kernel may read
/// it while the step before still runs.
bool keepsFilter(StepOp step);
/// Of such a step the inputs that only make its filter: where it is packed at
/// the beginning of the plan, nothing reads them later.
SmallVector<unsigned> filterInputs(StepOp step);

/// Whether a step computes dot products with a matrix of which the same is
/// true: its kernel loads it before the step before has ended.
bool loadsEarly(StepOp step);

/// Why a step cannot have its schedule, as a sentence: "expected ..., got ...";
/// empty if it can.
std::string whyUnfit(StepOp step);

/// "product, tile 64x64x32, warps 4x1, split 2", "a chain of hidden, logits",
/// or nothing: what tables say beyond what multiplies.
std::string scheduleText(StepOp step);

/// The designated fields of a mn::ProductSchedule that are not the default.
SmallVector<std::string> scheduleFields(const mn::ProductSchedule &schedule);

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_SCHEDULE_H
