// RUN: mnist-opt %s --plan-assign-memory=alignment=64 --plan-check-steps=alignment=64 \
// RUN:   | FileCheck %s

// Parameters come first, those that do not begin as zeros before the others.

// CHECK:      module attributes
// CHECK-SAME: plan.initial_bytes = 128 : i64
// CHECK-SAME: plan.parameter_bytes = 256 : i64
// CHECK:      @m{{.*}}plan.offset = 128
// CHECK:      @w{{.*}}plan.offset = 0
// CHECK:      @minus{{.*}}plan.offset = 64
// CHECK:      @count{{.*}}plan.offset = 192
ml_program.global private mutable @m(dense<0.0> : tensor<4x4xf32>) : tensor<4x4xf32> {mnist.role = "state"}
ml_program.global private mutable @w(dense<0.5> : tensor<4x4xf32>) : tensor<4x4xf32> {mnist.role = "parameter"}
// Minus zero has a bit that is set.
ml_program.global private mutable @minus(dense<-0.0> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "buffer"}
ml_program.global private mutable @count(dense<[0]> : tensor<1xi64>) : tensor<1xi64> {mnist.role = "state"}

// All functions have them there; the rest follows, and reuses only that.

// CHECK-LABEL: @infer
// CHECK-SAME:    {mnist.name = "x", plan.offset = 256 : i64}
// CHECK-SAME:    {mnist.parameter = "w", plan.offset = 0 : i64}
// CHECK-SAME:    plan.arena_bytes = 384
// CHECK:         plan.step "y" on kernel at [320]
func.func @infer(%x: tensor<4x4xf32> {mnist.name = "x"}, %w: tensor<4x4xf32> {mnist.parameter = "w"}) -> tensor<4x4xf32> {
  %y = plan.step "y" on kernel (%x, %w) {
  ^bb0(%i: tensor<4x4xf32>, %j: tensor<4x4xf32>):
    %0 = mnist.matmul %i, %j : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    plan.yield %0 : tensor<4x4xf32>
  } : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// New values take the place of old ones: by what follows a product, and by a
// map that makes several of different sizes. The gradient's place is free for
// what is no parameter.

// CHECK-LABEL: @train
// CHECK-SAME:    {mnist.parameter = "count", plan.offset = 192 : i64}
// CHECK-SAME:    plan.arena_bytes = 384
// CHECK:         plan.step "g" on kernel at [320]
// CHECK:         plan.step "w_new" on kernel at [0]
// CHECK:         plan.step "rest" on kernel at [128, 320, 192]
func.func @train(%x: tensor<4x4xf32> {mnist.name = "x"},
    %w: tensor<4x4xf32> {mnist.parameter = "w"}, %m: tensor<4x4xf32> {mnist.parameter = "m"},
    %count: tensor<1xi64> {mnist.parameter = "count"})
    -> (tensor<4x4xf32> {mnist.parameter = "w"}, tensor<4x4xf32> {mnist.parameter = "m"},
        tensor<4x4xf32> {mnist.name = "y"}, tensor<1xi64> {mnist.parameter = "count"}) {
  %g = plan.step "g" on kernel (%x, %w) {
  ^bb0(%i: tensor<4x4xf32>, %j: tensor<4x4xf32>):
    %0 = mnist.matmul %i, %j : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    plan.yield %0 : tensor<4x4xf32>
  } : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %w_new = plan.step "w_new" on kernel (%x, %g, %w) {
  ^bb0(%i: tensor<4x4xf32>, %j: tensor<4x4xf32>, %k: tensor<4x4xf32>):
    %0 = mnist.matmul %i, %j : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = mnist.sub %k, %0 : tensor<4x4xf32>
    plan.yield %1 : tensor<4x4xf32>
  } : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %rest:3 = plan.step "rest" on kernel (%g, %m, %count) {
  ^bb0(%i: tensor<4x4xf32>, %j: tensor<4x4xf32>, %k: tensor<1xi64>):
    %0 = mnist.add %i, %j : tensor<4x4xf32>
    %1 = mnist.neg %0 : tensor<4x4xf32>
    %2 = mnist.add %k, %k : tensor<1xi64>
    plan.yield %0, %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<1xi64>
  } : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<1xi64>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<1xi64>)
  return %w_new, %rest#0, %rest#1, %rest#2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<1xi64>
}
