//===- train-digits.cpp - a data set that needs no download ---------------===//

#include "core/digest.h"
#include "data/digits.h"
#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <vector>

namespace {

using mn::DigitPart;

struct Set {
  std::vector<uint8_t> images, labels;
};

Set draw(uint64_t seed, DigitPart part, int64_t first, int64_t count,
         int threads = 0) {
  Set set;
  set.images.resize(static_cast<size_t>(count) * mn::digitPixels);
  set.labels.resize(static_cast<size_t>(count));
  mn::drawDigits(seed, part, first, count, set.images.data(), set.labels.data(),
                 threads);
  return set;
}

std::string digestOf(const Set &set) {
  mn::Digest digest;
  digest.add(set.images.data(), set.images.size());
  digest.add(set.labels.data(), set.labels.size());
  return digest.text();
}

// Recorded from both compilers: the same bytes everywhere, for ever.
TEST(Digits, SameBytesEverywhere) {
  EXPECT_EQ(digestOf(draw(1, DigitPart::train, 0, 1000)), "dae67e96c4f49382");
  EXPECT_EQ(digestOf(draw(1, DigitPart::test, 0, 1000)), "ba39f03c2cab1092");
}

TEST(Digits, ThreadsDoNotMatter) {
  const Set one = draw(3, DigitPart::train, 0, 2000, 1);
  EXPECT_EQ(digestOf(one), digestOf(draw(3, DigitPart::train, 0, 2000, 5)));
  const Set later = draw(3, DigitPart::train, 1500, 500);
  EXPECT_TRUE(std::equal(later.images.begin(), later.images.end(),
                         one.images.begin() + 1500 * mn::digitPixels));
}

TEST(Digits, SeedsAndPartsDiffer) {
  const std::string one = digestOf(draw(1, DigitPart::train, 0, 10));
  EXPECT_NE(one, digestOf(draw(2, DigitPart::train, 0, 10)));
  EXPECT_NE(one, digestOf(draw(1, DigitPart::test, 0, 10)));
}

TEST(Digits, ClassesAreEquallyOften) {
  const Set set = draw(1, DigitPart::test, 0, mn::digitTestCount);
  for (int digit = 0; digit < 10; ++digit)
    EXPECT_NEAR(std::count(set.labels.begin(), set.labels.end(), digit), 1000,
                120);
}

// MNIST's images have a mean of 33.3 and are black in four of five pixels.
TEST(Digits, LookLikeInkOnPaper) {
  const Set set = draw(1, DigitPart::train, 0, 2000);
  double sum = 0, black = 0;
  for (const uint8_t pixel : set.images) {
    sum += pixel;
    black += pixel == 0;
  }
  const double count = static_cast<double>(set.images.size());
  EXPECT_GT(sum / count, 18);
  EXPECT_LT(sum / count, 45);
  EXPECT_GT(black / count, 0.7);
  for (size_t i = 0; i < set.labels.size(); ++i)
    EXPECT_GE(
        *std::max_element(set.images.begin() + long(i) * mn::digitPixels,
                          set.images.begin() + long(i + 1) * mn::digitPixels),
        100);
}

// The nearest mean image tells most digits, as with MNIST (82 %), and not all.
TEST(Digits, ClassesCanBeTold) {
  const Set train = draw(1, DigitPart::train, 0, 5000);
  const Set test = draw(1, DigitPart::test, 0, 1000);
  std::vector<double> means(10 * mn::digitPixels), counts(10);
  for (size_t i = 0; i < train.labels.size(); ++i) {
    ++counts[train.labels[i]];
    for (size_t p = 0; p < mn::digitPixels; ++p)
      means[train.labels[i] * mn::digitPixels + p] +=
          train.images[i * mn::digitPixels + p];
  }
  int right = 0;
  for (size_t i = 0; i < test.labels.size(); ++i) {
    std::vector<double> distances(10);
    for (size_t digit = 0; digit < 10; ++digit)
      for (size_t p = 0; p < mn::digitPixels; ++p) {
        const double d = means[digit * mn::digitPixels + p] / counts[digit] -
                         test.images[i * mn::digitPixels + p];
        distances[digit] += d * d;
      }
    right += std::min_element(distances.begin(), distances.end()) -
                 distances.begin() ==
             test.labels[i];
  }
  EXPECT_GT(right, 600);
  EXPECT_LT(right, 970);
}

// Under a second on two idle cores; the limit allows for a busy machine and a
// build without optimization.
TEST(Digits, AreDrawnQuickly) {
  const auto begin = std::chrono::steady_clock::now();
  draw(1, DigitPart::train, 0, 10000);
  const std::chrono::duration<double> time =
      std::chrono::steady_clock::now() - begin;
  EXPECT_LT(time.count(), 5);
}

} // namespace
