//===- EmitStep.h - one step as text ----------------------------*- C++ -*-===//
//
// A step that runs on generated code is a functor and a call; one that runs on
// a library is a call.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_CODEGEN_EMITSTEP_H
#define MNISTC_CODEGEN_EMITSTEP_H

#include "lib/CodeGen/CppText.h"
#include "lib/CodeGen/KernelTable.h"
#include "lib/CodeGen/Names.h"
#include "lib/CodeGen/Parts.h"
#include "lib/IR/Mnist/MnistOps.h"
#include "lib/IR/Plan/PlanOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::mnistc {

/// The values of a planned function: their names and addresses.
class PlanNames {
public:
  /// Names all values.
  void collect(func::FuncOp function);

  StringRef space() const { return planSpace; }
  StringRef operator[](Value value) const { return entries.at(value).name; }
  /// "ctx.at<float>(0)"
  std::string address(Value value) const;
  int64_t offset(Value value) const { return entries.at(value).offset; }
  /// Whether it is in the arena or the constants; else only blocks of a chain
  /// hold it, and no other value has its offset.
  bool isInMemory(Value value) const { return offset(value) >= 0; }

  NameScope scope; ///< all tensors and shapes of the plan

private:
  void add(Value value, StringRef name, int64_t offset, bool constant);
  void addLinks(StepOp step);

  struct Entry {
    std::string name;
    int64_t offset;
    bool constant;
  };
  std::string planSpace;
  DenseMap<Value, Entry> entries;
};

/// A step's result as its functor and its function call it.
struct StepText {
  std::string device; ///< the functors, if they are new
  std::string kernel; ///< what makes them a kernel, if it is new
  std::string shape;  ///< the declaration of its sizes, or empty
  std::string call;   ///< the statements of the step's function
  /// Types of functors that it instantiates kernels with.
  SmallVector<std::string> functors;
  StepOp writtenFor; ///< whose kernel it calls; null: a library
};
FailureOr<StepText> emitStep(StepOp step, PlanNames &names,
                             KernelTable &kernels);
FailureOr<StepText> emitLibraryStep(StepOp step, PlanNames &names);
FailureOr<StepText> emitChain(StepOp step, PlanNames &names,
                              KernelTable &kernels);

/// The sizes of a step's root, and how the plan says that it is computed.
ShapeText shapeTextOf(StepOp step);

/// "constexpr mn::Matmul hidden_shape{.m = 64, .n = 128, .k = 784};"
std::string declareShape(const ShapeText &shape, StringRef name);

/// Pointers to values of a step, as statements of its function.
std::string declarePointers(ArrayRef<Value> results, ArrayRef<Value> inputs,
                            const PlanNames &names);

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_EMITSTEP_H
