//===- MnistOps.h - the model dialect ---------------------------*- C++ -*-===//

#ifndef MNISTC_IR_MNIST_MNISTOPS_H
#define MNISTC_IR_MNIST_MNISTOPS_H

#include "lib/IR/Mnist/RootOps.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <optional>

namespace mlir::mnistc {
template <typename Op>
struct Elementwise : OpTrait::TraitBase<Op, Elementwise> {};
template <typename Op> struct Indexing : OpTrait::TraitBase<Op, Indexing> {};
template <typename Op>
struct Collective : OpTrait::TraitBase<Op, Collective> {};
template <typename Op> struct Expanded : OpTrait::TraitBase<Op, Expanded> {};

/// What a tensor of the model's file is to an op that reads it.
enum class OperandUse {
  number,    ///< of a formula: a bound, an exponent
  value,     ///< what the result is, in another form
  weight,    ///< learned
  scale,     ///< of the other operand
  shift,     ///< of the other operand
  dividend,  ///< what the result is, over another value
  statistic, ///< a mean, a variance, a deviation
};

/// Of ops that do not say it themselves.
OperandUse usualOperandUse(Operation *op);
} // namespace mlir::mnistc

#include "lib/IR/Mnist/MnistDialect.h.inc"
#include "lib/IR/Mnist/MnistEnums.h.inc"
#include "lib/IR/Mnist/MnistInterfaces.h.inc"
#define GET_OP_CLASSES
#include "lib/IR/Mnist/MnistOps.h.inc"

#endif // MNISTC_IR_MNIST_MNISTOPS_H
