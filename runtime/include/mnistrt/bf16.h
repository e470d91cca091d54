//===- bf16.h - the upper half of a float -----------------------*- C++ -*-===//
//
// What products read in half the bytes: 8 bits of precision, the range of a
// float. Only memory has it; all arithmetic is on floats.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_BF16_H
#define MNISTRT_BF16_H

#include "mnistrt/shapes.h"

#ifndef MN_FN
#define MN_FN inline
#endif

namespace mn {

struct Bf16 {
  uint16_t bits;

  Bf16() = default;
  /// The nearest, of two the even one; a NaN stays one.
  explicit MN_FN Bf16(float x) {
#if defined(__CUDACC_RTC__) && __CUDA_ARCH__ >= 800
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
#else
    const uint32_t all = __builtin_bit_cast(uint32_t, x);
    const uint32_t rounded = all + 0x7fff + (all >> 16 & 1);
    bits = static_cast<uint16_t>(x == x ? rounded >> 16 : all >> 16 | 0x40);
#endif
  }
  MN_FN operator float() const {
    return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16);
  }
};

} // namespace mn

#endif // MNISTRT_BF16_H
