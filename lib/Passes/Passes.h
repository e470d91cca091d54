//===- Passes.h - every pass of mnistc --------------------------*- C++ -*-===//

#ifndef MNISTC_PASSES_PASSES_H
#define MNISTC_PASSES_PASSES_H

#include "lib/IR/Mnist/MnistOps.h"
#include "lib/IR/Plan/PlanOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::mnistc {
#define GEN_PASS_DECL
#include "lib/Passes/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "lib/Passes/Passes.h.inc"
} // namespace mlir::mnistc

#endif // MNISTC_PASSES_PASSES_H
