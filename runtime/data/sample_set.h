//===- sample_set.h - labelled data of any kind -----------------*- C++ -*-===//
//
// What '--data' names, for every command:
//
//   digits             generated; see digits.h
//   FOLDER             with MNIST's files, plain or .gz; with CIFAR-10's or
//                      CIFAR-100's binary files; with train_x.npy,
//                      train_y.npy, test_x.npy and test_y.npy; with pictures,
//                      train/CLASS/*.png and test/CLASS/*.png: the classes
//                      of 'train' number both
//   FOLDER             with only CLASS/*.png: one set, whatever it is for
//   X.npy,Y.npy        one set, as well; with ,TEST_X.npy,TEST_Y.npy two
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_DATA_SAMPLE_SET_H
#define MNISTRT_DATA_SAMPLE_SET_H

#include "formats/files.h"

namespace mn {

enum class Split { train, test };

/// "train" or "test"; else an error that names the option.
Status parseSplit(const std::string &name, Split &split);

/// Rows in host memory. There is at least one.
struct SampleSet {
  Array inputs;  ///< of any type; pixels where they are
  Array targets; ///< int32: classes; float: values
  std::string source;
  /// Of folders of pictures, and of CIFAR, what the classes are called; a label
  /// is an index.
  std::vector<std::string> classNames;
  std::vector<std::string> files; ///< of pictures: where each row is from
  /// Whether they are numbered as in training: by the folder 'train'.
  bool numberedByTraining = false;

  int64_t count() const { return inputs.shape[0]; }
  bool classes() const { return targets.type == Type::i32; }
};

/// Whether a source can be more than one tensor: 'digits' or a folder.
bool isSampleSource(const std::string &source);

/// Whether there is a set to test on besides the one to train on.
Status hasTestSet(const std::string &source, bool &has);

/// Reads the first `limit` rows, or all for 0; pictures as `colors` says.
/// Errors name the files: missing and malformed ones, empty sets, other numbers
/// of labels than of inputs.
Status readSamples(const std::string &source, Split split, int64_t limit,
                   Colors colors, SampleSet &set);

/// Moves `part` of the rows, more than 0 and less than 1, to another set: those
/// that a permutation chooses, the same in every run. All keep their order.
/// Error: either would have no row.
Status splitSamples(double part, SampleSet &set, SampleSet &other);

/// "0 'cat', 1 'dog'"; a long list is cut short.
std::string classesText(const std::vector<std::string> &classNames);

} // namespace mn

#endif // MNISTRT_DATA_SAMPLE_SET_H
