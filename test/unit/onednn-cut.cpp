//===- onednn-cut.cpp - how contractions are cut into parts ---------------===//

#include "cpu/onednn_cut.h"
#include <gtest/gtest.h>

namespace {

using mn::onednn::cut;

/// A convolution of 3x3 windows, channels last.
mn::Conv convOf(int batch, int channels, int size) {
  mn::Conv s = {};
  s.spatial = 2;
  s.layout = mn::Layout::nhwc;
  s.batch = batch;
  s.inChannels = s.outChannels = channels;
  s.groups = 1;
  for (int d = 0; d < 3; ++d) {
    s.in[d] = s.out[d] = d < 2 ? size : 1;
    s.kernel[d] = d < 2 ? 3 : 1;
    s.pads[d] = d < 2 ? 1 : 0;
    s.strides[d] = s.dilations[d] = 1;
  }
  return s;
}

/// Each million multiplications are a part, whatever number of threads there
/// is.
TEST(OnednnCut, ConvolutionsHavePartsByTheirWork) {
  struct Case {
    int batch, channels, size;
    size_t parts;
  };
  for (const Case &c :
       {Case{1, 16, 28, 1}, Case{1, 24, 28, 3}, Case{1, 64, 28, 27},
        Case{2, 24, 28, 6}, Case{64, 16, 28, 64}}) {
    const auto parts = cut(convOf(c.batch, c.channels, c.size),
                           mn::onednn::Lines::ofOutput, 64);
    EXPECT_EQ(parts.size(), c.parts)
        << c.batch << " images, " << c.channels << " channels";
    int lines = 0;
    for (const auto &part : parts)
      lines += part.shape.batch * part.shape.out[0];
    EXPECT_EQ(lines, c.batch * c.size);
  }
}

TEST(OnednnCut, ProductsHavePartsByTheirWork) {
  struct Case {
    int m, n, k;
    size_t parts;
  };
  for (const Case &c : {Case{1, 128, 9216, 1}, Case{1, 128, 18432, 2},
                        Case{64, 64, 1024, 2}, Case{128, 128, 1024, 8}}) {
    const auto parts = cut(mn::Matmul{.m = c.m, .n = c.n, .k = c.k});
    EXPECT_EQ(parts.size(), c.parts) << c.m << "x" << c.n << "x" << c.k;
    int elements = 0;
    for (const auto &part : parts)
      elements += part.rows * part.columns;
    EXPECT_EQ(elements, c.m * c.n);
  }
}

} // namespace
