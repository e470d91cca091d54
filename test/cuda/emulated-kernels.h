//===- emulated-kernels.h - right and wrong kernels -------------*- C++ -*-===//

#ifndef MNISTC_TEST_CUDA_EMULATED_KERNELS_H
#define MNISTC_TEST_CUDA_EMULATED_KERNELS_H

inline constexpr char text[] = R"(
#include "mnistrt/cuda/kernels/mma.cuh"
using namespace mn::device;

// Each: out[i] of 64 threads from in[i].
struct Arguments { float *out; const float *in; };
#define KERNEL(NAME) MN_GLOBAL(64) NAME(const __grid_constant__ Arguments a)

KERNEL(neighbour) { // the next thread's number
  __shared__ float all[64];
  all[threadIdx.x] = a.in[threadIdx.x];
  __syncthreads();
  a.out[threadIdx.x] = all[(threadIdx.x + 1) % 64];
}
KERNEL(neighbour_without_barrier) {
  __shared__ float all[64];
  all[threadIdx.x] = a.in[threadIdx.x];
  a.out[threadIdx.x] = all[(threadIdx.x + 1) % 64];
}
KERNEL(warp_sum) {
  float v = a.in[threadIdx.x];
  for (int lanes = 16; lanes; lanes /= 2)
    v += shuffleXor(v, lanes);
  a.out[threadIdx.x] = v;
}
KERNEL(barrier_of_some) {
  if (threadIdx.x < 10)
    __syncthreads();
  else if (threadIdx.x == 63)
    shuffleXor(1, 1);
  a.out[threadIdx.x] = a.in[threadIdx.x];
}
KERNEL(early_return) { // who has ended keeps no barrier waiting
  if (threadIdx.x >= 32)
    return;
  __syncthreads();
  a.out[threadIdx.x] = __syncthreads_or(threadIdx.x == 31) ? 1 : 0;
}
KERNEL(copied) {
  __shared__ uint4 word[16];
  if (threadIdx.x < 16)
    copyAsync<0>(unsigned(__cvta_generic_to_shared(&word[threadIdx.x])),
                 reinterpret_cast<const uint4 *>(a.in) + threadIdx.x);
  waitForCopies();
  __syncthreads();
  a.out[threadIdx.x] = reinterpret_cast<const float *>(word)[threadIdx.x];
}
KERNEL(copied_without_waiting) {
  __shared__ uint4 word[16];
  if (threadIdx.x < 16)
    copyAsync<0>(unsigned(__cvta_generic_to_shared(&word[threadIdx.x])),
                 reinterpret_cast<const uint4 *>(a.in) + threadIdx.x);
  __syncthreads();
  a.out[threadIdx.x] = reinterpret_cast<const float *>(word)[threadIdx.x];
}
MN_DEVICE uint32_t element(const Arguments &a, int i) {
  return toTf32(a.in[i % 64]);
}
// 16 x 8 of 8 terms: a[i][k] = in[i + k], b[k][j] = in[2 j + k].
KERNEL(warp_product) {
  const int lane = threadIdx.x % 32, r = lane / 4, k = lane % 4;
  const uint32_t rows[4] = {element(a, r + k), element(a, r + 8 + k),
                            element(a, r + k + 4), element(a, r + 8 + k + 4)};
  const uint32_t columns[2] = {element(a, 2 * r + k),
                               element(a, 2 * r + k + 4)};
  float d[4] = {};
  mmaTf32(d, rows, columns);
  a.out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}
MN_GLOBAL_CLUSTERS(mn::LaunchShape{.threads = 64, .cluster = 2})
from_other_block(const __grid_constant__ Arguments a) {
  __shared__ float all[64];
  all[threadIdx.x] = a.in[threadIdx.x] + float(blockIdx.x);
  clusterSync();
  a.out[threadIdx.x] = *inBlock(&all[threadIdx.x], 1);
  clusterSync();
}
MN_GLOBAL(128) group_product(const __grid_constant__ Arguments a) {
  // 64 x 16 of 8 terms, rows and columns as for the warp.
  uint4 *rows = dynamicShared, *columns = dynamicShared + 2 * 64;
  for (int e = threadIdx.x; e < 2 * (64 + 16); e += 128) {
    const bool isRow = e < 128;
    const int n = isRow ? e % 64 : (e - 128) % 16;
    const int k = 4 * (isRow ? e / 64 : (e - 128) / 16);
    const int from = (isRow ? n : 2 * n) + k;
    (isRow ? rows : columns)[isRow ? e : e - 128] =
        uint4{element(a, from), element(a, from + 1), element(a, from + 2),
              element(a, from + 3)};
  }
  __syncthreads();
  float d[8];
  beginWgmma();
  wgmmaTf32(d, wgmmaOperand(rows, 64 * 16), wgmmaOperand(columns, 16 * 16), 0);
  commitWgmma();
#ifdef TOO_EARLY
  if (threadIdx.x < 64)
    a.out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
#endif
  waitForWgmma();
#ifndef TOO_EARLY
  if (threadIdx.x < 64)
    a.out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
#endif
}
)";

#endif // MNISTC_TEST_CUDA_EMULATED_KERNELS_H
