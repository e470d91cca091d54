//===- Dimensions.cpp - sizes that the file leaves open -------------------===//

#include "lib/Import/Dimensions.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mnistc;
using namespace mlir::mnistc::importer;

void Dimensions::find(ArrayRef<const onnx::ValueInfoProto *> inputs) {
  for (const onnx::ValueInfoProto *input : inputs) {
    const auto &shape = input->type().tensor_type().shape();
    if (options.bindings.count(input->name()) || shape.dim().empty())
      continue;
    const auto &dim = shape.dim(0);
    batchInput = input;
    if (dim.has_dim_value() && dim.dim_value() >= 0)
      inFile = dim.dim_value();
    else
      symbol = dim.dim_param();
    return;
  }
}

void Dimensions::check(ArrayRef<const onnx::ValueInfoProto *> inputs,
                       Report &report) {
  llvm::SmallSetVector<StringRef, 4> known;
  for (const onnx::ValueInfoProto *input : inputs)
    for (const auto &dim : input->type().tensor_type().shape().dim())
      if (!dim.dim_param().empty())
        known.insert(dim.dim_param());
  std::string names;
  for (StringRef name : known)
    names += (names.empty() ? "" : ", ") + quoted(name);
  for (const auto &[name, size] : options.dimensions) {
    if (!known.contains(name))
      report.problem({ImportStatus::badModel,
                      "expected --dim of a symbolic dimension (" +
                          (names.empty() ? "the model has none" : names) +
                          "), got " + quoted(name)});
    else if (name == symbol && !options.batches.empty())
      report.problem({ImportStatus::badModel,
                      "expected --batch or --dim for " + quoted(name) +
                          ", which is the batch, got both"});
    else if (name == symbol && size != ImportOptions::isBatch) {
      inFile = size;
      isGiven = true;
    }
  }
}

std::optional<int64_t> Dimensions::usualBatch() const {
  bool isOpen = batchInput && !isGiven && inFile.value_or(1) <= 1;
  return options.batches.empty() && isOpen ? options.usualBatch : std::nullopt;
}

/// A symbolic dimension is the batch if it has the batch's name or is the first
/// and has none; a number, if it is the first and the file's batch. A vector of
/// one element may as well be a constant for all rows.
bool Dimensions::isBatch(const onnx::ValueInfoProto &input, int number,
                         Batch batch) const {
  const auto &shape = input.type().tensor_type().shape();
  const auto &dim = shape.dim(number);
  if (&input == batchInput && number == 0)
    return true;
  if (dim.has_dim_value() && dim.dim_value() >= 0)
    return number == 0 && inFile && dim.dim_value() == batch.inFile &&
           (shape.dim_size() > 1 || batch.inFile > 1);
  auto given = options.dimensions.find(dim.dim_param());
  if (given != options.dimensions.end() && dim.dim_param() != symbol)
    return given->second == ImportOptions::isBatch;
  return dim.dim_param().empty() ? number == 0 : dim.dim_param() == symbol;
}

int64_t Dimensions::sizeOf(const onnx::ValueInfoProto &input, int number,
                           Batch batch) const {
  const auto &dim = input.type().tensor_type().shape().dim(number);
  if (isBatch(input, number, batch))
    return batch.bound;
  if (dim.has_dim_value() && dim.dim_value() >= 0)
    return dim.dim_value();
  auto given = options.dimensions.find(dim.dim_param());
  if (given != options.dimensions.end() && !dim.dim_param().empty())
    return given->second;
  if (dim.dim_param().empty())
    unsupported("expected a number as dimension " + Twine(number) +
                ", got none");
  unsupported(
      "expected a size of the symbolic dimension " + quoted(dim.dim_param()) +
      ", got none; give it with --dim=" +
      Twine(StringRef(quoted(dim.dim_param())).drop_front().drop_back()) +
      "=N" + (number == 0 ? Twine(", N a number or the word batch") : ""));
}
