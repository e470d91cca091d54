//===- train_data.h - data sets that fit a model ----------------*- C++ -*-===//
//
// All that can be wrong with data is found here, before hours of training:
// sizes that are not the model's, classes that it does not have, wrong kinds of
// targets.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_TRAIN_TRAIN_DATA_H
#define MNISTRT_TRAIN_TRAIN_DATA_H

#include "data/sample_set.h"
#include "inference/inputs.h"
#include "train/train_model.h"

namespace mn {

class TrainData {
public:
  /// Checks `set` and keeps it.
  Status create(SampleSet set, const TrainModel &model,
                const Transform &transform);

  /// How rows are changed when they are trained on.
  void change(const Augment &augment) { view.augment = augment; }

  /// Pointers into this object.
  const Samples &samples() const { return view; }
  /// As they were read.
  const Array &inputs() const { return set.inputs; }
  size_t bytes() const { return set.inputs.bytes.size() + targets.size(); }
  /// That the file of the inputs, where they are read from it, did not change.
  Status check() const { return set.inputs.bytes.check(); }
  /// Of inputs, targets and transform.
  std::string digest() const;

private:
  Status checkInputs(const TrainModel &model);
  Status checkTargets(const TrainModel &model);
  Status checkLabels(const TrainModel &model);
  void setTargetsToValues();

  SampleSet set;
  std::vector<char> targets;
  Samples view;
};

} // namespace mn

#endif // MNISTRT_TRAIN_TRAIN_DATA_H
