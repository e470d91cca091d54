//===- Activity.h - what depends on a parameter -----------------*- C++ -*-===//
//
// Only such values need a gradient: an op without a derivative does no harm
// elsewhere.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_PASSES_ACTIVITY_H
#define MNISTC_PASSES_ACTIVITY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::mnistc {

struct Activity {
  /// Loads of parameters, by name, in order.
  llvm::MapVector<StringAttr, SmallVector<Value>> loads;
  /// They, and what is computed from them, of floats.
  DenseSet<Value> active;

  explicit Activity(func::FuncOp function) {
    for (Operation &op : function.getBody().front()) {
      if (auto load = dyn_cast<ml_program::GlobalLoadOp>(op))
        addLoad(load);
      else if (llvm::any_of(op.getOperands(),
                            [&](Value v) { return active.contains(v); }))
        for (Value result : op.getResults())
          if (isFloat(result))
            active.insert(result);
    }
  }

private:
  static bool isFloat(Value value) {
    auto type = dyn_cast<ShapedType>(value.getType());
    return type && isa<FloatType>(type.getElementType());
  }
  void addLoad(ml_program::GlobalLoadOp load) {
    auto global = symbols.lookupNearestSymbolFrom<ml_program::GlobalOp>(
        load, load.getGlobal());
    auto role =
        global ? global->getAttrOfType<StringAttr>("mnist.role") : StringAttr();
    if (!role || role != "parameter")
      return;
    loads[load.getGlobal().getLeafReference()].push_back(load.getResult());
    active.insert(load.getResult());
  }

  SymbolTableCollection symbols;
};

} // namespace mlir::mnistc

#endif // MNISTC_PASSES_ACTIVITY_H
