//===- emulated.cpp - tests of the emulated GPU itself --------------------===//
//
// Kernels that are right give what they should, whichever thread runs first and
// whenever the tensor cores multiply; those that are wrong are found.
//
//===----------------------------------------------------------------------===//

#include "module.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <numeric>
#include <string>
#include <vector>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MN_SANITIZED
#endif
#endif

extern "C" {
int nvrtcCreateProgram(void **, const char *, const char *, int,
                       const char *const *, const char *const *);
int nvrtcCompileProgram(void *, int, const char *const *);
int nvrtcGetCUBINSize(void *, size_t *);
int nvrtcGetCUBIN(void *, char *);
int nvrtcGetProgramLogSize(void *, size_t *);
int nvrtcGetProgramLog(void *, char *);
int nvrtcDestroyProgram(void **);
}

namespace {

constexpr char text[] = R"(
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

std::string compiled(const std::vector<const char *> &more) {
  std::vector<const char *> options = {"-I" MN_RUNTIME_INCLUDE};
  options.insert(options.end(), more.begin(), more.end());
  void *program = nullptr;
  nvrtcCreateProgram(&program, text, "", 0, nullptr, nullptr);
  const int code =
      nvrtcCompileProgram(program, int(options.size()), options.data());
  size_t bytes = 0;
  nvrtcGetProgramLogSize(program, &bytes);
  std::string log(bytes, '\0');
  nvrtcGetProgramLog(program, log.data());
  EXPECT_EQ(code, 0) << log;
  nvrtcGetCUBINSize(program, &bytes);
  std::string image(bytes, '\0');
  nvrtcGetCUBIN(program, image.data());
  nvrtcDestroyProgram(&program);
  return image;
}

/// What a kernel is run with and has to give.
using Numbers = std::vector<float>;
constexpr size_t count = 64;

Numbers numbers() {
  Numbers in(count);
  for (size_t i = 0; i < count; ++i)
    in[i] = float(i % 11) - 4;
  return in;
}
float at(int i) { return numbers()[size_t(i) % count]; }

/// Sums of a thread's four products of a warp.
Numbers products() {
  Numbers all(count);
  for (int thread = 0; thread < int(count); ++thread)
    for (int i = 0; i < 4; ++i) {
      const int lane = thread % 32;
      for (int k = 0; k < 8; ++k)
        all[size_t(thread)] +=
            at(lane / 4 + i / 2 * 8 + k) * at(2 * (lane % 4 * 2 + i % 2) + k);
    }
  return all;
}
/// Of a warpgroup: warps have 16 rows each.
Numbers groupProducts() {
  Numbers all(count);
  for (int thread = 0; thread < int(count); ++thread)
    for (int i = 0; i < 4; ++i) {
      const int lane = thread % 32;
      for (int k = 0; k < 8; ++k)
        all[size_t(thread)] += at(thread / 32 * 16 + lane / 4 + i / 2 * 8 + k) *
                               at(2 * (lane % 4 * 2 + i % 2) + k);
    }
  return all;
}

struct Case {
  const char *kernel;
  Numbers (*expected)();
  unsigned threads = 64, blocks = 1;
};

Numbers rotated() {
  Numbers all = numbers();
  std::rotate(all.begin(), all.begin() + 1, all.end());
  return all;
}
Numbers warpSums() {
  const Numbers in = numbers();
  Numbers all(count);
  for (size_t i = 0; i < count; ++i)
    all[i] = std::accumulate(in.begin() + i / 32 * 32,
                             in.begin() + i / 32 * 32 + 32, 0.0f);
  return all;
}
Numbers onesInFirstWarp() {
  Numbers all(count);
  std::fill_n(all.begin(), 32, 1.0f);
  return all;
}
Numbers plusOne() {
  Numbers all = numbers();
  for (float &v : all)
    ++v;
  return all;
}

class Emulated : public testing::Test {
protected:
  void SetUp() override {
#ifdef MN_SANITIZED
    GTEST_SKIP() << "a sanitizer does not know fibers";
#endif
  }
  void TearDown() override { set("forward", "late"); }
  static void set(const char *order, const char *async) {
    setenv("FAKE_CUDA_ORDER", order, 1);
    setenv("FAKE_CUDA_ASYNC", async, 1);
  }

  /// What the kernel gives; `wrong`: what is said of it.
  static Numbers run(const emulated::Module &module, const Case &c,
                     std::string &wrong) {
    Numbers in = numbers(), out(count);
    struct {
      float *out;
      const float *in;
    } functor = {out.data(), in.data()};
    void *arguments[] = {&functor};
    const emulated::Kernel *kernel = module.find(c.kernel);
    EXPECT_NE(kernel, nullptr) << c.kernel;
    wrong = module.launch(*kernel, c.blocks, c.threads, 8192, arguments)();
    return out;
  }
  /// How many ways to run it give what is expected.
  static int waysThatAreRight(const emulated::Module &module, const Case &c) {
    int right = 0;
    for (const char *order : {"forward", "backward"})
      for (const char *async : {"late", "early"}) {
        set(order, async);
        std::string wrong;
        const Numbers found = run(module, c, wrong);
        right += wrong.empty() && found == c.expected();
      }
    return right;
  }
};

TEST_F(Emulated, right_kernels_are_right_in_any_order) {
  const std::string image = compiled({});
  const auto module = emulated::Module::load(image.data());
  ASSERT_NE(module, nullptr);
  for (const Case &c : {Case{"neighbour", rotated}, Case{"warp_sum", warpSums},
                        Case{"early_return", onesInFirstWarp},
                        Case{"copied", numbers}, Case{"warp_product", products},
                        Case{"from_other_block", plusOne, 64, 2},
                        Case{"group_product", groupProducts, 128}})
    EXPECT_EQ(waysThatAreRight(*module, c), 4) << c.kernel;
}

TEST_F(Emulated, wrong_kernels_are_found) {
  const std::string image = compiled({"-DTOO_EARLY"});
  const auto module = emulated::Module::load(image.data());
  ASSERT_NE(module, nullptr);
  for (const Case &c : {Case{"neighbour_without_barrier", rotated},
                        Case{"copied_without_waiting", numbers},
                        Case{"group_product", groupProducts, 128}})
    EXPECT_LT(waysThatAreRight(*module, c), 4) << c.kernel;
}

TEST_F(Emulated, launches_that_cannot_be_say_why) {
  const std::string image = compiled({});
  const auto module = emulated::Module::load(image.data());
  ASSERT_NE(module, nullptr);
  std::string wrong;
  run(*module, {"barrier_of_some", numbers}, wrong);
  EXPECT_EQ(wrong, "barrier_of_some: block 0 waits for ever");
  run(*module, {"neighbour", numbers, 96}, wrong);
  EXPECT_NE(wrong.find("expected at most 64 threads"), std::string::npos);
  run(*module, {"from_other_block", numbers, 64, 3}, wrong);
  EXPECT_NE(wrong.find("blocks in groups of 2"), std::string::npos);
  EXPECT_EQ(module->find("no_such_kernel"), nullptr);
}

TEST_F(Emulated, machine_code_of_a_gpu_is_left_alone) {
  EXPECT_EQ(emulated::Module::load("cubin, and no file of the CPU's, which has "
                                   "a header of sixty-four bytes"),
            nullptr);
}

} // namespace
