//===- transfers.cpp - small inputs and outputs, and who waits for them ---===//

#include "mnistrt/cuda/kernels/transfer.cuh"
#include "plan.h"
#include <cstring>

using namespace test;
using fake::driver;
using fake::Entry;
using fake::What;
using mn::Transfer;

namespace {

/// The copies of each graph, as its kernels are told of them.
class Transfers {
public:
  Transfers() {
    driver().onLaunch = [this](const std::string &kernel, void **arguments,
                               bool) {
      if (kernel == "mn_transfer")
        all.push_back(*static_cast<Transfer *>(arguments[0]));
    };
  }
  ~Transfers() { driver().onLaunch = nullptr; }

  /// What the kernel does.
  static void run(const Transfer &t) {
    if (t.isPixels)
      for (int64_t i = 0; i < t.bytes; ++i)
        static_cast<float *>(t.to)[i] =
            t.pixels(static_cast<const uint8_t *>(t.from)[i]);
    else
      std::memcpy(t.to, t.from, size_t(t.bytes));
    for (unsigned i = 0; t.done && i < mn::shape::transfer(t.bytes).blocks; ++i)
      t.done[i] = 1;
  }

  std::vector<Transfer> all;
};

bool waitedForEvent() {
  bool waited = false;
  for (const Entry &entry : driver().log)
    waited |= entry.what == What::synchronize && entry.event >= 0;
  return waited;
}

TEST(Transfers, KernelsBeforeAndAfterTheStepsOverlapThem) {
  PlanModel made(std::vector<StepShape>(2));
  auto executor = open(made, true);
  Transfers transfers;
  ASSERT_TRUE(executor->prepare(0).ok());
  // Three inputs and an output, for each slot.
  ASSERT_EQ(transfers.all.size(), 8u);
  ASSERT_EQ(driver().graphs.size(), 3u);
  for (size_t slot : {0, 1}) {
    std::vector<std::string> kernels;
    for (const Entry &entry : driver().graphs[slot + 1]) {
      EXPECT_EQ(entry.what, What::launch);
      EXPECT_EQ(entry.overlaps, !kernels.empty()) << kernels.size();
      kernels.push_back(entry.kernel);
    }
    EXPECT_EQ(kernels, std::vector<std::string>({"mn_transfer", "mn_transfer",
                                                 "mn_transfer", "step0",
                                                 "step1", "mn_transfer"}));
    const Transfer *each = &transfers.all[4 * slot];
    const char *arena = static_cast<const char *>(each[0].to) - made.inputs;
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(each[i].from, executor->input(0, i, int(slot)));
      EXPECT_EQ(each[i].to, arena + made.plan.inputs[i].offset);
      EXPECT_EQ(each[i].done, nullptr);
    }
    EXPECT_EQ(each[0].bytes, 4 * made.rows * made.elements);
    EXPECT_EQ(each[2].bytes, 4);
    EXPECT_EQ(each[3].from, arena + made.outputs);
    EXPECT_EQ(each[3].to, executor->output(0, 0, int(slot)));
    EXPECT_NE(each[3].done, nullptr);
  }
  EXPECT_NE(transfers.all[3].done, transfers.all[7].done);
}

TEST(Transfers, WaitingEndsWithTheLastCopyOrTheEvent) {
  PlanModel made(std::vector<StepShape>(1));
  auto executor = open(made, true);
  Transfers transfers;
  ASSERT_TRUE(executor->prepare(0).ok());
  for (int slot : {0, 1})
    for (bool runs : {true, false, true}) {
      driver().onGraph = [&](int graph) {
        for (int i = 0; runs && i < 4; ++i)
          Transfers::run(transfers.all[size_t(4 * (graph - 1) + i)]);
      };
      ASSERT_TRUE(executor->submit(0, slot).ok());
      driver().log.clear();
      EXPECT_TRUE(executor->wait(slot).ok());
      EXPECT_EQ(waitedForEvent(), !runs);
      // Again: nothing is under way.
      EXPECT_TRUE(executor->wait(slot).ok());
    }
  // What fails never writes its words.
  driver().onGraph = nullptr;
  ASSERT_TRUE(executor->submit(0, 0).ok());
  driver().fails["cuEventSynchronize"] = 700;
  EXPECT_EQ(executor->wait(0).code, mn::Code::noDevice);
}

/// A data set of bytes through a plan whose inputs are small or large.
TEST(Transfers, BytesBecomeFloatsOnTheDevice) {
  for (const int64_t rows : {4, 400'000}) {
    PlanModel made(std::vector<StepShape>(1));
    const int64_t shape[] = {rows};
    const mn::Tensor in = {"x", mn::Type::f32, 1, shape, made.inputs};
    made.plan.inputs = &in;
    made.plan.inputCount = 1;
    made.plan.arenaBytes = size_t(4 * rows) + 8192;
    const bool staged = rows > 4;
    auto executor = open(made, true);
    Transfers transfers;
    ASSERT_TRUE(executor->givePixels(0, 0, {0.1, -0.5}).ok());
    ASSERT_TRUE(executor->prepare(0).ok());
    EXPECT_EQ(executor->givePixels(0, 0, {}).code, mn::Code::usage);
    auto *bytes = static_cast<uint8_t *>(executor->input(0, 0, 1));
    for (int64_t i = 0; i < rows; ++i)
      bytes[i] = uint8_t(i * 7);
    driver().log.clear();
    ASSERT_TRUE(executor->submit(0, 1).ok());
    const Transfer *found = nullptr;
    for (const Transfer &each : transfers.all)
      if (each.isPixels && (staged || each.from == bytes))
        found = &each;
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->bytes, rows);
    if (staged) {
      // As many bytes are copied as were given.
      const Entry &copy = driver().log.at(0);
      EXPECT_EQ(copy.what, What::copy);
      EXPECT_EQ(copy.bytes, size_t(rows));
      EXPECT_EQ(copy.from, bytes);
      EXPECT_EQ(copy.to, found->from);
    }
    Transfers::run(*found);
    for (int64_t i = 0; i < rows; ++i)
      ASSERT_EQ(static_cast<const float *>(found->to)[i],
                float((i * 7 & 255) * 0.1 - 0.5));
  }
}

TEST(Transfers, OnlyFloatsAreMadeOfBytes) {
  PlanModel made(std::vector<StepShape>(1));
  auto executor = open(made, true);
  EXPECT_EQ(executor->givePixels(0, 1, {}).code, mn::Code::usage);
}

} // namespace
