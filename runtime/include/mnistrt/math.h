//===- math.h - the elementwise functions -----------------------*- C++ -*-===//
//
// The one definition of every elementwise op, for g++, clang and NVRTC:
// generated code calls these functions, and so does the compiler where it folds
// constants (lib/IR/Mnist/Elementwise.def says which op is which function).
// Nothing here is undefined for any operand. On the host the float versions
// have no branches and no calls, so that loops over them become SIMD code; they
// stay within 2 units in the last place, as CUDA's do. What looks at more than
// one element is in reductions.h.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_MATH_H
#define MNISTRT_MATH_H

#include "mnistrt/bf16.h"

#ifndef MN_FN
#define MN_FN inline
#endif

namespace mn {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

template <typename T>
concept Float = sizeof(T) >= 4 && T(0.5) != T(0);

template <typename A, typename B> inline constexpr bool isSame = false;
template <typename A> inline constexpr bool isSame<A, A> = true;

/// What integers are computed in, modulo 2^n: signed ones must not overflow.
template <typename T> struct UnsignedOf {
  using Type = uint32_t;
};
template <> struct UnsignedOf<int64_t> {
  using Type = uint64_t;
};
template <typename T> using Unsigned = typename UnsignedOf<T>::Type;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// Infinity, "not a number", and the ends of a type; `lowest` and `highest` of
/// a float are infinite. They are what an empty maximum or minimum gives.
template <typename T> struct Limits;

#ifdef __CUDACC__
#define MN_INF_F __int_as_float(0x7f800000)
#define MN_NAN_F __int_as_float(0x7fc00000)
#define MN_INF_D __longlong_as_double(0x7ff0000000000000LL)
#define MN_NAN_D __longlong_as_double(0x7ff8000000000000LL)
#else
#define MN_INF_F __builtin_inff()
#define MN_NAN_F __builtin_nanf("")
#define MN_INF_D __builtin_inf()
#define MN_NAN_D __builtin_nan("")
#endif

template <> struct Limits<float> {
  MN_FN static float lowest() { return -MN_INF_F; }
  MN_FN static float highest() { return MN_INF_F; }
};
template <> struct Limits<double> {
  MN_FN static double lowest() { return -MN_INF_D; }
  MN_FN static double highest() { return MN_INF_D; }
};
template <> struct Limits<int32_t> {
  MN_FN static int32_t lowest() { return -0x7fffffff - 1; }
  MN_FN static int32_t highest() { return 0x7fffffff; }
};
template <> struct Limits<int64_t> {
  MN_FN static int64_t lowest() { return -0x7fffffffffffffffLL - 1; }
  MN_FN static int64_t highest() { return 0x7fffffffffffffffLL; }
};
template <> struct Limits<uint8_t> {
  MN_FN static uint8_t lowest() { return 0; }
  MN_FN static uint8_t highest() { return 255; }
};
template <> struct Limits<bool> {
  MN_FN static bool lowest() { return false; }
  MN_FN static bool highest() { return true; }
};

/// The float or double that is infinite, or not a number.
template <typename T> MN_FN T infinity() { return Limits<T>::highest(); }
template <typename T> MN_FN T notANumber() { return static_cast<T>(MN_NAN_D); }

//===----------------------------------------------------------------------===//
// Exponential and logarithm
//===----------------------------------------------------------------------===//

#ifdef __CUDACC__

MN_FN float exp(float x) { return ::expf(x); }
MN_FN float log(float x) { return ::logf(x); }
MN_FN float erf(float x) { return ::erff(x); }
MN_FN float tanh(float x) { return ::tanhf(x); }
MN_FN float sqrt(float x) { return ::sqrtf(x); }
MN_FN float abs(float x) { return ::fabsf(x); }
MN_FN float pow(float x, float y) { return ::powf(x, y); }
MN_FN double exp(double x) { return ::exp(x); }
MN_FN double log(double x) { return ::log(x); }
MN_FN double log1p(double x) { return ::log1p(x); }
MN_FN double erf(double x) { return ::erf(x); }
MN_FN double tanh(double x) { return ::tanh(x); }
MN_FN double sqrt(double x) { return ::sqrt(x); }
MN_FN double abs(double x) { return ::fabs(x); }
MN_FN double pow(double x, double y) { return ::pow(x, y); }

#else

namespace detail {
MN_FN float asFloat(uint32_t bits) { return __builtin_bit_cast(float, bits); }
MN_FN uint32_t asBits(float x) { return __builtin_bit_cast(uint32_t, x); }
} // namespace detail

// x = n ln 2 + r with |r| <= ln 2 / 2; e^x = 2^n e^r, the latter by a
// polynomial (Cephes). The power of 2 comes in two factors, since 2^n may
// not be a normal number. Adding 1.5 * 2^23 rounds to an integer.
MN_FN float exp(float x) {
  x = x > 89.f ? 89.f : x;
  x = x < -104.f ? -104.f : x;
  const float shifted = x * 1.44269504f + 12582912.f;
  const float n = shifted - 12582912.f;
  float r = x - n * 0.693359375f;
  r = r + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.f;
  const int32_t exponent =
      static_cast<int32_t>(detail::asBits(shifted) - 0x4b400000u);
  const int32_t half = exponent >> 1;
  const float low = detail::asFloat(static_cast<uint32_t>(half + 127) << 23);
  const float high =
      detail::asFloat(static_cast<uint32_t>(exponent - half + 127) << 23);
  return p * low * high;
}

// x = 2^e m with m in [sqrt(1/2), sqrt(2)); log m by a polynomial (Cephes).
MN_FN float log(float x) {
  const bool tiny = x < 1.17549435e-38f;
  const uint32_t bits = detail::asBits(tiny ? x * 8388608.f : x);
  const uint32_t moved = bits - 0x3f3504f3u; // the bits of sqrt(1/2)
  const float e = static_cast<float>(static_cast<int32_t>(moved) >> 23) -
                  (tiny ? 23.f : 0.f);
  const float m = detail::asFloat((moved & 0x007fffffu) + 0x3f3504f3u) - 1.f;
  const float z = m * m;
  float p = 7.0376836292e-2f;
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  float y = m * z * p;
  y = y - e * 2.12194440e-4f;
  y = y - 0.5f * z;
  y = (m + y) + e * 0.693359375f;
  y = x > 3.40282347e38f ? x : y;
  y = x == 0.f ? -MN_INF_F : y;
  return x >= 0.f ? y : MN_NAN_F;
}

MN_FN float abs(float x) { return __builtin_fabsf(x); }

// Near 0 a polynomial (Cephes), else 1 - 2 / (e^2|x| + 1).
MN_FN float tanh(float x) {
  const float a = abs(x), z = x * x;
  float p = -5.70498872745e-3f;
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  const float near = p * z * x + x;
  const float far = 1.f - 2.f / (exp(2.f * a) + 1.f);
  return a < 0.625f ? near : (x < 0.f ? -far : far);
}

// Two minimax polynomials (N. Juffa); the far one is of log(1 - erf).
MN_FN float erf(float x) {
  const float t = abs(x), s = x * x;
  float far = -1.72853470e-5f * t + 3.83197126e-4f;
  far = far * s + (-3.88396438e-3f * t + 2.42546219e-2f);
  far = far * t - 1.06777877e-1f;
  far = far * t - 6.34846687e-1f;
  far = far * t - 1.28717512e-1f;
  far = 1.f - exp(far * t - t);
  far = t > 4.f ? 1.f : far;
  float near = -5.96761703e-4f;
  near = near * s + 4.99119423e-3f;
  near = near * s - 2.67681349e-2f;
  near = near * s + 1.12819925e-1f;
  near = near * s - 3.76125336e-1f;
  near = near * s + 1.28379166e-1f;
  near = near * x + x;
  // Not only of the two signs of `far`: a NaN fails every comparison.
  const float wide = x < 0.f ? -far : far;
  return t > 0.927734375f ? wide : near;
}

MN_FN float sqrt(float x) { return __builtin_sqrtf(x); }
MN_FN float pow(float x, float y) { return __builtin_powf(x, y); }
MN_FN double exp(double x) { return __builtin_exp(x); }
MN_FN double log(double x) { return __builtin_log(x); }
MN_FN double log1p(double x) { return __builtin_log1p(x); }
MN_FN double erf(double x) { return __builtin_erf(x); }
MN_FN double tanh(double x) { return __builtin_tanh(x); }
MN_FN double sqrt(double x) { return __builtin_sqrt(x); }
MN_FN double abs(double x) { return __builtin_fabs(x); }
MN_FN double pow(double x, double y) { return __builtin_pow(x, y); }

#endif

/// log(1 + x) for x >= 0: the logarithm of the rounded sum, and what the
/// rounding lost.
MN_FN float log1p(float x) {
  const float sum = 1.f + x;
  return log(sum) - ((sum - 1.f) - x) / sum;
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// NaN stays NaN in each of them.
template <typename T> MN_FN T relu(T x) { return x < T(0) ? T(0) : x; }
MN_FN uint8_t relu(uint8_t x) { return x; }

template <Float T> MN_FN T leakyRelu(T x, T slope) {
  return x < T(0) ? slope * x : x;
}
/// e^x - 1, for x <= 0: near 0 as 2 tanh(x/2) / (1 - tanh(x/2)), which does
/// not cancel.
template <Float T> MN_FN T expMinus1(T x) {
  const T half = tanh(x * T(0.5));
  return x > T(-0.5) ? T(2) * half / (T(1) - half) : exp(x) - T(1);
}
template <Float T> MN_FN T elu(T x, T alpha) {
  return x > T(0) ? x : alpha * expMinus1(x);
}
/// 1 / x, where x >= 1. On a GPU without the branch of a division, past which a
/// compiler moves nothing: an estimate and a step of Newton's method, and 0 for
/// what is smaller than normal numbers are.
MN_FN double reciprocal(double x) { return 1 / x; }
MN_FN float reciprocal(float x) {
#ifdef __CUDA_ARCH__
  const float estimate = ::__fdividef(1.f, x);
  const float exact = ::fmaf(estimate, ::fmaf(-x, estimate, 1.f), estimate);
  return x >= 0x1p126f ? 0.f : exact;
#else
  return 1.f / x;
#endif
}
template <Float T> MN_FN T sigmoid(T x) { return reciprocal(T(1) + exp(-x)); }
template <Float T> MN_FN T softplus(T x) {
  return (x < T(0) ? T(0) : x) + log1p(exp(-abs(x)));
}

/// An element of a softmax, or of its logarithm, from the maximum of its row
/// and the sum of exp(x - top). In this order nothing large cancels.
template <bool log, Float T> MN_FN T softmaxElement(T x, T top, T sum) {
  if constexpr (log)
    return x - top - mn::log(sum);
  else
    return exp(x - top) / sum;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

// Integers wrap around, and never trap. C++'s operators promise that of no
// signed integer, and turn bytes into int.
#define MN_ARITHMETIC(NAME, SIGN)                                              \
  template <typename T> MN_FN T NAME(T a, T b) {                               \
    if constexpr (Float<T>)                                                    \
      return a SIGN b;                                                         \
    else                                                                       \
      return static_cast<T>(static_cast<Unsigned<T>>(a)                        \
                                SIGN static_cast<Unsigned<T>>(b));             \
  }
MN_ARITHMETIC(add, +)
MN_ARITHMETIC(sub, -)
MN_ARITHMETIC(mul, *)
#undef MN_ARITHMETIC

template <typename T> MN_FN T neg(T x) {
  if constexpr (Float<T>)
    return -x;
  else
    return sub(T(0), x);
}
MN_FN int32_t abs(int32_t x) { return x < 0 ? neg(x) : x; }
MN_FN int64_t abs(int64_t x) { return x < 0 ? neg(x) : x; }
MN_FN uint8_t abs(uint8_t x) { return x; }

/// NaN where either is NaN. Of zeros of two signs one or the other.
template <typename T> MN_FN T max(T a, T b) { return a > b || a != a ? a : b; }
template <typename T> MN_FN T min(T a, T b) { return a < b || a != a ? a : b; }

/// Of integers truncated towards zero; 0 where b is 0. The lowest one divided
/// by -1 is itself, for it has no negative.
template <typename T> MN_FN T div(T a, T b) {
  if constexpr (Float<T>)
    return a / b;
  else
    return b == T(0)                    ? T(0)
           : T(-1) < T(0) && b == T(-1) ? neg(a)
                                        : static_cast<T>(a / b);
}

/// x / c, rounded to nearest, of a constant c whose reciprocal is a normal
/// number. On a GPU without the branch of a division, past which a compiler
/// moves nothing: a quotient and what is left of x after it (P. W. Markstein,
/// IBM Journal of Research and Development 34 (1990), page 111); where that is
/// smaller than normal numbers are, the last bit may be another.
MN_FN float divideBy(float x, float c) {
#ifdef __CUDA_ARCH__
  const float reciprocal = 1.f / c, quotient = x * reciprocal;
  const float rest = ::fmaf(-quotient, c, x);
  const float exact = ::fmaf(rest, reciprocal, quotient);
  // Of zeros and infinities the quotient is.
  return rest != 0.f && ::fabsf(quotient) < Limits<float>::highest() ? exact
                                                                     : quotient;
#else
  return x / c;
#endif
}

MN_FN bool logicalAnd(bool a, bool b) { return a && b; }
MN_FN bool logicalOr(bool a, bool b) { return a || b; }
MN_FN bool logicalNot(bool a) { return !a; }

/// A number as another type, of floats the nearest. A float becomes the integer
/// that is nearest to it when its fraction is dropped: what is too large the
/// largest one, NaN 0. An integer becomes a narrower one modulo 2^n. Anything
/// but 0 is true.
template <typename To, typename From> MN_FN To cast(From x) {
  if constexpr (isSame<To, Bf16>)
    return Bf16(static_cast<float>(x));
  else if constexpr (isSame<From, Bf16>)
    return cast<To>(static_cast<float>(x));
  else if constexpr (isSame<To, bool>)
    return x != From(0);
  else if constexpr (Float<From> && !Float<To>)
    // As a float the highest integer may be one more than it is.
    return x != x ? To(0)
           : x >= static_cast<From>(Limits<To>::highest())
               ? Limits<To>::highest()
           : x <= static_cast<From>(Limits<To>::lowest()) ? Limits<To>::lowest()
                                                          : static_cast<To>(x);
  else
    return static_cast<To>(x);
}

/// a^b of integers, modulo 2^64. Of the negative powers only those of 1 and -1
/// do not truncate to 0.
MN_FN int64_t pow(int64_t a, int64_t b) {
  if (b < 0)
    return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
  uint64_t result = 1, power = static_cast<uint64_t>(a);
  for (; b; b >>= 1, power *= power)
    if (b & 1)
      result *= power;
  return static_cast<int64_t>(result);
}
MN_FN int32_t pow(int32_t a, int32_t b) {
  return static_cast<int32_t>(
      pow(static_cast<int64_t>(a), static_cast<int64_t>(b)));
}
MN_FN uint8_t pow(uint8_t a, uint8_t b) {
  return static_cast<uint8_t>(
      pow(static_cast<int64_t>(a), static_cast<int64_t>(b)));
}

} // namespace mn

#endif // MNISTRT_MATH_H
