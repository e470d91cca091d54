//===- class_statistics.cpp - what a classifier gets right ----------------===//

#include "inference/class_statistics.h"
#include <algorithm>
#include <cmath>
#include <tuple>

namespace mn {

namespace {

constexpr size_t rangeCount = 15;

/// Of equal losses, the row that came first is worse.
bool isWorse(const JudgedRow &a, const JudgedRow &b) {
  return a.loss != b.loss ? a.loss > b.loss : a.row < b.row;
}

double part(int64_t some, int64_t all) {
  return all ? static_cast<double>(some) / static_cast<double>(all) : -1;
}

} // namespace

ClassStatistics::ClassStatistics(size_t classes, int64_t top, int64_t worst)
    : count(classes), top(top), kept(worst), labels(classes), guesses(classes),
      hits(classes), ranges(rangeCount) {}

void ClassStatistics::add(int64_t row, size_t label,
                          const std::vector<double> &logs) {
  const auto best = std::max_element(logs.begin(), logs.end());
  const auto guess = static_cast<size_t>(best - logs.begin());
  const double own = logs[label];
  int64_t before = 0; // classes that are more probable
  for (size_t i = 0; i < count; ++i)
    before += logs[i] > own || (logs[i] == own && i < label);
  ++all;
  correct += guess == label;
  inTop += before < top;
  lossSum -= own;
  ++labels[label], ++guesses[guess];
  if (guess == label)
    ++hits[label];
  else
    ++confusion[{label, guess}];

  const double confidence = std::exp(*best);
  // A confidence on a border belongs to the range below, as in the paper.
  const auto number = static_cast<size_t>(std::clamp(
      std::ceil(confidence * rangeCount) - 1, 0.0, double(rangeCount - 1)));
  Range &range = ranges[number];
  ++range.rows;
  range.right += guess == label;
  range.confidence += confidence;

  if (guess == label || kept == 0)
    return;
  wrong.push_back({row, label, guess, confidence, -own});
  std::push_heap(wrong.begin(), wrong.end(), isWorse);
  if (static_cast<int64_t>(wrong.size()) > kept) {
    std::pop_heap(wrong.begin(), wrong.end(), isWorse);
    wrong.pop_back();
  }
}

int64_t ClassStatistics::confused(size_t label, size_t guess) const {
  if (label == guess)
    return hits[label];
  const auto found = confusion.find({label, guess});
  return found == confusion.end() ? 0 : found->second;
}

std::vector<Confusion> ClassStatistics::mistakes() const {
  std::vector<Confusion> result;
  for (const auto &[classes, rows] : confusion)
    result.push_back({classes.first, classes.second, rows});
  std::sort(result.begin(), result.end(),
            [](const Confusion &a, const Confusion &b) {
              return std::tuple(-a.rows, a.label, a.guess) <
                     std::tuple(-b.rows, b.label, b.guess);
            });
  return result;
}

double ClassStatistics::recall(size_t label) const {
  return part(confused(label, label), rowsOf(label));
}

double ClassStatistics::precision(size_t guess) const {
  return part(confused(guess, guess), guessesOf(guess));
}

double ClassStatistics::f1(size_t label) const {
  return part(2 * confused(label, label), rowsOf(label) + guessesOf(label));
}

double ClassStatistics::calibrationError() const {
  double sum = 0;
  for (const Range &range : ranges)
    sum += std::fabs(range.confidence - static_cast<double>(range.right));
  return all ? sum / static_cast<double>(all) : 0;
}

std::vector<JudgedRow> ClassStatistics::worst() const {
  std::vector<JudgedRow> result = wrong;
  std::sort(result.begin(), result.end(), isWorse);
  return result;
}

} // namespace mn
