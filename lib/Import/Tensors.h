//===- Tensors.h - what the names of a graph stand for ----------*- C++ -*-===//
//
// One of these for each function that is built. Initializers become loads of
// globals or constants when they are first used as a tensor, not before: what
// is only read at compile time leaves nothing in the module.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IMPORT_TENSORS_H
#define MNISTC_IMPORT_TENSORS_H

#include "lib/Import/Problem.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <optional>

namespace mlir::mnistc::importer {

/// How a tensor is a sequence: of parts of these sizes along a dimension, which
/// parts of one element may lack.
struct Parts {
  int64_t dim = 0;
  SmallVector<int64_t> sizes;
  bool keepsDim = true;
};

struct Tensor {
  RankedTensorType type;
  Value value;                ///< null until it is asked for
  DenseElementsAttr constant; ///< of initializers and bound graph inputs
  bool isParameter = false;   ///< a float initializer
  bool isGraphInput = false;
  bool isBatched = false; ///< its first dimension may be the batch
  bool isOfNode = false;  ///< a parameter that a Constant node holds
  std::optional<Parts> sequence = {}; ///< of its parts, where it is one
};

/// The parameters that a module has so far; all its functions share them.
struct Globals {
  llvm::StringSet<> names;
  Operation *last = nullptr;
};

class Tensors {
public:
  Tensors(ModuleOp module, Globals &globals, Block *body)
      : module(module), globals(globals), body(body) {}

  void define(StringRef name, Tensor tensor);
  /// Null where a name stands for nothing, as after a problem.
  const Tensor *find(StringRef name) const;

  Value value(StringRef name);
  /// Null for what is known at run time only.
  DenseElementsAttr constant(StringRef name) const;

private:
  Value load(StringRef name, const Tensor &tensor);
  void declareGlobal(StringRef name, const Tensor &tensor, Location location);

  ModuleOp module;
  Globals &globals;
  Block *body;
  Operation *lastSource = nullptr; ///< loads and constants come first
  llvm::StringMap<Tensor> tensors;
};

} // namespace mlir::mnistc::importer

#endif // MNISTC_IMPORT_TENSORS_H
