//===- OnnxNode.h - a node of an ONNX graph ---------------------*- C++ -*-===//
//
// What the importer read, for those who tell what became of it.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_ONNXNODE_H
#define MNISTC_IR_ONNXNODE_H

#include <string>
#include <vector>

namespace mlir::mnistc {

struct OnnxNode {
  std::string name; ///< the file's, or one made up as in locations
  std::string type; ///< the operator, "Conv"
  std::vector<std::string> inputs; ///< initializers among them
  std::vector<std::string> outputs;
  bool isNeeded = true; ///< an output of the graph depends on it
};

} // namespace mlir::mnistc

#endif // MNISTC_IR_ONNXNODE_H
