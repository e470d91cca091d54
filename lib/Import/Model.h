//===- Model.h - a model as its file says it --------------------*- C++ -*-===//
//
// The file parsed, its versions checked, its local functions inlined and its
// nodes put in an order in which they can run. Knows nothing of operators.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IMPORT_MODEL_H
#define MNISTC_IMPORT_MODEL_H

#include "lib/Import/Problem.h"
#include "onnx/onnx_pb.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::mnistc::importer {

/// A node that the outputs of the graph need.
struct GraphNode {
  const onnx::NodeProto *proto;
  std::string name; ///< the file's, or made of operator and number
  std::string domain;
  int opset;      ///< 0 where the model imports none for the domain
  int number = 0; ///< in the file

  /// "node 'conv1' (Conv, opset 17)"
  std::string place() const;
};

struct Model {
  onnx::ModelProto proto;
  /// Outputs of Constant nodes that the file itself has: a trained one can be
  /// written back, one from a function's body cannot.
  llvm::StringSet<> constants;
  llvm::StringMap<int> opsets; ///< by domain; the standard one is ""

  llvm::StringMap<const onnx::TensorProto *> initializers;
  /// Graph inputs that are no initializers.
  std::vector<const onnx::ValueInfoProto *> inputs;
  std::vector<GraphNode> nodes;
  llvm::StringSet<> used; ///< tensors that these nodes or the outputs need

  const onnx::GraphProto &graph() const { return proto.graph(); }
};

/// Parses a model and checks its versions. False where it cannot be imported
/// at all.
bool parseModel(StringRef bytes, Model &model, Report &report);

/// Fills in initializers, inputs and nodes; the problems are reported.
void orderGraph(Model &model, Report &report);

/// Replaces calls of the model's own functions by their bodies.
void inlineFunctions(onnx::ModelProto &model);

} // namespace mlir::mnistc::importer

#endif // MNISTC_IMPORT_MODEL_H
