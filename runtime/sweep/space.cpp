//===- space.cpp - the values that a sweep tries --------------------------===//

#include "sweep/space.h"
#include "core/array.h"
#include "mnistrt/philox.h"
#include <algorithm>
#include <charconv>
#include <cmath>

namespace mn {

namespace {

using S = SweepOptions;

struct AxisOption {
  const char *name;
  std::string S::*text;
  /// Whether sizes differ by factors, so that logarithms are drawn.
  bool logarithmic = false;
};

constexpr AxisOption axisOptions[] = {{"lr", &S::lr, true},
                                      {"momentum", &S::momentum},
                                      {"dampening", &S::dampening},
                                      {"weight-decay", &S::weightDecay, true},
                                      {"beta1", &S::beta1},
                                      {"beta2", &S::beta2},
                                      {"epsilon", &S::epsilon, true},
                                      {"clip-norm", &S::clipNorm, true},
                                      {"clip-value", &S::clipValue, true},
                                      {"schedule", &S::schedule},
                                      {"init", &S::init},
                                      {"batch", &S::batch},
                                      {"epochs", &S::epochs},
                                      {"seed", &S::seed}};

bool isInteger(const Flag &flag) {
  return std::holds_alternative<int64_t TrainOptions::*>(flag.to) ||
         std::holds_alternative<int64_t Options::*>(flag.to);
}

/// "0.1", "cosine,lr-min=0.001": the options of a schedule have a '=', names
/// have none.
std::vector<std::string> piecesOf(const std::string &text) {
  std::vector<std::string> pieces;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string piece = text.substr(begin, end - begin);
    if (!pieces.empty() && piece.find('=') != std::string::npos)
      pieces.back() += "," + piece;
    else
      pieces.push_back(piece);
    begin = end + 1;
  }
  return pieces;
}

/// Four digits are enough, and can be typed again.
std::string rounded(double value) {
  std::string digits = text("%.3e", value);
  return text("%.15g", std::strtod(digits.c_str(), nullptr));
}

/// "1..8"
Status addIntegers(const Flag &flag, const std::string &piece, Axis &axis) {
  const size_t dots = piece.find("..");
  const std::string ends[] = {piece.substr(0, dots), piece.substr(dots + 2)};
  int64_t numbers[2];
  for (int i : {0, 1}) {
    Options scratch;
    MN_TRY(setOption(flag, ends[i], scratch));
    std::from_chars(ends[i].data(), ends[i].data() + ends[i].size(),
                    numbers[i]);
  }
  if (numbers[0] > numbers[1])
    return usageError(
        text("expected '--%s' from a number to one that is not less, "
             "got '%s'",
             flag.name, piece.c_str()));
  // As an unsigned number, which does not overflow.
  const uint64_t more = uint64_t(numbers[1]) - uint64_t(numbers[0]);
  if (more >= uint64_t(maxRuns))
    return usageError(text("expected at most %lld values of '--%s', got '%s'",
                           static_cast<long long>(maxRuns), flag.name,
                           piece.c_str()));
  for (uint64_t i = 0; i <= more; ++i)
    axis.values.push_back(std::to_string(int64_t(uint64_t(numbers[0]) + i)));
  return Status::success();
}

Status readRange(const AxisOption &option, const std::string &given,
                 Axis &axis) {
  const size_t dots = given.find("..");
  const std::string ends[] = {given.substr(0, dots), given.substr(dots + 2)};
  double numbers[2];
  for (int i : {0, 1}) {
    Options scratch;
    MN_TRY(setOption(*axis.flag, ends[i], scratch));
    numbers[i] = std::strtod(ends[i].c_str(), nullptr);
  }
  if (numbers[0] >= numbers[1])
    return usageError(
        text("expected '--%s' from a number to a greater one, got "
             "'%s'",
             option.name, given.c_str()));
  if (option.logarithmic && numbers[0] <= 0)
    return usageError(text("expected '--%s' from a number above 0, since its "
                           "logarithms are drawn, got '%s'",
                           option.name, given.c_str()));
  axis.range = {numbers[0], numbers[1], option.logarithmic};
  return Status::success();
}

Status readAxis(const AxisOption &option, const std::string &given, bool random,
                Axis &axis) {
  const bool numbers =
      std::holds_alternative<std::optional<double> TrainOptions::*>(
          axis.flag->to);
  if (numbers && given.find("..") != std::string::npos) {
    if (!random)
      return usageError(text("expected values of '--%s' as '0.1,0.01', got the "
                             "range '%s', which '--random=N' draws from",
                             option.name, given.c_str()));
    return readRange(option, given, axis);
  }
  for (const std::string &piece : piecesOf(given)) {
    if (isInteger(*axis.flag) && piece.find("..") != std::string::npos) {
      MN_TRY(addIntegers(*axis.flag, piece, axis));
      continue;
    }
    Options scratch;
    MN_TRY(setOption(*axis.flag, piece, scratch));
    axis.values.push_back(piece);
  }
  return Status::success();
}

/// From [0, 1), by what it is for.
double drawn(int64_t seed, int64_t run, uint32_t axis) {
  const Words4 bits =
      philox({{uint32_t(run), uint32_t(uint64_t(run) >> 32), axis, 0}},
             uint32_t(uint64_t(seed)), uint32_t(uint64_t(seed) >> 32));
  const uint64_t high = uint64_t(bits.word[0]) << 21 | bits.word[1] >> 11;
  return static_cast<double>(high) * 0x1p-53;
}

std::string drawnOf(const Axis &axis, double unit) {
  if (!axis.range)
    return axis.values[static_cast<size_t>(
        unit * static_cast<double>(axis.values.size()))];
  const auto [low, high, logarithmic] = *axis.range;
  const double value = logarithmic ? low * std::exp(unit * std::log(high / low))
                                   : low + unit * (high - low);
  // Rounding must not leave the range.
  return rounded(std::clamp(value, low, high));
}

} // namespace

