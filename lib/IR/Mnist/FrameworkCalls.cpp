//===- FrameworkCalls.cpp - what frameworks call for an operator ----------===//

#include "lib/IR/Mnist/FrameworkCalls.h"

using namespace mlir;
using namespace mlir::mnistc;

ArrayRef<FrameworkCall> mlir::mnistc::frameworkCalls() {
  static const FrameworkCall calls[] = {
#define MNIST_CALL(OPERATOR, BACKWARD, OP, LIBRARY, PYTORCH, TENSORFLOW,       \
                   MXNET)                                                      \
  {OPERATOR, BACKWARD, OP, LIBRARY, PYTORCH, TENSORFLOW, MXNET},
#include "lib/IR/Mnist/FrameworkCalls.def"
  };
  return calls;
}

bool mlir::mnistc::standsFor(const FrameworkCall &call, StringRef operatorName,
                             bool backward, StringRef op) {
  return call.operatorName == operatorName && call.backward == backward &&
         (call.op.empty() || call.op == op);
}
