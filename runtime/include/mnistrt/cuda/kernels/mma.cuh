//===- mma.cuh - operands of the tensor cores -------------------*- C++ -*-===//

#ifndef MNISTRT_CUDA_KERNELS_MMA_CUH
#define MNISTRT_CUDA_KERNELS_MMA_CUH

#include "mnistrt/cuda/kernels/common.cuh"
#include "mnistrt/cuda/kernels/mma_instructions.cuh"

#ifdef __CUDACC__

namespace mn::device {

/// A number of f32 as two of tf32, whose other bits the tensor cores do not
/// read. What overflows here leaves what is no number.
MN_DEVICE uint32_t bigOf(float v) {
  return (__float_as_uint(v) + 0x1000) & 0xffffe000;
}
/// The same where both make the number again: nothing overflows, and what is
/// infinite or no number stays so.
MN_DEVICE uint32_t exactBigOf(float v) {
  const uint32_t bits = __float_as_uint(v), big = bigOf(v);
  constexpr uint32_t infinity = 0x7f800000, sign = 0x80000000;
  if ((bits & ~sign) >= infinity)
    return v == v ? bits : bits | 0x400000;
  return (big & ~sign) == infinity ? bits & 0xffffe000 : big;
}
MN_DEVICE uint32_t smallOf(float v, uint32_t big) {
  return __float_as_uint(v - __uint_as_float(big));
}

/// Of four matrices in shared memory a lane's words; of tf32x3 numbers, which
/// are there as they are, both parts.
template <Mma mma> struct LoadedFragment {
  uint32_t big[4], small[4];
  MN_DEVICE void load(const uint4 *row) {
    loadMatrices(big, row);
    if constexpr (mma == Mma::tf32x3)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float v = __uint_as_float(big[i]);
        big[i] = bigOf(v);
        small[i] = smallOf(v, big[i]);
      }
  }
};

/// d += a b by a warp, 16 x 8.
template <Mma mma>
MN_DEVICE void multiplyAdd(float (&d)[4], const uint32_t (&a)[4],
                           const uint32_t (&b)[2]) {
  if constexpr (mma == Mma::bf16)
    mmaBf16(d, a, b);
  else
    mmaTf32(d, a, b);
}
/// Of 16 columns the first eight, or the others.
template <Mma mma>
MN_DEVICE void multiplyAdd(float (&d)[4], const uint32_t (&a)[4],
                           const uint32_t (&b)[4], int half) {
  const uint32_t columns[2] = {b[2 * half], b[2 * half + 1]};
  multiplyAdd<mma>(d, a, columns);
}

//===----------------------------------------------------------------------===//
// Of a warpgroup
//
// It multiplies while the program goes on, until that waits. A compiler does
// not know that the sums are not there before, and may copy them, as it did
// where there was a branch: utils/check-wgmma.py finds that in machine code.
//===----------------------------------------------------------------------===//

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
inline constexpr bool hasWgmma = true;
#else
inline constexpr bool hasWgmma = false;
#endif

/// An operand in shared memory: 8 rows of 16 bytes follow each other; the next
/// 8 rows are `alongRows` bytes away, what comes next along k `alongK` bytes.
/// In lines 16 bytes are eight neighbours along rows, in bf16, and 8 places
/// along k follow each other.
MN_DEVICE uint64_t wgmmaOperand(const uint4 *first, int alongK,
                                int alongRows = 128) {
  const uint64_t address = sharedAddress(first);
  return (address & 0x3ffff) >> 4 | uint64_t(alongK >> 4) << 16 |
         uint64_t(alongRows >> 4) << 32;
}

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_MMA_CUH
