//===- Names.h - the model's names, carried by locations --------*- C++ -*-===//
//
// The importer gives every op the location NameLoc(tensor, NameLoc(node,
// NameLoc(operator))): the ONNX tensor that the op computes, the node that it
// comes from and the node's operator. Passes hand locations on, fused where ops
// are merged; steps, kernels, profiles and `--explain` read them here.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_NAMES_H
#define MNISTC_IR_NAMES_H

#include "mlir/IR/Location.h"
#include <string>

namespace mlir {
class Operation;
}

namespace mlir::mnistc {

struct OnnxName {
  StringRef tensor, node, operatorName;
};

/// The location of an op that computes `tensor` for the ONNX node `node`.
Location nameLocation(MLIRContext *context, StringRef tensor, StringRef node,
                      StringRef operatorName);

/// Every ONNX name in a location, in order, without repeats.
SmallVector<OnnxName> namesIn(Location location);

/// The tensor that `op` computes (`mnist.name`, location), or its mnemonic.
std::string tensorName(Operation *op);

} // namespace mlir::mnistc

#endif // MNISTC_IR_NAMES_H
