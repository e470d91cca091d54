//===- train-session.cpp - a training whose loop is the caller's ----------===//

#include "train-run.h"
#include "train/train_session.h"

using namespace mn;
using trainmodel::batch;
using trainmodel::pixels;

namespace {

constexpr int64_t rows = 500; // 31 batches and a partial one

/// Rows of the digits as the model sees them.
struct Digits {
  std::vector<float> inputs;
  std::vector<int32_t> labels;

  Digits() {
    Options options = trainrun::options();
    TrainModel model;
    TrainSets sets;
    EXPECT_TRUE(TrainModel::create(trainmodel::model(), 0, model).ok());
    EXPECT_TRUE(sets.read(options, model, false).ok());
    const Samples &samples = sets[trainSet].samples();
    const auto *bytes = static_cast<const uint8_t *>(samples.inputs);
    for (int64_t i = 0; i < rows * pixels; ++i)
      inputs.push_back(samples.scale * static_cast<float>(bytes[i]));
    const auto *targets = static_cast<const int32_t *>(samples.targets);
    labels.assign(targets, targets + rows);
  }

  TrainRows at(int64_t first, int64_t count) const {
    return {count, inputs.data() + first * pixels, labels.data() + first};
  }
};

struct TrainSessionTest : testing::Test {
  std::unique_ptr<Executor> executor;
  std::shared_ptr<TrainSession> session;
  const Digits digits;

  void begin(const TrainSession::Begin &how = {}) {
    if (!executor) {
      ASSERT_TRUE(Executor::open(trainmodel::model(), {}, executor).ok());
    }
    const Status status =
        TrainSession::begin(trainmodel::model(), *executor, how, session);
    ASSERT_TRUE(status.ok()) << status.message;
  }

  void epoch(bool looks) {
    for (int64_t first = 0; first < rows; first += batch) {
      double loss = 0;
      const int64_t count = std::min(batch, rows - first);
      const Status status =
          session->step(digits.at(first, count), looks ? &loss : nullptr);
      ASSERT_TRUE(status.ok()) << status.message;
    }
  }

  std::string digest() {
    std::string text;
    EXPECT_TRUE(session->digest(text).ok());
    return text;
  }
};

TEST_F(TrainSessionTest, HasTheBitsOfTheTrainer) {
  Options options = trainrun::options();
  options.train.noShuffle = true;
  options.train.epochs = 2;
  const trainrun::Trained trained(options);
  for (const bool looks : {false, true}) {
    begin({.seed = options.train.seed});
    Metrics metrics;
    for (int i = 0; i < 2; ++i) {
      epoch(looks);
      ASSERT_TRUE(session->takeMetrics(metrics).ok());
    }
    EXPECT_EQ(digest(), trained.digest);
    EXPECT_EQ(metrics.seen, rows);
    EXPECT_NE(trained.out.find("loss " + text("%.4f", metrics.loss())),
              std::string::npos)
        << metrics.loss() << trained.out;
  }
}

TEST_F(TrainSessionTest, RefusesRowsThatItCannotTake) {
  begin();
  const std::string before = digest();
  for (const int64_t count : {int64_t(0), batch + 1})
    EXPECT_EQ(session->step(digits.at(0, count), nullptr).code, Code::usage);
  std::vector<int32_t> wrong(static_cast<size_t>(batch), 10);
  TrainRows bad = digits.at(0, batch);
  bad.targets = wrong.data();
  EXPECT_EQ(session->step(bad, nullptr).code, Code::badData);
  TrainRows onDevice = digits.at(0, batch);
  onDevice.onDevice = true;
  EXPECT_EQ(session->step(onDevice, nullptr).code, Code::usage);
  EXPECT_EQ(session->set("lr", -1).code, Code::usage);
  EXPECT_EQ(session->set("beta3", 1).code, Code::usage);
  EXPECT_EQ(digest(), before);
}

TEST_F(TrainSessionTest, ContinuesFromItsCheckpoint) {
  begin({.seed = 3, .init = "he"});
  epoch(false);
  const test::Folder place;
  const std::string folder = place / "state";
  ASSERT_TRUE(session->set("lr", 0.003).ok());
  ASSERT_TRUE(session->writeCheckpoint(folder).ok());
  epoch(false);
  const std::string wanted = digest();
  begin({.checkpoint = folder});
  double rate = 0;
  EXPECT_TRUE(session->get("lr", rate).ok());
  EXPECT_EQ(rate, 0.003);
  epoch(true);
  EXPECT_EQ(digest(), wanted);
}

} // namespace
