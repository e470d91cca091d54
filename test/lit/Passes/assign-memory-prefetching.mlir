// RUN: mnist-opt %s --plan-assign-memory=alignment=64 --plan-check-steps=alignment=64 \
// RUN:   | FileCheck %s --check-prefixes=CHECK,CUDA
// RUN: sed 's/"cuda"/"cpu"/' %s \
// RUN:   | mnist-opt --plan-assign-memory=alignment=64 --plan-check-steps=alignment=64 \
// RUN:   | FileCheck %s --check-prefixes=CHECK,CPU

module attributes {plan.target = "cuda"} {
ml_program.global private mutable @mn.batch(dense<0> : tensor<i64>) : tensor<i64> {mnist.role = "state"}
ml_program.global private mutable @mn.epoch(dense<0> : tensor<i64>) : tensor<i64> {mnist.role = "state"}

// On a GPU the next batch is copied while a plan runs: nothing takes the place of
// an input, which all follow the parameters, in their order.

// CHECK-LABEL: @train
// CUDA-SAME:     {mnist.name = "x", plan.offset = 128 : i64}
// CUDA-SAME:     {mnist.name = "mn.labels", plan.offset = 192 : i64}
// CUDA-SAME:     plan.arena_bytes = 384
// CUDA-SAME:     plan.prefetches
// CUDA:          plan.step "y" on kernel at [256]
// CUDA:          plan.step "z" on kernel at [320]
// CPU-SAME:      plan.arena_bytes = 256
// CPU-NOT:       plan.prefetches
// CPU:           plan.step "z" on kernel at [128]
// CHECK:         plan.step "batch" on kernel at [0]
func.func @train(%x: tensor<4x4xf32> {mnist.name = "x"},
    %batch: tensor<i64> {mnist.parameter = "mn.batch"},
    %labels: tensor<4xf32> {mnist.name = "mn.labels"})
    -> (tensor<4x4xf32> {mnist.name = "mn.loss"}, tensor<i64> {mnist.parameter = "mn.batch"}) {
  %y = plan.step "y" on kernel (%x) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.transpose %i perm [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    plan.yield %0 : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %z = plan.step "z" on kernel (%y) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.transpose %i perm [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    plan.yield %0 : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %next = plan.step "batch" on kernel (%batch) {
  ^bb0(%i: tensor<i64>):
    %one = mnist.constant dense<1> : tensor<i64>
    %0 = mnist.add %i, %one : tensor<i64>
    plan.yield %0 : tensor<i64>
  } : (tensor<i64>) -> tensor<i64>
  return %z, %next : tensor<4x4xf32>, tensor<i64>
}

// Not where no labels are taken,

// CHECK-LABEL: @infer
// CHECK-NOT:     plan.prefetches
// CHECK:         plan.step "batch"
func.func @infer(%x: tensor<4x4xf32> {mnist.name = "x"}, %batch: tensor<i64> {mnist.parameter = "mn.batch"})
    -> (tensor<i64> {mnist.parameter = "mn.batch"}) {
  %next = plan.step "batch" on kernel (%batch) {
  ^bb0(%i: tensor<i64>):
    %one = mnist.constant dense<1> : tensor<i64>
    %0 = mnist.add %i, %one : tensor<i64>
    plan.yield %0 : tensor<i64>
  } : (tensor<i64>) -> tensor<i64>
  return %next : tensor<i64>
}

// nor where it is not known which batch is next: this one skips one,

// CHECK-LABEL: @skips
// CHECK-NOT:     plan.prefetches
// CHECK:         plan.step "batch"
func.func @skips(%labels: tensor<4xf32> {mnist.name = "mn.labels"}, %batch: tensor<i64> {mnist.parameter = "mn.batch"})
    -> (tensor<i64> {mnist.parameter = "mn.batch"}) {
  %next = plan.step "batch" on kernel (%batch) {
  ^bb0(%i: tensor<i64>):
    %two = mnist.constant dense<2> : tensor<i64>
    %0 = mnist.add %i, %two : tensor<i64>
    plan.yield %0 : tensor<i64>
  } : (tensor<i64>) -> tensor<i64>
  return %next : tensor<i64>
}

// this one counts something else,

// CHECK-LABEL: @takes_the_epoch
// CHECK-NOT:     plan.prefetches
// CHECK:         plan.step "batch"
func.func @takes_the_epoch(%labels: tensor<4xf32> {mnist.name = "mn.labels"}, %epoch: tensor<i64> {mnist.parameter = "mn.epoch"})
    -> (tensor<i64> {mnist.parameter = "mn.batch"}) {
  %next = plan.step "batch" on kernel (%epoch) {
  ^bb0(%i: tensor<i64>):
    %one = mnist.constant dense<1> : tensor<i64>
    %0 = mnist.add %i, %one : tensor<i64>
    plan.yield %0 : tensor<i64>
  } : (tensor<i64>) -> tensor<i64>
  return %next : tensor<i64>
}

// and this one changes the epoch, too.

// CHECK-LABEL: @ends_the_epoch
// CHECK-NOT:     plan.prefetches
// CHECK:         plan.step "both"
func.func @ends_the_epoch(%labels: tensor<4xf32> {mnist.name = "mn.labels"}, %batch: tensor<i64> {mnist.parameter = "mn.batch"},
    %epoch: tensor<i64> {mnist.parameter = "mn.epoch"})
    -> (tensor<i64> {mnist.parameter = "mn.batch"}, tensor<i64> {mnist.parameter = "mn.epoch"}) {
  %next:2 = plan.step "both" on kernel (%batch, %epoch) {
  ^bb0(%i: tensor<i64>, %j: tensor<i64>):
    %one = mnist.constant dense<1> : tensor<i64>
    %0 = mnist.add %i, %one : tensor<i64>
    %1 = mnist.add %j, %one : tensor<i64>
    plan.yield %0, %1 : tensor<i64>, tensor<i64>
  } : (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>)
  return %next#0, %next#1 : tensor<i64>, tensor<i64>
}

// In other plans no input keeps its place.

// CHECK-LABEL: @alone
// CHECK-NOT:     plan.prefetches
// CHECK:         plan.step "z" on kernel at [128]
func.func @alone(%x: tensor<4x4xf32> {mnist.name = "x"}) -> tensor<4x4xf32> {
  %y = plan.step "y" on kernel (%x) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.transpose %i perm [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    plan.yield %0 : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %z = plan.step "z" on kernel (%y) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.transpose %i perm [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    plan.yield %0 : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %z : tensor<4x4xf32>
}
}
