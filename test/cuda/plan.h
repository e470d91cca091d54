//===- plan.h - plans whose steps are launches, and their order -*- C++ -*-===//

#ifndef MNISTC_TEST_CUDA_PLAN_H
#define MNISTC_TEST_CUDA_PLAN_H

#include "core/executor.h"
#include "fake-driver.h"
#include "mnistrt/batch.h"
#include "mnistrt/model.h"
#include <gtest/gtest.h>
#include <memory>
#include <random>

namespace test {

struct StepShape {
  int stream = 0;
  std::vector<int> after = {}; ///< steps of other streams
  const char *implementation = "kernel";
  void (*run)(mn::Context &) = nullptr; ///< instead of one launch
  bool packsEarly = false;              ///< launches "step<i>_filters", too
  int packing = -1; ///< an earlier step that packs early: its filter is written
};

/// The batches of a whole graph.
constexpr int many = int(mn::batchesPerGraph);

/// A model with one plan; step i launches the kernel "step<i>", whose arguments
/// are the arena, the workspace and the input.
class PlanModel {
public:
  explicit PlanModel(std::vector<StepShape> shapes,
                     const char *name = mn::kinds::infer);
  PlanModel(const PlanModel &) = delete;
  PlanModel &operator=(const PlanModel &) = delete;

  static constexpr size_t weight = 0, seed = 256, epoch = 512, batch = 768,
                          parameterBytes = 1024, inputs = 1024, labels = 2048,
                          valid = 2304, outputs = 2560, arenaBytes = 4096;
  static constexpr int64_t rows = 4, elements = 6;

  mn::Plan plan = {};
  mn::Model model = {};
  std::vector<StepShape> shapes;
  mn::DeviceCode code = {"sm_90", {}};

private:
  std::vector<std::string> names;
  std::vector<mn::Step> steps;
};

/// A plan that the compiler could have made.
std::vector<StepShape> randomShape(std::mt19937 &random);
std::string text(const std::vector<StepShape> &shapes);

/// Opens a model on a fresh driver.
std::unique_ptr<mn::Executor> open(const PlanModel &made, bool graph);

/// Which entries are done when entry i begins: an order of streams and events.
std::vector<std::vector<bool>> doneBefore(const std::vector<fake::Entry> &log);

/// Checks every rule of a plan's order in a log: the steps that a step waits
/// for, its filters and those that it writes over, all that was before the
/// plan, and all steps before what follows; and that a kernel overlaps only the
/// kernel right before it.
void checkOrder(const PlanModel &made, const std::vector<fake::Entry> &log,
                int runs, const std::string &what);

} // namespace test

#endif // MNISTC_TEST_CUDA_PLAN_H
