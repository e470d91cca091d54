//===- ExplainWords.h - what became of a model, in words --------*- C++ -*-===//
//
// The words that the table of `--explain` and its JSON have in common.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_CODEGEN_EXPLAINWORDS_H
#define MNISTC_CODEGEN_EXPLAINWORDS_H

#include "lib/CodeGen/PlanFacts.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::mnistc {

/// "cudnn conv + bias + relu"
std::string describe(StepOp step);
/// Of images; empty where a step has none.
std::string layoutOf(StepOp step);
/// "64x128xf32"
std::string typeOf(Type type);
/// Why images have the layout that they have; empty where there are none.
StringRef layoutReason(const PlanFacts &plan);
/// What a function makes small; empty where it only infers.
StringRef lossOf(const PlanFacts &plan);
StringRef wordFor(Outcome outcome);
/// Why a node needs no separate step.
StringRef whyOf(const NodeFacts &facts);
/// Why a step runs on what it runs on, by the options that the module was
/// planned with.
std::string whyOf(StepOp step);

/// What training chose, of an entry of `mnist.tensors`.
struct TensorChoice {
  StringRef name, role;
  std::string reason;
  RankedTensorType type;
};
SmallVector<TensorChoice> choicesOf(ModuleOp module);

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_EXPLAINWORDS_H
