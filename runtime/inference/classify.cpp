//===- classify.cpp - what the numbers of a classifier mean ---------------===//

#include "inference/classify.h"
#include "core/choices.h"
#include "inference/inputs.h"
#include "mnistrt/printable.h"
#include <algorithm>
#include <cmath>
#include <cstdio>

namespace mn {

namespace {

const Choices scoreNames = {"auto", "logits", "log-probabilities",
                            "probabilities"};

} // namespace

Status parseScores(const std::string &name, Scores &scores) {
  size_t number;
  MN_TRY(choose("--scores", name, scoreNames, number));
  scores = static_cast<Scores>(number);
  return Status::success();
}

const char *nameOf(Scores scores) {
  return scoreNames[static_cast<size_t>(scores)].c_str();
}

bool isClassifier(const Plan &plan, const Tensor &output) {
  const Rows rows(plan, output);
  if (output.type != Type::f32 && output.type != Type::f64)
    return false;
  return rows.batched && rows.rowCount > 1 &&
         std::find(rows.row.begin(), rows.row.end(),
                   static_cast<int64_t>(rows.rowCount)) != rows.row.end();
}

namespace {
/// The sum and the bounds of what rows hold.
struct Ranges {
  double min = 0, max = -1e300;
  bool sumToOne = true, exponentialsSumToOne = true;

  Ranges(Type type, const void *data, int64_t rows, int64_t classes) {
    constexpr double tolerance = 1e-3;
    for (int64_t row = 0; row < rows; ++row) {
      double sum = 0, exponentials = 0;
      for (int64_t c = 0; c < classes; ++c) {
        const double x =
            numberAt(type, data, static_cast<size_t>(row * classes + c));
        sum += x, exponentials += std::exp(x);
        min = std::min(min, x), max = std::max(max, x);
      }
      if (std::isnan(sum)) // says nothing of what the others are
        continue;
      sumToOne &= std::fabs(sum - 1) < tolerance;
      exponentialsSumToOne &= std::fabs(exponentials - 1) < tolerance;
    }
  }
  bool fromZeroToOne() const { return min >= 0 && max <= 1; }
};
} // namespace

Scores scoresOf(Type type, const void *data, int64_t rows, int64_t classes) {
  const Ranges found(type, data, rows, classes);
  if (classes == 1)
    return found.fromZeroToOne() ? Scores::probabilities : Scores::logits;
  if (found.min >= -1e-6 && found.sumToOne)
    return Scores::probabilities;
  return found.max <= 1e-6 && found.exponentialsSumToOne
             ? Scores::logProbabilities
             : Scores::logits;
}

Scores chooseScores(const char *output, Type type, const void *data,
                    int64_t rows, int64_t classes) {
  const Scores scores = scoresOf(type, data, rows, classes);
  const std::string name = printable(output);
  if (classes == 1 && scores == Scores::probabilities)
    std::fprintf(stderr,
                 "warning: output '%s' has numbers from 0 to 1: taken as "
                 "probabilities; --scores=logits says otherwise\n",
                 name.c_str());
  if (classes > 1 && scores == Scores::logits &&
      Ranges(type, data, rows, classes).fromZeroToOne())
    std::fprintf(stderr,
                 "warning: output '%s' has numbers from 0 to 1 whose rows do "
                 "not sum to 1: taken as logits; --scores=probabilities says "
                 "otherwise\n",
                 name.c_str());
  return scores;
}

Status checkScores(const char *output, Scores scores, Type type,
                   const void *data, int64_t rows, int64_t classes) {
  if (scores == Scores::logits || scoresOf(type, data, rows, classes) == scores)
    return Status::success();
  return Status::error(
      Code::usage, std::string("expected '--scores=': the first rows of output "
                               "'") +
                       printable(output) + "' look like " + nameOf(scores) +
                       ", later ones do not");
}

void logProbabilities(Scores scores, Type type, const void *data, int64_t row,
                      int64_t classes, std::vector<double> &result) {
  result.resize(static_cast<size_t>(classes));
  for (int64_t c = 0; c < classes; ++c)
    result[static_cast<size_t>(c)] =
        numberAt(type, data, static_cast<size_t>(row * classes + c));
  if (scores == Scores::probabilities) {
    // The smallest float, so that a probability of 0 costs much, not all.
    for (double &x : result)
      x = std::log(std::max(x, 1.4e-45));
    return;
  }
  if (scores == Scores::logProbabilities)
    return;
  const double largest = *std::max_element(result.begin(), result.end());
  double sum = 0;
  for (double x : result)
    sum += std::exp(x - largest);
  for (double &x : result)
    x -= largest + std::log(sum);
}

} // namespace mn
