//===- contractions.cpp - matrix products and convolutions ----------------===//

#include "mnistrt/generated.h"
#include "reference.h"
#include <gtest/gtest.h>

namespace {

using reference::expectNear;
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

class MatmulTest : public testing::TestWithParam<mn::Matmul> {};

TEST_P(MatmulTest, IsTheSum) {
  mn::Matmul s = GetParam();
  for (int form = 0; form < 4; ++form) {
    s.transposedA = form & 1, s.transposedB = form & 2;
    const Numbers a = reference::random(size_t(s.batch) * s.m * s.k, 1);
    const Numbers b = reference::random(size_t(s.batch) * s.k * s.n, 2);
    const std::vector<double> expected = reference::matmul(s, a, b);
    Numbers y(expected.size(), -1);
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
    const reference::Convolved c(s);
    Numbers result(c.y.size(), -1);
    mn::conv<float>(context, "", s,
                    Convolution{result.data(), c.x.data(), c.w.data()});
    expectNear(result, c.y, 1e-4);
    result.assign(c.dx.size(), -1);
    mn::convInputGrad<float>(context, "", s,
                             InputGrad{result.data(), c.dy.data(), c.w.data()});
    expectNear(result, c.dx, 1e-4);
    result.assign(c.dw.size(), -1);
    mn::convFilterGrad<float>(
        context, "", s, FilterGrad{result.data(), c.x.data(), c.dy.data()});
    expectNear(result, c.dw, 1e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ConvTest, testing::ValuesIn(reference::convs));

} // namespace
