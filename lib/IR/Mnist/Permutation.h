//===- Permutation.h - orders of dimensions ---------------------*- C++ -*-===//
//
// A permutation is written as `mnist.transpose` writes it: dimension `i` of the
// result is dimension `perm[i]` of the operand.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_MNIST_PERMUTATION_H
#define MNISTC_IR_MNIST_PERMUTATION_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::mnistc {

using Permutation = SmallVector<int64_t>;

inline bool isPermutation(ArrayRef<int64_t> list) {
  Permutation sorted(list);
  llvm::sort(sorted);
  for (auto [i, dim] : llvm::enumerate(sorted))
    if (dim != int64_t(i))
      return false;
  return true;
}

inline Permutation inverse(ArrayRef<int64_t> perm) {
  Permutation result(perm.size());
  for (auto [i, dim] : llvm::enumerate(perm))
    result[dim] = i;
  return result;
}

/// `list` in another order: the shape of a transposed tensor; and, of a
/// permutation, the one transpose that does what `list` and then `perm` do.
inline SmallVector<int64_t> permute(ArrayRef<int64_t> list,
                                    ArrayRef<int64_t> perm) {
  SmallVector<int64_t> result;
  for (int64_t dim : perm)
    result.push_back(list[dim]);
  return result;
}

inline bool isIdentity(ArrayRef<int64_t> perm) {
  return llvm::equal(perm, llvm::seq<int64_t>(perm.size()));
}

/// Whether a tensor of shape `shape`, permuted, has its elements in the same
/// order: only dimensions of size 1 move.
inline bool preservesMemoryOrder(ArrayRef<int64_t> perm,
                                 ArrayRef<int64_t> shape) {
  int64_t last = -1;
  for (int64_t dim : perm) {
    if (shape[dim] == 1)
      continue;
    if (dim < last)
      return false;
    last = dim;
  }
  return true;
}

/// Whether the last two dimensions, and only they, change places.
inline bool swapsMatrix(ArrayRef<int64_t> perm) {
  int64_t rank = perm.size();
  return rank >= 2 && isIdentity(perm.drop_back(2)) &&
         perm[rank - 2] == rank - 1 && perm[rank - 1] == rank - 2;
}

/// What is left of `perm` where the dimensions `gone` of the operand are gone
/// from both sides.
inline Permutation without(ArrayRef<int64_t> perm, ArrayRef<int64_t> gone) {
  Permutation result;
  for (int64_t dim : perm)
    if (!llvm::is_contained(gone, dim))
      result.push_back(dim - llvm::count_if(gone, [&](int64_t other) {
                         return other < dim;
                       }));
  return result;
}

} // namespace mlir::mnistc

#endif // MNISTC_IR_MNIST_PERMUTATION_H
