//===- KernelMma.h - what multiplies in a step's kernel ---------*- C++ -*-===//

#ifndef MNISTC_CODEGEN_KERNELMMA_H
#define MNISTC_CODEGEN_KERNELMMA_H

#include "lib/IR/Plan/PlanOps.h"

namespace mlir::mnistc {

/// What the schedule says, or the FMA units where the kernels' own choice
/// (runtime/include/mnistrt/cuda/kernels/conv_way.cuh) computes a convolution
/// of that schedule on them. Tables and messages say this.
Mma kernelMmaOf(StepOp step);

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_KERNELMMA_H
