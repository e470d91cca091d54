//===- readers.cpp - data files and how they fit inputs -------------------===//

#include "formats/files.h"
#include "inference/classify.h"
#include "inference/inputs.h"
#include "reports/report.h"
#include <cmath>
#include <gtest/gtest.h>

namespace {

using mn::Array;
using Bytes = std::vector<char>;

Bytes bytes(const std::string &text) { return {text.begin(), text.end()}; }

mn::Status parseNpy(std::string_view file, Array &array) {
  return mn::parseArray(mn::parseNpyHeader, file, array);
}

mn::Status parseIdx(std::string_view file, Array &array) {
  return mn::parseArray(mn::parseIdxHeader, file, array);
}

std::string npyOf(const std::vector<int64_t> &shape, const float *numbers,
                  size_t size) {
  const Bytes file = mn::npyOf(mn::Type::f32, shape, numbers, size);
  return {file.begin(), file.end()};
}

std::string npy(const std::string &header, size_t elements) {
  return std::string("\x93NUMPY\1\0", 8) + static_cast<char>(header.size()) +
         '\0' + header + std::string(elements, '\0');
}

TEST(Npy, RoundTrip) {
  const float numbers[] = {1, 2, 3, 4, 5, 6};
  for (const std::vector<int64_t> &shape :
       {std::vector<int64_t>{2, 3}, {6}, {1, 6, 1}}) {
    Array array;
    ASSERT_TRUE(parseNpy(npyOf(shape, numbers, 24), array).ok());
    EXPECT_EQ(array.shape, shape);
    EXPECT_EQ(mn::numberAt(array.type, array.bytes.data(), 5), 6);
  }
  Array scalar;
  ASSERT_TRUE(parseNpy(npyOf({}, numbers, 4), scalar).ok());
  EXPECT_TRUE(scalar.shape.empty());
}

TEST(Npy, OfEveryVersion) {
  // From version 2 on the header's size has 4 bytes.
  const float numbers[] = {1, 2, 3};
  const std::string elements(reinterpret_cast<const char *>(numbers), 12);
  for (char version : {1, 2, 3})
    for (size_t spaces : {0, 200, 1000}) {
      const std::string header =
          "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }" +
          std::string(spaces, ' ') + '\n';
      std::string file = std::string("\x93NUMPY") + version + '\0';
      for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
        file += static_cast<char>(header.size() >> 8 * i);
      Array array;
      const mn::Status status = parseNpy(file + header + elements, array);
      ASSERT_TRUE(status.ok()) << int(version) << ": " << status.message;
      EXPECT_EQ(array.bytes.edit(), bytes(elements)) << int(version);
    }
}

TEST(Npy, SaysWhatIsWrong) {
  const auto messageOf = [](const std::string &file) {
    Array array;
    return parseNpy(file, array).message;
  };
  EXPECT_EQ(messageOf("\x93NUMPY"),
            "expected the header of a .npy file, got 6 bytes");
  EXPECT_EQ(
      messageOf(
          npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", 4)),
      "expected elements of type <f4, <f8, <i4, <i8, |u1 or |b1, got '>f4'");
  EXPECT_EQ(
      messageOf(
          npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }", 8)),
      "expected elements in C order, got Fortran order");
  EXPECT_EQ(
      messageOf(npy(
          "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }", 8)),
      "expected 24 bytes of elements for shape [3, 2], got 8");
  EXPECT_EQ(
      messageOf(npy("{'descr': '<f4', 'fortran_order': False, 'shape': 3}", 8)),
      "expected a tuple of numbers as shape, got ''");
  EXPECT_NE(messageOf(npy("{'descr': '<f4', 'fortran_order': False, 'shape': "
                          "(99999999999, 99999999999), }",
                          8)),
            "");
}

TEST(TensorProto, ReadsAllSpellingsOfNumbers) {
  // dims 2 and 1 unpacked; float; name "x"; raw data.
  Array raw;
  ASSERT_TRUE(mn::parseTensorProto(
                  (std::string("\x08\2\x08\1\x10\1\x42\1x\x4a\x08", 11) +
                   std::string("\0\0\x80\x3f\0\0\0\x40", 8)),
                  raw)
                  .ok());
  EXPECT_EQ(raw.shape, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(raw.name, "x");
  EXPECT_EQ(mn::numberAt(raw.type, raw.bytes.data(), 1), 2);
  // dims packed; int64_data packed, with a negative number.
  Array packed;
  ASSERT_TRUE(mn::parseTensorProto(
                  std::string_view(
                      "\x0a\1\2\x10\7\x3a\x0b\5\xff\xff\xff\xff\xff\xff\xff\xff"
                      "\xff\1"),
                  packed)
                  .ok());
  EXPECT_EQ(mn::numberAt(packed.type, packed.bytes.data(), 0), 5);
  EXPECT_EQ(mn::numberAt(packed.type, packed.bytes.data(), 1), -1);
}

TEST(TensorProto, SurvivesEveryCutAndEveryFlip) {
  const std::string whole =
      std::string("\x08\2\x08\1\x10\1\x42\1x\x4a\x08", 11) +
      std::string("\0\0\x80\x3f\0\0\0\x40", 8);
  Array array;
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(mn::parseTensorProto(whole.substr(0, size), array).ok());
  for (size_t i = 0; i < whole.size() * 8; ++i) {
    std::string flipped = whole;
    flipped[i / 8] = static_cast<char>(flipped[i / 8] ^ 1 << i % 8);
    (void)mn::parseTensorProto(flipped, array);
  }
}

TEST(TensorProto, HoldsItsElementsInOneFieldOfItsType) {
  const auto messageOf = [](std::string_view file) {
    Array array;
    return mn::parseTensorProto(file, array).message;
  };
  const std::string one("\x08\1\x10", 3); // one element of type ...
  const std::string raw("\x4a\4\0\0\x80\x3f", 6);
  EXPECT_EQ(messageOf(one + "\1" + raw), "");
  EXPECT_EQ(messageOf(one + "\6" + std::string("\x25\0\0\x80\x3f", 5)),
            "expected the elements of int32 in field 5 or raw_data of the "
            "TensorProto, got them in field 4");
  EXPECT_EQ(messageOf(one + "\1" + raw + std::string("\x25\0\0\x80\x3f", 5)),
            "expected the elements in one field, got them in fields 9 and 4 "
            "of the TensorProto");
  EXPECT_EQ(messageOf(one + "\2\x28\xac\2"),
            "expected elements of uint8, got 300");
  EXPECT_EQ(messageOf(one + "\1" + raw + raw),
            "expected 4 bytes of elements, got more");
  // The shape may follow the elements.
  EXPECT_EQ(messageOf("\x10\1" + raw + "\x08\1"), "");
}

TEST(Idx, ReadsImages) {
  Array array;
  const std::string header("\0\0\x08\3\0\0\0\1\0\0\0\2\0\0\0\2", 16);
  ASSERT_TRUE(parseIdx(header + "abcd", array).ok());
  EXPECT_EQ(array.shape, (std::vector<int64_t>{1, 2, 2}));
  EXPECT_EQ(parseIdx(header + "abc", array).message,
            "expected 4 bytes of elements for shape [1, 2, 2], got 3");
  EXPECT_FALSE(parseIdx(header.substr(0, 9), array).ok());
}

TEST(Idx, SizesHaveFourBytes) {
  mn::ArrayHeader header;
  ASSERT_TRUE(mn::parseIdxHeader(
                  std::string("\0\0\x08\2\1\2\3\4\0\0\xff\xfe", 12), header)
                  .ok());
  EXPECT_EQ(header.array.shape, (std::vector<int64_t>{0x01020304, 0xfffe}));
  EXPECT_EQ(header.bytes, size_t(0x01020304) * 0xfffe);
}

TEST(Png, RefusesWhatIsNone) {
  Array array;
  EXPECT_FALSE(
      mn::parsePng(bytes("\x89PNG\r\n\x1a\n"), mn::Colors::grey, array).ok());
}

const int64_t imageShape[] = {4, 1, 2, 2};
const mn::Tensor image = {"image", mn::Type::f32, 4, imageShape, 0};
const mn::Plan plan = {"infer", 4, 0, 0, &image, 1, nullptr, 0, nullptr, 0};

Array pixels(std::vector<int64_t> shape, const std::string &values) {
  Array array;
  array.type = mn::Type::u8;
  array.shape = std::move(shape);
  array.bytes = bytes(values);
  array.pixels = true;
  return array;
}

TEST(Inputs, RowsInAnyShapeThatMovesNoElement) {
  const mn::Rows rows(plan, image);
  int64_t count;
  for (const std::vector<int64_t> &shape : {std::vector<int64_t>{2, 2},
                                            {1, 2, 2},
                                            {4},
                                            {1, 1, 2, 2},
                                            {1, 4},
                                            {2, 2, 1}}) {
    const mn::Status status = mn::countRows(pixels(shape, "abcd"), rows, count);
    ASSERT_TRUE(status.ok()) << status.message;
    EXPECT_EQ(count, 1) << mn::shapeText(shape);
  }
  ASSERT_TRUE(
      mn::countRows(pixels({3, 2, 2}, "abcdefghijkl"), rows, count).ok());
  EXPECT_EQ(count, 3);
  EXPECT_EQ(mn::countRows(pixels({3, 3}, "abcdefghi"), rows, count).message,
            "expected shape [N, 1, 2, 2] for input 'image', got [3, 3]");
}

TEST(Inputs, PixelsAreScaledAndTheLastRowRepeated) {
  const mn::Rows rows(plan, image);
  float x[12];
  mn::Transform transform;
  const Array array =
      pixels({2, 2, 2}, std::string("\0\xff\0\xff\x33\0\0\xff", 8));
  ASSERT_TRUE(mn::fillRows(array, rows, transform, 0, 2, 3, x).ok());
  EXPECT_FLOAT_EQ(x[1], 1);
  EXPECT_FLOAT_EQ(x[4], 0.2f);
  EXPECT_FLOAT_EQ(x[8], 0.2f);
  transform.invert = true;
  transform.mean = 0.5;
  transform.deviation = 0.25;
  ASSERT_TRUE(mn::fillRows(array, rows, transform, 0, 1, 1, x).ok());
  EXPECT_FLOAT_EQ(x[0], 2);
  EXPECT_FLOAT_EQ(x[1], -2);
}

TEST(Scores, AreToldApart) {
  const float logits[] = {1, 2, 3, -1, 0, 1};
  const float probabilities[] = {.2f, .3f, .5f, 0, 1, 0};
  float logs[6];
  for (int i = 0; i < 6; ++i)
    logs[i] = std::log(probabilities[i]);
  EXPECT_EQ(mn::scoresOf(mn::Type::f32, logits, 2, 3), mn::Scores::logits);
  EXPECT_EQ(mn::scoresOf(mn::Type::f32, probabilities, 2, 3),
            mn::Scores::probabilities);
  EXPECT_EQ(mn::scoresOf(mn::Type::f32, logs, 2, 3),
            mn::Scores::logProbabilities);
  std::vector<double> result;
  mn::logProbabilities(mn::Scores::logits, mn::Type::f32, logits, 1, 3, result);
  EXPECT_NEAR(std::exp(result[0]) + std::exp(result[1]) + std::exp(result[2]),
              1, 1e-12);
}

TEST(Report, Tables) {
  EXPECT_EQ(mn::table({{">n", "name"}, {"10", "x"}}, 0), " n  name\n10  x\n");
}

} // namespace
