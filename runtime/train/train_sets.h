//===- train_sets.h - what is trained on, and what is tested on -*- C++ -*-===//

#ifndef MNISTRT_TRAIN_TRAIN_SETS_H
#define MNISTRT_TRAIN_TRAIN_SETS_H

#include "commands/options.h"
#include "train/train_data.h"
#include <mutex>

namespace mn {

/// The sets that '--data' names. Copies share them, between threads too.
class TrainSets {
  struct Content {
    TrainData sets[dataSets];
    bool has[dataSets] = {};
    std::vector<std::string> classNames;
    std::once_flag digested;
    std::string digest;
  };

public:
  /// Reads and checks the set to train on, the part of it that `--validation`
  /// keeps aside, and where `tests`, the one to test on.
  Status read(const Options &options, const TrainModel &model, bool tests);

  const TrainData &operator[](DataSetNumber set) const {
    return content->sets[set];
  }
  bool has(DataSetNumber set) const { return content->has[set]; }
  int64_t rows(DataSetNumber set) const {
    return has(set) ? content->sets[set].samples().count : 0;
  }
  /// What epochs are evaluated on; trainSet: nothing.
  DataSetNumber judge() const;
  /// Of folders of pictures.
  const std::vector<std::string> &classNames() const {
    return content->classNames;
  }
  /// Of the set to train on; computed once.
  const std::string &digest() const;

private:
  std::shared_ptr<Content> content;
};

} // namespace mn

#endif // MNISTRT_TRAIN_TRAIN_SETS_H
