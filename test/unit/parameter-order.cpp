//===- parameter-order.cpp - elements in the order of file and device -----===//

#include "core/parameter_order.h"
#include "core/tensor.h"
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>

using namespace mn;

namespace {

/// A plain tensor of two numbers, one of 2 x 6 that the device has as 2 x 3 x 2
/// transposed by (2, 0, 1), and a plain one of three.
struct ParameterOrder : ::testing::Test {
  static constexpr int64_t two[] = {2}, three[] = {3}, matrix[] = {2, 6};
  static constexpr int64_t shape[] = {2, 3, 2}, perm[] = {2, 0, 1};
  static constexpr int count = 17;
  const float initial[14] = {9, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const Parameter parameters[3] = {
      {{"a", Type::f32, 1, two, 0}, Role::parameter},
      {{"w", Type::f32, 2, matrix, 8}, Role::parameter, {3, shape, perm}},
      {{"b", Type::f32, 1, three, 56}, Role::parameter}};
  Model model = {};
  std::vector<float> device = std::vector<float>(count);

  ParameterOrder() {
    model.parameters = parameters;
    model.parameterCount = 3;
    model.parameterBytes = sizeof(float) * count;
    model.initial = reinterpret_cast<const unsigned char *>(initial);
    model.initialBytes = sizeof initial;
  }
  Status write(int first, const std::vector<float> &numbers) {
    return writeInOrder(model, sizeof(float) * size_t(first), numbers.data(),
                        sizeof(float) * numbers.size(),
                        [&](size_t at, const void *from, size_t bytes) {
                          std::memcpy(reinterpret_cast<char *>(device.data()) +
                                          at,
                                      from, bytes);
                          return Status::success();
                        });
  }
  std::vector<float> read(int first, int numbers) {
    std::vector<float> found(static_cast<size_t>(numbers));
    const Status status = readInOrder(
        model, sizeof(float) * size_t(first), found.data(),
        sizeof(float) * found.size(), [&](size_t at, void *to, size_t bytes) {
          std::memcpy(to, reinterpret_cast<char *>(device.data()) + at, bytes);
          return Status::success();
        });
    EXPECT_TRUE(status.ok()) << status.message;
    return found;
  }
  /// As NumPy has arange(12).reshape(2, 3, 2).transpose(2, 0, 1).
  static constexpr int ofDevice[] = {0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11};
};

TEST_F(ParameterOrder, AllIsWrittenAndRead) {
  std::vector<float> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  ASSERT_TRUE(write(0, numbers).ok());
  for (int i = 0; i < 12; ++i)
    EXPECT_EQ(device[size_t(2 + i)], 2 + ofDevice[i]) << i;
  EXPECT_EQ(device[1], 1);
  EXPECT_EQ(device[14], 14);
  EXPECT_EQ(read(0, count), numbers);
}

TEST_F(ParameterOrder, PartsAreThoseOfTheFile) {
  std::vector<float> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  for (int first = 0; first < count; first += 3)
    ASSERT_TRUE(write(first, {numbers.begin() + first,
                              numbers.begin() + std::min(first + 3, count)})
                    .ok());
  for (int i = 0; i < 12; ++i)
    EXPECT_EQ(device[size_t(2 + i)], 2 + ofDevice[i]) << i;
  for (int first = 0; first < count; ++first)
    for (int some = 0; first + some <= count; ++some)
      EXPECT_EQ(read(first, some),
                std::vector<float>(numbers.begin() + first,
                                   numbers.begin() + first + some))
          << first << " and " << some;
}

TEST_F(ParameterOrder, InitialValuesAreAsTheDeviceHasThem) {
  const std::vector<char> block = initialInOrder(model);
  ASSERT_EQ(block.size(), sizeof initial);
  const auto *numbers = reinterpret_cast<const float *>(block.data());
  EXPECT_EQ(numbers[0], 9);
  EXPECT_EQ(numbers[1], 8);
  for (int i = 0; i < 12; ++i)
    EXPECT_EQ(numbers[2 + i], ofDevice[i]) << i;
}

TEST_F(ParameterOrder, NumbersHaveAnySize) {
  for (const Type type : {Type::f64, Type::bf16, Type::u8}) {
    const size_t size = bytesOf(type);
    const Parameter parameter = {
        {"w", type, 2, matrix, 0}, Role::parameter, {3, shape, perm}};
    model.parameters = &parameter;
    model.parameterCount = 1;
    std::vector<unsigned char> initial(12 * size);
    for (size_t i = 0; i < initial.size(); ++i)
      initial[i] = static_cast<unsigned char>(i);
    model.initial = initial.data();
    model.initialBytes = initial.size();
    const std::vector<char> block = initialInOrder(model);
    for (size_t i = 0; i < block.size(); ++i)
      EXPECT_EQ(size_t(block[i]), ofDevice[i / size] * size + i % size)
          << nameOf(type) << " " << i;
  }
}

TEST_F(ParameterOrder, PartsOfNumbersAreRefused) {
  char byte = 0;
  const Status status =
      readInOrder(model, 10, &byte, 1,
                  [](size_t, void *, size_t) { return Status::success(); });
  EXPECT_EQ(status.message,
            "expected whole numbers of a parameter, got bytes 10 to 11");
}

} // namespace
