//===- train-philox.cpp - random numbers by counting ----------------------===//

#include "mnistrt/philox.h"
#include <gtest/gtest.h>
#include <set>
#include <vector>

namespace {

using mn::Words4;

std::vector<uint32_t> philox(Words4 counter, uint32_t key0, uint32_t key1) {
  const Words4 bits = mn::philox(counter, key0, key1);
  return {bits.word, bits.word + 4};
}

// Random123's tests/kat_vectors, "philox4x32 10".
TEST(Philox, PublishedVectors) {
  EXPECT_EQ(
      philox({{0, 0, 0, 0}}, 0, 0),
      (std::vector<uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const uint32_t ones = 0xffffffff;
  EXPECT_EQ(
      philox({{ones, ones, ones, ones}}, ones, ones),
      (std::vector<uint32_t>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      philox({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822,
             0x299f31d0),
      (std::vector<uint32_t>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, FloatsLieInTheUnitInterval) {
  EXPECT_EQ(mn::unitFloat(0), 0.0f);
  EXPECT_EQ(mn::unitFloat(255), 0.0f);
  EXPECT_EQ(mn::unitFloat(0x80000000), 0.5f);
  EXPECT_EQ(mn::unitFloat(0xffffffff), 1 - 1.0f / 16777216);
}

TEST(Philox, ElementsAreTheWordsOfTheirBlock) {
  const mn::Random random = {0x123456789abcdef0, 7};
  for (uint64_t element = 0; element < 16; ++element)
    EXPECT_EQ(random.bits(3, element),
              random.block(3, element / 4).word[element % 4]);
}

// Each part of what a number is for changes it, up to its last bit.
TEST(Philox, NothingIsSharedBetweenUses) {
  std::set<uint64_t> seen;
  const auto add = [&](uint64_t seed, uint32_t stream, uint64_t step,
                       uint64_t element) {
    const mn::Random random = {seed, stream};
    seen.insert(uint64_t(random.bits(step, element)) << 32 |
                random.bits(step, element + 1));
  };
  add(1, 0, 0, 0);
  add(uint64_t(1) << 63, 0, 0, 0);
  add((uint64_t(1) << 63) + 1, 0, 0, 0);
  add(1, 1, 0, 0);
  add(1, 0, 1, 0);
  add(1, 0, uint64_t(1) << 47, 0);
  add(1, 0, 0, 4);
  add(1, 0, 0, uint64_t(1) << 49);
  EXPECT_EQ(seen.size(), 8u);
}

TEST(Philox, UniformHasItsMeanAndVariance) {
  const mn::Random random = {1, 0};
  double sum = 0, squares = 0;
  const int count = 1 << 18;
  for (int i = 0; i < count; ++i) {
    const double x = random.uniform(9, static_cast<uint64_t>(i));
    sum += x;
    squares += x * x;
  }
  const double mean = sum / count;
  EXPECT_NEAR(mean, 0.5, 0.003);
  EXPECT_NEAR(squares / count - mean * mean, 1.0 / 12, 0.001);
}

} // namespace
