//===- train-shared.cpp - trainings of one process ------------------------===//

#include "train-run.h"
#include <thread>

namespace {

using test::contentOf;
using test::Folder;
using trainrun::options;
using trainrun::Trained;

/// A device with data, for trainings that share it.
struct Place {
  Place() {
    EXPECT_TRUE(mn::TrainModel::create(trainmodel::model(), 0, model).ok());
    EXPECT_TRUE(mn::Executor::open(trainmodel::model(), {}, first).ok());
    EXPECT_TRUE(data.read(options(), model, true).ok());
    mn::Feeder feeder(model, *first, int64_t(1) << 30);
    for (const mn::DataSetNumber set : {mn::trainSet, mn::testSet})
      EXPECT_TRUE(feeder.load(set, data[set]).ok());
  }
  mn::SharedTraining training() {
    mn::SharedTraining shared;
    shared.data = data;
    std::unique_ptr<mn::Executor> executor;
    EXPECT_TRUE(first->share(executor).ok());
    shared.executor = std::move(executor);
    shared.resident[0] = shared.resident[1] = true;
    shared.signals = signals;
    return shared;
  }

  mn::TrainModel model;
  mn::TrainSets data;
  std::unique_ptr<mn::Executor> first;
  std::shared_ptr<mn::StopSignals> signals =
      std::make_shared<mn::StopSignals>();
};

mn::Options withRate(double lr) {
  mn::Options changed = options();
  changed.train.lr = lr;
  return changed;
}

struct Listener final : mn::RunListener {
  void live(const mn::TrainState &state) override { rows += state.rows; }
  void epoch(const mn::EpochReport &report) override {
    digests.push_back(report.digest);
  }
  int64_t rows = 0;
  std::vector<std::string> digests;
};

TEST(SharedTraining, EndsWithTheBitsOfOneAlone) {
  Place place;
  const std::vector<double> rates = {0.1, 0.03, 0.01, 0.003};
  std::vector<std::string> alone, together(2 * rates.size());
  for (double rate : rates)
    alone.push_back(Trained(withRate(rate)).digest);
  std::vector<std::thread> threads;
  testing::internal::CaptureStdout();
  for (size_t i = 0; i < rates.size(); ++i)
    threads.emplace_back([&, i] {
      // An executor trains one network after another.
      const mn::SharedTraining shared = place.training();
      for (size_t turn : {0, 1}) {
        mn::Trainer trainer(trainmodel::model(),
                            withRate(rates[turn ? rates.size() - 1 - i : i]),
                            shared);
        const mn::Status status = trainer.run();
        EXPECT_TRUE(status.ok()) << status.message;
        together[turn ? 2 * rates.size() - 1 - i : i] = trainer.digest();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  for (size_t i = 0; i < together.size(); ++i)
    EXPECT_EQ(together[i], alone[i % rates.size()]) << i;
}

TEST(SharedTraining, TellsItsListener) {
  Place place;
  Listener listener;
  mn::SharedTraining shared = place.training();
  shared.listener = &listener;
  mn::Trainer trainer(trainmodel::model(), options(), shared);
  ASSERT_TRUE(trainer.run().ok());
  EXPECT_EQ(listener.rows, 3 * 500);
  ASSERT_EQ(listener.digests.size(), 3u);
  EXPECT_EQ(listener.digests.back(), trainer.digest());
  EXPECT_EQ(trainer.results().results().size(), 3u);
}

TEST(SharedTraining, StreamsWhatIsNotOnTheDevice) {
  Place place;
  mn::SharedTraining shared = place.training();
  shared.resident[0] = false;
  mn::Trainer trainer(trainmodel::model(), options(), shared);
  ASSERT_TRUE(trainer.run().ok());
  EXPECT_EQ(trainer.digest(), Trained(options()).digest);
}

TEST(SharedTraining, PausesAndContinues) {
  Place place;
  Folder folder;
  mn::Options paused = options();
  paused.train.schedule = "cosine";
  const Trained alone(paused);
  paused.train.checkpoint = folder / "checkpoint";
  paused.train.resume = true;
  mn::SharedTraining shared = place.training();
  for (int64_t epoch : {1, 2, 2, 0}) {
    shared.pauseEpoch = epoch;
    mn::Trainer trainer(trainmodel::model(), paused, shared);
    const mn::Status status = trainer.run();
    ASSERT_TRUE(status.ok()) << status.message;
    const auto &results = trainer.results().results();
    ASSERT_EQ(results.size(), size_t(epoch ? epoch : 3));
    // The digests of all epochs are in what the run alone has printed.
    EXPECT_NE(alone.out.find("digest " + trainer.digest()), std::string::npos)
        << epoch;
    if (epoch == 0) {
      EXPECT_EQ(trainer.digest(), alone.digest);
    }
  }
}

TEST(SharedTraining, KeepsCheckpointsOfLongRunsOnly) {
  Place place;
  Folder folder;
  mn::Options kept = options();
  kept.train.checkpoint = folder / "checkpoint";
  mn::SharedTraining shared = place.training();
  const std::string file = kept.train.checkpoint + "/checkpoint.safetensors";
  ASSERT_TRUE(mn::Trainer(trainmodel::model(), kept, shared).run().ok());
  EXPECT_TRUE(contentOf(file).empty());
  shared.checkpointSeconds = 0;
  ASSERT_TRUE(mn::Trainer(trainmodel::model(), kept, shared).run().ok());
  mn::CheckpointFile checkpoint(place.model, kept.train.checkpoint);
  ASSERT_TRUE(checkpoint.exists());
  // Of the last epoch but one: the last needs none.
  kept.train.resume = true;
  mn::Trainer again(trainmodel::model(), kept, shared);
  ASSERT_TRUE(again.run().ok());
  EXPECT_EQ(again.digest(), Trained(options()).digest);
}

} // namespace
