//===- WeightedProducts.h - products with weights ---------------*- C++ -*-===//
//
// For passes that make one product of several (JoinProducts, JoinInputs).
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_MNIST_WEIGHTEDPRODUCTS_H
#define MNISTC_IR_MNIST_WEIGHTEDPRODUCTS_H

#include "lib/IR/Mnist/MnistOps.h"

namespace mlir::mnistc {

/// x W, or x W + b, of two matrices.
struct WeightedProduct {
  MatmulOp matmul;
  Value end;  ///< the last value of it
  Value bias; ///< none where it has none

  Value weights() { return matmul.getRhs(); }
  bool areWeightsTransposed() { return matmul.getTransposed()[1]; }
  int64_t width() const {
    return mlir::cast<ShapedType>(end.getType()).getShape().back();
  }
};

/// Whether a value is there before everything that is computed.
bool isGiven(Value value);

/// A product of a matrix, as it is in memory, with given weights, of the same
/// elements; of what is added to its rows only a given bias is part of it.
FailureOr<WeightedProduct> weightedProduct(MatmulOp op);

/// All of these, one after another along `dim`, where `builder` is, called as
/// `loc` says, or as they are. What is given comes before it.
Value concatAt(OpBuilder &builder, Location loc, ArrayRef<Value> parts,
               int64_t dim);
Value concatAt(OpBuilder &builder, ArrayRef<Value> parts, int64_t dim);

/// One product for several, where `builder` is; with these biases one after
/// another, if there are any.
Value joinedProduct(OpBuilder &builder,
                    MutableArrayRef<WeightedProduct> products, Value rows,
                    Value weights, ArrayRef<Value> biases);

/// Replaces a product, with its bias or without, by its part of a joined one:
/// as large as the product from element `begin` of dimension `dim` on.
void replaceByPart(OpBuilder &builder, WeightedProduct &product, bool withBias,
                   Value joined, int64_t dim, int64_t begin);

} // namespace mlir::mnistc

#endif // MNISTC_IR_MNIST_WEIGHTEDPRODUCTS_H
