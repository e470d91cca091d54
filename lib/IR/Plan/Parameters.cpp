//===- Parameters.cpp - what outlives a run of a plan ---------------------===//

#include "lib/IR/Plan/Parameters.h"
#include "lib/IR/Mnist/HostTensor.h"
#include "lib/IR/Mnist/TensorSize.h"

using namespace mlir;
using namespace mlir::mnistc;

Value mlir::mnistc::oldValueOf(Value value) {
  for (OpOperand &use : value.getUses())
    if (auto end = dyn_cast<func::ReturnOp>(use.getOwner())) {
      auto function = end->getParentOfType<func::FuncOp>();
      if (StringAttr name = parameterOf(function, use.getOperandNumber()))
        for (BlockArgument argument : function.getArguments())
          if (parameterOf(argument) == name)
            return argument;
    }
  return {};
}

LogicalResult mlir::mnistc::checkParameter(ml_program::GlobalOp global) {
  if (!isModelTensor(global.getType()))
    return global.emitOpError("expected a tensor of a static shape and of a "
                              "model's element type, got ")
           << global.getType();
  auto value = dyn_cast_or_null<ElementsAttr>(global.getValueAttr());
  if (value && value.getShapedType() != global.getType())
    return global.emitOpError("expected an initial value of ")
           << global.getType() << ", got " << value.getShapedType();
  if (!value || !HostTensor::read(value))
    return global.emitOpError(
        "expected an initial value with its elements, got none");
  return success();
}

bool mlir::mnistc::beginsAsZeros(ml_program::GlobalOp global) {
  HostTensor tensor =
      *HostTensor::read(cast<ElementsAttr>(global.getValueAttr()));
  return dispatch(tensor.getType().getElementType(), [&](auto zero) {
    using T = decltype(zero);
    const char *bytes = tensor.data<char>();
    int64_t count = tensor.isSplat() ? 1 : tensor.size();
    return std::all_of(bytes, bytes + count * sizeof(T),
                       [](char byte) { return byte == 0; });
  });
}
