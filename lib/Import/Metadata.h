//===- Metadata.h - what a file says beside its graph -----------*- C++ -*-===//

#ifndef MNISTC_IMPORT_METADATA_H
#define MNISTC_IMPORT_METADATA_H

#include "lib/Import/Model.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::mnistc::importer {

/// Sets `mnist.class_names` to what a training program has saved of its data's
/// classes: metadata that is an array of strings as JSON. Who writes something
/// else there means it otherwise.
void recordClassNames(const onnx::ModelProto &model, ModuleOp module);

/// Warns where PyTorch's exporters have folded batch normalizations into the
/// weights before them: a model that is trained then trains without these.
void warnOfFoldedNorms(const Model &model, Report &report);

} // namespace mlir::mnistc::importer

#endif // MNISTC_IMPORT_METADATA_H
