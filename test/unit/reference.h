//===- reference.h - the plainest forms of the kinds of step ----*- C++ -*-===//
//
// One loop for each index and nothing clever: what kernels are compared with.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_TEST_UNIT_REFERENCE_H
#define MNISTC_TEST_UNIT_REFERENCE_H

#include "mnistrt/shapes.h"
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace reference {

using Numbers = std::vector<float>;

inline Numbers random(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  Numbers numbers(count);
  for (float &x : numbers)
    x = static_cast<float>(static_cast<int>(generator() % 2001) - 1000) / 1000;
  return numbers;
}

template <typename T>
void expectNear(const Numbers &found, const std::vector<T> &expected,
                double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i], expected[i], tolerance) << "element " << i;
}

/// Where an element of an image is.
inline size_t at(mn::Layout layout, int n, int c, const int (&p)[3],
                 int channels, const int (&size)[3]) {
  const size_t pixels = size_t(size[0]) * size[1] * size[2];
  const size_t pixel = (size_t(p[0]) * size[1] + p[1]) * size[2] + p[2];
  return layout == mn::Layout::nchw
             ? (size_t(n) * channels + c) * pixels + pixel
             : (size_t(n) * pixels + pixel) * channels + c;
}

inline int product(const int (&size)[3]) { return size[0] * size[1] * size[2]; }

inline std::vector<double> matmul(const mn::Matmul &s, const Numbers &a,
                                  const Numbers &b) {
  std::vector<double> y(size_t(s.batch) * s.m * s.n);
  for (int z = 0; z < s.batch; ++z)
    for (int i = 0; i < s.m; ++i)
      for (int j = 0; j < s.n; ++j)
        for (int k = 0; k < s.k; ++k)
          y[(size_t(z) * s.m + i) * s.n + j] +=
              double(a[size_t(z) * s.m * s.k +
                       (s.transposedA ? k * s.m + i : i * s.k + k)]) *
              b[size_t(z) * s.k * s.n +
                (s.transposedB ? j * s.k + k : k * s.n + j)];
  return y;
}

/// Calls visit(input, filter, output) for every multiplication of a
/// convolution, with the three elements' indices.
template <typename Visit>
void visitConv(const mn::Conv &s, const Visit &visit) {
  const int inGroup = s.inChannels / s.groups,
            outGroup = s.outChannels / s.groups;
  int y[3], k[3];
  for (int n = 0; n < s.batch; ++n)
    for (int o = 0; o < s.outChannels; ++o)
      for (int c = 0; c < inGroup; ++c)
        for (y[0] = 0; y[0] < s.out[0]; ++y[0])
          for (y[1] = 0; y[1] < s.out[1]; ++y[1])
            for (y[2] = 0; y[2] < s.out[2]; ++y[2])
              for (k[0] = 0; k[0] < s.kernel[0]; ++k[0])
                for (k[1] = 0; k[1] < s.kernel[1]; ++k[1])
                  for (k[2] = 0; k[2] < s.kernel[2]; ++k[2]) {
                    int x[3];
                    bool inside = true;
                    for (int d = 0; d < 3; ++d) {
                      x[d] = y[d] * s.strides[d] - s.pads[d] +
                             k[d] * s.dilations[d];
                      inside &= x[d] >= 0 && x[d] < s.in[d];
                    }
                    if (inside)
                      visit(at(s.layout, n, o / outGroup * inGroup + c, x,
                               s.inChannels, s.in),
                            at(s.layout, o, c, k, inGroup, s.kernel),
                            at(s.layout, n, o, y, s.outChannels, s.out));
                  }
}

/// A convolution of random numbers, and the gradients of both its operands.
struct Convolved {
  Numbers x, w, dy;
  std::vector<double> y, dx, dw;

  explicit Convolved(const mn::Conv &s)
      : x(random(size_t(s.batch) * s.inChannels * product(s.in), 1)),
        w(random(size_t(s.outChannels) * (s.inChannels / s.groups) *
                     product(s.kernel),
                 2)),
        dy(random(size_t(s.batch) * s.outChannels * product(s.out), 3)),
        y(dy.size()), dx(x.size()), dw(w.size()) {
    visitConv(s, [&](size_t xi, size_t wi, size_t yi) {
      y[yi] += double(x[xi]) * w[wi];
      dx[xi] += double(dy[yi]) * w[wi];
      dw[wi] += double(dy[yi]) * x[xi];
    });
  }
};

