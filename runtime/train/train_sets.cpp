//===- train_sets.cpp - what is trained on, and what is tested on ---------===//

#include "train/train_sets.h"
#include "train/augmentation.h"
#include <future>

namespace mn {

Status TrainSets::read(const Options &options, const TrainModel &model,
                       bool tests) {
  auto made = std::make_shared<Content>();
  made->has[trainSet] = true;
  made->has[testSet] = tests;
  made->has[validationSet] = options.train.validation.has_value();
  const Colors colors = colorsOf(*model.input);
  SampleSet sets[dataSets];
  // To unpack a file takes one core longer than to open a GPU.
  std::future<Status> testing = std::async([&] {
    return tests ? readSamples(options.data, Split::test,
                               options.train.testLimit, colors, sets[testSet])
                 : Status::success();
  });
  MN_TRY(readSamples(options.data, Split::train, options.limit, colors,
                     sets[trainSet]));
  MN_TRY(testing.get());
  if (made->has[validationSet])
    MN_TRY(splitSamples(*options.train.validation, sets[trainSet],
                        sets[validationSet]));
  Augment augment;
  MN_TRY(readAugment(options.train.augment, sets[trainSet].inputs, augment));
  for (int i = 0; i < dataSets; ++i) {
    if (!made->has[i])
      continue;
    made->classNames = sets[i].classNames;
    MN_TRY(made->sets[i].create(std::move(sets[i]), model, options.transform));
  }
  made->sets[trainSet].change(augment);
  content = std::move(made);
  return Status::success();
}

DataSetNumber TrainSets::judge() const {
  for (const DataSetNumber set : {validationSet, testSet})
    if (has(set))
      return set;
  return trainSet;
}

const std::string &TrainSets::digest() const {
  std::call_once(content->digested,
                 [&] { content->digest = content->sets[trainSet].digest(); });
  return content->digest;
}

} // namespace mn
