//===- train-safetensors.cpp - named tensors in a file --------------------===//

#include "core/digest.h"
#include "formats/safetensors.h"
#include "train-folder.h"
#include <cstring>
#include <gtest/gtest.h>

namespace {

using mn::DType;
using test::contentOf;
using test::Folder;

std::string lengthOf(uint64_t length) {
  return {reinterpret_cast<const char *>(&length), sizeof(length)};
}

std::string file(const std::string &header, size_t dataBytes) {
  return lengthOf(header.size()) + header + std::string(dataBytes, 'x');
}

/// The message of reading a file of this content, without its name.
std::string errorOf(const std::string &content) {
  Folder folder;
  test::write(folder / "a", content);
  mn::SafetensorsFile reader;
  std::string message = reader.open(folder / "a").message;
  const std::string name = "'" + folder / "a" + "'";
  if (message.find(name) == 0)
    message = message.substr(name.size());
  return message;
}

std::string headerError(const std::string &header, uint64_t dataBytes) {
  std::vector<mn::SafetensorsEntry> entries;
  mn::SafetensorsMetadata metadata;
  return mn::parseSafetensorsHeader(header, dataBytes, entries, metadata)
      .message;
}

TEST(Safetensors, RoundTrip) {
  Folder folder;
  const float w[] = {1, 2, 3, 4, 5, 6};
  const double d[] = {0.5};
  const int64_t step[] = {1234567890123};
  const int32_t small[] = {-1, 7};
  const uint8_t bytes[] = {1, 2, 3}, flag[] = {1};
  const mn::SafetensorsMetadata metadata = {{"seed", "1"},
                                            {"a \"quoted\"\n", "\xc3\xa4"}};
  ASSERT_TRUE(mn::writeSafetensors(folder / "a",
                                   {{"flag", DType::boolean, {}, flag},
                                    {"conv1.weight", DType::f32, {2, 3}, w},
                                    {"bytes", DType::u8, {3}, bytes},
                                    {"d", DType::f64, {1}, d},
                                    {"step", DType::i64, {}, step},
                                    {"small", DType::i32, {2}, small},
                                    {"none", DType::f32, {0, 5}, nullptr}},
                                   metadata)
                  .ok());
  mn::SafetensorsFile reader;
  const mn::Status status = reader.open(folder / "a");
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(reader.metadata(), metadata);
  EXPECT_TRUE(reader.hadChecksum());
  EXPECT_EQ(reader.entries().size(), 7u);
  float readW[6];
  ASSERT_TRUE(reader.read("conv1.weight", DType::f32, {2, 3}, readW).ok());
  EXPECT_EQ(std::memcmp(w, readW, sizeof(w)), 0);
  int64_t readStep = 0;
  ASSERT_TRUE(reader.read("step", DType::i64, {}, &readStep).ok());
  EXPECT_EQ(readStep, step[0]);
  for (const mn::SafetensorsEntry &entry : reader.entries())
    EXPECT_EQ(entry.begin % mn::bytesOf(entry.type), 0u) << entry.name;
}

TEST(Safetensors, KnownBytes) {
  Folder folder;
  const float w[] = {1};
  ASSERT_TRUE(
      mn::writeSafetensors(folder / "a", {{"w", DType::f32, {1}, w}}, {}).ok());
  const auto file = [](const std::string &digits) {
    const std::string header =
        R"({"__metadata__":{"xxh64":")" + digits +
        R"("},"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
    const std::string padded =
        header + std::string((8 - header.size() % 8) % 8, ' ');
    return lengthOf(padded.size()) + padded + std::string("\0\0\x80\x3f", 4);
  };
  const std::string zeros = file("0000000000000000");
  mn::Digest digest;
  digest.add(zeros.data(), zeros.size());
  EXPECT_EQ(contentOf(folder / "a"), file(digest.text()));
}

TEST(Safetensors, FilesOfOthersHaveNoChecksum) {
  Folder folder;
  test::write(
      folder / "a",
      file(R"({"w":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})", 3));
  mn::SafetensorsFile reader;
  ASSERT_TRUE(reader.open(folder / "a").ok());
  EXPECT_FALSE(reader.hadChecksum());
  char to[3];
  EXPECT_TRUE(reader.read("w", DType::u8, {3}, to).ok());
  EXPECT_EQ(std::string(to, 3), "xxx");
}

// A flip in the key makes of the file one without a checksum, which no
// checkpoint may be.
TEST(Safetensors, EveryFlipIsFound) {
  Folder folder;
  const float w[] = {1, 2};
  ASSERT_TRUE(mn::writeSafetensors(folder / "a", {{"w", DType::f32, {2}, w}},
                                   {{"k", "v"}})
                  .ok());
  const std::string whole = contentOf(folder / "a");
  for (size_t i = 0; i < whole.size() * 8; ++i) {
    std::string flipped = whole;
    flipped[i / 8] = static_cast<char>(flipped[i / 8] ^ 1 << i % 8);
    test::write(folder / "b", flipped);
    mn::SafetensorsFile reader;
    EXPECT_FALSE(reader.open(folder / "b").ok() && reader.hadChecksum()) << i;
  }
}

