//===- RootOps.h - what a root op says of itself ----------------*- C++ -*-===//
//
// The answers of RootOpInterface and ReductionOpInterface (MnistInterfaces.td).
// Each op gives them next to its definition, in TensorOps.td and NetworkOps.td.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_MNIST_ROOTOPS_H
#define MNISTC_IR_MNIST_ROOTOPS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::mnistc {

/// The kernel `mn::function`, and what the functor that it calls must say.
struct KernelText {
  StringRef function;
  /// The functor's functions that give the operands, one each.
  SmallVector<StringRef, 2> loads = {};
  StringRef kind = "";     ///< of a reduction: its struct, "mn::Sum"
  bool givesIndex = false; ///< what is stored is an index
  bool isGenerated = true; ///< else only libraries have it
};

/// The sizes of a root as a struct of mnistrt/shapes.h.
struct ShapeText {
  StringRef type; ///< "mn::Conv"
  SmallVector<std::string> fields;
};

/// The multiply-adds of a contraction: `batch` products of an m x k matrix and
/// a k x n one, though the matrices may lie in memory in no such form.
struct MultiplyAdds {
  int64_t batch, m, n, k;
  int64_t channels; ///< of a convolution's input, in one group; else k

  // Of a convolution: the batch is its groups.
  int64_t outChannels = 1; ///< in one group
  int64_t taps = 1;        ///< elements of a channel's window
  int64_t columns = 1;     ///< those next to each other
  bool isStrided = false;

  double count() const { return double(batch) * m * n * k; }
};

/// The channels of a result, and how many elements lie between neighbours.
struct Channels {
  int64_t count, stride;
};

/// What a pool makes of a window.
enum class PoolResult { maximum, indexOfMaximum, mean };

/// How a reduction computes an element where it is read.
enum class ReductionForm {
  fold,    ///< one loop that joins elements
  index,   ///< one loop that finds the element that wins
  softmax, ///< a loop for the maximum, a loop for the sum
};

} // namespace mlir::mnistc

#endif // MNISTC_IR_MNIST_ROOTOPS_H
