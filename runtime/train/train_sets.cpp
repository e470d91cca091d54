//===- train_sets.cpp - what is trained on, and what is tested on ---------===//

#include "train/train_sets.h"
#include <future>

namespace mn {

Status TrainSets::read(const Options &options, const TrainModel &model,
                       bool tests) {
  auto made = std::make_shared<Content>();
  made->tests = tests;
  SampleSet sets[2];
  // To unpack a file takes one core longer than to open a GPU.
  std::future<Status> testing = std::async([&] {
    return tests ? readSamples(options.data, Split::test,
                               options.train.testLimit, sets[1])
                 : Status::success();
  });
  MN_TRY(readSamples(options.data, Split::train, options.limit, sets[0]));
  MN_TRY(testing.get());
  for (int i = 0; i < 1 + tests; ++i) {
    made->classNames = sets[i].classNames;
    MN_TRY(made->sets[i].create(std::move(sets[i]), model, options.transform));
  }
  content = std::move(made);
  return Status::success();
}

const std::string &TrainSets::digest() const {
  std::call_once(content->digested,
                 [&] { content->digest = content->sets[0].digest(); });
  return content->digest;
}

} // namespace mn
