//===- reference.h - the plainest forms of the kinds of step ----*- C++ -*-===//
//
// One loop for each index and nothing clever: what kernels are compared with.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_TEST_UNIT_REFERENCE_H
#define MNISTC_TEST_UNIT_REFERENCE_H

#include "mnistrt/shapes.h"
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

/// Where an element of an image lies.
inline size_t at(mn::Layout layout, int n, int c, const int (&p)[3],
                 int channels, const int (&size)[3]) {
  const size_t pixels = size_t(size[0]) * size[1] * size[2];
  const size_t pixel = (size_t(p[0]) * size[1] + p[1]) * size[2] + p[2];
  return layout == mn::Layout::nchw
             ? (size_t(n) * channels + c) * pixels + pixel
             : (size_t(n) * pixels + pixel) * channels + c;
}

inline int product(const int (&size)[3]) { return size[0] * size[1] * size[2]; }

/// Calls visit(n, o, c, input, filter, output) for every multiplication of a
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
