//===- Explain.h - what became of every ONNX node ---------------*- C++ -*-===//
//
// Reads a finished plan against the list of the model's nodes and decides
// nothing.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_CODEGEN_EXPLAIN_H
#define MNISTC_CODEGEN_EXPLAIN_H

#include "lib/IR/OnnxNode.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::mnistc {

/// Says for each node of each plan in `planned` which step computes it, on
/// what, and what that costs: as a table, or as JSON with reasons. Without
/// nodes, as when compilation started from a plan, they are read off the plan.
void explain(ModuleOp planned, ArrayRef<OnnxNode> nodes, raw_ostream &os,
             bool json);

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_EXPLAIN_H
