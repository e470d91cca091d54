//===- tensor-cores.cpp - products on tensor cores ------------------------===//

#include "contractions.h"

namespace test {

std::vector<Case> tensorCoreCases() {
  std::vector<Case> cases;
  MN_TEST_MMA_CONVS(MN_CASE_CONV)
  MN_TEST_MMA_MATMULS(MN_CASE_MATMUL)
  addMatmul<float>(
      cases, "matmul computed", tf32x3_fours,
      MN_RUN_MATMUL(float, Computed, "matmul_computed", tf32x3_fours));
  MN_TEST_ROUNDED_MATMULS(MN_CASE_ROUNDED_MATMUL)
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
