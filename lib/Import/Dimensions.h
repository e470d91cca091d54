//===- Dimensions.h - sizes that the file leaves open -----------*- C++ -*-===//
//
// Which dimensions of the graph's inputs are the batch, and what --batch and
// --dim make of these and of other symbolic ones.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IMPORT_DIMENSIONS_H
#define MNISTC_IMPORT_DIMENSIONS_H

#include "lib/Import/Node.h"

namespace mlir::mnistc::importer {

class Dimensions {
public:
  explicit Dimensions(const ImportOptions &options) : options(options) {}

  /// The first dimension of the first input that is not bound to a value is the
  /// batch.
  void find(ArrayRef<const onnx::ValueInfoProto *> inputs);

  /// What --dim names is in the model, and not the batch where that is given
  /// too.
  void check(ArrayRef<const onnx::ValueInfoProto *> inputs, Report &report);

  /// The file's; none where it is symbolic.
  std::optional<int64_t> batchInFile() const { return inFile; }

  /// The default batch of training, where neither options nor file give one.
  std::optional<int64_t> usualBatch() const;

  bool isBatch(const onnx::ValueInfoProto &input, int number,
               Batch batch) const;
  int64_t sizeOf(const onnx::ValueInfoProto &input, int number,
                 Batch batch) const;

private:
  const ImportOptions &options;
  const onnx::ValueInfoProto *batchInput = nullptr; ///< says what it is
  std::optional<int64_t> inFile;
  std::string symbol;   ///< of the batch
  bool isGiven = false; ///< by --dim
};

} // namespace mlir::mnistc::importer

#endif // MNISTC_IMPORT_DIMENSIONS_H