const std::vector<const Flag *> &axisFlags() {
  static const std::vector<const Flag *> found = [] {
    std::vector<const Flag *> flags;
    for (const AxisOption &option : axisOptions)
      flags.push_back(trainFlag(option.name));
    return flags;
  }();
  return found;
}

std::vector<Flag> sweepFlags() {
  std::vector<Flag> flags;
  for (const AxisOption &option : axisOptions)
    flags.push_back(
        {option.name, "VALUES", trainFlag(option.name)->help, option.text});
  return flags;
}

std::string keyOf(const Flag &flag) {
  std::string key = flag.name;
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

Status readAxes(const Options &options, std::vector<Axis> &axes) {
  for (const AxisOption &option : axisOptions) {
    if (std::find(options.given.begin(), options.given.end(), option.name) ==
        options.given.end())
      continue;
    Axis axis = {trainFlag(option.name), {}, {}};
    MN_TRY(readAxis(option, options.sweep.*option.text,
                    options.sweep.random > 0, axis));
    axes.push_back(std::move(axis));
  }
  return Status::success();
}

Status productOf(const std::vector<Axis> &axes,
                 std::vector<OptionTexts> &runs) {
  runs = {{}};
  for (const Axis &axis : axes) {
    if (axis.values.size() * runs.size() > static_cast<size_t>(maxRuns))
      return usageError(
          text("expected at most %lld runs, got more, with '--%s'",
               static_cast<long long>(maxRuns), axis.flag->name));
    std::vector<OptionTexts> more;
    for (const OptionTexts &run : runs)
      for (const std::string &value : axis.values) {
        more.push_back(run);
        more.back()[axis.flag->name] = value;
      }
    runs = std::move(more);
  }
  return Status::success();
}

std::vector<OptionTexts> drawRuns(const std::vector<Axis> &axes, int64_t count,
                                  int64_t seed) {
  std::vector<OptionTexts> runs(static_cast<size_t>(count));
  for (const Axis &axis : axes) {
    // An option's numbers do not depend on which others there are.
    const auto number = static_cast<uint32_t>(
        std::find(axisFlags().begin(), axisFlags().end(), axis.flag) -
        axisFlags().begin());
    for (size_t run = 0; run < runs.size(); ++run)
      runs[run][axis.flag->name] =
          drawnOf(axis, drawn(seed, static_cast<int64_t>(run), number));
  }
  return runs;
}

} // namespace mn
