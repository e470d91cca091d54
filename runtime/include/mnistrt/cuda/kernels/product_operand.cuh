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

/// So many neighbours as they are in memory.
template <int count, bool rounded> struct InMemory {
  using Type = float4;
};
template <> struct InMemory<4, true> {
  using Type = uint2;
};
template <> struct InMemory<8, true> {
  using Type = uint4;
};

/// What an operand's owner knows. `cheapRows`: a row is as soon computed as
/// read, `cheapAlong`: so is a place along k. `together`: so many neighbours
/// from a multiple of that on, along k or along rows, are next to each other in
/// memory, that many elements from the start of a tensor or a multiple of it.
/// Tensors start at multiples of 16 bytes: four floats, or eight that are
/// rounded.
struct OperandFacts {
  bool cheapRows = false;
  bool cheapAlong = false;
  int together = 1;
};
/// Of lines of so many elements.
MN_SHAPE_FN int togetherIn(int64_t line) {
  return line % 8 == 0 ? 8 : line % 4 == 0 ? 4 : 1;
}

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
      facts.together >= 4 && (isMemory<Loaded> || isRounded<Loaded>);
  /// 16 bytes of such as are rounded.
  static constexpr bool eights = facts.together == 8 && isRounded<Loaded>;

  using Four = typename InMemory<4, isRounded<Loaded>>::Type;
  using Together = typename InMemory<eights ? 8 : 4, isRounded<Loaded>>::Type;

  MN_DEVICE auto operator()(int batch, int number, int k) const {
    return load(row(batch, number), along(k));
  }
  /// From a multiple of as many on.
  MN_DEVICE Together togetherAt(const RowPoint &row,
                                const AlongPoint &along) const {
    return *reinterpret_cast<const Together *>(&load(row, along));
  }
  /// The first of four neighbours, and the others.
  MN_DEVICE float4 loadFour(const RowPoint &row,
                            const AlongPoint &along) const {
    const Four four = *reinterpret_cast<const Four *>(&load(row, along));
    if constexpr (isRounded<Loaded>)
      return {
          __uint_as_float(four.x << 16), __uint_as_float(four.x & 0xffff0000),
          __uint_as_float(four.y << 16), __uint_as_float(four.y & 0xffff0000)};
    else
      return four;
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