/// Shapes that have every field of theirs, and some that models have.
inline const mn::Conv convs[] = {{.batch = 3,
                                  .outChannels = 8,
                                  .in = {12, 13, 1},
                                  .kernel = {5, 5, 1},
                                  .out = {8, 9, 1}},
                                 // The stride leaves a rest after the input.
                                 {.batch = 2,
                                  .inChannels = 6,
                                  .outChannels = 4,
                                  .groups = 2,
                                  .in = {9, 8, 1},
                                  .kernel = {3, 3, 1},
                                  .out = {5, 4, 1},
                                  .strides = {2, 2, 1},
                                  .pads = {1, 1, 0},
                                  .padsAfter = {1, 1, 0}},
                                 {.batch = 2,
                                  .inChannels = 4,
                                  .outChannels = 4,
                                  .groups = 4,
                                  .in = {8, 8, 1},
                                  .kernel = {3, 2, 1},
                                  .out = {6, 7, 1},
                                  .pads = {1, 0, 0},
                                  .padsAfter = {1, 2, 0},
                                  .dilations = {2, 3, 1}},
                                 // More groups than a register has lanes.
                                 {.batch = 5,
                                  .inChannels = 37,
                                  .outChannels = 74,
                                  .groups = 37,
                                  .in = {9, 10, 1},
                                  .kernel = {7, 5, 1},
                                  .out = {5, 10, 1},
                                  .strides = {2, 1, 1},
                                  .pads = {3, 2, 0},
                                  .padsAfter = {3, 2, 0}},
                                 {.spatial = 3,
                                  .batch = 3,
                                  .inChannels = 5,
                                  .outChannels = 5,
                                  .groups = 5,
                                  .in = {5, 6, 9},
                                  .kernel = {2, 3, 4},
                                  .out = {4, 6, 3},
                                  .strides = {1, 1, 3},
                                  .pads = {0, 1, 1},
                                  .padsAfter = {0, 1, 1}},
                                 {.spatial = 1,
                                  .batch = 2,
                                  .inChannels = 3,
                                  .outChannels = 5,
                                  .in = {40, 1, 1},
                                  .kernel = {4, 1, 1},
                                  .out = {13, 1, 1},
                                  .strides = {3, 1, 1},
                                  .pads = {1, 0, 0}},
                                 {.spatial = 3,
                                  .inChannels = 2,
                                  .outChannels = 3,
                                  .in = {5, 6, 4},
                                  .kernel = {2, 3, 3},
                                  .out = {4, 6, 2},
                                  .strides = {1, 1, 2},
                                  .pads = {0, 1, 1},
                                  .padsAfter = {0, 1, 1}},
                                 {.batch = 2,
                                  .inChannels = 32,
                                  .outChannels = 64,
                                  .in = {14, 14, 1},
                                  .kernel = {3, 3, 1},
                                  .out = {14, 14, 1},
                                  .pads = {1, 1, 0},
                                  .padsAfter = {1, 1, 0}},
                                 {.batch = 2,
                                  .inChannels = 32,
                                  .outChannels = 70,
                                  .in = {14, 14, 1},
                                  .kernel = {3, 3, 1},
                                  .out = {14, 14, 1},
                                  .pads = {1, 1, 0},
                                  .padsAfter = {1, 1, 0}}};

/// Calls visit(output, input, position) for every element of every window, in
/// row-major order; then end(output, counted), where `counted` is how many
/// elements a mean is over.
template <typename Visit, typename End>
void visitPool(const mn::Pool &s, const Visit &visit, const End &end) {
  int y[3], k[3];
  for (int n = 0; n < s.batch; ++n)
    for (int c = 0; c < s.channels; ++c)
      for (y[0] = 0; y[0] < s.out[0]; ++y[0])
        for (y[1] = 0; y[1] < s.out[1]; ++y[1])
          for (y[2] = 0; y[2] < s.out[2]; ++y[2]) {
            const size_t to = at(s.layout, n, c, y, s.channels, s.out);
            int counted = 0;
            for (k[0] = 0; k[0] < s.kernel[0]; ++k[0])
              for (k[1] = 0; k[1] < s.kernel[1]; ++k[1])
                for (k[2] = 0; k[2] < s.kernel[2]; ++k[2]) {
                  int x[3];
                  bool inside = true, padded = true;
                  for (int d = 0; d < 3; ++d) {
                    x[d] =
                        y[d] * s.strides[d] - s.pads[d] + k[d] * s.dilations[d];
                    inside &= x[d] >= 0 && x[d] < s.in[d];
                    padded &= x[d] < s.in[d] + s.padsAfter[d];
                  }
                  counted += s.countPads ? padded : inside;
                  if (!inside)
                    continue;
                  size_t row = 0;
                  for (int d = 0; d < 3; ++d) {
                    const int dim = s.columnMajor ? 2 - d : d;
                    row = row * size_t(s.in[dim]) + size_t(x[dim]);
                  }
                  visit(to, at(s.layout, n, c, x, s.channels, s.in),
                        (size_t(n) * s.channels + c) * product(s.in) + row);
                }
            end(to, counted);
          }
}

} // namespace reference

#endif // MNISTC_TEST_UNIT_REFERENCE_H
