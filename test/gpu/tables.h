//===- tables.h - cases as a compiled model's tables ------------*- C++ -*-===//

#ifndef MNISTC_TEST_GPU_TABLES_H
#define MNISTC_TEST_GPU_TABLES_H

#include "case.h"

namespace test {

/// The tables of a model that has a plan for each case.
struct Tables {
  explicit Tables(const std::vector<Case> &cases);
  std::vector<std::vector<int64_t>> shapes;
  std::vector<std::vector<mn::Tensor>> tensors;
  std::vector<mn::Step> steps;
  std::vector<mn::Plan> plans;

  /// `code` must outlive it.
  mn::Model model(const mn::DeviceCode &code) const;
};

/// Checks what the executor promises besides running plans.
void testExecutor(const mn::DeviceCode &code, int &passed, int &failed);

/// Checks batches of data sets, and what becomes of parameters.
void testTraining(const mn::DeviceCode &code, int &passed, int &failed);

} // namespace test

#endif // MNISTC_TEST_GPU_TABLES_H
