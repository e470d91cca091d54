// RUN: mnist-opt %s --plan-fuse-horizontally | FileCheck %s --check-prefix=ORDER
// RUN: mnist-opt %s --plan-fuse-horizontally=concurrent=true | FileCheck %s

// "large" is ready when "sum" is not; joined to "small", which waits for it,
// its eight million bytes would be moved at the end.

// CHECK-LABEL: func.func @large_update
// CHECK:         plan.step "large"
// CHECK:         plan.step "small"
// ORDER-LABEL: func.func @large_update
// ORDER-NOT:     plan.step "large"
// ORDER:         plan.step "updates"
func.func @large_update(%w: tensor<1000000xf32> {mnist.parameter = "w"},
                        %b: tensor<64xf32> {mnist.parameter = "b"},
                        %x: tensor<64x100000xf32>)
    -> (tensor<1000000xf32> {mnist.parameter = "w"},
        tensor<64xf32> {mnist.parameter = "b"}) {
  %0 = plan.step "sum" on kernel (%x) {
  ^bb0(%p: tensor<64x100000xf32>):
    %s = mnist.reduce_sum %p over [1] : tensor<64x100000xf32> -> tensor<64xf32>
    plan.yield %s : tensor<64xf32>
  } : (tensor<64x100000xf32>) -> tensor<64xf32>
  %1 = plan.step "large" on kernel (%w) {
  ^bb0(%p: tensor<1000000xf32>):
    %s = mnist.neg %p : tensor<1000000xf32>
    plan.yield %s : tensor<1000000xf32>
  } : (tensor<1000000xf32>) -> tensor<1000000xf32>
  %2 = plan.step "small" on kernel (%b, %0) {
  ^bb0(%p: tensor<64xf32>, %q: tensor<64xf32>):
    %s = mnist.sub %p, %q : tensor<64xf32>
    plan.yield %s : tensor<64xf32>
  } : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %1, %2 : tensor<1000000xf32>, tensor<64xf32>
}

// Together they end while "longer" still computes.

// CHECK-LABEL: func.func @early_enough
// CHECK-NOT:     plan.step "large"
// CHECK:         plan.step "updates"
func.func @early_enough(%w: tensor<1000000xf32> {mnist.parameter = "w"},
                        %b: tensor<64xf32> {mnist.parameter = "b"},
                        %x: tensor<64x100000xf32>, %y: tensor<64x200000xf32>)
    -> (tensor<1000000xf32> {mnist.parameter = "w"},
        tensor<64xf32> {mnist.parameter = "b"}, tensor<64xf32>) {
  %0 = plan.step "sum" on kernel (%x) {
  ^bb0(%p: tensor<64x100000xf32>):
    %s = mnist.reduce_sum %p over [1] : tensor<64x100000xf32> -> tensor<64xf32>
    plan.yield %s : tensor<64xf32>
  } : (tensor<64x100000xf32>) -> tensor<64xf32>
  %1 = plan.step "longer" on kernel (%y) {
  ^bb0(%p: tensor<64x200000xf32>):
    %s = mnist.reduce_sum %p over [1] : tensor<64x200000xf32> -> tensor<64xf32>
    plan.yield %s : tensor<64xf32>
  } : (tensor<64x200000xf32>) -> tensor<64xf32>
  %2 = plan.step "large" on kernel (%w) {
  ^bb0(%p: tensor<1000000xf32>):
    %s = mnist.neg %p : tensor<1000000xf32>
    plan.yield %s : tensor<1000000xf32>
  } : (tensor<1000000xf32>) -> tensor<1000000xf32>
  %3 = plan.step "small" on kernel (%b, %0) {
  ^bb0(%p: tensor<64xf32>, %q: tensor<64xf32>):
    %s = mnist.sub %p, %q : tensor<64xf32>
    plan.yield %s : tensor<64xf32>
  } : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %2, %3, %1 : tensor<1000000xf32>, tensor<64xf32>, tensor<64xf32>
}

// What is ready first is small.

// CHECK-LABEL: func.func @small_update
// CHECK-NOT:     plan.step "small"
// CHECK:         plan.step "updates"
func.func @small_update(%w: tensor<64xf32> {mnist.parameter = "w"},
                        %b: tensor<64xf32> {mnist.parameter = "b"},
                        %x: tensor<64x100000xf32>)
    -> (tensor<64xf32> {mnist.parameter = "w"},
        tensor<64xf32> {mnist.parameter = "b"}) {
  %0 = plan.step "sum" on kernel (%x) {
  ^bb0(%p: tensor<64x100000xf32>):
    %s = mnist.reduce_sum %p over [1] : tensor<64x100000xf32> -> tensor<64xf32>
    plan.yield %s : tensor<64xf32>
  } : (tensor<64x100000xf32>) -> tensor<64xf32>
  %1 = plan.step "small" on kernel (%w) {
  ^bb0(%p: tensor<64xf32>):
    %s = mnist.neg %p : tensor<64xf32>
    plan.yield %s : tensor<64xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  %2 = plan.step "late" on kernel (%b, %0) {
  ^bb0(%p: tensor<64xf32>, %q: tensor<64xf32>):
    %s = mnist.sub %p, %q : tensor<64xf32>
    plan.yield %s : tensor<64xf32>
  } : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %1, %2 : tensor<64xf32>, tensor<64xf32>
}

// The states of a parameter stay together: who reads what the other makes is
// not ready first, whatever else it reads.

// CHECK-LABEL: func.func @states
// CHECK-NOT:     plan.step "m"
// CHECK:         plan.step "updates"
// CHECK-NOT:     plan.step
// CHECK:         return
func.func @states(%w: tensor<1000000xf32> {mnist.parameter = "w"},
                  %m: tensor<1000000xf32> {mnist.parameter = "m"},
                  %x: tensor<64x100000xf32>)
    -> (tensor<1000000xf32> {mnist.parameter = "w"},
        tensor<1000000xf32> {mnist.parameter = "m"}) {
  %0 = plan.step "sum" on kernel (%x) {
  ^bb0(%p: tensor<64x100000xf32>):
    %s = mnist.reduce_sum %p over [0, 1] : tensor<64x100000xf32> -> tensor<f32>
    plan.yield %s : tensor<f32>
  } : (tensor<64x100000xf32>) -> tensor<f32>
  %1 = plan.step "m" on kernel (%m, %0) {
  ^bb0(%p: tensor<1000000xf32>, %q: tensor<f32>):
    %r = mnist.broadcast %q along [] : tensor<f32> -> tensor<1000000xf32>
    %s = mnist.mul %p, %r : tensor<1000000xf32>
    plan.yield %s : tensor<1000000xf32>
  } : (tensor<1000000xf32>, tensor<f32>) -> tensor<1000000xf32>
  %2 = plan.step "w" on kernel (%w, %1) {
  ^bb0(%p: tensor<1000000xf32>, %q: tensor<1000000xf32>):
    %s = mnist.sub %p, %q : tensor<1000000xf32>
    plan.yield %s : tensor<1000000xf32>
  } : (tensor<1000000xf32>, tensor<1000000xf32>) -> tensor<1000000xf32>
  return %2, %1 : tensor<1000000xf32>, tensor<1000000xf32>
}
