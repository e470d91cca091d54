//===- math.cpp - the functions of one element ----------------------------===//
//
// Against the C library in double precision, and at the ends of the numbers.
//
//===----------------------------------------------------------------------===//

#include "mnistrt/generated.h"
#include "mnistrt/reductions.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
const float nan = std::numeric_limits<float>::quiet_NaN();

/// The worst error in units in the last place, over a range.
double worstUlps(float (*ours)(float), double (*exact)(double), float from,
                 float to) {
  double worst = 0;
  for (int i = 0; i <= 200000; ++i) {
    const float x = from + (to - from) * static_cast<float>(i) / 200000.f;
    const double expected = exact(x);
    const float rounded = static_cast<float>(expected);
    const double ulp = std::max(
        std::fabs(double(std::nextafter(rounded, inf)) - double(rounded)),
        1e-45);
    worst = std::max(worst, std::fabs(ours(x) - expected) / ulp);
  }
  return worst;
}

TEST(Math, FloatFunctionsAreAccurate) {
  EXPECT_LT(worstUlps([](float x) { return mn::exp(x); }, std::exp, -87, 88),
            2);
  EXPECT_LT(worstUlps([](float x) { return mn::log(x); }, std::log, 1e-6f, 50),
            2);
  EXPECT_LT(worstUlps([](float x) { return mn::tanh(x); }, std::tanh, -10, 10),
            2);
  EXPECT_LT(worstUlps([](float x) { return mn::erf(x); }, std::erf, -5, 5), 2);
  EXPECT_LT(worstUlps([](float x) { return mn::log1p(x); }, std::log1p, 0, 1),
            2.5);
  EXPECT_LT(
      worstUlps([](float x) { return mn::elu(x, 1.f); }, std::expm1, -20, 0),
      6);
  EXPECT_LT(worstUlps([](float x) { return mn::sigmoid(x); },
                      [](double x) { return 1 / (1 + std::exp(-x)); }, -80, 80),
            3);
  EXPECT_LT(worstUlps([](float x) { return mn::softplus(x); },
                      [](double x) { return std::log1p(std::exp(x)); }, -80,
                      80),
            4);
}

TEST(Math, EndsOfTheNumbers) {
  EXPECT_EQ(mn::exp(inf), inf);
  EXPECT_EQ(mn::exp(100.f), inf);
  EXPECT_EQ(mn::exp(-inf), 0);
  EXPECT_EQ(mn::exp(0.f), 1);
  EXPECT_EQ(mn::log(0.f), -inf);
  EXPECT_EQ(mn::log(inf), inf);
  EXPECT_TRUE(std::isnan(mn::log(-1.f)));
  EXPECT_NEAR(mn::log(1e-40f), std::log(1e-40), 1e-4);
  EXPECT_EQ(mn::tanh(inf), 1);
  EXPECT_EQ(mn::erf(-inf), -1);
  EXPECT_EQ(mn::sigmoid(-inf), 0);
  EXPECT_EQ(mn::softplus(inf), inf);
  EXPECT_EQ(mn::softplus(-inf), 0);
}

TEST(Math, NanStays) {
  EXPECT_TRUE(std::isnan(mn::exp(nan)));
  EXPECT_TRUE(std::isnan(mn::log(nan)));
  EXPECT_TRUE(std::isnan(mn::tanh(nan)));
  EXPECT_TRUE(std::isnan(mn::erf(nan)));
  EXPECT_TRUE(std::isnan(mn::relu(nan)));
  EXPECT_TRUE(std::isnan(mn::leakyRelu(nan, 0.1f)));
  EXPECT_TRUE(std::isnan(mn::elu(nan, 1.f)));
  EXPECT_TRUE(std::isnan(mn::sigmoid(nan)));
  EXPECT_TRUE(std::isnan(mn::softplus(nan)));
  EXPECT_TRUE(std::isnan(mn::max(nan, 1.f)));
  EXPECT_TRUE(std::isnan(mn::max(1.f, nan)));
  EXPECT_TRUE(std::isnan(mn::min(nan, 1.f)));
  EXPECT_TRUE(std::isnan(mn::min(1.f, nan)));
}

TEST(Math, IntegersNeverTrap) {
  const int32_t least = std::numeric_limits<int32_t>::min();
  EXPECT_EQ(mn::div(int32_t(7), int32_t(0)), 0);
  EXPECT_EQ(mn::div(int32_t(-7), int32_t(2)), -3);
  EXPECT_EQ(mn::div(least, int32_t(-1)), least);
  EXPECT_EQ(mn::abs(least), least);
  EXPECT_EQ(mn::div(uint8_t(200), uint8_t(7)), 28);
  EXPECT_EQ(mn::pow(int64_t(3), int64_t(39)), 4052555153018976267);
  EXPECT_EQ(mn::pow(int32_t(-2), int32_t(3)), -8);
  EXPECT_EQ(mn::pow(int32_t(2), int32_t(-1)), 0);
  EXPECT_EQ(mn::pow(int32_t(-1), int32_t(-3)), -1);
  EXPECT_EQ(mn::pow(int32_t(0), int32_t(0)), 1);
  EXPECT_EQ(mn::pow(int32_t(0), int32_t(-1)), 0);
}

