//===- schedule.h - the learning rate of each step --------------*- C++ -*-===//
//
// A function of only the step's number, in double precision on the host; a
// run that is resumed needs nothing but its text. Rates are written to device
// memory a chunk of steps ahead, so that no graph is rebuilt.
//
// With t the step from 0, T the number of steps and lr the rate given:
//
//   constant   lr
//   step       lr gamma^floor(epoch / every)              torch StepLR
//   cosine     min + (lr - min) (1 + cos(pi t / T)) / 2   torch
//              CosineAnnealingLR with T_max = T, by steps; Loshchilov and
//              Hutter, "SGDR" (ICLR 2017), equation 5
//   one-cycle  torch OneCycleLR with its defaults: lr is the largest rate; from
//              lr / div up to lr until step a = pct T - 1, and down to
//              lr / (div final-div) at step T - 1, both
//              end + (start - end) (1 + cos(pi p)) / 2, p from 0 to 1;
//              Smith and Topin, "Super-Convergence" (2017)
//   warm-up=W  W steps in front of any: r (t + 1) / (W + 1), where r is the
//              schedule's first rate; the schedule has the other T - W steps
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_TRAIN_SCHEDULE_H
#define MNISTRT_TRAIN_SCHEDULE_H

#include "core/status.h"
#include <cstdint>
#include <string>
#include <string_view>

namespace mn {

struct Schedule {
  enum class Kind { constant, step, cosine, oneCycle };

  Kind kind = Kind::constant;
  int64_t warmUp = 0;    ///< steps
  double gamma = 0.1;    ///< step: factor
  int64_t every = 1;     ///< step: epochs
  double lrMin = 0;      ///< cosine: where it ends
  double pctStart = 0.3; ///< one-cycle: the part of the steps that go up
  double div = 25;       ///< one-cycle: largest rate / first rate
  double finalDiv = 1e4; ///< one-cycle: first rate / last rate

  /// Reads "NAME[,OPTION=VALUE]...": "cosine,lr-min=1e-5,warm-up=100",
  /// "step,gamma=0.5,every=2", "one-cycle,pct-start=0.3,div=25,final-div=1e4".
  /// Options of another schedule, repeated ones and values out of range are
  /// errors (Code::usage).
  static Status parse(std::string_view text, Schedule &schedule);
  /// What `parse` reads, with every option that matters; exact.
  std::string text() const;
};

/// A schedule with a beginning and an end.
class LearningRate {
public:
  /// `steps` in total, `stepsPerEpoch` of them per epoch; both at least 1. An
  /// error where the warm-up leaves no step.
  static Status create(const Schedule &schedule, double lr, int64_t steps,
                       int64_t stepsPerEpoch, LearningRate &rate);

  /// The rate of step `step`, from 0. Beyond the last step, the last rate.
  double at(int64_t step) const;

private:
  double after(int64_t step) const;

  Schedule schedule;
  double lr = 0;
  int64_t steps = 1; ///< without the warm-up
  int64_t stepsPerEpoch = 1;
};

} // namespace mn

#endif // MNISTRT_TRAIN_SCHEDULE_H
