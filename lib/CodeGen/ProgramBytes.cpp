//===- ProgramBytes.cpp - what a program carries beside its code ----------===//
//
// Tensors as they lie in memory, each at its offset.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/EmitTables.h"
#include "lib/IR/Mnist/HostTensor.h"
#include "lib/IR/Plan/Parameters.h"

using namespace mlir;
using namespace mlir::mnistc;

/// Writes the elements of a constant or parameter where they lie.
static LogicalResult writeElements(Operation *op, Attribute value,
                                   int64_t offset, StringRef block,
                                   std::string &bytes) {
  auto elements = dyn_cast_or_null<ElementsAttr>(value);
  std::optional<HostTensor> tensor;
  if (elements && isa<RankedTensorType>(elements.getShapedType()))
    tensor = HostTensor::read(elements);
  if (!tensor)
    return op->emitOpError("expected a constant with its elements");
  HostTensor whole = tensor->expanded();
  int64_t size = dispatch(whole.getType().getElementType(),
                          [](auto zero) -> int64_t { return sizeof(zero); }) *
                 whole.size();
  if (offset < 0 || offset + size > int64_t(bytes.size()))
    return op->emitOpError("expected to end within ")
           << bytes.size() << " bytes of " << block << ", but ends at "
           << offset + size;
  std::copy_n(whole.data<char>(), size, bytes.begin() + offset);
  return success();
}

static FailureOr<std::string> zeros(ModuleOp module, StringRef attribute) {
  int64_t total = integerAttribute(module, attribute);
  if (total < 0)
    return module.emitError("expected '")
           << attribute << "' of 0 or more, got " << total;
  return std::string(total, '\0');
}

FailureOr<std::string> mlir::mnistc::constantBytes(ModuleOp module) {
  FailureOr<std::string> bytes = zeros(module, "plan.constant_bytes");
  if (failed(bytes))
    return failure();
  WalkResult result = module.walk([&](ConstantOp op) {
    auto offset = op->getAttrOfType<IntegerAttr>("plan.offset");
    if (!offset)
      return WalkResult::advance();
    return WalkResult(
        writeElements(op, op.getValue(), offset.getInt(), "constants", *bytes));
  });
  if (result.wasInterrupted())
    return failure();
  return bytes;
}

FailureOr<std::string> mlir::mnistc::initialBytes(ModuleOp module) {
  FailureOr<std::string> bytes = zeros(module, "plan.initial_bytes");
  if (failed(bytes))
    return failure();
  for (auto global : module.getOps<ml_program::GlobalOp>()) {
    // Behind them all is zero.
    int64_t offset = integerAttribute(global, "plan.offset");
    if (offset < int64_t(bytes->size()) &&
        failed(writeElements(global, global.getValueAttr(), offset,
                             "initial values", *bytes)))
      return failure();
  }
  return bytes;
}
