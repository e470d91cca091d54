//===- BindParameters.cpp - parameters come in and go out -----------------===//

#include "lib/Passes/Passes.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_BINDPARAMETERS
#include "lib/Passes/Passes.h.inc"

namespace {
struct BindParameters : impl::BindParametersBase<BindParameters> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      bindLoads(function);
      if (failed(bindStores(function)))
        return signalPassFailure();
    }
  }

private:
  NamedAttribute nameOf(StringAttr global) {
    return {StringAttr::get(&getContext(), "mnist.parameter"), global};
  }
  void bindLoads(func::FuncOp function);
  LogicalResult bindStores(func::FuncOp function);
};
} // namespace

/// One argument for each global, however often it is loaded.
void BindParameters::bindLoads(func::FuncOp function) {
  DenseMap<StringAttr, Value> argumentOf;
  for (auto load :
       llvm::to_vector(function.getOps<ml_program::GlobalLoadOp>())) {
    StringAttr name = load.getGlobal().getLeafReference();
    Value &argument = argumentOf[name];
    if (!argument) {
      unsigned number = function.getNumArguments();
      function.insertArgument(
          number, load.getType(),
          DictionaryAttr::get(&getContext(), {nameOf(name)}),
          NameLoc::get(name));
      argument = function.getArgument(number);
    }
    load.replaceAllUsesWith(argument);
    load.erase();
  }
}

LogicalResult BindParameters::bindStores(func::FuncOp function) {
  llvm::SmallDenseSet<StringAttr> stored;
  Operation *end = function.getBody().front().getTerminator();
  SmallVector<Value> results(end->getOperands());
  SmallVector<DictionaryAttr> attributes;
  for (unsigned i = 0; i < results.size(); ++i)
    attributes.push_back(function.getResultAttrDict(i));
  for (auto store :
       llvm::to_vector(function.getOps<ml_program::GlobalStoreOp>())) {
    StringAttr name = store.getGlobal().getLeafReference();
    if (!stored.insert(name).second)
      return store.emitError("expected one store of '")
             << name.getValue() << "', got two";
    results.push_back(store.getValue());
    attributes.push_back(DictionaryAttr::get(&getContext(), {nameOf(name)}));
    store.erase();
  }
  end->setOperands(results);
  function.setType(FunctionType::get(&getContext(), function.getArgumentTypes(),
                                     ValueRange(results).getTypes()));
  function.setAllResultAttrs(attributes);
  return success();
}

} // namespace mlir::mnistc
