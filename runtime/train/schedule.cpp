//===- schedule.cpp - the learning rate of each step ----------------------===//

#include "train/schedule.h"
#include "core/array.h"
#include "core/choices.h"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

namespace mn {

namespace {

using Kind = Schedule::Kind;

/// In the order of Kind.
const Choices scheduleNames = {"constant", "step", "cosine", "one-cycle"};

/// One option: where its value goes and what it may be. Exactly one of the
/// members is set.
struct Option {
  const char *name;
  bool always; ///< of every schedule, else of `kind`
  Kind kind;
  double Schedule::*number;
  int64_t Schedule::*count;
  double min, max; ///< inclusive
  const char *range;
};
constexpr double smallest = 1e-300, largest = 1e300;
constexpr Option options[] = {
    {"gamma", false, Kind::step, &Schedule::gamma, nullptr, smallest, largest,
     "a number above 0"},
    {"every", false, Kind::step, nullptr, &Schedule::every, 1, 1e15,
     "epochs, 1 or more"},
    {"lr-min", false, Kind::cosine, &Schedule::lrMin, nullptr, 0, largest,
     "a number of 0 or more"},
    {"pct-start", false, Kind::oneCycle, &Schedule::pctStart, nullptr, 0, 1,
     "a number from 0 to 1"},
    {"div", false, Kind::oneCycle, &Schedule::div, nullptr, smallest, largest,
     "a number above 0"},
    {"final-div", false, Kind::oneCycle, &Schedule::finalDiv, nullptr, smallest,
     largest, "a number above 0"},
    {"warm-up", true, Kind::constant, nullptr, &Schedule::warmUp, 0, 1e15,
     "steps, 0 or more"}};

std::string inQuotes(std::string_view word) {
  return "'" + std::string(word) + "'";
}

template <typename T> bool readNumber(std::string_view word, T &value) {
  const char *end = word.data() + word.size();
  const auto result = std::from_chars(word.data(), end, value);
  return result.ec == std::errc() && result.ptr == end;
}

const std::string &nameOf(Kind kind) {
  return scheduleNames[static_cast<size_t>(kind)];
}

Status setOption(Schedule &schedule, const Option &option,
                 std::string_view value) {
  double number = 0;
  int64_t count = 0;
  bool good =
      option.number ? readNumber(value, number) : readNumber(value, count);
  if (option.count)
    number = static_cast<double>(count);
  // Written so that "not a number" is refused.
  good = good && number >= option.min && number <= option.max;
  if (!good)
    return usageError(std::string("expected ") + option.range + " for '" +
                      option.name + "' of --schedule, got " + inQuotes(value));
  if (option.number)
    schedule.*option.number = number;
  else
    schedule.*option.count = count;
  return Status::success();
}

Status readOption(Schedule &schedule, std::string_view word, unsigned &seen) {
  const size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  unsigned bit = 1;
  Choices known;
  for (const Option &option : options) {
    if (option.always || option.kind == schedule.kind) {
      if (name == option.name) {
        if (equals == std::string_view::npos)
          return usageError(
              "expected a value in --schedule, as in '" + std::string(name) +
              "=" + (option.count ? "10" : "0.1") + "', got " + inQuotes(word));
        if (seen & bit)
          return usageError("expected one " + inQuotes(name) +
                            " in --schedule, got two");
        seen |= bit;
        return setOption(schedule, option, word.substr(equals + 1));
      }
      known.push_back(option.name);
    }
    bit <<= 1;
  }
  return usageError("expected an option of schedule '" + nameOf(schedule.kind) +
                    "' (" + listOf(known) + "), got " + inQuotes(name) +
                    didYouMean(name, known));
}

/// From `start` to `end` along half a cosine; OneCycleLR's _annealing_cos.
double annealed(double start, double end, double part) {
  return end + (start - end) / 2 * (std::cos(std::numbers::pi * part) + 1);
}

} // namespace

Status Schedule::parse(std::string_view text, Schedule &schedule) {
  const size_t comma = text.find(',');
  const std::string_view name = text.substr(0, comma);
  size_t number;
  MN_TRY(choose("--schedule", name, scheduleNames, number));
  Schedule result;
  result.kind = static_cast<Kind>(number);
  unsigned seen = 0;
  for (size_t begin = comma; begin != std::string_view::npos;) {
    const size_t end = text.find(',', begin + 1);
    MN_TRY(readOption(result, text.substr(begin + 1, end - begin - 1), seen));
    begin = end;
  }
  schedule = result;
  return Status::success();
}

std::string Schedule::text() const {
  std::string result = nameOf(kind);
  for (const Option &option : options) {
    if (!option.always && option.kind != kind)
      continue;
    if (option.always && this->*option.count == 0)
      continue;
    result += std::string(",") + option.name + "=" +
              (option.number ? shortest(this->*option.number)
                             : shortest(this->*option.count));
  }
  return result;
}

Status LearningRate::create(const Schedule &schedule, double lr, int64_t steps,
                            int64_t stepsPerEpoch, LearningRate &rate) {
  if (!(lr >= 0) || std::isinf(lr))
    return usageError("expected a learning rate of 0 or more, got " +
                      inQuotes(shortest(lr)));
  if (steps < 1 || stepsPerEpoch < 1)
    return usageError("expected at least one step to train, got " +
                      std::to_string(std::min(steps, stepsPerEpoch)));
  if (schedule.warmUp >= steps)
    return usageError("expected a warm-up of fewer steps than the training's " +
                      std::to_string(steps) + ", got " +
                      std::to_string(schedule.warmUp));
  rate.schedule = schedule;
  rate.lr = lr;
  rate.steps = steps - schedule.warmUp;
  rate.stepsPerEpoch = stepsPerEpoch;
  return Status::success();
}

double LearningRate::at(int64_t step) const {
  step = std::max<int64_t>(step, 0);
  if (step < schedule.warmUp)
    return after(0) * static_cast<double>(step + 1) /
           static_cast<double>(schedule.warmUp + 1);
  return after(std::min(step - schedule.warmUp, steps - 1));
}

/// The rate of a step that is counted from the end of the warm-up.
double LearningRate::after(int64_t step) const {
  const double t = static_cast<double>(step), all = static_cast<double>(steps);
  switch (schedule.kind) {
  case Kind::constant:
    return lr;
  case Kind::step:
    return lr * std::pow(schedule.gamma,
                         static_cast<double>((step + schedule.warmUp) /
                                             stepsPerEpoch / schedule.every));
  case Kind::cosine:
    return schedule.lrMin + (lr - schedule.lrMin) *
                                (1 + std::cos(std::numbers::pi * t / all)) / 2;
  case Kind::oneCycle: {
    const double first = lr / schedule.div, last = first / schedule.finalDiv;
    const double top = schedule.pctStart * all - 1;
    if (t <= top) // top is 0 where torch divides by zero
      return top > 0 ? annealed(first, lr, t / top) : lr;
    return annealed(lr, last, (t - top) / (all - 1 - top));
  }
  }
  return lr;
}

} // namespace mn
