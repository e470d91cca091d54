//===- Import.h - ONNX to the mnist dialect ---------------------*- C++ -*-===//
//
// Brings every opset and every exporter's habit to one canonical form per
// operator, so that no pass ever looks at an opset.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IMPORT_IMPORT_H
#define MNISTC_IMPORT_IMPORT_H

#include "lib/IR/OnnxNode.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"
#include <string>
#include <vector>

namespace mlir::mnistc {

struct ImportOptions {
  /// Batch sizes to bind; one function `infer_<batch>` each. Empty: what the
  /// file says, 1 where it says nothing, and one function `infer`.
  std::vector<int64_t> batches;
  /// Sizes of symbolic dimensions by name; `isBatch` stands for the batch.
  llvm::StringMap<int64_t> dimensions;
  static constexpr int64_t isBatch = -1;
  /// Graph inputs that are bound to a value at compile time: name to the path
  /// of an ONNX tensor (.pb) or a list of numbers such as "1,3,-1".
  llvm::StringMap<std::string> bindings;
  /// The module is to be trained, with random numbers that are new each step.
  bool train = false;
  /// Where `batches` is empty and the file says none or 1: this batch.
  std::optional<int64_t> usualBatch;
};

enum class ImportStatus {
  success,
  badModel,    ///< malformed, unreadable or inconsistent: exit code 1
  unsupported, ///< well formed, but with unsupported operators: exit code 3
};

struct Imported {
  ImportStatus status = ImportStatus::badModel;
  OwningOpRef<ModuleOp> module; ///< null unless `status` is success
  /// Of the graph, in the order of the file, local functions inlined.
  std::vector<OnnxNode> nodes;
  /// All problems of the model, each one line, lower case, without a full stop.
  std::vector<std::string> problems;
  /// What was done that a user may want to know (`-v`), one line each.
  std::vector<std::string> notes;
  /// Assumptions that may be wrong, one line each.
  std::vector<std::string> warnings;
};

/// What a protobuf message may take: larger weights go into external data.
inline constexpr size_t maxModelBytes = INT32_MAX;

/// Reads an ONNX model. `name` stands for the file in messages; external data
/// is looked for in `directory`.
///
/// The module holds an `ml_program.global` for every float initializer that is
/// used, with the initializer's name, loaded by `ml_program.global_load`, and
/// functions of `mnist` ops. A function's arguments and results carry the ONNX
/// names as the attribute `mnist.name`.
Imported importOnnx(MLIRContext &context, StringRef bytes,
                    const std::string &name, const std::string &directory,
                    const ImportOptions &options);

/// An operator that the importer knows.
struct ImportedOperator {
  std::string domain; ///< empty for the standard operators
  std::string name;
  /// The opsets with different definitions, ascending: each holds until the
  /// next.
  std::vector<int> sinceVersions;
  bool differentiable;
};

/// All of them, by name.
std::vector<ImportedOperator> importedOperators();

} // namespace mlir::mnistc

#endif // MNISTC_IMPORT_IMPORT_H
