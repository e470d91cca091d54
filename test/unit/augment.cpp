//===- augment.cpp - pictures that are changed at random ------------------===//

#include "mnistrt/augment.h"
#include "core/batch_plan.h"
#include "train/augmentation.h"
#include <cmath>
#include <gtest/gtest.h>
#include <numbers>
#include <set>

namespace {

constexpr double pi = std::numbers::pi;

mn::Augment ofPicture(int32_t height, int32_t width) {
  mn::Augment augment;
  augment.height = height, augment.width = width;
  return augment;
}

TEST(Augment, SineAndCosine) {
  for (int i = -1000; i <= 1000; ++i) {
    const double t = i / 1000.0 * pi;
    double sine, cosine;
    mn::Augment::sinCos(t, sine, cosine);
    EXPECT_NEAR(sine, std::sin(t), 1e-8) << t;
    EXPECT_NEAR(cosine, std::cos(t), 1e-8) << t;
  }
}

TEST(Augment, MapsTurnScaleAndMirror) {
  mn::Augment augment = ofPicture(28, 20);
  augment.rotate = float(0.3), augment.scale = 0.2f, augment.shift = 2;
  augment.flip = true;
  std::set<int> shiftsX, shiftsY;
  double least = 1, most = -1, small = 2, large = 0;
  int mirrored = 0;
  for (uint64_t sample = 0; sample < 2000; ++sample) {
    const mn::PictureMap map = augment.mapOf(1, 2, sample);
    // Rows of the same length, at right angles.
    const double inverse = std::hypot(map.c, map.d);
    EXPECT_NEAR(std::hypot(map.a, map.b), inverse, 1e-6);
    EXPECT_NEAR(map.a * map.c + map.b * map.d, 0, 1e-6);
    const double angle = std::atan2(-map.c, map.d);
    least = std::min(least, angle), most = std::max(most, angle);
    small = std::min(small, 1 / inverse), large = std::max(large, 1 / inverse);
    mirrored += map.a * map.d - map.b * map.c < 0;
    shiftsX.insert(map.shiftX), shiftsY.insert(map.shiftY);
    EXPECT_EQ(map.x0, 9.5f);
    EXPECT_EQ(map.y0, 13.5f);
  }
  EXPECT_NEAR(least, -0.3, 0.003);
  EXPECT_NEAR(most, 0.3, 0.003);
  EXPECT_NEAR(small, 0.8, 0.003);
  EXPECT_NEAR(large, 1.2, 0.003);
  EXPECT_NEAR(mirrored, 1000, 100);
  EXPECT_EQ(shiftsX, std::set<int>({-2, -1, 0, 1, 2}));
  EXPECT_EQ(shiftsY, shiftsX);
}

TEST(Augment, AnotherSeedEpochOrRowIsChangedOtherwise) {
  mn::Augment augment = ofPicture(4, 4);
  augment.rotate = 1;
  std::set<float> found;
  for (uint64_t seed : {1, 2})
    for (uint64_t epoch : {0, 1})
      for (uint64_t sample : {0, 1})
        found.insert(augment.mapOf(seed, epoch, sample).a);
  EXPECT_EQ(found.size(), 8u);
  EXPECT_EQ(augment.mapOf(1, 0, 1).a, augment.mapOf(1, 0, 1).a);
}

/// A row of a set of floats, by the host's code.
std::vector<float> changed(const std::vector<float> &row,
                           const mn::Augment &augment, int64_t seed) {
  mn::Samples samples;
  samples.inputs = row.data(), samples.inputType = mn::Type::f32;
  samples.count = 1, samples.inputElements = int64_t(row.size());
  samples.augment = augment;
  mn::Batch batch = mn::batchOf(samples, false);
  const int64_t epoch = 0;
  batch.seed = &seed, batch.epoch = &epoch;
  std::vector<float> to(row.size());
  mn::augmentRow(batch, 0, to.data());
  return to;
}

TEST(Augment, ShiftsCopyPixels) {
  const int height = 3, width = 4;
  std::vector<float> row;
  for (int i = 0; i < height * width * 3; ++i)
    row.push_back(float(i + 1));
  for (bool interleaved : {false, true}) {
    mn::Augment augment = ofPicture(height, width);
    augment.channels = 3, augment.shift = 1, augment.interleaved = interleaved;
    for (int64_t seed = 0; seed < 20; ++seed) {
      const mn::PictureMap map = augment.mapOf(uint64_t(seed), 0, 0);
      const std::vector<float> found = changed(row, augment, seed);
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
          for (int channel = 0; channel < 3; ++channel) {
            const auto at = [&](int v, int u) {
              return size_t(interleaved ? (v * width + u) * 3 + channel
                                        : (channel * height + v) * width + u);
            };
            const int v = y - map.shiftY, u = x - map.shiftX;
            const bool inside = v >= 0 && v < height && u >= 0 && u < width;
            EXPECT_EQ(found[at(y, x)], inside ? row[at(v, u)] : 0);
          }
    }
  }
}

TEST(Augment, FlipsAreExact) {
  mn::Augment augment = ofPicture(2, 3);
  augment.flip = true;
  const std::vector<float> row = {1, 2, 3, 4, 5, 6}, other = {3, 2, 1, 6, 5, 4};
  std::set<std::vector<float>> found;
  for (int64_t seed = 0; seed < 20; ++seed)
    found.insert(changed(row, augment, seed));
  EXPECT_EQ(found, std::set<std::vector<float>>({row, other}));
}

/// Beside double precision and the standard library's functions.
TEST(Augment, TurnedPicturesAreInterpolated) {
  const int side = 9;
  std::vector<float> row;
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x)
      row.push_back(float(std::sin(0.7 * x) * std::cos(0.4 * y) + 2));
  mn::Augment augment = ofPicture(side, side);
  augment.rotate = float(pi), augment.scale = 0.5f;
  const auto at = [&](int y, int x) {
    return y < 0 || y >= side || x < 0 || x >= side ? 0.0
                                                    : double(row[y * side + x]);
  };
  for (int64_t seed = 0; seed < 10; ++seed) {
    const mn::PictureMap map = augment.mapOf(uint64_t(seed), 0, 0);
    const double size = 1 / std::hypot(map.c, map.d);
    const double angle = std::atan2(-map.c, map.d);
    const std::vector<float> found = changed(row, augment, seed);
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) {
        const double u = (x - 4) / size, v = (y - 4) / size;
        const double fromX = std::cos(angle) * u + std::sin(angle) * v + 4;
        const double fromY = std::cos(angle) * v - std::sin(angle) * u + 4;
        const int left = int(std::floor(fromX)), top = int(std::floor(fromY));
        const double right = fromX - left, down = fromY - top;
        const double expected = (1 - down) * ((1 - right) * at(top, left) +
                                              right * at(top, left + 1)) +
                                down * ((1 - right) * at(top + 1, left) +
                                        right * at(top + 1, left + 1));
        EXPECT_NEAR(found[size_t(y * side + x)], expected, 2e-5);
      }
  }
}

