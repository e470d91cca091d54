//===- ranks.h - ranks that add up, on a driver without GPU -----*- C++ -*-===//

#ifndef MNISTC_TEST_CUDA_RANKS_H
#define MNISTC_TEST_CUDA_RANKS_H

#include "core/ranks.h"
#include "fake-nccl.h"
#include "mnistrt/cuda/libraries.h"
#include "plan.h"
#include <cstdlib>

namespace test {

using fake::driver;
using fake::nccl;

/// One of two; the other says the same.
struct Pair final : mn::Ranks {
  Pair() : mn::Ranks({1, 2, 1, 2}) {}
  mn::Status watch(double) override { return watched; }
  mn::Status reduce(mn::Reduction, double *values, int64_t) override {
    *values = otherShares ? *values : 0;
    return mn::Status::success();
  }

  mn::Status watched;
  bool otherShares = true; ///< its memory
};

inline void addUp(mn::Context &ctx) {
  mn::nccl::allReduce(ctx, ctx.at<float>(PlanModel::outputs), 24);
}

/// A plan whose second step is a sum, with an executor of rank 1 of 2.
struct Sums : testing::Test {
  explicit Sums(std::vector<StepShape> shapes = {{}, {0, {}, "nccl"}})
      : made(std::move(shapes), mn::kinds::train) {
    ::setenv("MNISTC_CUDA_PATH", MN_FAKE_LIBRARIES, 1);
    nccl() = {};
    driver() = {};
    steps.assign(made.plan.steps, made.plan.steps + made.plan.stepCount);
    steps[1].run = addUp;
    made.plan.steps = steps.data();
    made.plan.prefetches = true;
    open();
  }
  void open() {
    executor.reset();
    const mn::Status status =
        mn::Executor::open(made.model, {.ranks = &ranks}, executor);
    EXPECT_TRUE(status.ok()) << status.message;
  }
  ~Sums() override { ::unsetenv("MNISTC_CUDA_PATH"); }

  PlanModel made;
  std::vector<mn::Step> steps;
  Pair ranks;
  std::unique_ptr<mn::Executor> executor;
};

/// The sum of 300,000 floats follows a kernel, and then comes a small one.
inline void addUpMany(mn::Context &ctx) {
  mn::nccl::allReduce(ctx, ctx.at<float>(PlanModel::outputs), 300000);
}

struct LargeSums : Sums {
  LargeSums() : Sums({{}, {0, {}, "nccl"}, {0, {}, "nccl"}}) {
    made.plan.arenaBytes = PlanModel::outputs + 300000 * 4 + 256;
    steps[1].run = addUpMany;
    steps[2].run = [](mn::Context &ctx) {
      mn::nccl::allReduce(
          ctx, ctx.at<float>(PlanModel::outputs + 300000 * 4 + 192), 16);
    };
    open();
  }
  void join() {
    ASSERT_TRUE(executor->prepare(0).ok());
    ASSERT_TRUE(executor->join().ok());
  }
};

} // namespace test

#endif // MNISTC_TEST_CUDA_RANKS_H
