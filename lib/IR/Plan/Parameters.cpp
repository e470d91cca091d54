//===- Parameters.cpp - what outlives a run of a plan ---------------------===//

#include "lib/IR/Plan/Parameters.h"

using namespace mlir;
using namespace mlir::mnistc;

LogicalResult mlir::mnistc::checkParameter(ml_program::GlobalOp global) {
  auto type = dyn_cast<RankedTensorType>(global.getType());
  if (!type || !type.hasStaticShape() || !type.getElementType().isIntOrFloat())
    return global.emitOpError("expected a tensor of a static shape, but got ")
           << global.getType();
  auto value = dyn_cast_or_null<ElementsAttr>(global.getValueAttr());
  if (!value || value.getType() != type)
    return global.emitOpError("expected an initial value of its type");
  return success();
}