TEST(Safetensors, ReadsWhatIsThere) {
  Folder folder;
  const float w[] = {1, 2};
  ASSERT_TRUE(
      mn::writeSafetensors(folder / "a", {{"w", DType::f32, {2}, w}}, {}).ok());
  mn::SafetensorsFile reader;
  ASSERT_TRUE(reader.open(folder / "a").ok());
  float to[2];
  const std::string name = "'" + folder / "a" + "'";
  EXPECT_EQ(reader.read("v", DType::f32, {2}, to).message,
            name + ": expected a tensor 'v', got none");
  EXPECT_EQ(reader.read("w", DType::f32, {2, 1}, to).message,
            name + ": expected tensor 'w' to be F32 [2, 1], got F32 [2]");
  EXPECT_EQ(reader.read("w", DType::i32, {2}, to).message,
            name + ": expected tensor 'w' to be I32 [2], got F32 [2]");
}

TEST(Safetensors, EveryCutIsFound) {
  Folder folder;
  const float w[] = {1, 2};
  ASSERT_TRUE(mn::writeSafetensors(folder / "a", {{"w", DType::f32, {2}, w}},
                                   {{"k", "v"}})
                  .ok());
  const std::string whole = contentOf(folder / "a");
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(errorOf(whole.substr(0, size)), "") << size;
  EXPECT_NE(errorOf(whole + "x"), "");
}

TEST(Safetensors, FileErrors) {
  EXPECT_EQ(errorOf("1234567"), " is no safetensors file: expected at least 8 "
                                "bytes, got 7");
  EXPECT_EQ(errorOf(lengthOf(100) + "{}"),
            " is cut off: expected a header of 100 bytes, got 2");
  EXPECT_EQ(errorOf(lengthOf(uint64_t(1) << 63) + "{}"),
            " is no safetensors file: expected a header of at most 16777216 "
            "bytes, got 9223372036854775808");
  EXPECT_EQ(errorOf(file("[]", 0)),
            ": expected a header that begins with '{', got \"[\"");
  EXPECT_EQ(errorOf(file("{\"a\":", 0)),
            ": expected a header that is JSON, got text that is not");
}

TEST(Safetensors, HeaderErrors) {
  const auto one = [](const std::string &rest, uint64_t bytes) {
    return headerError("{\"w\":{" + rest + "}}", bytes);
  };
  EXPECT_EQ(one(R"("dtype":"F32","shape":[1])", 4),
            "tensor 'w': expected a 'data_offsets', got "
            R"({"dtype":"F32","shape":[1]})");
  EXPECT_EQ(one(R"("dtype":"F8","shape":[1],"data_offsets":[0,4])", 4),
            "tensor 'w': expected dtype F64, I64, F32, I32, U8 or BOOL, got "
            "\"F8\"");
  EXPECT_EQ(one(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])", 4),
            "tensor 'w': expected a 'shape' of integers, got [-1]");
  EXPECT_EQ(one(R"("dtype":"F32","shape":[4294967296,4294967296],)"
                R"("data_offsets":[0,0])",
                0),
            "tensor 'w': expected fewer than 2^64 bytes, got shape "
            "[4294967296,4294967296]");
  EXPECT_EQ(one(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])", 4),
            "tensor 'w': expected a beginning and an end in 'data_offsets', "
            "got [4,0]");
  EXPECT_EQ(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])", 4),
            "tensor 'w' ends at byte 8 of the data, but the file has only 4: "
            "it is cut off");
  EXPECT_EQ(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])", 4),
            "tensor 'w': expected 8 bytes for F32 of shape [2], got 4");
  EXPECT_EQ(one(R"("dtype":"U8","shape":[1],"data_offsets":[1,2])", 2),
            "expected tensor 'w' at byte 0 of the data, got it at 1: nothing "
            "describes the bytes between");
  EXPECT_EQ(one(R"("dtype":"U8","shape":[1],"data_offsets":[0,1])", 2),
            "expected 1 bytes of tensors, got 2");
}

TEST(Safetensors, MoreHeaderErrors) {
  const std::string entry = R"({"dtype":"U8","shape":[2],"data_offsets":[)";
  EXPECT_EQ(
      headerError("{\"a\":" + entry + "0,2]},\"b\":" + entry + "1,3]}}", 3),
      "tensors 'a' and 'b' overlap");
  EXPECT_EQ(
      headerError("{\"a\":" + entry + "0,2]},\"a\":" + entry + "0,2]}}", 2),
      "expected one 'a' in the header, got two");
  EXPECT_EQ(headerError(R"({"__metadata__":{"k":1}})", 0),
            "expected a string for 'k' in '__metadata__', got 1");
  EXPECT_EQ(headerError("{\"a\":" + std::string(100000, '['), 0),
            "expected a header of at most 4 levels, got more");
}

TEST(Safetensors, RefusesTwoOfAName) {
  Folder folder;
  const uint8_t x[] = {1};
  EXPECT_EQ(mn::writeSafetensors(
                folder / "a",
                {{"w", DType::u8, {1}, x}, {"w", DType::u8, {1}, x}}, {})
                .message,
            "cannot write '" + folder / "a" +
                "': expected tensors of different names, got two of 'w'");
  EXPECT_EQ(folder.size(), 0u);
}

} // namespace
