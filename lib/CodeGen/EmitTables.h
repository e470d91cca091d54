//===- EmitTables.h - the tables that the runtime walks ---------*- C++ -*-===//

#ifndef MNISTC_CODEGEN_EMITTABLES_H
#define MNISTC_CODEGEN_EMITTABLES_H

#include "lib/CodeGen/CodeGen.h"
#include "lib/CodeGen/EmitStep.h"

namespace mlir::mnistc {

/// An integer attribute, 0 where there is none.
int64_t integerAttribute(Operation *op, StringRef name);
/// "broadcast add relu"
std::string opsOf(StepOp step);
/// "/fc1/Gemm, /relu1/Relu"
std::string nodesOf(StepOp step);

/// The inputs, outputs and steps of a plan, inside its namespace.
LogicalResult emitPlanTables(func::FuncOp function, const PlanNames &names,
                             raw_ostream &os);

struct PlanRow {
  func::FuncOp function;
  std::string space;
};
/// The plans, the bound inputs and the model.
LogicalResult emitModelTable(ModuleOp module, const EmitOptions &options,
                             ArrayRef<PlanRow> plans, raw_ostream &os);

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_EMITTABLES_H
