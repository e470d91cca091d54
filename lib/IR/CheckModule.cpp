//===- CheckModule.cpp - what every module is made of ---------------------===//

#include "lib/IR/CheckModule.h"
#include "lib/IR/Mnist/TensorSize.h"
#include "lib/IR/Plan/Parameters.h"

using namespace mlir;
using namespace mlir::mnistc;

static LogicalResult checkTypes(func::FuncOp function, StringRef what,
                                TypeRange types, size_t limit) {
  if (types.size() > limit)
    return function.emitError("expected at most ")
           << limit << " " << what << "s of '" << function.getName()
           << "', got " << types.size();
  for (auto [number, type] : llvm::enumerate(types))
    if (!isModelTensor(type))
      return function.emitError("expected ")
             << what << " " << number << " of '" << function.getName()
             << "' to be a tensor of a static shape and of a model's element "
                "type, got "
             << type;
  return success();
}

static LogicalResult checkFunction(func::FuncOp function) {
  if (function.isExternal())
    return function.emitError("expected a body of the function '")
           << function.getName() << "', got none";
  size_t blocks = function.getBody().getBlocks().size();
  if (blocks != 1)
    return function.emitError("expected one block in the function '")
           << function.getName() << "', got " << blocks;
  if (failed(checkTypes(function, "argument", function.getArgumentTypes(),
                        maxInputs)))
    return failure();
  return checkTypes(function, "result", function.getResultTypes(), maxOutputs);
}

LogicalResult mlir::mnistc::checkModule(ModuleOp module) {
  for (Operation &op : *module.getBody()) {
    auto function = dyn_cast<func::FuncOp>(op);
    auto global = dyn_cast<ml_program::GlobalOp>(op);
    if (!function && !global)
      return op.emitError("expected functions and globals in a module, "
                          "got '")
             << op.getName() << "'";
    if (function ? failed(checkFunction(function))
                 : failed(checkParameter(global)))
      return failure();
  }
  return success();
}
