//===- CopiedOps.h - what is rather computed twice than stored --*- C++ -*-===//

#ifndef MNISTC_IR_PLAN_COPIEDOPS_H
#define MNISTC_IR_PLAN_COPIEDOPS_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::mnistc {

/// Worth an arithmetic instruction or two.
bool isCheap(Operation *op);

/// Whether what feeds a root may be computed where the root reads it.
bool takesPrologue(Operation *op);

/// The ops of a block that cost nothing and are copied to wherever they are
/// used: reshapes and, with fusion, what is worth copying. Not where the result
/// must be in memory: returned, read by a step, or by a root that takes no
/// prologue but reshapes.
class CopiedOps {
public:
  CopiedOps(Block &block, bool fuse);
  bool contains(Operation *op) const { return ops.contains(op); }

private:
  llvm::DenseSet<Operation *> ops;
};

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_COPIEDOPS_H
