//===- pools.cpp - pools, their indices and gradients ---------------------===//

#include "case.h"
#include "kernels.h"

namespace test {

namespace {

using Inputs = std::vector<Numbers>;

int64_t inputs(const mn::Pool &s) {
  return int64_t(s.batch) * s.channels * s.in[0] * s.in[1] * s.in[2];
}
int64_t outputs(const mn::Pool &s) {
  return int64_t(s.batch) * s.channels * s.out[0] * s.out[1] * s.out[2];
}

void maxPool(const mn::Pool &s, const Inputs &in, Numbers &y) {
  reference::windows(s, [&](int n, int c, int64_t o, const int(&at)[3]) {
    int place[3];
    y[size_t(o)] = reference::best(s, in[0], n, c, at, place);
  });
}

void argMaxPool(const mn::Pool &s, const Inputs &in, Numbers &y) {
  reference::windows(s, [&](int n, int c, int64_t o, const int(&at)[3]) {
    int p[3];
    reference::best(s, in[0], n, c, at, p);
    const int64_t plane = int64_t(n) * s.channels + c;
    const int64_t pixel =
        s.columnMajor
            ? p[0] + int64_t(s.in[0]) * (p[1] + int64_t(s.in[1]) * p[2])
            : p[2] + int64_t(s.in[2]) * (p[1] + int64_t(s.in[1]) * p[0]);
    if (s.inWindow) {
      y[size_t(o)] = ((p[0] - at[0] * s.kernel[0]) * s.kernel[1] + p[1] -
                      at[1] * s.kernel[1]) *
                         s.kernel[2] +
                     p[2] - at[2] * s.kernel[2];
      return;
    }
    // A window that is entirely in the padding gives 0.
    y[size_t(o)] =
        p[0] < 0 ? 0 : double(plane * s.in[0] * s.in[1] * s.in[2] + pixel);
  });
}

/// The indices come as numbers of some values, of which few are indices.
void maxUnpool(const mn::Pool &s, const Inputs &in, Numbers &y) {
  const reference::Image image{s.layout, s.channels, s.in};
  reference::windows(s, [&](int n, int c, int64_t o, const int(&at)[3]) {
    reference::window(s, at, [&](const int(&tap)[3], const int(&p)[3]) {
      const int index = (tap[0] * s.kernel[1] + tap[1]) * s.kernel[2] + tap[2];
      if (index == in[1][size_t(o)])
        y[size_t(image.at(n, c, p))] = in[0][size_t(o)];
    });
  });
}

void maxPoolGrad(const mn::Pool &s, const Inputs &in, Numbers &y) {
  const reference::Image image{s.layout, s.channels, s.in};
  reference::windows(s, [&](int n, int c, int64_t o, const int(&at)[3]) {
    int p[3];
    reference::best(s, in[0], n, c, at, p);
    if (p[0] >= 0)
      y[size_t(image.at(n, c, p))] += in[1][size_t(o)];
  });
}

void avgPool(const mn::Pool &s, const Inputs &in, Numbers &y) {
  const reference::Image image{s.layout, s.channels, s.in};
  reference::windows(s, [&](int n, int c, int64_t o, const int(&at)[3]) {
    double sum = 0;
    reference::window(s, at, [&](const int(&)[3], const int(&p)[3]) {
      sum += in[0][size_t(image.at(n, c, p))];
    });
    y[size_t(o)] = sum / reference::counted(s, at);
  });
}

void avgPoolGrad(const mn::Pool &s, const Inputs &in, Numbers &y) {
  const reference::Image image{s.layout, s.channels, s.in};
  reference::windows(s, [&](int n, int c, int64_t o, const int(&at)[3]) {
    reference::window(s, at, [&](const int(&)[3], const int(&p)[3]) {
      y[size_t(image.at(n, c, p))] +=
          in[0][size_t(o)] / reference::counted(s, at);
    });
  });
}

} // namespace

std::vector<Case> poolCases() {
  std::vector<Case> cases;
  const auto add = [&](Case c, const mn::Pool &s, auto reference) {
    c.reference = [s, reference](const Inputs &in, Numbers &y) {
      reference(s, in, y);
    };
    cases.push_back(c);
  };
  const auto withNan = [](Case c) {
    c.hasNan = c.fewValues = true;
    return c;
  };
#define MN_RUN_POOL(CALL, KERNEL, NAME, Y, F, COUNT_Y, COUNT_A, COUNT_B)       \
  make<Y, float>(                                                              \
      KERNEL,                                                                  \
      [](mn::Context &ctx) {                                                   \
        const Pointers<Y, float> p(ctx, COUNT_Y(NAME), COUNT_A(NAME),          \
                                   COUNT_B);                                   \
        mn::CALL<float>(ctx, KERNEL, NAME, F{{p.y, p.a, p.b}});                \
      },                                                                       \
      COUNT_Y(NAME), COUNT_A(NAME), COUNT_B)
#define MN_CASE_POOL(NAME, ...)                                                \
  add(withNan(MN_RUN_POOL(maxPool, "max_" #NAME, NAME, float, Simple, outputs, \
                          inputs, 0)),                                         \
      NAME, maxPool);                                                          \
  add(MN_RUN_POOL(avgPool, "avg_" #NAME, NAME, float, Simple, outputs, inputs, \
                  0),                                                          \
      NAME, avgPool);                                                          \
  add(withNan(MN_RUN_POOL(argMaxPool, "arg_max_" #NAME, NAME, int64_t,         \
                          SimpleIndex, outputs, inputs, 0)),                   \
      NAME, argMaxPool);                                                       \
  add(MN_RUN_POOL(avgPoolGrad, "avg_grad_" #NAME, NAME, float, Simple, inputs, \
                  outputs, 0),                                                 \
      NAME, avgPoolGrad);                                                      \
  {                                                                            \
    Case c = MN_RUN_POOL(maxPoolGrad, "max_grad_" #NAME, NAME, float,          \
                         OtherGrad<float>, inputs, inputs, outputs(NAME));     \
    c.fewValues = true;                                                        \
    add(c, NAME, maxPoolGrad);                                                 \
  }
#define MN_CASE_TILED_POOL(NAME, ...)                                          \
  MN_CASE_POOL(NAME) {                                                         \
    Case c = MN_RUN_POOL(maxUnpool, "unpool_" #NAME, NAME, float,              \
                         SimpleUnpool, inputs, outputs, outputs(NAME));        \
    c.fewValues = true;                                                        \
    add(c, NAME, maxUnpool);                                                   \
  }
  struct Simple : Plain<float> {};
  struct SimpleIndex : ToIndex {};
  struct SimpleUnpool : Unpool {};
  MN_TEST_POOLS(MN_CASE_POOL)
  MN_TEST_TILED_POOLS(MN_CASE_TILED_POOL)
  return cases;
}

} // namespace test
