//===- CodeGen.h - from a plan to C++ ---------------------------*- C++ -*-===//
//
// Prints a plan as the text that docs/generated-code.md describes. Everything
// is decided before, and proved by plan-check-steps: the emitter walks the
// steps and prints.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_CODEGEN_CODEGEN_H
#define MNISTC_CODEGEN_CODEGEN_H

#include "lib/IR/Plan/PlanOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include <string>
#include <vector>

namespace mlir::mnistc {

/// What the text says about itself.
struct EmitOptions {
  std::string model;              ///< the file's name, without its ending
  std::string compiler;           ///< "mnistc 0.1.0"
  std::string command;            ///< the options that shaped the program
  std::string target;             ///< cuda, cpu
  std::vector<std::string> archs; ///< sm_90, x86-64-v3
  bool embedsKernels = false;     ///< the kernels are files next to the program
  bool timestamps = false;        ///< kernels can write down when they run
  uint64_t onnxBytes = 0; ///< of the model's file, where the program keeps it
  bool embedsReport = false; ///< what a report shows is a file next to it
};

/// What was printed for a step.
struct StepSource {
  std::string device; ///< its functor and kernel; empty: of a library, or
  StepOp writtenFor;  ///< the kernel of this step, which computes the same
  std::string host;   ///< its sizes, and its function
};
using StepSources = llvm::DenseMap<Operation *, StepSource>;

/// Prints the planned functions of `module`. The number of parts that the text
/// is to be compiled in: `MN_PART` is 1 in the first.
FailureOr<unsigned> emitCpp(ModuleOp module, const EmitOptions &options,
                            raw_ostream &os, StepSources *sources = nullptr);

/// The bytes of all constants, each at its offset.
std::string constantBytes(ModuleOp module);

/// What the parameters begin as; what follows these bytes begins as zeros.
std::string initialBytes(ModuleOp module);

/// Whether a step runs on `impl`.
bool uses(ModuleOp module, Impl impl);

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_CODEGEN_H
