//===- MnistDialect.cpp - registration of the model dialect ---------------===//

#include "lib/IR/Mnist/MnistOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mnistc;

#include "lib/IR/Mnist/MnistDialect.cpp.inc"
#include "lib/IR/Mnist/MnistEnums.cpp.inc"
#include "lib/IR/Mnist/MnistInterfaces.cpp.inc"

void MnistDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "lib/IR/Mnist/MnistOps.cpp.inc"
      >();
}

Operation *MnistDialect::materializeConstant(OpBuilder &builder,
                                             Attribute value, Type type,
                                             Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getShapedType() != type)
    return nullptr;
  return builder.create<ConstantOp>(loc, type, elements);
}
