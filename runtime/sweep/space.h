//===- space.h - the values that a sweep tries ------------------*- C++ -*-===//
//
// An axis is an option of 'train' with the values that a run may have. A sweep
// trains their product, or draws runs at random. A run that is drawn depends on
// the seed and its number only: more of them begin with the same ones.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_SWEEP_SPACE_H
#define MNISTRT_SWEEP_SPACE_H

#include "train/run_options.h"
#include <optional>

namespace mn {

/// More runs, or values of an option, are a mistake.
inline constexpr int64_t maxRuns = 1000000;

/// From which numbers are drawn, all of them or their logarithms alike.
struct ValueRange {
  double low, high;
  bool logarithmic;
};

struct Axis {
  const Flag *flag; ///< of 'train'
  std::vector<std::string> values;
  std::optional<ValueRange> range; ///< instead of values
};

/// The options that may differ between runs, in the order in which tables have
/// them. The last differs first in a product.
const std::vector<const Flag *> &axisFlags();

/// Those of 'sweep', which take several values.
std::vector<Flag> sweepFlags();

/// What the command line says of each. Errors: values that 'train' would not
/// take, a range of numbers where none are drawn.
Status readAxes(const Options &options, std::vector<Axis> &axes);

/// The values of each run by option.
Status productOf(const std::vector<Axis> &axes, std::vector<OptionTexts> &runs);
std::vector<OptionTexts> drawRuns(const std::vector<Axis> &axes, int64_t count,
                                  int64_t seed);

/// The runs of a file, a JSON object a line: {"lr": 0.1, "weight_decay": 0}.
/// Errors name the line.
Status readRunList(const std::string &path, std::vector<OptionTexts> &runs);

/// "weight_decay" of "weight-decay", as JSON has it.
std::string keyOf(const Flag &flag);

} // namespace mn

#endif // MNISTRT_SWEEP_SPACE_H