TEST(Augment, OptionsAreRead) {
  mn::Array rows;
  rows.shape = {10, 3, 8, 6};
  mn::Augment augment;
  ASSERT_TRUE(mn::readAugment("", rows, augment).ok());
  EXPECT_FALSE(augment.on());
  ASSERT_TRUE(
      mn::readAugment("flip,rotate:90,shift:3,scale:0.25", rows, augment).ok());
  EXPECT_TRUE(augment.on() && augment.flip && !augment.interleaved);
  EXPECT_EQ(augment.height, 8);
  EXPECT_EQ(augment.width, 6);
  EXPECT_EQ(augment.channels, 3);
  EXPECT_EQ(augment.shift, 3);
  EXPECT_EQ(augment.scale, 0.25f);
  EXPECT_NEAR(augment.rotate, pi / 2, 1e-6);
  for (const char *wrong :
       {"flop", "flip,", ",flip", "shift", "shift:", "shift:1.5", "shift:-1",
        "rotate:181", "rotate:x", "scale:1", "scale:nan", "flip:1"})
    EXPECT_FALSE(mn::readAugment(wrong, rows, augment).ok()) << wrong;
  rows.shape = {10, 784};
  EXPECT_EQ(mn::readAugment("flip", rows, augment).message,
            "expected pictures for '--augment', [rows, height, width] with one "
            "or three channels, got rows of shape [10, 784]");
}

} // namespace
