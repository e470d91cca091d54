//===- segments.cpp - several maps in one launch --------------------------===//

#include "case.h"
#include "kernels.h"

namespace test {

/// Where the segments of segment_sizes begin.
static constexpr int64_t firsts[] = {0, 128, 205, 206, 1486, 1870};

static void run(mn::Context &ctx) {
  const Pointers<float, float> p(ctx, firsts[5], firsts[5], 128);
  const auto hidden = [&](int segment) {
    return Hidden{p.y + firsts[segment], p.a + firsts[segment], p.b};
  };
  const auto copy = [&](int segment) {
    return Copy{p.y + firsts[segment], p.a + firsts[segment]};
  };
  const Hidden segments[] = {hidden(0)};
  const Copy segments_2[] = {copy(1), copy(2)};
  const Hidden segments_3[] = {hidden(3), hidden(4)};
  mn::segments(ctx, "map_segments", segment_sizes, segments, segments_2,
               segments_3);
}

std::vector<Case> segmentCases() {
  Case c;
  c.name = "segments";
  c.run = run;
  c.operands = {{typeOf<float>(), firsts[5]},
                {typeOf<float>(), firsts[5]},
                {typeOf<float>(), 128}};
  c.reference = [](const std::vector<Numbers> &in, Numbers &y) {
    for (int segment = 0; segment < segment_sizes.count; ++segment)
      for (int64_t i = firsts[segment]; i < firsts[segment + 1]; ++i) {
        const double shift = in[1][size_t((i - firsts[segment]) % 128)];
        const double a = in[0][size_t(i)];
        y[size_t(i)] =
            segment == 1 || segment == 2 ? a : std::fmax(a + shift, 0);
      }
  };
  return {c};
}

} // namespace test
