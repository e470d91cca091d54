//===- ProgramBytes.cpp - what a program contains besides code -----------===//
//
// Tensors as they are in memory, each at its offset.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/EmitTables.h"
#include "lib/IR/Mnist/HostTensor.h"
#include "lib/IR/Plan/Parameters.h"
#include "lib/IR/Plan/StepBody.h"

using namespace mlir;
using namespace mlir::mnistc;

/// Writes the elements of a constant or parameter at their offset.
static void writeElements(Operation *op, Attribute value, std::string &bytes) {
  HostTensor tensor = HostTensor::read(cast<ElementsAttr>(value))->expanded();
  std::copy_n(tensor.data<char>(), sizeInBytes(tensor.getType()),
              bytes.begin() + integerAttribute(op, "plan.offset"));
}

std::string mlir::mnistc::constantBytes(ModuleOp module) {
  std::string bytes(integerAttribute(module, "plan.constant_bytes"), '\0');
  for (auto function : module.getOps<func::FuncOp>())
    for (ConstantOp constant : function.getOps<ConstantOp>())
      writeElements(constant, constant.getValue(), bytes);
  return bytes;
}

std::string mlir::mnistc::initialBytes(ModuleOp module) {
  std::string bytes(integerAttribute(module, "plan.initial_bytes"), '\0');
  for (auto global : module.getOps<ml_program::GlobalOp>())
    // After them all is zero.
    if (integerAttribute(global, "plan.offset") < int64_t(bytes.size()))
      writeElements(global, global.getValueAttr(), bytes);
  return bytes;
}
