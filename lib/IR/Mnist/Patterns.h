//===- Patterns.h - rewrites as functions -----------------------*- C++ -*-===//

#ifndef MNISTC_IR_MNIST_PATTERNS_H
#define MNISTC_IR_MNIST_PATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::mnistc {

/// A pattern is a function: it rewrites an op, or returns why it does not.
template <typename... Ops>
void addPatterns(RewritePatternSet &patterns,
                 LogicalResult (*...functions)(Ops, PatternRewriter &)) {
  (patterns.add(functions), ...);
}

} // namespace mlir::mnistc

#endif // MNISTC_IR_MNIST_PATTERNS_H
