//===- FrameworkCalls.h - what frameworks call for an operator --*- C++ -*-===//

#ifndef MNISTC_IR_MNIST_FRAMEWORKCALLS_H
#define MNISTC_IR_MNIST_FRAMEWORKCALLS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::mnistc {

/// A row of FrameworkCalls.def.
struct FrameworkCall {
  StringRef operatorName;
  bool backward;
  StringRef op, library, pytorch, tensorflow, mxnet;
};

ArrayRef<FrameworkCall> frameworkCalls();

/// Whether a call is made for what the op `op` computes of an operator, in its
/// gradient or not.
bool standsFor(const FrameworkCall &call, StringRef operatorName, bool backward,
               StringRef op);

} // namespace mlir::mnistc

#endif // MNISTC_IR_MNIST_FRAMEWORKCALLS_H
