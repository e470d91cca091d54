//===- Contraction.h - a root as the kernels' headers see it ----*- C++ -*-===//
//
// The sizes of a contraction as the generated text gives them to its kernel.
// Only what knows the kernels' headers includes this.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_PLAN_CONTRACTION_H
#define MNISTC_IR_PLAN_CONTRACTION_H

#include "lib/IR/Mnist/MnistOps.h"
#include "lib/IR/Plan/Schedule.h"
#include "mnistrt/cuda/kernels/schedule_choice.cuh"

namespace mlir::mnistc {

struct Contraction {
  enum class Kind { matmul, conv, inputGrad, filterGrad };

  /// `root` is a contraction.
  Contraction(Operation *root, const mn::ProductSchedule &schedule);
  /// That of a step, with the pool that it may have, or whose gradient it
  /// reads.
  Contraction(StepOp step, const mn::ProductSchedule &schedule);

  bool isConvolution() const {
    return kind == Kind::conv || kind == Kind::inputGrad;
  }
  /// As a product, which all can be.
  mn::shape::Product product() const;
  /// Of a convolution.
  mn::shape::ConvWork work() const;

  Kind kind = Kind::matmul;
  mn::Matmul matmul; ///< one of both
  mn::Conv conv;
  int elementBytes;
};

/// The windows of a pool of what a convolution gives.
mn::PoolWindows windowsOf(Operation *pool);
/// Those of the pool whose gradient is placed.
mn::PoolWindows windowsOf(MaxUnpoolOp unpool);

mn::Mma ofKernels(Mma mma);
Mma ofPlan(mn::Mma mma);

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_CONTRACTION_H
