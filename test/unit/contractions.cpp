//===- contractions.cpp - matrix products and convolutions
//---------------===//

#include "mnistrt/generated.h"
#include "reference.h"
#include <gtest/gtest.h>

namespace {

using reference::Numbers;
mn::Context context;

struct Product {
  float *y;
  const float *a, *b;
  MN_FN float loadA(mn::Index i) const { return a[i]; }
  MN_FN float loadB(mn::Index i) const { return b[i]; }
  MN_FN void store(mn::Index i, float v) const { y[i] = v; }
};

struct Convolution {
  float *y;
  const float *x, *w;
  MN_FN float loadInput(mn::Index i) const { return x[i]; }
  MN_FN float loadFilter(mn::Index i) const { return w[i]; }
  MN_FN void store(mn::Index i, float v) const { y[i] = v; }
};

struct InputGrad {
  float *dx;
  const float *dy, *w;
  MN_FN float loadOutputGrad(mn::Index i) const { return dy[i]; }
  MN_FN float loadFilter(mn::Index i) const { return w[i]; }
  MN_FN void store(mn::Index i, float v) const { dx[i] = v; }
};

struct FilterGrad {
  float *dw;
  const float *x, *dy;
  MN_FN float loadInput(mn::Index i) const { return x[i]; }
  MN_FN float loadOutputGrad(mn::Index i) const { return dy[i]; }
  MN_FN void store(mn::Index i, float v) const { dw[i] = v; }
};

void expectNear(const Numbers &found, const std::vector<double> &expected,
                double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i], expected[i], tolerance) << "element " << i;
}

class MatmulTest : public testing::TestWithParam<mn::Matmul> {};

TEST_P(MatmulTest, IsTheSum) {
  mn::Matmul s = GetParam();
  for (int form = 0; form < 4; ++form) {
    s.transposedA = form & 1, s.transposedB = form & 2;
    const Numbers a = reference::random(size_t(s.batch) * s.m * s.k, 1);
    const Numbers b = reference::random(size_t(s.batch) * s.k * s.n, 2);
    Numbers y(size_t(s.batch) * s.m * s.n, -1);
    std::vector<double> expected(y.size());
    for (int z = 0; z < s.batch; ++z)
      for (int i = 0; i < s.m; ++i)
        for (int j = 0; j < s.n; ++j)
          for (int k = 0; k < s.k; ++k)
            expected[(size_t(z) * s.m + i) * s.n + j] +=
                double(a[size_t(z) * s.m * s.k +
                         (s.transposedA ? k * s.m + i : i * s.k + k)]) *
                b[size_t(z) * s.k * s.n +
                  (s.transposedB ? j * s.k + k : k * s.n + j)];
    mn::matmul<float>(context, "", s, Product{y.data(), a.data(), b.data()});
    expectNear(y, expected, 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, MatmulTest,
    testing::Values(mn::Matmul{}, mn::Matmul{.m = 1, .n = 10, .k = 784},
                    mn::Matmul{.m = 3, .n = 33, .k = 17},
                    mn::Matmul{.m = 64, .n = 128, .k = 784},
                    mn::Matmul{.m = 65, .n = 71, .k = 129},
                    mn::Matmul{.batch = 3, .m = 2, .n = 5, .k = 7},
                    mn::Matmul{.batch = 5, .m = 9, .n = 8, .k = 300},
                    mn::Matmul{.m = 4, .n = 4, .k = 0}));

class ConvTest : public testing::TestWithParam<mn::Conv> {};

TEST_P(ConvTest, AndItsGradientsAreTheSums) {
  mn::Conv s = GetParam();
  for (mn::Layout layout : {mn::Layout::nchw, mn::Layout::nhwc}) {
    s.layout = layout;
    const size_t in = size_t(s.batch) * s.inChannels * reference::product(s.in);
    const size_t out =
        size_t(s.batch) * s.outChannels * reference::product(s.out);
    const size_t filter = size_t(s.outChannels) * (s.inChannels / s.groups) *
                          reference::product(s.kernel);
    const Numbers x = reference::random(in, 1),
                  w = reference::random(filter, 2);
    const Numbers dy = reference::random(out, 3);
    std::vector<double> y(out), dx(in), dw(filter);
    reference::visitConv(s, [&](size_t xi, size_t wi, size_t yi) {
      y[yi] += double(x[xi]) * w[wi];
      dx[xi] += double(dy[yi]) * w[wi];
      dw[wi] += double(dy[yi]) * x[xi];
    });
    Numbers result(out, -1);
    mn::conv<float>(context, "", s,
                    Convolution{result.data(), x.data(), w.data()});
    expectNear(result, y, 1e-4);
    result.assign(in, -1);
    mn::convInputGrad<float>(context, "", s,
                             InputGrad{result.data(), dy.data(), w.data()});
    expectNear(result, dx, 1e-4);
    result.assign(filter, -1);
    mn::convFilterGrad<float>(context, "", s,
                              FilterGrad{result.data(), x.data(), dy.data()});
    expectNear(result, dw, 1e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ConvTest,
                         testing::Values(mn::Conv{.batch = 3,
                                                  .outChannels = 8,
                                                  .in = {12, 13, 1},
                                                  .kernel = {5, 5, 1},
                                                  .out = {8, 9, 1}},
                                         mn::Conv{.batch = 2,
                                                  .inChannels = 6,
                                                  .outChannels = 4,
                                                  .groups = 2,
                                                  .in = {9, 7, 1},
                                                  .kernel = {3, 3, 1},
                                                  .out = {5, 4, 1},
                                                  .strides = {2, 2, 1},
                                                  .pads = {1, 1, 0},
                                                  .padsAfter = {1, 1, 0}},
                                         mn::Conv{.batch = 2,
                                                  .inChannels = 4,
                                                  .outChannels = 4,
                                                  .groups = 4,
                                                  .in = {8, 8, 1},
                                                  .kernel = {3, 2, 1},
                                                  .out = {6, 7, 1},
                                                  .pads = {1, 0, 0},
                                                  .padsAfter = {1, 2, 0},
                                                  .dilations = {2, 3, 1}},
                                         mn::Conv{.spatial = 1,
                                                  .batch = 2,
                                                  .inChannels = 3,
                                                  .outChannels = 5,
                                                  .in = {40, 1, 1},
                                                  .kernel = {4, 1, 1},
                                                  .out = {13, 1, 1},
                                                  .strides = {3, 1, 1},
                                                  .pads = {1, 0, 0}},
                                         mn::Conv{.spatial = 3,
                                                  .inChannels = 2,
                                                  .outChannels = 3,
                                                  .in = {5, 6, 4},
                                                  .kernel = {2, 3, 3},
                                                  .out = {4, 6, 2},
                                                  .strides = {1, 1, 2},
                                                  .pads = {0, 1, 1},
                                                  .padsAfter = {0, 1, 1}},
                                         mn::Conv{.batch = 2,
                                                  .inChannels = 32,
                                                  .outChannels = 70,
                                                  .in = {14, 14, 1},
                                                  .kernel = {3, 3, 1},
                                                  .out = {14, 14, 1},
                                                  .pads = {1, 1, 0},
                                                  .padsAfter = {1, 1, 0}}));

} // namespace
