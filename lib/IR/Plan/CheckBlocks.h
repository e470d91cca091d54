//===- CheckBlocks.h - where a plan keeps what outlives a run ---*- C++ -*-===//

#ifndef MNISTC_IR_PLAN_CHECKBLOCKS_H
#define MNISTC_IR_PLAN_CHECKBLOCKS_H

#include "lib/IR/Plan/Parameters.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::mnistc {

/// The blocks of memory that all functions of a module share.
struct Blocks {
  int64_t alignment, constantBytes = 0, parameterBytes = 0, initialBytes = 0;
};

/// Says what is wrong with the place of `what`: `bytes` from `begin` on, in the
/// block called `block` of `blockBytes`.
LogicalResult checkPlace(Location loc, const Twine &what, int64_t begin,
                         int64_t bytes, int64_t alignment, StringRef block,
                         int64_t blockBytes);

/// Says what is wrong with the places of constants and parameters, or with the
/// parameters; fills `blocks`.
LogicalResult checkBlocks(ModuleOp module, Blocks &blocks);

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_CHECKBLOCKS_H
