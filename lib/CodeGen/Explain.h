//===- Explain.h - what became of every ONNX node ---------------*- C++ -*-===//
//
// Reads a finished plan against the list of the model's nodes and decides
// nothing.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_CODEGEN_EXPLAIN_H
#define MNISTC_CODEGEN_EXPLAIN_H

#include "lib/CodeGen/CodeGen.h"
#include "lib/IR/OnnxNode.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::mnistc {

/// Says for each node of each plan in `planned` which step computes it, on
/// what, and what that costs: a table, with reasons. Without nodes, as when
/// compilation started from a plan, they are read off the plan.
void explain(ModuleOp planned, ArrayRef<OnnxNode> nodes, raw_ostream &os);

/// The same for programs to read, with what only they have the patience for:
/// addresses, lifetimes, estimated times, what frameworks would call.
void explainJson(ModuleOp planned, ArrayRef<OnnxNode> nodes, raw_ostream &os);

/// The same on one line, with the text of each step, for a report to show.
void describeJson(ModuleOp planned, ArrayRef<OnnxNode> nodes,
                  const EmitOptions &options, const StepSources &sources,
                  raw_ostream &os);

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_EXPLAIN_H
