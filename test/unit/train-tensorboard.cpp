//===- train-tensorboard.cpp - scalars for TensorBoard --------------------===//

#include "formats/protobuf.h"
#include "formats/tensorboard.h"
#include "train-folder.h"
#include <bit>
#include <cstring>
#include <gtest/gtest.h>

namespace {

// RFC 3720, B.4, and the check value of the catalogue of CRCs.
TEST(TensorBoard, Crc32c) {
  EXPECT_EQ(mn::crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(mn::crc32c(""), 0u);
  EXPECT_EQ(mn::crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(mn::crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  std::string up;
  for (int i = 0; i < 32; ++i)
    up.push_back(static_cast<char>(i));
  EXPECT_EQ(mn::crc32c(up), 0x46dd794eu);
}

uint32_t masked(std::string_view data) {
  const uint32_t crc = mn::crc32c(data);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

/// Takes a record off the front and checks its sums.
std::string take(std::string_view &file) {
  uint64_t length = 0;
  uint32_t lengthCrc = 0, dataCrc = 0;
  std::memcpy(&length, file.data(), 8);
  std::memcpy(&lengthCrc, file.data() + 8, 4);
  EXPECT_EQ(lengthCrc, masked(file.substr(0, 8)));
  const std::string data(file.substr(12, length));
  std::memcpy(&dataCrc, file.data() + 12 + length, 4);
  EXPECT_EQ(dataCrc, masked(data));
  file.remove_prefix(16 + length);
  return data;
}

/// The fields of a message, by number.
std::map<uint32_t, std::vector<mn::WireField>> parse(std::string_view message) {
  std::map<uint32_t, std::vector<mn::WireField>> fields;
  mn::WireReader reader(message);
  for (mn::WireField field; reader.next(field);)
    fields[field.number].push_back(field);
  EXPECT_FALSE(reader.malformed());
  return fields;
}

TEST(TensorBoard, ReadsBack) {
  test::Folder folder;
  std::string path;
  {
    mn::TensorBoard board;
    const mn::Status status = board.open(folder / "runs/1");
    ASSERT_TRUE(status.ok()) << status.message;
    path = board.path();
    ASSERT_TRUE(
        board.write(300, 1.5, {{"train/loss", 0.25f}, {"test/accuracy", 0.5f}})
            .ok());
  }
  EXPECT_NE(path.find("/events.out.tfevents."), std::string::npos);
  const std::string content = test::contentOf(path);
  std::string_view file = content;
  const std::string version = take(file), event = take(file);
  EXPECT_TRUE(file.empty());
  EXPECT_EQ(parse(version)[3].at(0).body, "brain.Event:2");
  auto fields = parse(event);
  EXPECT_EQ(std::bit_cast<double>(fields[1].at(0).value), 1.5);
  EXPECT_EQ(fields[2].at(0).value, 300u);
  auto values = parse(fields[5].at(0).body)[1];
  ASSERT_EQ(values.size(), 2u);
  auto loss = parse(values[0].body);
  EXPECT_EQ(loss[1].at(0).body, "train/loss");
  EXPECT_EQ(std::bit_cast<float>(static_cast<uint32_t>(loss[2].at(0).value)),
            0.25f);
  EXPECT_EQ(parse(values[1].body)[1].at(0).body, "test/accuracy");
}

TEST(TensorBoard, EveryRunHasItsFile) {
  test::Folder folder;
  mn::TensorBoard a, b;
  ASSERT_TRUE(a.open(folder.path).ok());
  ASSERT_TRUE(b.open(folder.path).ok());
  EXPECT_NE(a.path(), b.path());
  EXPECT_EQ(folder.size(), 2u);
}

TEST(TensorBoard, Errors) {
  test::Folder folder;
  test::write(folder / "a", "");
  mn::TensorBoard board;
  EXPECT_EQ(board.open(folder / "a/b").message,
            "cannot make the folder '" + folder / "a/b" + "': Not a directory");
}

TEST(TensorBoard, HistogramsOfFewNumbers) {
  EXPECT_TRUE(mn::histogramOf("none", {}).counts.empty());
  const float equal[] = {2, 2, 2}, two[] = {0, 3, 3};
  const mn::Histogram one = mn::histogramOf("equal", equal);
  EXPECT_EQ(one.limits, std::vector<double>({2}));
  EXPECT_EQ(one.counts, std::vector<double>({3}));
  const mn::Histogram other = mn::histogramOf("two", two);
  ASSERT_EQ(other.counts.size(), 30u);
  EXPECT_EQ(other.counts.front(), 1);
  EXPECT_EQ(other.counts.back(), 2);
  EXPECT_EQ(other.limits.back(), 3);
  EXPECT_EQ(other.sumOfSquares, 18);
}

} // namespace
