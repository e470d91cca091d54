//===- classify.cpp - what the numbers of a classifier mean ---------------===//

#include "inference/classify.h"
#include "core/choices.h"
#include "inference/inputs.h"
#include <algorithm>
#include <cmath>

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

Scores scoresOf(Type type, const void *data, int64_t rows, int64_t classes) {
  constexpr double tolerance = 1e-3;
  bool probabilities = true, logarithms = true;
  for (int64_t row = 0; row < rows; ++row) {
    double sum = 0, exponentials = 0, least = 0, most = -1e300;
    for (int64_t c = 0; c < classes; ++c) {
      const double x =
          numberAt(type, data, static_cast<size_t>(row * classes + c));
      sum += x, exponentials += std::exp(x);
      least = std::min(least, x), most = std::max(most, x);
    }
    probabilities &= least >= -1e-6 && std::fabs(sum - 1) < tolerance;
    logarithms &= most <= 1e-6 && std::fabs(exponentials - 1) < tolerance;
  }
  return probabilities ? Scores::probabilities
         : logarithms  ? Scores::logProbabilities
                       : Scores::logits;
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
