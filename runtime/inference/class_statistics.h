//===- class_statistics.h - what a classifier gets right --------*- C++ -*-===//
//
// Over the rows of a data set: loss, accuracy, which class is taken for which,
// how well probabilities can be believed, and the rows that are worst.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_INFERENCE_CLASS_STATISTICS_H
#define MNISTRT_INFERENCE_CLASS_STATISTICS_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace mn {

/// A row and what the classifier says of it.
struct JudgedRow {
  int64_t row = 0;
  size_t label = 0, guess = 0;
  double probability = 0; ///< of the guess
  double loss = 0;        ///< -log of the probability of the label
};

/// Rows of a class that were taken for another.
struct Confusion {
  size_t label = 0, guess = 0;
  int64_t rows = 0;
};

class ClassStatistics {
public:
  /// `top`: see topRight; `worst`: how many rows to remember.
  ClassStatistics(size_t classes, int64_t top, int64_t worst);

  /// `logs`: of the probabilities of all classes. Rows come in order.
  void add(int64_t row, size_t label, const std::vector<double> &logs);

  int64_t rows() const { return all; }
  int64_t right() const { return correct; }
  /// Rows whose class is one of the `top` most probable; of equal ones those
  /// with smaller numbers.
  int64_t topRight() const { return inTop; }
  double loss() const { return lossSum; } ///< of all rows
  size_t classes() const { return count; }

  /// Rows of class `label` that were taken for `guess`.
  int64_t confused(size_t label, size_t guess) const;
  int64_t rowsOf(size_t label) const { return labels[label]; }
  int64_t guessesOf(size_t guess) const { return guesses[guess]; }
  /// Mistakes, the most frequent first, then by class.
  std::vector<Confusion> mistakes() const;
  /// 0 to 1; below 0: no row of this class, or none was taken for it.
  double recall(size_t label) const;
  double precision(size_t guess) const;
  /// Their harmonic mean, where either is known.
  double f1(size_t label) const;

  /// Expected calibration error (Guo et al., "On Calibration of Modern Neural
  /// Networks", ICML 2017): the mean difference of confidence and accuracy,
  /// over 15 equal ranges of confidence, weighted by rows.
  double calibrationError() const;

  /// Those that are wrong, the greatest loss first.
  std::vector<JudgedRow> worst() const;

private:
  struct Range {
    int64_t rows = 0, right = 0;
    double confidence = 0;
  };

  size_t count;
  int64_t top, kept;
  int64_t all = 0, correct = 0, inTop = 0;
  double lossSum = 0;
  std::vector<int64_t> labels, guesses, hits; ///< rows of each class
  std::map<std::pair<size_t, size_t>, int64_t> confusion; ///< label, guess
  std::vector<Range> ranges;
  std::vector<JudgedRow> wrong; ///< a heap, the smallest loss on top
};

} // namespace mn

#endif // MNISTRT_INFERENCE_CLASS_STATISTICS_H
