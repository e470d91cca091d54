//===- Metadata.cpp - what a file says beside its graph -------------------===//

#include "lib/Import/Metadata.h"
#include "mlir/IR/Builders.h"
#include "mnistrt/training.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::mnistc;

void mlir::mnistc::importer::recordClassNames(const onnx::ModelProto &model,
                                              ModuleOp module) {
  Builder b(module.getContext());
  for (const onnx::StringStringEntryProto &entry : model.metadata_props()) {
    if (entry.key() != mn::names::classNames)
      continue;
    llvm::Expected<llvm::json::Value> value = llvm::json::parse(entry.value());
    if (!value) {
      llvm::consumeError(value.takeError());
      continue;
    }
    SmallVector<Attribute> names;
    if (const llvm::json::Array *array = value->getAsArray())
      for (const llvm::json::Value &name : *array)
        if (std::optional<StringRef> text = name.getAsString())
          names.push_back(b.getStringAttr(*text));
    if (!names.empty() && names.size() == value->getAsArray()->size())
      module->setAttr("mnist.class_names", b.getArrayAttr(names));
  }
}
