//===- reference.h - what the kernels ought to compute ----------*- C++ -*-===//
//
// The plainest loops that say it, in double precision. Slow on purpose: nothing
// here is shared with what is tested but the meaning of the shapes.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_TEST_GPU_REFERENCE_H
#define MNISTC_TEST_GPU_REFERENCE_H

#include "mnistrt/shapes.h"
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace reference {

using Numbers = std::vector<double>;

struct Image {
  mn::Layout layout;
  int64_t channels;
  const int *extent;
  int64_t at(int64_t n, int64_t c, const int (&p)[3]) const {
    const int64_t pixel = (int64_t(p[0]) * extent[1] + p[1]) * extent[2] + p[2];
    const int64_t pixels = int64_t(extent[0]) * extent[1] * extent[2];
    return layout == mn::Layout::nchw ? (n * channels + c) * pixels + pixel
                                      : (n * pixels + pixel) * channels + c;
  }
};

template <typename Visit>
void each(const int (&extent)[3], const Visit &visit) {
  int p[3];
  for (p[0] = 0; p[0] < extent[0]; ++p[0])
    for (p[1] = 0; p[1] < extent[1]; ++p[1])
      for (p[2] = 0; p[2] < extent[2]; ++p[2])
        visit(p);
}

/// visit(tap, place) for the elements of a window inside the input.
template <typename Shape, typename Visit>
void window(const Shape &s, const int (&out)[3], const Visit &visit) {
  each(s.kernel, [&](const int(&tap)[3]) {
    int in[3];
    bool inside = true;
    for (int d = 0; d < 3; ++d) {
      in[d] = out[d] * s.strides[d] - s.pads[d] + tap[d] * s.dilations[d];
      inside = inside && in[d] >= 0 && in[d] < s.in[d];
    }
    if (inside)
      visit(tap, in);
  });
}

/// visit(output, input, filter): the indices of all products of a convolution.
template <typename Visit> void products(const mn::Conv &s, const Visit &visit) {
  const int cg = s.inChannels / s.groups, og = s.outChannels / s.groups;
  const Image in{s.layout, s.inChannels, s.in},
      out{s.layout, s.outChannels, s.out};
  const Image filter{s.layout, cg, s.kernel};
  for (int n = 0; n < s.batch; ++n)
    each(s.out, [&](const int(&o)[3]) {
      window(s, o, [&](const int(&tap)[3], const int(&i)[3]) {
        for (int to = 0; to < s.outChannels; ++to)
          for (int c = 0; c < cg; ++c)
            visit(out.at(n, to, o), in.at(n, to / og * cg + c, i),
                  filter.at(to, c, tap));
      });
    });
}

inline int counted(const mn::Pool &s, const int (&out)[3]) {
  int count = 0;
  each(s.kernel, [&](const int(&tap)[3]) {
    bool counts = true;
    for (int d = 0; d < 3; ++d) {
      const int x = out[d] * s.strides[d] - s.pads[d] + tap[d] * s.dilations[d];
      counts = counts && (s.countPads ? x < s.in[d] + s.padsAfter[d]
                                      : x >= 0 && x < s.in[d]);
    }
    count += counts;
  });
  return count;
}

/// visit(n, c, output, place) for all windows of a pool.
template <typename Visit> void windows(const mn::Pool &s, const Visit &visit) {
  const Image out{s.layout, s.channels, s.out};
  for (int n = 0; n < s.batch; ++n)
    for (int c = 0; c < s.channels; ++c)
      each(s.out, [&](const int(&o)[3]) { visit(n, c, out.at(n, c, o), o); });
}

/// The first largest element of a window; NaN is the largest.
inline double best(const mn::Pool &s, const Numbers &x, int n, int c,
                   const int (&out)[3], int (&place)[3]) {
  const Image in{s.layout, s.channels, s.in};
  double top = -std::numeric_limits<double>::infinity();
  place[0] = -1;
  window(s, out, [&](const int(&)[3], const int(&i)[3]) {
    const double v = x[size_t(in.at(n, c, i))];
    if (place[0] < 0 || v > top || (std::isnan(v) && !std::isnan(top))) {
      top = v;
      for (int d = 0; d < 3; ++d)
        place[d] = i[d];
    }
  });
  return top;
}

inline void matmul(const mn::Matmul &s, const Numbers &a, const Numbers &b,
                   Numbers &y) {
  for (int64_t i = 0; i < s.batch; ++i)
    for (int64_t m = 0; m < s.m; ++m)
      for (int64_t n = 0; n < s.n; ++n) {
        double sum = 0;
        for (int64_t k = 0; k < s.k; ++k)
          sum += a[size_t(i * s.m * s.k +
                          (s.transposedA ? k * s.m + m : m * s.k + k))] *
                 b[size_t(i * s.n * s.k +
                          (s.transposedB ? n * s.k + k : k * s.n + n))];
        y[size_t((i * s.m + m) * s.n + n)] = sum;
      }
}

inline void softmax(const mn::Softmax &s, const Numbers &x, Numbers &y) {
  for (int64_t row = 0; row < s.outer * s.inner; ++row) {
    const int64_t base = row / s.inner * s.size * s.inner + row % s.inner;
    double top = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t r = 0; r < s.size; ++r)
      top = std::fmax(top, x[size_t(base + r * s.inner)]);
    for (int64_t r = 0; r < s.size; ++r)
      sum += std::exp(x[size_t(base + r * s.inner)] - top);
    for (int64_t r = 0; r < s.size; ++r) {
      const size_t i = size_t(base + r * s.inner);
      y[i] = s.log ? x[i] - top - std::log(sum) : std::exp(x[i] - top) / sum;
    }
  }
}

/// How many elements of a result are adjacent.
inline int64_t runOf(const mn::Reduce &s) {
  return s.contiguous ? std::max<int64_t>(s.size, 1) : s.run;
}

inline size_t element(const mn::Reduce &s, int64_t o, int64_t r) {
  const int64_t run = runOf(s);
  return size_t((r / run * s.outputs + o) * run + r % run);
}

/// store(r, element) for the elements load(r) of a row that rise by four and
/// are made to have the mean 0 and a variance below 1. Returns their mean.
template <typename Load, typename Store>
double normalizeRow(int64_t size, const Load &load, const Store &store) {
  const auto risen = [&](int64_t r) {
    return load(r) + 4 * double(r) / double(size);
  };
  double sum = 0, squares = 0;
  for (int64_t r = 0; r < size; ++r)
    sum += risen(r);
  const double mean = sum / double(size);
  for (int64_t r = 0; r < size; ++r)
    squares += (risen(r) - mean) * (risen(r) - mean);
  for (int64_t r = 0; r < size; ++r)
    store(r, (risen(r) - mean) / std::sqrt(squares / double(size) + 1));
  return mean;
}

} // namespace reference

#endif // MNISTC_TEST_GPU_REFERENCE_H
