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
/// "[64, 128]", or how many elements several results have together.
std::string resultShape(StepOp step);
/// The ONNX nodes that a step computes.
SmallVector<StringRef> nodesIn(StepOp step);
/// "/fc1/Gemm, /relu1/Relu"
std::string nodesOf(StepOp step);

/// The inputs, outputs and steps of a plan, inside its namespace.
void emitPlanTables(func::FuncOp function, const PlanNames &names,
                    raw_ostream &os);

/// Shapes, each declared once and named by its sizes.
class Shapes {
public:
  std::string name(ArrayRef<int64_t> shape);
  std::string declarations;

private:
  llvm::StringSet<> known;
};

/// A row of type mn::Tensor.
std::string tensorRow(StringRef name, Type tensor, int64_t offset,
                      Shapes &shapes);

/// The parameters and how they are trained: tables, and fields of the model.
struct TrainingText {
  std::string files; ///< declarations of what is linked to the text
  SmallVector<std::string> parameters;
  std::string recipe;
  SmallVector<std::pair<StringRef, std::string>> fields;
};
TrainingText emitTraining(ModuleOp module, const EmitOptions &options,
                          Shapes &shapes);

struct PlanRow {
  func::FuncOp function;
  std::string space;
};
/// The plans, the bound inputs and the model.
void emitModelTable(ModuleOp module, const EmitOptions &options,
                    ArrayRef<PlanRow> plans, unsigned codeParts,
                    raw_ostream &os);

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_EMITTABLES_H
