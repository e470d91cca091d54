//===- segments.cpp - several maps in one launch --------------------------===//

#include "case.h"
#include "kernels.h"

namespace test {

/// Where the segments of segment_sizes begin; those of fours at multiples of
/// four, as tensors do.
static constexpr int64_t firsts[] = {0,    128,  205,  206,  1486,
                                     1872, 5968, 6995, 20060};
static constexpr int64_t count = 24415;

static void run(mn::Context &ctx) {
  const Pointers<float, float> p(ctx, count, count, 128);
  const auto hidden = [&](int segment) {
    return Hidden{p.y + firsts[segment], p.a + firsts[segment], p.b};
  };
  const auto copy = [&](int segment) {
    return Copy{p.y + firsts[segment], p.a + firsts[segment]};
  };
  const auto byFours = [&](int segment) {
    return HiddenByFours{p.y + firsts[segment], p.a + firsts[segment], p.b};
  };
  const auto transposed = [&](int segment) {
    return OddTransposedSum{p.y + firsts[segment], p.a + firsts[segment], p.b};
  };
  const Hidden segments[] = {hidden(0)};
  const Copy segments_2[] = {copy(1), copy(2)};
  const Hidden segments_3[] = {hidden(3), hidden(4)};
  const HiddenByFours segments_4[] = {byFours(5), byFours(6)};
  const OddTransposedSum segments_5[] = {transposed(7), transposed(8)};
  mn::segments(ctx, "map_segments", segment_sizes, segments, segments_2,
               segments_3, segments_4, segments_5);
}

/// Where element `i` of matrices of 67 x 65 is in those of 65 x 67.
static int64_t transposed(int64_t i) {
  return i / (67 * 65) * (67 * 65) + i % 65 * 67 + i / 65 % 67;
}

std::vector<Case> segmentCases() {
  Case c;
  c.name = "segments";
  c.run = run;
  c.operands = {{typeOf<float>(), count},
                {typeOf<float>(), count},
                {typeOf<float>(), 128}};
  c.reference = [](const std::vector<Numbers> &in, Numbers &y) {
    for (int segment = 0; segment < segment_sizes.count; ++segment)
      for (int64_t i = 0; i < segment_sizes.of[segment]; ++i) {
        const double a =
            in[0][size_t(firsts[segment] + (segment < 7 ? i : transposed(i)))];
        const double sum = a + in[1][size_t(i % 128)];
        y[size_t(firsts[segment] + i)] = segment == 1 || segment == 2 ? a
                                         : sum > 0                    ? sum
                                         : segment < 5
                                             ? 0
                                             : mn::randomUniform(5, 1, 3, i);
      }
  };
  return {c};
}

} // namespace test
