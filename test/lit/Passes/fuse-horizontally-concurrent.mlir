// RUN: mnist-opt %s --plan-fuse-horizontally | FileCheck %s --check-prefix=ORDER
// RUN: mnist-opt %s --plan-fuse-horizontally=concurrent=true | FileCheck %s

// "next" needs "short" only; joined to "long", it would wait for "sum".

// CHECK-LABEL: func.func @apart
// CHECK:         plan.step "sum"
// CHECK:         plan.step "long"
// CHECK:         plan.step "short"
// CHECK:         plan.step "next"
// ORDER-LABEL: func.func @apart
// ORDER:         plan.step "sum"
// ORDER-NOT:     plan.step "long"
// ORDER:         plan.step "short"
// ORDER:         plan.step "next"
func.func @apart(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<f32>, tensor<f32>) {
  %0 = plan.step "sum" on kernel (%x) {
  ^bb0(%a: tensor<8xf32>):
    %s = mnist.reduce_sum %a over [0] : tensor<8xf32> -> tensor<f32>
    plan.yield %s : tensor<f32>
  } : (tensor<8xf32>) -> tensor<f32>
  %1 = plan.step "long" on kernel (%0) {
  ^bb0(%a: tensor<f32>):
    %s = mnist.exp %a : tensor<f32>
    plan.yield %s : tensor<f32>
  } : (tensor<f32>) -> tensor<f32>
  %2 = plan.step "short" on kernel (%y) {
  ^bb0(%a: tensor<8xf32>):
    %s = mnist.exp %a : tensor<8xf32>
    plan.yield %s : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %3 = plan.step "next" on kernel (%2) {
  ^bb0(%a: tensor<8xf32>):
    %s = mnist.reduce_sum %a over [0] : tensor<8xf32> -> tensor<f32>
    plan.yield %s : tensor<f32>
  } : (tensor<8xf32>) -> tensor<f32>
  return %1, %3 : tensor<f32>, tensor<f32>
}

// Nothing waits for the last ones, whatever they wait for. "m" alone would have
// been needed by "w"; together with it, it joins "v" too.

// CHECK-LABEL: func.func @last
// CHECK:         plan.step "sum"
// CHECK:         plan.step
// CHECK-COUNT-3: mnist.exp
// CHECK-NOT:     plan.step
// CHECK:         return
func.func @last(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = plan.step "sum" on kernel (%x) {
  ^bb0(%a: tensor<8xf32>):
    %s = mnist.reduce_sum %a over [0] : tensor<8xf32> -> tensor<f32>
    plan.yield %s : tensor<f32>
  } : (tensor<8xf32>) -> tensor<f32>
  %1 = plan.step "v" on kernel (%0) {
  ^bb0(%a: tensor<f32>):
    %s = mnist.exp %a : tensor<f32>
    plan.yield %s : tensor<f32>
  } : (tensor<f32>) -> tensor<f32>
  %2 = plan.step "m" on kernel (%y) {
  ^bb0(%a: tensor<8xf32>):
    %s = mnist.exp %a : tensor<8xf32>
    plan.yield %s : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %3 = plan.step "w" on kernel (%2) {
  ^bb0(%a: tensor<8xf32>):
    %s = mnist.exp %a : tensor<8xf32>
    plan.yield %s : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %1, %2, %3 : tensor<f32>, tensor<8xf32>, tensor<8xf32>
}

// What waits for an early sum over ranks does not wait for a later one as well;
// what waits for the same one, or for none, is joined.

// CHECK-LABEL: func.func @sums
// CHECK:         plan.step "late.sum"
// CHECK-NOT:     plan.step "a"
// CHECK:         plan.step "free" on kernel(%early.sum#0, %early.sum#1, %arg2)
// CHECK:         plan.step "c" on kernel(%late.sum)
// ORDER-LABEL: func.func @sums
// ORDER:         plan.step "late.sum"
// ORDER-NOT:     plan.step "free"
// ORDER:         plan.step "c"
func.func @sums(%x: tensor<8xf32>, %y: tensor<8xf32>, %z: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %e:2 = plan.step "early.sum" on nccl (%x, %y) {
  ^bb0(%i: tensor<8xf32>, %j: tensor<8xf32>):
    %0 = mnist.all_reduce %i : tensor<8xf32>
    %1 = mnist.all_reduce %j : tensor<8xf32>
    plan.yield %0, %1 : tensor<8xf32>, tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %l = plan.step "late.sum" on nccl (%z) {
  ^bb0(%i: tensor<8xf32>):
    %0 = mnist.all_reduce %i : tensor<8xf32>
    plan.yield %0 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %a = plan.step "a" on kernel (%e#0) {
  ^bb0(%i: tensor<8xf32>):
    %0 = mnist.exp %i : tensor<8xf32>
    plan.yield %0 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %b = plan.step "b" on kernel (%e#1) {
  ^bb0(%i: tensor<8xf32>):
    %0 = mnist.exp %i : tensor<8xf32>
    plan.yield %0 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %f = plan.step "free" on kernel (%z) {
  ^bb0(%i: tensor<8xf32>):
    %0 = mnist.neg %i : tensor<8xf32>
    plan.yield %0 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %c = plan.step "c" on kernel (%l) {
  ^bb0(%i: tensor<8xf32>):
    %0 = mnist.exp %i : tensor<8xf32>
    plan.yield %0 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %a, %b, %f, %c : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
