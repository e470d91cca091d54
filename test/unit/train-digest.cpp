//===- train-digest.cpp - what the weights are, in sixteen digits ---------===//

#include "core/digest.h"
#include <gtest/gtest.h>

namespace {

std::string bytes(size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i)
    result.push_back(static_cast<char>(i * 37 + 11));
  return result;
}

std::string digestOf(const std::string &data) {
  mn::Digest digest;
  digest.add(data.data(), data.size());
  return digest.text();
}

// Computed with libxxhash's XXH64 and seed 0.
TEST(Digest, IsXxh64) {
  EXPECT_EQ(digestOf(""), "ef46db3751d8e999");
  EXPECT_EQ(digestOf("a"), "d24ec4f1a98c6e5b");
  EXPECT_EQ(digestOf("abc"), "44bc2cf5ad770999");
  EXPECT_EQ(digestOf(bytes(3)), "22c08528601d4f27");
  EXPECT_EQ(digestOf(bytes(4)), "fb1e5cf2f1ae4d95");
  EXPECT_EQ(digestOf(bytes(7)), "5613ac510496c04e");
  EXPECT_EQ(digestOf(bytes(8)), "57cb2b7521f3e21a");
  EXPECT_EQ(digestOf(bytes(31)), "e4a0e629e519a4ae");
  EXPECT_EQ(digestOf(bytes(32)), "cc6b8aaada790b2d");
  EXPECT_EQ(digestOf(bytes(33)), "35ec49850475a832");
  EXPECT_EQ(digestOf(bytes(63)), "bf9f0ba3cf95b28a");
  EXPECT_EQ(digestOf(bytes(64)), "155ccce4bf32befc");
  EXPECT_EQ(digestOf(bytes(100)), "4826e367566ea023");
  EXPECT_EQ(digestOf(bytes(1000)), "128da10cfbdc59d9");
}

TEST(Digest, PartsDoNotMatter) {
  const std::string data = bytes(1000);
  for (size_t part : {1, 7, 31, 32, 33, 500}) {
    mn::Digest digest;
    for (size_t i = 0; i < data.size(); i += part)
      digest.add(data.data() + i, std::min(part, data.size() - i));
    EXPECT_EQ(digest.text(), "128da10cfbdc59d9") << part;
  }
}

TEST(Digest, AskingDoesNotChangeIt) {
  mn::Digest digest;
  digest.add("ab", 2);
  digest.value();
  digest.add("c", 1);
  EXPECT_EQ(digest.text(), "44bc2cf5ad770999");
}

// The same bytes under other names, or cut elsewhere, are other weights.
TEST(Digest, TensorsAreToldApart) {
  mn::Digest a, b, c;
  a.addTensor("w", "1234", 4);
  b.addTensor("v", "1234", 4);
  c.addTensor("w", "12", 2);
  c.addTensor("", "34", 2);
  EXPECT_NE(a.value(), b.value());
  EXPECT_NE(a.value(), c.value());
}

} // namespace
