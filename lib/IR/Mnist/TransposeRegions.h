//===- TransposeRegions.h - values that are transposed together -*- C++ -*-===//
//
// Elementwise ops and the like compute the same whatever the order of the
// dimensions, if all their operands share it. Such ops form regions; a region
// is turned as a whole where that leaves less to transpose at its border.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_MNIST_TRANSPOSEREGIONS_H
#define MNISTC_IR_MNIST_TRANSPOSEREGIONS_H

#include "lib/IR/Mnist/MnistOps.h"
#include "lib/IR/Mnist/Permutation.h"

namespace mlir::mnistc {

/// What transposes move, and how many there are.
struct TransposeCost {
  int64_t bytes = 0, count = 0;
};

int64_t byteSize(Type type);

/// The cost of the transposes in `block` that move elements at run time.
TransposeCost transposeCost(Block &block);

/// Transposes the regions of `block` for which that is profitable: fewer bytes
/// in no more transposes, or fewer transposes of no more bytes; of those that
/// share a transpose, the first. Puts transposes at the regions' borders, to be
/// simplified. Returns whether there was one.
bool turnRegions(Block &block);

/// Whether `reshape` only joins or splits the dimensions before the last two,
/// so that these change places before it as well as after it.
bool keepsMatrices(ReshapeOp reshape);

/// Whether all elements are one number.
bool isNumber(Value value);

/// The operand of an elementwise op whose others are numbers; null where there
/// is none, or not one.
Value onlyTensor(Operation *op);

/// Whether a value without other users is a product, reshaped or times a number
/// or the like: a transpose of its matrices is but flags.
bool isOfProduct(Value value);

/// A matrix product whose left operand is `reshape`, after a transpose of
/// something of shape `shape` by `perm`, may permute the rows of its right
/// operand instead. Returns how many dimensions stay in place before those that
/// the reshape joins into the rows; none if it may not.
std::optional<unsigned> rowDimensions(ReshapeOp reshape, ArrayRef<int64_t> perm,
                                      ArrayRef<int64_t> shape);

/// Whether the rows of a product's right operand may be permuted before it
/// runs: of a constant, or a parameter (mnist-order-parameters).
bool mayPermuteRows(Value right);

/// Another order of a tensor's elements: reshaped to `shape`, then transposed
/// by `perm`.
struct ElementOrder {
  SmallVector<int64_t> shape, perm;
  bool operator==(const ElementOrder &other) const {
    return shape == other.shape && perm == other.perm;
  }
};

/// A matrix product whose left operand is reshape(transpose(x)), of images
/// flattened in another order than that in which they are computed: x, and the
/// order that makes up for it in the right operand.
struct FlattenedProduct {
  ReshapeOp reshape;
  TransposeOp transpose;
  ElementOrder right;
};
std::optional<FlattenedProduct> flattenedProduct(MatmulOp op);

} // namespace mlir::mnistc

#endif // MNISTC_IR_MNIST_TRANSPOSEREGIONS_H
