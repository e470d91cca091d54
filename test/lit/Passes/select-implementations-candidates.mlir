// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations=candidate=0 --plan-choose-schedules | FileCheck %s --check-prefixes=CHECK,UNTUNED
// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations=candidate=1 | FileCheck %s --check-prefixes=CHECK,CALL
// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations="candidate=1 libraries=none" | FileCheck %s --check-prefixes=CHECK,KERNEL
// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations="candidate=1 precision=strict libraries=none" | FileCheck %s --check-prefixes=CHECK,STRICT
// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations=candidate=50 | FileCheck %s --check-prefixes=CHECK,UNTUNED
// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations=candidate=3 | mnist-opt | FileCheck %s --check-prefix=AGAIN

// What is measured in a step's place: the choice without measurements, the
// libraries' calls with what they do not take, schedules. All parts say whose.

// CHECK-LABEL: @infer
// UNTUNED:      "y" on kernel schedule(#plan.patches<mma = tf32x3, width = 64>)
// UNTUNED:      {plan.candidate = {key = "conv .batch = 64, .inChannels = 32, .outChannels = 64, .in = {14, 14, 1}, .kernel = {3, 3, 1}, .out = {14, 14, 1}, .pads = {1, 1, 0}, .padsAfter = {1, 1, 0}, with an epilogue", number = 0 : i64, whole = "y"}}
// CALL:         plan.step "{{.*}}" on cudnn(
// CALL:         {plan.candidate = {key = {{.*}}, number = 1 : i64, whole = "y"}}
// CALL:         plan.step "y" on kernel(
// CALL:         {plan.candidate = {key = {{.*}}, number = 1 : i64, whole = "y"}}
// KERNEL:       "y" on kernel schedule(#plan.{{.*}}<
// KERNEL:       number = 1
// STRICT:       "y" on kernel schedule(#plan.{{columns|product}}<
// STRICT-NOT:   mma
// AGAIN:        number = 3
func.func @infer(%x: tensor<64x32x14x14xf32>, %w: tensor<64x32x3x3xf32>) -> tensor<64x64x14x14xf32> {
  %0 = mnist.conv nchw %x, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<64x32x14x14xf32>, tensor<64x32x3x3xf32>) -> tensor<64x64x14x14xf32> loc("c")
  %1 = mnist.tanh %0 : tensor<64x64x14x14xf32> loc("y")
  return %1 : tensor<64x64x14x14xf32>
}
