//===- GradientBody.h - gradients of a filter and a bias --------*- C++ -*-===//
//
// A gradient step has two roots: the gradient of a filter with few weights,
// whose sums are in registers, and the sum of what it reads over all but the
// channels, which is the gradient of the convolution's bias. One kernel reads
// the gradient of the output once for both. Where that is what a pool gives to
// its windows, the sum is over the windows.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_PLAN_GRADIENTBODY_H
#define MNISTC_IR_PLAN_GRADIENTBODY_H

#include "lib/IR/Mnist/MnistOps.h"
#include "lib/IR/Plan/PlanOps.h"

namespace mlir::mnistc {

struct GradientBody {
  ConvFilterGradOp filter;
  ReduceSumOp bias;
  /// Results, by number: what becomes of each.
  SmallVector<unsigned> filterResults, biasResults;
};

/// Whether a step has several roots of which the first is a filter's gradient.
bool isGradientStep(StepOp step);

/// The output's gradient, or of windows the values, that a filter's gradient
/// reads: a value of the step's body.
Value gradientReadBy(ConvFilterGradOp gradient);

/// Whether `sum` is over all but the channels of images like `images`, with one
/// result a channel.
bool sumsChannels(ReduceSumOp sum, ConvFilterGradOp images);

/// What a gradient step computes; an error where it is not as is said above.
FailureOr<GradientBody> readGradientBody(StepOp step);

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_GRADIENTBODY_H
