//===- PlanFacts.h - ONNX nodes and the steps that compute them -*- C++ -*-===//
//
// What `--explain` tells, before it is told: for each node of the graph what
// became of it, found by the names that locations carry.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_CODEGEN_PLANFACTS_H
#define MNISTC_CODEGEN_PLANFACTS_H

#include "lib/IR/OnnxNode.h"
#include "lib/IR/Plan/PlanOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::mnistc {

enum class Outcome {
  step,     ///< computed by steps
  inPlace,  ///< its result is its input's bytes
  constant, ///< computed by the compiler
  nothing,  ///< nothing is left to compute
  unneeded, ///< no output depends on it
};

/// What became of a node: numbers of steps, from 1. Those whose main op is the
/// node's are `owned`.
struct NodeFacts {
  OnnxNode node;
  Outcome outcome = Outcome::nothing;
  SmallVector<unsigned> steps, owned;
};

/// One function of the plan.
class PlanFacts {
public:
  PlanFacts(func::FuncOp function, ArrayRef<OnnxNode> given);

  func::FuncOp function;
  std::string name;
  SmallVector<StepOp> steps;
  std::vector<NodeFacts> nodes;
  double flops = 0, bytes = 0;

  int64_t number(StringRef attribute) const {
    auto value = function->getAttrOfType<IntegerAttr>(attribute);
    return value ? value.getInt() : 0;
  }

private:
  using Ops = llvm::SetVector<Operation *>;

  void readOps();
  std::vector<OnnxNode> nodesOfPlan();
  void findConstants(ArrayRef<OnnxNode> given);
  const Ops *opsOf(const OnnxNode &node) const;
  bool isBehindLoss(const OnnxNode &node) const;
  NodeFacts factsOf(const OnnxNode &node) const;
  void addUnclaimed();

  /// Ops by the tensor and by the node that they come from.
  llvm::StringMap<Ops> byTensor, byNode;
  DenseMap<Operation *, unsigned> stepOf; // 0: outside of steps
  DenseMap<Operation *, unsigned> ownerOf;
  llvm::StringSet<> constants; // tensors known at compile time
};

/// Of each function that has a body.
std::vector<PlanFacts> plansOf(ModuleOp planned, ArrayRef<OnnxNode> nodes);

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_PLANFACTS_H
