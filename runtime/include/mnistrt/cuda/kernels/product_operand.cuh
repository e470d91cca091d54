//===- product_operand.cuh - the operands of a product ----------*- C++ -*-===//
//
// An operand is rows along k. What its owner computes once of a row, and once
// of a place along k, is kept for all elements in which the two meet: these
// come where they meet most, and divisions only in the former.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_PRODUCT_OPERAND_CUH
#define MNISTRT_CUDA_KERNELS_PRODUCT_OPERAND_CUH

#include "mnistrt/cuda/kernels/common.cuh"

#ifdef __CUDACC__

namespace mn::device {

/// Whether a functor's load gives what is in memory, in 4 bytes: a reference.
template <typename Loaded> inline constexpr bool isMemory = false;
template <typename Loaded>
inline constexpr bool isMemory<Loaded &> = sizeof(Loaded) == 4;
/// Or in 2, rounded.
template <typename Loaded> inline constexpr bool isRounded = false;
template <> inline constexpr bool isRounded<const Bf16 &> = true;

/// What an operand's owner knows. `cheapRows`: a row is as soon computed as
/// read, `cheapAlong`: so is a place along k. `fours`: four neighbours in
/// memory from a multiple of four on, along k or along rows, are 16 bytes that
/// start at a multiple of 16 from the start of a tensor, as tensors do in
/// memory; or 8 where they are rounded.
struct OperandFacts {
  bool cheapRows = false;
  bool cheapAlong = false;
  bool fours = false;
};

/// row(batch, number), along(number) and load(of a row, of a place along k).
template <OperandFacts facts, typename Row, typename Along, typename Load>
struct Operand {
  Row row;
  Along along;
  Load load;

  using RowPoint = decltype(row(0, 0));
  using AlongPoint = decltype(along(0));
  using Loaded = decltype(load(RowPoint(), AlongPoint()));

  static constexpr bool cheapRows = facts.cheapRows;
  static constexpr bool cheapAlong = facts.cheapAlong;
  static constexpr bool fours =
      facts.fours && (isMemory<Loaded> || isRounded<Loaded>);

  MN_DEVICE auto operator()(int batch, int number, int k) const {
    return load(row(batch, number), along(k));
  }
  /// The first of four neighbours, and the others.
  MN_DEVICE float4 loadFour(const RowPoint &row,
                            const AlongPoint &along) const {
    if constexpr (isRounded<Loaded>) {
      const uint2 four = *reinterpret_cast<const uint2 *>(&load(row, along));
      return {
          __uint_as_float(four.x << 16), __uint_as_float(four.x & 0xffff0000),
          __uint_as_float(four.y << 16), __uint_as_float(four.y & 0xffff0000)};
    } else {
      return *reinterpret_cast<const float4 *>(&load(row, along));
    }
  }
};

template <OperandFacts facts, typename Row, typename Along, typename Load>
MN_DEVICE Operand<facts, Row, Along, Load>
operandOf(const Row &row, const Along &along, const Load &load) {
  return {row, along, load};
}
/// Of which less is known.
template <bool cheapRows, typename Row, typename Along, typename Load>
MN_DEVICE auto operandOf(const Row &row, const Along &along, const Load &load) {
  return operandOf<OperandFacts{.cheapRows = cheapRows}>(row, along, load);
}

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_PRODUCT_OPERAND_CUH
