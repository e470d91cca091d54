//===- Metadata.cpp - what a file says beside its graph -------------------===//

#include "lib/Import/Metadata.h"
#include "lib/IR/Mnist/LearnedTensors.h"
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

/// The exporter with dynamo notes its rewrites in a node's metadata; the one
/// without names a weight that it has computed after the node that reads it.
static bool hasFoldedNorm(const onnx::NodeProto &node) {
  for (const onnx::StringStringEntryProto &entry : node.metadata_props())
    if (entry.key() == "pkg.onnxscript.rewriter.rule_name" &&
        StringRef(entry.value()).contains("FuseBatchNormInto"))
      return true;
  return node.input_size() > 1 &&
         StringRef(node.input(1)).starts_with("onnx::Conv_");
}

void mlir::mnistc::importer::warnOfFoldedNorms(const Model &model,
                                               Report &report) {
  const GraphNode *first = nullptr;
  int64_t count = 0;
  for (const GraphNode &node : model.nodes)
    if (hasFoldedNorm(*node.proto)) {
      ++count;
      first = first ? first : &node;
    }
  if (!first)
    return;
  std::string more =
      count > 1 ? ", and of " + std::to_string(count - 1) + " more" : "";
  report.warn("the exporter has folded a batch normalization or the like into "
              "the weights of this node" +
                  more + ", and the model trains without; " + exportAgain,
              first->place());
}
