//===- train-checkpoint.cpp - checkpoints that no run wrote ---------------===//

#include "formats/safetensors.h"
#include "train-folder.h"
#include "train-model.h"
#include "train/trainer.h"
#include <cstring>
#include <functional>
#include <gtest/gtest.h>

namespace {

using test::contentOf;
using test::Folder;

mn::Status resultOf(const mn::Options &options) {
  const mn::Model &model = trainmodel::model();
  testing::internal::CaptureStdout();
  const mn::Status status =
      mn::Trainer(model, options)
          .run([&](std::unique_ptr<mn::Executor> &executor) {
            return mn::Executor::open(model, {}, executor);
          });
  testing::internal::GetCapturedStdout();
  return status;
}

/// Rewrites a checkpoint, with a checksum that is right, after `change`.
void rewrite(const std::string &path,
             const std::function<void(const std::string &, char *)> &change,
             const std::function<void(mn::SafetensorsMetadata &)> &text) {
  std::vector<std::vector<char>> blocks;
  std::vector<mn::SafetensorsView> views;
  mn::SafetensorsMetadata metadata;
  {
    mn::SafetensorsFile file;
    ASSERT_TRUE(file.open(path).ok());
    for (const mn::SafetensorsEntry &entry : file.entries()) {
      std::vector<char> &block = blocks.emplace_back(entry.end - entry.begin);
      ASSERT_TRUE(
          file.read(entry.name, entry.type, entry.shape, block.data()).ok());
      change(entry.name, block.data());
      views.push_back({entry.name, entry.type, entry.shape, block.data()});
    }
    metadata = file.metadata();
  }
  text(metadata);
  ASSERT_TRUE(mn::writeSafetensors(path, views, metadata).ok());
}

TEST(Checkpoint, IsOfARunOrRefused) {
  Folder folder;
  mn::Options asked;
  asked.data = "digits";
  asked.limit = 500; // 32 batches
  asked.train.testLimit = 200;
  asked.train.epochs = 1;
  asked.train.checkpoint = folder / "checkpoint";
  asked.train.checkpointEvery = 20;
  ASSERT_TRUE(resultOf(asked).ok());
  const std::string path = asked.train.checkpoint + "/checkpoint.safetensors";
  // Back to the middle of the epoch.
  const auto middle = [](const std::string &name, char *data) {
    int64_t value = name == "mn.step" ? 20 : name == "mn.batch" ? 20 : 0;
    if (name == "mn.step" || name == "mn.batch" || name == "mn.epoch" ||
        name == "mn.seen" || name == "mn.correct")
      std::memcpy(data, &value, sizeof value);
  };
  const auto atStep20 = [](mn::SafetensorsMetadata &text) {
    text["step"] = "20";
  };
  rewrite(path, middle, atStep20);
  const std::string good = contentOf(path);
  asked.train.resume = true;
  EXPECT_TRUE(resultOf(asked).ok());
  const struct {
    const char *state;
    int64_t value;
  } cases[] = {{"mn.batch", int64_t(1) << 60},
               {"mn.batch", -1},
               {"mn.epoch", -1},
               {"mn.seen", INT64_MAX},
               {"mn.correct", INT64_MIN},
               {"mn.step", 21}};
  for (const auto &[state, value] : cases) {
    test::write(path, good);
    rewrite(
        path,
        [&](const std::string &name, char *data) {
          if (name == state)
            std::memcpy(data, &value, sizeof value);
        },
        [](mn::SafetensorsMetadata &) {});
    const mn::Status status = resultOf(asked);
    EXPECT_EQ(status.code, mn::Code::badData) << state << ' ' << value;
    EXPECT_NE(status.message.find(path), std::string::npos) << status.message;
  }
  test::write(path, good);
  rewrite(
      path, [](const std::string &, char *) {},
      [](mn::SafetensorsMetadata &text) {
        text["history"] = R"({"points":[],"epochs":[[1e300,0,0,0,0,0]]})";
      });
  EXPECT_NE(resultOf(asked).message.find("expected the history of a run"),
            std::string::npos);
  // One bit here and there; the file says where.
  for (size_t i = 0; i < 40; ++i) {
    std::string flipped = good;
    const size_t bit = i * (good.size() * 8 - 1) / 39;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    test::write(path, flipped);
    const mn::Status status = resultOf(asked);
    EXPECT_EQ(status.code, mn::Code::badData) << bit;
    EXPECT_NE(status.message.find(path), std::string::npos) << status.message;
  }
}

} // namespace
