//===- on-device.cpp - rows in a caller's memory, and its streams ---------===//

#include "plan.h"
#include <cstring>
#include <cuda.h>
#include <numeric>

using namespace test;
using fake::driver;
using fake::Entry;
using fake::What;
using mn::CallerRows;

namespace {

/// Floats on the fake GPU.
class OnDevice {
public:
  explicit OnDevice(size_t count) : count(count) {
    EXPECT_EQ(cuMemAlloc(&address, count * 4), CUDA_SUCCESS);
    std::iota(begin(), begin() + count, 1.0f);
  }
  ~OnDevice() { cuMemFree(address); }
  OnDevice(const OnDevice &) = delete;
  OnDevice &operator=(const OnDevice &) = delete;
  float *begin() const { return reinterpret_cast<float *>(address); }
  size_t bytes() const { return count * 4; }

private:
  CUdeviceptr address = 0;
  size_t count;
};

struct CallerStream {
  CUstream stream = nullptr;
  CallerStream() { cuStreamCreate(&stream, 0); }
  ~CallerStream() { cuStreamDestroy(stream); }
};

/// A run of the plan: `rows` of x from the device, labels and valid from the
/// host.
mn::Status run(mn::Executor &executor, const OnDevice &x, const OnDevice &y,
               size_t rows, size_t repeats, CUstream stream) {
  static const int32_t labels[] = {5, 6, 7, 8}, valid = 3;
  const size_t row = PlanModel::elements * 4;
  MN_TRY(executor.checkOnDevice(x.begin(), rows * row));
  MN_TRY(executor.beginAfter(stream));
  MN_TRY(executor.runOnDevice(0,
                              {{x.begin(), rows * row, repeats},
                               {labels, rows * 4, 0, true},
                               {&valid, 4, 0, true}},
                              {{y.begin(), rows * row}}));
  return executor.endBefore(stream);
}

const float *inputsIn(const Entry &first) {
  return static_cast<const float *>(first.to);
}

TEST(CallerMemory, RowsAreCopiedAndTheLastFillsTheBatch) {
  PlanModel made(std::vector<StepShape>(2));
  for (bool graph : {false, true}) {
    auto executor = open(made, graph);
    ASSERT_TRUE(executor->prepare(0).ok());
    const OnDevice x(24), y(24);
    const CallerStream caller;
    const size_t rows = 2, elements = PlanModel::elements;
    for (const size_t repeats : {elements * 4, size_t(0)}) {
      driver().log.clear();
      const mn::Status status =
          run(*executor, x, y, rows, repeats, caller.stream);
      ASSERT_TRUE(status.ok()) << status.message;
      const auto copy =
          std::find_if(driver().log.begin(), driver().log.end(),
                       [&](const Entry &e) { return e.from == x.begin(); });
      ASSERT_NE(copy, driver().log.end());
      const float *arena = inputsIn(*copy);
      for (size_t i = 0; i < 24; ++i)
        EXPECT_EQ(arena[i], i < 12         ? float(i + 1)
                            : repeats == 0 ? 0
                                           : float(i % elements + 7))
            << i;
      // The labels of the rows that are not there are zeros.
      const auto *labels = reinterpret_cast<const int32_t *>(
          reinterpret_cast<const char *>(arena) + PlanModel::labels -
          PlanModel::inputs);
      EXPECT_EQ(std::vector<int32_t>(labels, labels + 4),
                (std::vector<int32_t>{5, 6, 0, 0}));
      const auto &last =
          *std::find_if(driver().log.begin(), driver().log.end(),
                        [&](const Entry &e) { return e.to == y.begin(); });
      EXPECT_EQ(last.bytes, rows * elements * 4);
    }
  }
}

/// Nothing of a run begins before what the caller's stream had, and nothing
/// that it gets later before the run's end; the host never waits.
TEST(CallerMemory, RunsInTheOrderOfTheCallersStream) {
  PlanModel made(std::vector<StepShape>(2));
  auto executor = open(made, false);
  ASSERT_TRUE(executor->prepare(0).ok());
  const OnDevice x(24), y(24), other(1);
  const CallerStream caller;
  for (CUstream stream : {caller.stream, CUstream(nullptr)}) {
    driver().log.clear();
    cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(other.begin()), 0, 4, stream);
    const size_t before = driver().log.size() - 1;
    ASSERT_TRUE(run(*executor, x, y, 4, 0, stream).ok());
    cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(other.begin()), 0, 4, stream);
    const auto &log = driver().log;
    const auto done = doneBefore(log);
    int runs = 0;
    for (size_t i = 0; i < log.size(); ++i) {
      const bool copies = log[i].from == x.begin() || log[i].to == y.begin();
      if (log[i].what != What::launch && !copies)
        continue;
      ++runs;
      EXPECT_TRUE(done[i][before]) << i;
      EXPECT_TRUE(done[log.size() - 1][i]) << i;
    }
    EXPECT_EQ(runs, 4);
  }
}

TEST(CallerMemory, WhatIsNotTheDevicesIsRefused) {
  PlanModel made(std::vector<StepShape>(1));
  auto executor = open(made, true);
  const OnDevice x(24);
  const CallerStream caller;
  std::vector<float> host(24);
  const auto refuses = [](const mn::Status &status, const char *why) {
    EXPECT_EQ(status.code, mn::Code::usage);
    EXPECT_NE(status.message.find(why), std::string::npos) << status.message;
  };
  EXPECT_TRUE(executor->checkOnDevice(x.begin(), x.bytes()).ok());
  EXPECT_TRUE(executor->checkOnDevice(nullptr, 0).ok());
  refuses(executor->checkOnDevice(host.data(), 96), "an address elsewhere");
  refuses(executor->checkOnDevice(x.begin(), 4096), "got less");
  driver().memoryOn = 1;
  refuses(executor->checkOnDevice(x.begin(), 96), "on GPU 0, the session's");
  driver().memoryOn = 0;
  cuStreamBeginCapture(caller.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  refuses(executor->beginAfter(caller.stream), "that no graph is captured");
  CUgraph graph = nullptr;
  cuStreamEndCapture(caller.stream, &graph);
  driver().fails["cuEventRecord"] = CUDA_ERROR_INVALID_HANDLE;
  refuses(executor->beginAfter(caller.stream), "a stream of the session's GPU");
}

TEST(CallerMemory, IsReadAfterTheStream) {
  PlanModel made(std::vector<StepShape>(1));
  auto executor = open(made, true);
  const OnDevice x(24);
  const CallerStream caller;
  ASSERT_TRUE(executor->beginAfter(caller.stream).ok());
  std::vector<float> found(24);
  ASSERT_TRUE(executor->readOnDevice(x.begin(), found.data(), 96).ok());
  EXPECT_EQ(found[23], 24);
  EXPECT_EQ(driver().log.back().what, What::synchronize);
}

} // namespace
