//===- CheckModule.h - what every module is made of -------------*- C++ -*-===//

#ifndef MNISTC_IR_CHECKMODULE_H
#define MNISTC_IR_CHECKMODULE_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::mnistc {

/// Says what is in a module besides functions of one block and globals, or not
/// a tensor of the model.
LogicalResult checkModule(ModuleOp module);

} // namespace mlir::mnistc

#endif // MNISTC_IR_CHECKMODULE_H
