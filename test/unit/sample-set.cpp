//===- sample-set.cpp - rows that are kept aside --------------------------===//

#include "data/sample_set.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <tuple>

namespace {

/// Rows of two bytes, i and 1, of class i.
mn::SampleSet rows(int64_t count) {
  mn::SampleSet set;
  set.source = "rows";
  set.inputs.type = mn::Type::u8;
  set.inputs.shape = {count, 2};
  set.targets.type = mn::Type::i32;
  set.targets.shape = {count};
  std::vector<char> inputs, targets;
  for (int32_t i = 0; i < count; ++i) {
    inputs.insert(inputs.end(), {char(i), 1});
    const char *bytes = reinterpret_cast<const char *>(&i);
    targets.insert(targets.end(), bytes, bytes + 4);
  }
  set.inputs.bytes = inputs, set.targets.bytes = targets;
  return set;
}

std::vector<int> classesOf(const mn::SampleSet &set) {
  std::vector<int> classes;
  for (int64_t i = 0; i < set.count(); ++i) {
    const size_t row = size_t(i);
    classes.push_back(
        int(mn::numberAt(mn::Type::i32, set.targets.bytes.data(), row)));
    EXPECT_EQ(set.inputs.bytes[2 * row], char(classes.back()));
    EXPECT_EQ(set.inputs.bytes[2 * row + 1], 1);
  }
  return classes;
}

TEST(SplitSamples, EachRowIsInOneSetInItsOrder) {
  for (const auto &[count, part, moved] :
       {std::tuple(100, 0.1, 10), {100, 0.9, 90}, {3, 0.4, 1}, {2, 0.5, 1}}) {
    mn::SampleSet train = rows(count), other, again = rows(count), twice;
    ASSERT_TRUE(mn::splitSamples(part, train, other).ok());
    ASSERT_TRUE(mn::splitSamples(part, again, twice).ok());
    EXPECT_EQ(classesOf(other), classesOf(twice));
    EXPECT_EQ(other.source, "rows");
    std::vector<int> all = classesOf(train), aside = classesOf(other);
    EXPECT_EQ(int(aside.size()), moved);
    EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
    EXPECT_TRUE(std::is_sorted(aside.begin(), aside.end()));
    // Not simply the first or the last ones.
    if (count == 100) {
      EXPECT_NE(aside.back() - aside.front() + 1, moved);
    }
    all.insert(all.end(), aside.begin(), aside.end());
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, classesOf(rows(count)));
  }
}

TEST(SplitSamples, NoSetIsEmpty) {
  for (const auto &[count, part] :
       {std::pair(1, 0.5), {10, 0.04}, {10, 0.96}}) {
    mn::SampleSet train = rows(count), other;
    EXPECT_FALSE(mn::splitSamples(part, train, other).ok());
  }
}

} // namespace
