//===- States.h - what a training program remembers -------------*- C++ -*-===//
//
// Globals that the model's file does not have: the optimizer's, the trainer's.
// The names of the trainer's are those of mnistrt/training.h.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_PASSES_STATES_H
#define MNISTC_PASSES_STATES_H

#include "lib/IR/Mnist/Arithmetic.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/IR/BuiltinOps.h"
#include "mnistrt/training.h"

namespace mlir::mnistc {

class States {
public:
  States(ModuleOp module, OpBuilder &builder, Location loc)
      : module(module), builder(builder), loc(loc) {}

  /// Loads the state `name`, which begins as `initial` everywhere.
  Value load(StringRef name, RankedTensorType type, double initial = 0) {
    declare(name, type, initial);
    return builder.create<ml_program::GlobalLoadOp>(
        loc, type, SymbolRefAttr::get(builder.getContext(), name));
  }
  Value loadNumber(StringRef name, Type element, double initial = 0) {
    return load(name, RankedTensorType::get({}, element), initial);
  }
  void store(StringRef name, Value value) {
    builder.create<ml_program::GlobalStoreOp>(
        loc, SymbolRefAttr::get(builder.getContext(), name), value);
  }

  void declare(StringRef name, RankedTensorType type, double initial = 0) {
    Type element = type.getElementType();
    Attribute splat = isa<FloatType>(element)
                          ? Attribute(builder.getFloatAttr(element, initial))
                          : builder.getIntegerAttr(element, (int64_t)initial);
    declare(name, DenseElementsAttr::get(type, splat));
  }
  void declare(StringRef name, DenseElementsAttr initial) {
    if (module.lookupSymbol(name))
      return;
    auto atStart = OpBuilder::atBlockBegin(module.getBody());
    auto global = atStart.create<ml_program::GlobalOp>(
        loc, name, initial.getType(), /*is_mutable=*/true, initial,
        builder.getStringAttr("private"));
    global->setAttr("mnist.role", builder.getStringAttr("state"));
  }

private:
  ModuleOp module;
  OpBuilder &builder;
  Location loc;
};

} // namespace mlir::mnistc

#endif // MNISTC_PASSES_STATES_H
