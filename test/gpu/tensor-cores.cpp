//===- tensor-cores.cpp - products on tensor cores ------------------------===//

#include "contractions.h"

namespace test {

/// Once more with operands that are infinite, and some that are NaN. Sums of
/// both, and their gradients, are what FMA units would make of them.
static void addSpecial(std::vector<Case> &cases) {
  const size_t count = cases.size();
  for (size_t i = 0; i < count; ++i) {
    // Where a window is in the padding, 0 times infinity is no reference.
    if (!cases[i].name.starts_with("matmul ") &&
        !(cases[i].name.starts_with("conv ") &&
          cases[i].name.ends_with("patch_inside")))
      continue;
    Case c = cases[i];
    c.name += " infinite";
    c.hasInfinity = true;
    cases.push_back(c);
    c.name += " nan";
    c.hasNan = true;
    cases.push_back(c);
  }
}

std::vector<Case> tensorCoreCases() {
  std::vector<Case> cases;
  MN_TEST_MMA_CONVS(MN_CASE_CONV)
  MN_TEST_MMA_MATMULS(MN_CASE_MATMUL)
  addMatmul<float>(
      cases, "matmul computed", tf32x3_fours,
      MN_RUN_MATMUL(float, Computed, "matmul_computed", tf32x3_fours));
  addSpecial(cases);

  MN_CASE_CUDNN(tf32_conv2_64_big)
  MN_CASE_CUDNN(tf32_strided)
  MN_CASE_CUDNN(tf32_groups)
  MN_CASE_CUDNN(tf32_one_dim)
  MN_CASE_CUDNN(tf32_pointwise)
  MN_CASE_CUBLAS(tf32_fc1_64_big)
  MN_CASE_CUBLAS(tf32_odd_split)
  MN_CASE_CUBLAS(tf32_stacked)
  MN_CASE_CUBLAS(bf16_fc1_64_big)
  MN_CASE_CUBLAS(bf16_odd_split)
  MN_CASE_CUBLAS(bf16_stacked)
  return cases;
}

} // namespace test