TEST(Math, CastsSaturateAndWrap) {
  EXPECT_EQ(mn::cast<int32_t>(nan), 0);
  EXPECT_EQ(mn::cast<int32_t>(3e9f), std::numeric_limits<int32_t>::max());
  EXPECT_EQ(mn::cast<int32_t>(-3e9f), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(mn::cast<int32_t>(-2147483648.f),
            std::numeric_limits<int32_t>::min());
  EXPECT_EQ(mn::cast<int64_t>(inf), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(mn::cast<int64_t>(9.3e18), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(mn::cast<int32_t>(-2.5f), -2);
  EXPECT_EQ(mn::cast<uint8_t>(-2.5f), 0);
  EXPECT_EQ(mn::cast<uint8_t>(255.9f), 255);
  EXPECT_EQ(mn::cast<uint8_t>(300.f), 255);
  EXPECT_EQ(mn::cast<uint8_t>(int32_t(300)), 44);
  EXPECT_EQ(mn::cast<uint8_t>(int32_t(-2)), 254);
  EXPECT_TRUE(mn::cast<bool>(nan));
  EXPECT_TRUE(mn::cast<bool>(0.5f));
  EXPECT_FALSE(mn::cast<bool>(-0.f));
}

template <typename T> void wraps() {
  const T top = mn::Limits<T>::highest(), end = mn::Limits<T>::lowest();
  EXPECT_EQ(mn::add(top, T(1)), end);
  EXPECT_EQ(mn::sub(end, T(1)), top);
  EXPECT_EQ(mn::mul(top, T(2)), T(-2));
  EXPECT_EQ(mn::neg(end), end);
}
TEST(Math, IntegersWrapAround) {
  wraps<int32_t>();
  wraps<int64_t>();
  wraps<uint8_t>();
}

// Whatever the order in which parts are joined.
TEST(Math, ArgMaxTakesNanForTheLargest) {
  const float rows[][4] = {{1, nan, 3, 2},   {nan, nan, 1, nan},
                           {inf, 1, inf, 2}, {-inf, -inf, -inf, -inf},
                           {3, 3, 1, 3},     {-inf, nan, inf, nan}};
  const int first[] = {1, 0, 0, 0, 0, 1}, last[] = {1, 3, 2, 3, 3, 3};
  const auto arg = [](auto r, const float *x, int order) {
    using R = decltype(r);
    auto state = R::template none<float>();
    for (int i = 0; i < 4; ++i)
      state = R::join(state, R::of(x[i ^ order], i ^ order));
    return R::result(R::join(R::template none<float>(), state));
  };
  for (int row = 0; row < 6; ++row)
    for (int order = 0; order < 4; ++order) {
      EXPECT_EQ(arg(mn::ArgMaxFirst(), rows[row], order), first[row]) << row;
      EXPECT_EQ(arg(mn::ArgMaxLast(), rows[row], order), last[row]) << row;
    }
}

/// Of the two numbers of bf16 around x the nearer one, or the even one.
TEST(Math, Bf16IsTheNearest) {
  const auto rounded = [](uint32_t bits) {
    return mn::Bf16(__builtin_bit_cast(float, bits)).bits;
  };
  const struct {
    uint32_t x;
    uint16_t bits;
  } cases[] = {
      {0x3f800000, 0x3f80}, {0x3f807fff, 0x3f80}, {0x3f808000, 0x3f80},
      {0x3f808001, 0x3f81}, {0x3f818000, 0x3f82}, {0xbf818000, 0xbf82},
      {0x80000000, 0x8000}, {0x00000001, 0x0000}, {0x00018000, 0x0002},
      {0x7f7fffff, 0x7f80}, {0x7f800000, 0x7f80}, {0xff800000, 0xff80}};
  for (const auto &[x, bits] : cases)
    EXPECT_EQ(rounded(x), bits) << std::hex << x;
  for (uint32_t notANumber : {0x7f800001u, 0x7fffffffu, 0xff800001u})
    EXPECT_TRUE(
        std::isnan(float(mn::Bf16(__builtin_bit_cast(float, notANumber)))));
  EXPECT_EQ(float(mn::Bf16(-2.5f)), -2.5f);
  EXPECT_EQ(mn::cast<mn::Bf16>(3.0).bits, 0x4040);
  EXPECT_EQ(mn::cast<int32_t>(mn::Bf16(-2.5f)), -2);
}

} // namespace
