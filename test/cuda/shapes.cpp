//===- shapes.cpp - what launches of contractions may ask for -------------===//

#include "mnistrt/cuda/kernels/schedule_choice.cuh"
#include <gtest/gtest.h>
#include <random>

namespace {

using namespace mn;

std::mt19937 numbers(17);
int between(int first, int last) {
  return std::uniform_int_distribution<int>(first, last)(numbers);
}

Mma someMma() {
  return static_cast<Mma>(between(int(Mma::tf32x3), int(Mma::bf16)));
}

/// A convolution with strides of 1, as a model might have it.
Conv someConv() {
  Conv s{.spatial = between(1, 3),
         .batch = between(1, 200),
         .inChannels = between(1, 200),
         .outChannels = between(1, 300),
         .schedule = {.mma = someMma()}};
  for (int d = 0; d < s.spatial; ++d) {
    s.kernel[d] = between(1, 6);
    s.dilations[d] = between(1, 2);
    const int covered = (s.kernel[d] - 1) * s.dilations[d];
    s.pads[d] = between(0, covered), s.padsAfter[d] = between(0, covered);
    s.in[d] = between(covered + 1, 40);
    s.out[d] = s.in[d] + s.pads[d] + s.padsAfter[d] - covered;
  }
  return s;
}

/// Without the rest of its schedule.
Conv withMma(Conv s) {
  s.schedule = {.mma = s.schedule.mma};
  return s;
}

void expectLaunch(const LaunchShape &launch) {
  EXPECT_GE(launch.blocks, 1u);
  EXPECT_LE(launch.threads, 1024u);
  EXPECT_LE(launch.shared, shape::smallestShared);
  EXPECT_LE(launch.cluster, unsigned(shape::largestCluster));
  EXPECT_EQ(launch.blocks % launch.cluster, 0u);
}

/// Strips have all windows, and a block has room for what it has.
void expectStrip(const shape::Windows &w, const shape::Patch &t) {
  EXPECT_GE(t.tiles * t.strips * t.height * t.side,
            int64_t(w.batch) * w.out[0] * w.out[1]);
  EXPECT_TRUE(t.rows >= t.strips * t.height && t.rows <= t.highest &&
              t.rows % 2 == 0);
  EXPECT_TRUE(shape::hasRoom(w, t) && t.across * t.width >= w.results);
}

void expectPatch(const shape::Windows &w, const shape::ConvWay &way) {
  if (way.way != Way::patches)
    return;
  const shape::Patch &t = way.patch;
  if (t.isStrip())
    return expectStrip(w, t);
  const int64_t squares =
      int64_t(w.batch) * shape::squaresAlong(w, 0) * shape::squaresAlong(w, 1);
  EXPECT_GE(t.tiles * t.windows, t.squares ? squares * t.side * t.side
                                           : int64_t(w.batch) * w.pixels());
  // The fewer ones, where there is room.
  shape::Patch other = t;
  other.squares = true;
  if (shape::hasSquares(w) && shape::hasRoom(w, other)) {
    EXPECT_LE(t.tiles, (squares + 1) / 2);
  }
  EXPECT_TRUE(shape::hasRoom(w, t));
  EXPECT_GE(t.across * t.width, w.results);
  // Its two turns, and then its results.
  EXPECT_GE(shape::sharedBytes(w, t), unsigned(t.width * t.windows * 4));
}

void expectColumns(const shape::Windows &w, const shape::ConvWay &way) {
  if (way.way != Way::columns)
    return;
  const shape::Columns &t = way.columns;
  EXPECT_GE(t.blocks * t.threads / t.splits * t.height,
            int64_t(w.batch) * w.out[0] * w.out[1] * w.out[2]);
  EXPECT_GE(t.across * t.width, w.results);
  EXPECT_EQ(t.chunk % t.splits, 0);
  EXPECT_LE(t.chunk * w.taps() * t.width, t.mostElements);
}

TEST(Shapes, ConvolutionsOnTensorCores) {
  int count[4] = {};
  for (int i = 0; i < 300; ++i) {
    const Conv s = shape::chooseConv(someConv());
    expectLaunch(shape::conv(s));
    expectPatch(shape::windowsOf(s), shape::convWay(s));
    expectColumns(shape::windowsOf(s), shape::convWay(s));
    const Conv back = shape::chooseInputGrad(withMma(s));
    expectLaunch(shape::inputGrad(back));
    expectPatch(shape::readersOf(back), shape::inputGradWay(back));
    expectColumns(shape::readersOf(back), shape::inputGradWay(back));
    ++count[static_cast<int>(s.schedule.way)];
  }
  using enum Way;
  for (Way way : {columns, patches, product})
    EXPECT_GT(count[static_cast<int>(way)], 5);
}

/// Bands have all windows, and what these reach of the input; a block has
/// room for one.
TEST(Shapes, BandsOfGradients) {
  int count = 0;
  for (int i = 0; i < 300; ++i) {
    Conv s = someConv();
    shape::eachBands(s, [&](const shape::Bands &t) {
      EXPECT_GE(int64_t(t.bandsOfImage(s)) * t.rows * t.columns,
                int64_t(s.out[0]) * s.out[1]);
      EXPECT_GE(int64_t(t.bands(s)) * t.images, s.batch);
      EXPECT_GE(int64_t(t.bandsEach(s)) * t.splits, t.bands(s));
      EXPECT_LE(t.images == 1 ? 0 : t.rows, s.out[0]);
      if (t.warpgroups == 0) {
        EXPECT_LE(t.pixels(), t.mostPixels);
        EXPECT_LE(t.taps, t.mostTaps);
        EXPECT_TRUE(t.taps % s.kernel[1] == 0 || s.kernel[1] % t.taps == 0);
        EXPECT_EQ(t.gradPitch() % 32, 16);
        EXPECT_EQ(t.across(s) % t.quad, 0);
      } else {
        EXPECT_GE(t.units(s) * 64, t.taps * t.width);
        EXPECT_EQ(t.taps % s.kernel[1], 0);
      }
      EXPECT_GE(t.inputRows(s), t.rows + (t.tapRows(s) - 1) * s.dilations[0]);
      EXPECT_GE(t.taps * t.tapGroups, s.kernel[0] * s.kernel[1]);
      expectLaunch(shape::launchOf(s, t));
      ++count;
    });
    s = shape::chooseFilterGrad(s);
    expectLaunch(shape::filterGrad(s));
  }
  EXPECT_GT(count, 1000);
}

/// The gradient of an input undoes what the convolution covers.
TEST(Shapes, WindowsOfGradients) {
  for (int i = 0; i < 300; ++i) {
    const Conv s = someConv();
    const shape::Windows forward = shape::windowsOf(s);
    const shape::Windows back = shape::readersOf(s);
    for (int d = 0; d < 3; ++d) {
      EXPECT_GE(forward.covered(d), s.in[d]);
      EXPECT_EQ(back.covered(d), s.in[d] + (s.kernel[d] - 1) * s.dilations[d]);
      EXPECT_GE(back.pads[d], 0);
    }
  }
}

/// Each pixel is in one phase, and each tap of one phase along a dimension.
TEST(Shapes, PhasesOfGradients) {
  for (int i = 0; i < 300; ++i) {
    Conv s = someConv();
    for (int d = 0; d < 3; ++d) {
      s.strides[d] = between(1, 3);
      s.dilations[d] = 1;
    }
    ASSERT_TRUE(shape::hasPhases(s));
    const shape::Windows w = shape::readersOf(s);
    for (int d = 0; d < 3; ++d) {
      EXPECT_EQ(w.phases[d], s.strides[d]);
      EXPECT_GE(w.out[d] * w.phases[d], s.in[d]);
      int taps = 0;
      for (int c = 0; c < w.phases[d]; ++c) {
        const int first = shape::firstTapOfPhase(s, d, c);
        // The last tap of the phase reads pixel `c` in window -pad.
        EXPECT_EQ(-shape::padOfPhase(s, d, c),
                  (c + s.pads[d] - first) / s.strides[d] - w.kernel[d] + 1);
        for (int tap = first; tap < s.kernel[d]; tap += s.strides[d])
          ++taps;
      }
      EXPECT_EQ(taps, s.kernel[d]);
    }
  }
  Conv gaps = someConv();
  gaps.strides[0] = 2, gaps.dilations[0] = 2;
  EXPECT_FALSE(shape::hasPhases(gaps));
}

/// Folded windows reach every tap once, and no folded pixel without one.
TEST(Shapes, FoldedWindowsHaveAllTaps) {
  for (int i = 0; i < 300; ++i) {
    Conv s = someConv();
    for (int d = 0; d < 3; ++d) {
      s.strides[d] = between(1, s.kernel[d]);
      s.in[d] = (s.in[d] + s.strides[d] - 1) / s.strides[d] * s.strides[d];
      s.dilations[d] = s.strides[d] == 1 ? s.dilations[d] : 1;
    }
    ASSERT_TRUE(shape::canFold(s));
    const shape::Windows w = shape::foldedOf(s);
    for (int d = 0; d < 3; ++d) {
      const int fold = w.folds[d], earlier = w.pads[d] * fold - s.pads[d];
      EXPECT_GE(earlier, 0);
      EXPECT_LT(earlier, fold);
      EXPECT_EQ(w.in[d] * fold, s.in[d]);
      EXPECT_EQ(w.strides[d], 1);
      EXPECT_EQ(fold, s.strides[d]);
      EXPECT_EQ(w.kernel[d], (earlier + s.kernel[d] - 1) / fold + 1);
    }
    EXPECT_EQ(w.channels, s.inChannels / s.groups * w.foldCount());
  }
  Conv odd{.in = {7, 8, 1}, .kernel = {3, 3, 1}, .strides = {2, 2, 1}};
  EXPECT_FALSE(shape::canFold(odd));
  EXPECT_EQ(shape::foldedOf(odd).strides[1], 2);
}

/// Blocks that share a tile are whole clusters, or a cluster, or none.
TEST(Shapes, ProductsInClusters) {
  for (int i = 0; i < 500; ++i) {
    Matmul s{.batch = between(1, 3),
             .m = between(1, 600),
             .n = between(1, 600),
             .k = between(1, 20000),
             .schedule = {.mma = static_cast<Mma>(between(0, 3))}};
    s = shape::choose(s);
    const shape::Product p = shape::productOf(s);
    const shape::Tiles t = shape::tilesOf(p);
    expectLaunch(shape::product(p));
    EXPECT_EQ(unsigned(t.splits) % shape::clusterOfParts(t.splits), 0u);
    EXPECT_GE(t.alongM * t.height(), s.m);
    EXPECT_GE(t.alongN * t.width(), s.n);
    EXPECT_GE(shape::sliceOfK(p, t) * t.slices * t.splits, s.k);
    EXPECT_TRUE(t.slices == 1 || t.mma != Mma::ffma);
    EXPECT_LE(t.allThreads(), 512);
    EXPECT_LE(shape::sharedBytes(t), shape::smallestShared);
    shape::eachTiles(p, [&](const shape::Tiles &each, int64_t) {
      EXPECT_LE(each.slices, shape::mostSlices);
    });
  }
}

} // namespace
