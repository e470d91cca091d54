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

/// row(batch, number), along(number) and load(of a row, of a place along k).
/// `cheapRows`: a row is as soon computed as read.
template <bool cheap, typename Row, typename Along, typename Load>
struct Operand {
  static constexpr bool cheapRows = cheap;

  Row row;
  Along along;
  Load load;

  using RowPoint = decltype(row(0, 0));
  using AlongPoint = decltype(along(0));

  MN_DEVICE auto operator()(int batch, int number, int k) const {
    return load(row(batch, number), along(k));
  }
};

template <bool cheapRows, typename Row, typename Along, typename Load>
MN_DEVICE Operand<cheapRows, Row, Along, Load>
operandOf(const Row &row, const Along &along, const Load &load) {
  return {row, along, load};
}

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_PRODUCT_OPERAND_CUH
