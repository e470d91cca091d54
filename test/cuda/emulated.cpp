//===- emulated.cpp - tests of the emulated GPU itself --------------------===//
//
// Kernels that are right give what they should, whichever thread runs first and
// whenever the tensor cores multiply; those that are wrong are found, and so
// are graphs.
//
//===----------------------------------------------------------------------===//

#include "emulated-kernels.h"
#include "module.h"
#include "test/sanitized.h"
#include <cstdlib>
#include <cuda.h>
#include <gtest/gtest.h>
#include <numeric>
#include <string>
#include <vector>

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

/// A graph of two copies, from a to b and from b to c, on two streams: what is
/// in c after it has run.
int copiedOnTwoStreams(bool waits) {
  int memory[3] = {1, 2, 3};
  const auto at = [&](int i) { return CUdeviceptr(&memory[i]); };
  CUstream first, second;
  CUevent begin, copied, end;
  for (CUstream *stream : {&first, &second})
    cuStreamCreate(stream, CU_STREAM_NON_BLOCKING);
  for (CUevent *event : {&begin, &copied, &end})
    cuEventCreate(event, CU_EVENT_DISABLE_TIMING);
  cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  cuEventRecord(begin, first);
  cuStreamWaitEvent(second, begin, 0);
  cuMemcpyDtoDAsync(at(1), at(0), sizeof(int), first);
  cuEventRecord(copied, first);
  if (waits)
    cuStreamWaitEvent(second, copied, 0);
  cuMemcpyDtoDAsync(at(2), at(1), sizeof(int), second);
  cuEventRecord(end, second);
  cuStreamWaitEvent(first, end, 0);
  CUgraph graph;
  CUgraphExec made;
  EXPECT_EQ(cuStreamEndCapture(first, &graph), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphInstantiateWithFlags(&made, graph, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(made, first), CUDA_SUCCESS);
  for (CUevent event : {begin, copied, end})
    cuEventDestroy(event);
  for (CUstream stream : {first, second})
    cuStreamDestroy(stream);
  return memory[2];
}

TEST_F(Emulated, waits_that_graphs_lack_are_found) {
  for (const char *order : {"forward", "backward"}) {
    set(order, "late");
    EXPECT_EQ(copiedOnTwoStreams(true), 1) << order;
  }
  set("forward", "late");
  EXPECT_EQ(copiedOnTwoStreams(false), 1);
  set("backward", "late");
  EXPECT_EQ(copiedOnTwoStreams(false), 2) << "the second copy ran first";
}

TEST_F(Emulated, machine_code_of_a_gpu_is_left_alone) {
  EXPECT_EQ(emulated::Module::load("cubin, and no file of the CPU's, which has "
                                   "a header of sixty-four bytes"),
            nullptr);
}

} // namespace
