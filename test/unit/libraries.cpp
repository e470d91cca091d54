//===- libraries.cpp - oneDNN's and OpenBLAS's calls ----------------------===//
//
// Against plain loops, with every epilogue, twice: the second run uses what the
// first one prepared.
//
//===----------------------------------------------------------------------===//

#include "mnistrt/generated.h"
#include "reference.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <gtest/gtest.h>
#include <memory>
#include <pthread.h>
#include <thread>
#include <ucontext.h>

namespace {

using reference::expectNear;
using reference::Numbers;

/// A context of one step, whose constants are `constants`.
struct Bench {
  mn::CpuRuntime::Prepared *prepared = nullptr;
  mn::CpuRuntime runtime{&prepared, nullptr};
  mn::Context context;

  explicit Bench(const Numbers *constants = nullptr) {
    context.runtime = &runtime;
    if (constants) {
      context.constants = reinterpret_cast<const char *>(constants->data());
      runtime.constantsEnd =
          context.constants + constants->size() * sizeof(float);
    }
  }
  ~Bench() { delete prepared; }
};

struct Form {
  bool bias, residual, inPlace, relu;
};
constexpr Form forms[] = {{false, false, false, false},
                          {true, false, false, true},
                          {true, true, false, true},
                          {false, true, true, false},
                          {true, true, true, true}};

/// y = relu?(x + bias + residual), with a bias for every `inner`-th of `size`.
Numbers finished(const std::vector<double> &sums, const Form &form,
                 const Numbers &bias, size_t inner, const Numbers &residual) {
  Numbers result(sums.size());
  for (size_t i = 0; i < sums.size(); ++i) {
    double value = sums[i];
    value += form.bias ? bias[i / inner % bias.size()] : 0;
    value += form.residual ? residual[i] : 0;
    result[i] = static_cast<float>(form.relu ? std::max(value, 0.) : value);
  }
  return result;
}

mn::Epilogue epilogueOf(const Form &form, const Numbers &bias,
                        const Numbers &residual, const Numbers &result) {
  mn::Epilogue epilogue;
  epilogue.bias = form.bias ? bias.data() : nullptr;
  if (form.residual)
    epilogue.residual = form.inPlace ? result.data() : residual.data();
  epilogue.relu = form.relu;
  return epilogue;
}

using MatmulCall = void (*)(mn::Context &, float *, const float *,
                            const float *, const mn::Matmul &,
                            const mn::Epilogue &);

void checkMatmul(MatmulCall call, mn::Matmul s, const Form &form,
                 bool constant) {
  const Numbers a = reference::random(size_t(s.batch) * s.m * s.k, 1);
  const Numbers b = reference::random(size_t(s.batch) * s.k * s.n, 2);
  const Numbers bias = reference::random(size_t(s.n), 3);
  const std::vector<double> sums = reference::matmul(s, a, b);
  const Numbers residual = reference::random(sums.size(), 4);
  const Numbers expected = finished(sums, form, bias, 1, residual);
  Bench bench(constant ? &b : nullptr);
  Numbers y(sums.size());
  for (int run = 0; run < 2; ++run) {
    std::fill(y.begin(), y.end(), -1.f);
    if (form.inPlace)
      std::copy(residual.begin(), residual.end(), y.begin());
    call(bench.context, y.data(), a.data(), b.data(), s,
         epilogueOf(form, bias, residual, y));
    expectNear(y, expected, 1e-4);
  }
}

TEST(OpenBlas, Matmul) {
  for (const Form &form : forms)
    for (int t = 0; t < 4; ++t) {
      checkMatmul(mn::openblas::matmul,
                  {.m = 64,
                   .n = 10,
                   .k = 128,
                   .transposedA = bool(t & 1),
                   .transposedB = bool(t & 2)},
                  form, true);
      checkMatmul(mn::openblas::matmul,
                  {.batch = 2,
                   .m = 300,
                   .n = 270,
                   .k = 20,
                   .transposedA = bool(t & 1),
                   .transposedB = bool(t & 2)},
                  form, false);
    }
}

TEST(OneDnn, Matmul) {
  for (const Form &form : forms)
    for (int t = 0; t < 8; ++t) {
      checkMatmul(mn::onednn::matmul,
                  {.m = 64,
                   .n = 10,
                   .k = 128,
                   .transposedA = bool(t & 1),
                   .transposedB = bool(t & 2)},
                  form, t & 4);
      checkMatmul(mn::onednn::matmul,
                  {.batch = 3,
                   .m = 5,
                   .n = 7,
                   .k = 9,
                   .transposedA = bool(t & 1),
                   .transposedB = bool(t & 2)},
                  form, t & 4);
    }
}

void checkConv(mn::Conv s, const Form &form, bool constant) {
  const reference::Convolved c(s);
  const Numbers bias = reference::random(size_t(s.outChannels), 4);
  const Numbers &residual = c.dy;
  const size_t inner =
      s.layout == mn::Layout::nchw ? size_t(reference::product(s.out)) : 1;
  const Numbers expected = finished(c.y, form, bias, inner, residual);
  const Numbers *constants = constant ? &c.w : nullptr;
  Bench forward(constants), input(constants), weights;
  // A step's addresses never change, from the first run on.
  Numbers result(c.y.size()), inputGrad(c.dx.size()), filterGrad(c.dw.size());
  for (int run = 0; run < 2; ++run) {
    std::fill(result.begin(), result.end(), -1.f);
    if (form.inPlace)
      std::copy(residual.begin(), residual.end(), result.begin());
    mn::onednn::conv(forward.context, result.data(), c.x.data(), c.w.data(), s,
                     epilogueOf(form, bias, residual, result));
    expectNear(result, expected, 1e-4);
    if (&form != &forms[0])
      continue;
    mn::onednn::convInputGrad(input.context, inputGrad.data(), c.dy.data(),
                              c.w.data(), s);
    expectNear(inputGrad, c.dx, 1e-4);
    mn::onednn::convFilterGrad(weights.context, filterGrad.data(), c.x.data(),
                               c.dy.data(), s);
    expectNear(filterGrad, c.dw, 1e-3);
  }
}

TEST(OneDnn, Convolutions) {
  for (mn::Conv s : reference::convs)
    for (mn::Layout layout : {mn::Layout::nchw, mn::Layout::nhwc})
      for (const Form &form : forms)
        for (bool constant : {false, true}) {
          s.layout = layout;
          checkConv(s, form, constant);
        }
}

// Large enough to be cut: into products, rows, columns, images and lines.

TEST(OneDnn, MatmulInParts) {
  const mn::Matmul shapes[] = {{.m = 128, .n = 256, .k = 256},
                               {.batch = 3, .m = 64, .n = 128, .k = 128},
                               {.m = 1, .n = 2050, .k = 1100}};
  for (mn::Matmul s : shapes)
    for (const Form &form : forms)
      for (int t = 0; t < 8; ++t) {
        s.transposedA = t & 1, s.transposedB = t & 2;
        checkMatmul(mn::onednn::matmul, s, form, t & 4);
      }
}

TEST(OneDnn, ConvolutionsInParts) {
  const mn::Conv shapes[] = {{.inChannels = 32,
                              .outChannels = 32,
                              .in = {24, 20, 1},
                              .kernel = {3, 3, 1},
                              .out = {24, 20, 1},
                              .pads = {1, 1, 0}},
                             {.batch = 3,
                              .inChannels = 48,
                              .outChannels = 80,
                              .groups = 2,
                              .in = {49, 20, 1},
                              .kernel = {3, 2, 1},
                              .out = {23, 10, 1},
                              .strides = {2, 2, 1},
                              .pads = {0, 0, 0},
                              .dilations = {2, 1, 1}},
                             {.batch = 4,
                              .inChannels = 24,
                              .outChannels = 24,
                              .groups = 24,
                              .in = {20, 18, 1},
                              .kernel = {5, 5, 1},
                              .out = {20, 18, 1},
                              .pads = {2, 2, 0}},
                             {.spatial = 1,
                              .batch = 2,
                              .inChannels = 16,
                              .outChannels = 32,
                              .in = {700, 1, 1},
                              .kernel = {5, 1, 1},
                              .out = {702, 1, 1},
                              .pads = {3, 0, 0}}};
  for (mn::Conv s : shapes)
    for (mn::Layout layout : {mn::Layout::nchw, mn::Layout::nhwc})
      for (const Form *form : {&forms[0], &forms[2], &forms[4]}) {
        s.layout = layout;
        checkConv(s, *form, false);
      }
}

/// Where the stack pointer of a thread was when it took signals.
struct Taken {
  char *low, *high; ///< its stack
  std::atomic<int> inside = 0, outside = 0;
} taken;

void take(int, siginfo_t *, void *context) {
  const auto registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
  auto *pointer = reinterpret_cast<char *>(registers[REG_RSP]);
  ++(pointer >= taken.low && pointer < taken.high ? taken.inside
                                                  : taken.outside);
}

/// A handler's frame would overwrite the heap.
TEST(OneDnn, NoSignalComesWhileTheStackIsElsewhere) {
  std::vector<char> other(1 << 16);
  const stack_t mine = {other.data(), 0, other.size()},
                none = {{}, SS_DISABLE, {}};
  sigaltstack(&mine, nullptr);
  struct sigaction action = {}, before;
  action.sa_sigaction = take;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigaction(SIGUSR1, &action, &before);
  pthread_attr_t attributes;
  pthread_getattr_np(pthread_self(), &attributes);
  void *low;
  size_t size;
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  taken.low = static_cast<char *>(low), taken.high = taken.low + size;

  std::atomic<bool> done = false;
  std::thread sender([&, to = pthread_self()] {
    for (; !done; std::this_thread::sleep_for(std::chrono::microseconds(20)))
      pthread_kill(to, SIGUSR1);
  });
  const mn::Matmul s = {.m = 784, .n = 32, .k = 256, .transposedA = true};
  const Numbers a(size_t(s.m) * s.k), b(size_t(s.k) * s.n);
  Numbers y(size_t(s.m) * s.n);
  Bench bench;
  for (int run = 0; run < 300; ++run)
    mn::onednn::matmul(bench.context, y.data(), a.data(), b.data(), s, {});
  done = true;
  sender.join();
  sigaction(SIGUSR1, &before, nullptr);
  sigaltstack(&none, nullptr);
  EXPECT_GT(taken.inside, 0);
  EXPECT_EQ(taken.outside, 0);
}

TEST(OneDnn, NanStays) {
  const mn::Matmul s = {.m = 2, .n = 3, .k = 4};
  Numbers a(8, 1.f), b(12, 1.f), y(6);
  a[1] = NAN;
  Bench bench;
  mn::onednn::matmul(bench.context, y.data(), a.data(), b.data(), s,
                     {.relu = true});
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(std::isnan(y[i]));
    EXPECT_EQ(y[i + 3], 4.f);
  }
}

} // namespace
