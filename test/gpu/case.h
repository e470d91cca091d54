//===- case.h - one test on the GPU -----------------------------*- C++ -*-===//
//
// A test is a plan of one step. Its operands are in the arena one after the
// other: the result, then the inputs. The result is an input too, so that it
// starts as NaN (or -1) and an element that was not written shows.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_TEST_GPU_CASE_H
#define MNISTC_TEST_GPU_CASE_H

#include "mnistrt/bf16.h"
#include "mnistrt/model.h"
#include "reference.h"
#include <string>

namespace test {

using reference::Numbers;

constexpr size_t aligned(size_t bytes) { return (bytes + 255) / 256 * 256; }

template <typename T> constexpr mn::Type typeOf() {
  if constexpr (std::is_same_v<T, float>)
    return mn::Type::f32;
  else if constexpr (std::is_same_v<T, double>)
    return mn::Type::f64;
  else if constexpr (std::is_same_v<T, int32_t>)
    return mn::Type::i32;
  else if constexpr (std::is_same_v<T, bool>)
    return mn::Type::b8;
  else if constexpr (std::is_same_v<T, mn::Bf16>)
    return mn::Type::bf16;
  else
    return mn::Type::i64;
}

struct Operand {
  mn::Type type;
  int64_t count;
  size_t bytes() const {
    return size_t(count) * (type == mn::Type::b8     ? 1
                            : type == mn::Type::bf16 ? 2
                            : type == mn::Type::f32 || type == mn::Type::i32
                                ? 4
                                : 8);
  }
};

struct Case {
  std::string name;
  const char *implementation = "kernel"; ///< kernel, cublas, cudnn
  /// The result, then the inputs.
  std::vector<Operand> operands;
  void (*run)(mn::Context &) = nullptr;
  /// From the inputs to the result; by its size relative to all of it.
  std::function<void(const std::vector<Numbers> &inputs, Numbers &result)>
      reference;
  double tolerance = 1e-6;  ///< of |result - expected| / |expected|, 2-norm
  bool hasNan = false;      ///< some inputs are NaN
  bool hasInfinity = false; ///< some inputs are infinite
  double largest = 0;       ///< some inputs are so large, and the others small
  size_t special = 0;       ///< the only operand with such; 0: all have them
  bool nanSpreads = false;  ///< results that need not be NaN may be
  bool fewValues = false;   ///< inputs with many equal ones
  double flops = 0;
};

template <typename Y, typename X>
Case make(std::string name, void (*run)(mn::Context &), int64_t y, int64_t a,
          int64_t b = 0) {
  Case c;
  c.name = std::move(name);
  c.run = run;
  c.operands = {{typeOf<Y>(), y}, {typeOf<X>(), a}, {typeOf<X>(), b}};
  c.tolerance = std::is_same_v<Y, float> ? 2e-6 : 1e-13;
  return c;
}

/// Typed pointers to the operands, as the case has laid them out.
template <typename Y, typename X> struct Pointers {
  Y *y;
  const X *a;
  const X *b;
  const float *extra[2];
  Pointers(mn::Context &ctx, int64_t countY, int64_t countA, int64_t countB = 0,
           int64_t countExtra = 0) {
    size_t at = 0;
    const auto next = [&](size_t bytes) {
      char *p = ctx.arena + at;
      at += aligned(bytes);
      return p;
    };
    y = reinterpret_cast<Y *>(next(size_t(countY) * sizeof(Y)));
    a = reinterpret_cast<const X *>(next(size_t(countA) * sizeof(X)));
    b = reinterpret_cast<const X *>(next(size_t(countB) * sizeof(X)));
    extra[0] = reinterpret_cast<const float *>(next(size_t(countExtra) * 4));
    extra[1] = reinterpret_cast<const float *>(next(size_t(countY) * 4));
  }
};

/// Of all kinds, in order.
std::vector<Case> contractionCases();
std::vector<Case> libraryCases();
std::vector<Case> tensorCoreCases();
std::vector<Case> poolCases();
std::vector<Case> pooledCases();
std::vector<Case> otherCases();
std::vector<Case> rowCases();
std::vector<Case> segmentCases();
std::vector<Case> chainCases();

} // namespace test

#endif // MNISTC_TEST_GPU_CASE_H
