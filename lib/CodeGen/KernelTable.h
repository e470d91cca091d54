//===- KernelTable.h - the generated kernels of a file ----------*- C++ -*-===//
//
// Steps that compute the same, on other tensors, call one kernel: the layers of
// a network repeat, and so do the plans of a model.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_CODEGEN_KERNELTABLE_H
#define MNISTC_CODEGEN_KERNELTABLE_H

#include "lib/IR/Plan/PlanOps.h"
#include "llvm/ADT/DenseMap.h"
#include <deque>
#include <string>

namespace mlir::mnistc {

/// A functor, its kernel, and how a step calls it.
struct Kernel {
  StepOp step;               ///< that it was written for
  bool inPlace;              ///< a result may be where an input was
  std::string space;         ///< the namespace of functor and shape
  std::string functor;       ///< "Relu_1"
  std::string name;          ///< "infer_64_relu_1"
  std::string call;          ///< "mn::conv<float>"
  std::string shape;         ///< "relu_1_shape", or empty
  std::string count;         ///< of elements, where there is no shape
  SmallVector<Value> inputs; ///< of the step, in the functor's order

  /// How those in `space` call something of the kernel's namespace.
  std::string qualify(StringRef name, StringRef space) const {
    return (space == this->space ? name : this->space + "::" + name).str();
  }
};

/// A step's kernel, and which of the step's inputs it is given.
struct KernelUse {
  const Kernel *kernel;
  SmallVector<Value> inputs;
};

class KernelTable {
public:
  /// A kernel that computes what the step does.
  std::optional<KernelUse> find(StepOp step, bool inPlace) const;
  /// The use by the step that it was written for.
  KernelUse add(Kernel kernel);

private:
  std::deque<Kernel> kernels;
  DenseMap<size_t, SmallVector<const Kernel *>> byHash;
};

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_KERNELTABLE_H
