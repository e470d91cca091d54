//===- EraseDead.h - remove what nothing needs ------------------*- C++ -*-===//

#ifndef MNISTC_PASSES_ERASEDEAD_H
#define MNISTC_PASSES_ERASEDEAD_H

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::mnistc {

/// Removes the ops of a block that nothing needs, constants included.
inline void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

} // namespace mlir::mnistc

#endif // MNISTC_PASSES_ERASEDEAD_H
