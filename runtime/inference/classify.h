//===- classify.h - what the numbers of a classifier mean -------*- C++ -*-===//

#ifndef MNISTRT_INFERENCE_CLASSIFY_H
#define MNISTRT_INFERENCE_CLASSIFY_H

#include "core/array.h"

namespace mn {

/// How a row of results says which class it is. `automatic` looks at the
/// numbers: rows of numbers from 0 to 1 whose sum is 1 (within 0.001) are
/// probabilities; rows of numbers up to 0 whose exponentials are such rows are
/// their logarithms; all else are logits.
enum class Scores { automatic, logits, logProbabilities, probabilities };

Status parseScores(const std::string &name, Scores &scores);
const char *nameOf(Scores scores);

/// Whether an output is a classifier's: floats, rows of two numbers or more.
bool isClassifier(const Plan &plan, const Tensor &output);

/// What `automatic` comes to for these rows; a row of one score is a
/// probability where it is from 0 to 1, else a logit.
Scores scoresOf(Type type, const void *data, int64_t rows, int64_t classes);

/// The same, with a warning on standard error where logits and probabilities
/// cannot be told apart with certainty: one score per row from 0 to 1, or rows
/// of such numbers that do not sum to 1. `output` is named in it.
Scores chooseScores(const char *output, Type type, const void *data,
                    int64_t rows, int64_t classes);

/// That these rows are what was found for earlier ones.
Status checkScores(const char *output, Scores scores, Type type,
                   const void *data, int64_t rows, int64_t classes);

/// One row as natural logarithms of probabilities.
void logProbabilities(Scores scores, Type type, const void *data, int64_t row,
                      int64_t classes, std::vector<double> &result);

} // namespace mn

#endif // MNISTRT_INFERENCE_CLASSIFY_H
