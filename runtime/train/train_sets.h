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
    TrainData sets[2];
    std::vector<std::string> classNames;
    bool tests = false;
    std::once_flag digested;
    std::string digest;
  };

public:
  /// Reads and checks set 0, which is trained on, and where `tests`, set 1.
  Status read(const Options &options, const TrainModel &model, bool tests);

  const TrainData &operator[](int set) const { return content->sets[set]; }
  /// Whether there is a set 1.
  bool tests() const { return content->tests; }
  /// Of folders of pictures.
  const std::vector<std::string> &classNames() const {
    return content->classNames;
  }
  /// Of set 0; computed once.
  const std::string &digest() const;

private:
  std::shared_ptr<Content> content;
};

} // namespace mn

#endif // MNISTRT_TRAIN_TRAIN_SETS_H
