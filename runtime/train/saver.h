//===- saver.h - the trained model as an ONNX file --------------*- C++ -*-===//
//
// The file that the program was made from, with the current weights.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_TRAIN_SAVER_H
#define MNISTRT_TRAIN_SAVER_H

#include "train/train_model.h"
#include <set>

namespace mn {

class Saver {
public:
  explicit Saver(const TrainModel &model) : model(model) {}

  /// Does everything except writing, with the weights of the file itself, and
  /// checks that `path` can be written.
  Status check(const std::string &path);

  /// Files that the model reads its other tensors from, after `check`; they
  /// must be next to a saved model.
  const std::set<std::string> &externalFiles() const { return external; }

  /// Names that are saved with the model; none: those that it has stay.
  std::vector<std::string> classNames;

  Status save(const std::string &path, const std::vector<char> &block);

private:
  Status patch(const std::vector<char> &block, std::string &patched) const;

  const TrainModel &model;
  std::set<std::string> external;
};

} // namespace mn

#endif // MNISTRT_TRAIN_SAVER_H
