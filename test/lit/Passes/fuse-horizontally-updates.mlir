// RUN: mnist-opt %s --split-input-file --plan-fuse-horizontally | FileCheck %s

// What one step may do with a parameter that it also updates, and what moves
// past an update.

// Each thread reads the element that it writes.

// CHECK-LABEL: func.func @in_order
// CHECK:         plan.step
// CHECK-NOT:     plan.step
// CHECK:         return
func.func @in_order(%w: tensor<2x4xf32> {mnist.parameter = "w"})
    -> (tensor<2x4xf32>, tensor<2x4xf32> {mnist.parameter = "w"}) {
  %0 = plan.step "a" on kernel (%w) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.neg %p : tensor<2x4xf32>
    plan.yield %s : tensor<2x4xf32>
  } : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = plan.step "w" on kernel (%w) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.exp %p : tensor<2x4xf32>
    plan.yield %s : tensor<2x4xf32>
  } : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

// One that updates a parameter and does not read it has no element in common
// with one that reads it: other threads compute it.

// CHECK-LABEL: func.func @unread
// CHECK:         plan.step "a"
// CHECK:         plan.step "w"
// CHECK:         return
func.func @unread(%w: tensor<2x4xf32> {mnist.parameter = "w"},
                  %x: tensor<2x4xf32>)
    -> (tensor<2x4xf32>, tensor<2x4xf32> {mnist.parameter = "w"}) {
  %0 = plan.step "a" on kernel (%w) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.neg %p : tensor<2x4xf32>
    plan.yield %s : tensor<2x4xf32>
  } : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = plan.step "w" on kernel (%x) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.exp %p : tensor<2x4xf32>
    plan.yield %s : tensor<2x4xf32>
  } : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

// A tensor of one element has no order: the rate of the next step is read of a
// table.

// CHECK-LABEL: func.func @one_element
// CHECK:         plan.step
// CHECK-NOT:     plan.step
// CHECK:         return
func.func @one_element(%n: tensor<1xi64> {mnist.parameter = "n"},
                       %rates: tensor<8xf32>)
    -> (tensor<1xf32>, tensor<1xi64> {mnist.parameter = "n"}) {
  %0 = plan.step "n" on kernel (%n) {
  ^bb0(%p: tensor<1xi64>):
    %s = mnist.neg %p : tensor<1xi64>
    plan.yield %s : tensor<1xi64>
  } : (tensor<1xi64>) -> tensor<1xi64>
  %1 = plan.step "rate" on kernel (%rates, %0) {
  ^bb0(%p: tensor<8xf32>, %q: tensor<1xi64>):
    %s = mnist.gather %p, %q dim 0 : (tensor<8xf32>, tensor<1xi64>) -> tensor<1xf32>
    plan.yield %s : tensor<1xf32>
  } : (tensor<8xf32>, tensor<1xi64>) -> tensor<1xf32>
  return %1, %0 : tensor<1xf32>, tensor<1xi64>
}

// -----

// Here it reads what another thread may have written.

// CHECK-LABEL: func.func @out_of_order
// CHECK:         plan.step "a"
// CHECK:         plan.step "w"
// CHECK:         return
func.func @out_of_order(%w: tensor<2x4xf32> {mnist.parameter = "w"})
    -> (tensor<4x2xf32>, tensor<2x4xf32> {mnist.parameter = "w"}) {
  %0 = plan.step "a" on kernel (%w) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.transpose %p perm [1, 0] : tensor<2x4xf32> -> tensor<4x2xf32>
    plan.yield %s : tensor<4x2xf32>
  } : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %1 = plan.step "w" on kernel (%w) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.exp %p : tensor<2x4xf32>
    plan.yield %s : tensor<2x4xf32>
  } : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0, %1 : tensor<4x2xf32>, tensor<2x4xf32>
}

// -----

// "a" reads the old value: it does not move to "c", past the new one.

// CHECK-LABEL: func.func @past_an_update
// CHECK:         plan.step "a"
// CHECK:         plan.step "w"
// CHECK:         plan.step "c"
// CHECK:         return
func.func @past_an_update(%w: tensor<2x4xf32> {mnist.parameter = "w"},
                          %x: tensor<2x4xf32>)
    -> (tensor<2x4xf32>, tensor<2x4xf32> {mnist.parameter = "w"},
        tensor<2x4xf32>) {
  %0 = plan.step "a" on kernel (%w) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.neg %p : tensor<2x4xf32>
    plan.yield %s : tensor<2x4xf32>
  } : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = plan.step "w" on kernel (%x) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.softmax %p dim 1 : tensor<2x4xf32>
    plan.yield %s : tensor<2x4xf32>
  } : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = plan.step "c" on kernel (%x) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.exp %p : tensor<2x4xf32>
    plan.yield %s : tensor<2x4xf32>
  } : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0, %1, %2 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

// Nor past a step that reads its result.

// CHECK-LABEL: func.func @past_a_reader
// CHECK:         %[[A:.*]] = plan.step "a"
// CHECK:         plan.step "b" on kernel(%[[A]])
// CHECK:         plan.step "c"
// CHECK:         return
func.func @past_a_reader(%x: tensor<2x4xf32>)
    -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = plan.step "a" on kernel (%x) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.neg %p : tensor<2x4xf32>
    plan.yield %s : tensor<2x4xf32>
  } : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = plan.step "b" on kernel (%0) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.softmax %p dim 1 : tensor<2x4xf32>
    plan.yield %s : tensor<2x4xf32>
  } : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = plan.step "c" on kernel (%x) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.exp %p : tensor<2x4xf32>
    plan.yield %s : tensor<2x4xf32>
  } : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1, %2 : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

// "n" cannot move past "a", which reads its result; the rate and the new value
// of "m", which need no more than that, move up to it. That of "k" does not: the
// old one is still read.

// CHECK-LABEL: func.func @moves_up
// CHECK-SAME:      (%[[N:.*]]: tensor<i64> {{.*}}, %[[M:.*]]: tensor<i64> {{.*}}, %[[K:.*]]: tensor<i64> {{.*}}, %
// CHECK-NEXT:    %[[ALL:.*]]:3 = plan.step "m" on kernel(%[[N]], %[[M]])
// CHECK:         plan.step "a" on kernel(%{{.*}}, %[[ALL]]#0)
// CHECK:         plan.step "b" on kernel(%{{.*}}, %[[K]])
// CHECK:         plan.step "k" on kernel(%[[K]], %[[ALL]]#0)
// CHECK:         return
func.func @moves_up(%n: tensor<i64> {mnist.parameter = "n"},
                    %m: tensor<i64> {mnist.parameter = "m"},
                    %k: tensor<i64> {mnist.parameter = "k"},
                    %x: tensor<8xi64>)
    -> (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64> {mnist.parameter = "n"},
        tensor<i64> {mnist.parameter = "m"}, tensor<i64> {mnist.parameter = "k"}) {
  %0 = plan.step "n" on kernel (%n) {
  ^bb0(%p: tensor<i64>):
    %s = mnist.neg %p : tensor<i64>
    plan.yield %s : tensor<i64>
  } : (tensor<i64>) -> tensor<i64>
  %1 = plan.step "a" on kernel (%x, %0) {
  ^bb0(%p: tensor<8xi64>, %q: tensor<i64>):
    %s = mnist.reduce_sum %p over [0] : tensor<8xi64> -> tensor<i64>
    %t = mnist.add %s, %q : tensor<i64>
    plan.yield %t : tensor<i64>
  } : (tensor<8xi64>, tensor<i64>) -> tensor<i64>
  %2 = plan.step "b" on kernel (%x, %k) {
  ^bb0(%p: tensor<8xi64>, %q: tensor<i64>):
    %s = mnist.reduce_sum %p over [0] : tensor<8xi64> -> tensor<i64>
    %t = mnist.add %s, %q : tensor<i64>
    plan.yield %t : tensor<i64>
  } : (tensor<8xi64>, tensor<i64>) -> tensor<i64>
  %3 = plan.step "rate" on kernel (%0) {
  ^bb0(%p: tensor<i64>):
    %s = mnist.abs %p : tensor<i64>
    plan.yield %s : tensor<i64>
  } : (tensor<i64>) -> tensor<i64>
  %4 = plan.step "m" on kernel (%m, %0) {
  ^bb0(%p: tensor<i64>, %q: tensor<i64>):
    %s = mnist.add %p, %q : tensor<i64>
    plan.yield %s : tensor<i64>
  } : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %5 = plan.step "k" on kernel (%k, %0) {
  ^bb0(%p: tensor<i64>, %q: tensor<i64>):
    %s = mnist.sub %p, %q : tensor<i64>
    plan.yield %s : tensor<i64>
  } : (tensor<i64>, tensor<i64>) -> tensor<i64>
  return %1, %2, %3, %0, %4, %5 : tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>
}

// -----

// A row step with totals takes numbers along, which come after its last row:
// the metric, which needs its total, and the count that others need, too, if
// they need the rows anyway.

// CHECK-LABEL: func.func @rows
// CHECK-SAME:      (%[[N:.*]]: tensor<i64> {{.*}}, %[[SUM:.*]]: tensor<f32> {{.*}}, %[[X:.*]]: tensor<4x8xf32>)
// CHECK-NEXT:    %[[R:.*]]:3 = plan.step "rows" on kernel(%[[N]], %[[X]], %[[SUM]]) {
// CHECK:           plan.yield %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<i64>, tensor<f32>
// CHECK:         plan.step "after" on kernel(%[[R]]#0, %[[R]]#1)
// CHECK-NOT:     plan.step
// CHECK:         return %{{.*}}, %[[R]]#1, %[[R]]#2
func.func @rows(%n: tensor<i64> {mnist.parameter = "n"},
                %sum: tensor<f32> {mnist.parameter = "sum"}, %x: tensor<4x8xf32>)
    -> (tensor<i64>, tensor<i64> {mnist.parameter = "n"},
        tensor<f32> {mnist.parameter = "sum"}) {
  %0 = plan.step "n" on kernel (%n) {
  ^bb0(%p: tensor<i64>):
    %s = mnist.neg %p : tensor<i64>
    plan.yield %s : tensor<i64>
  } : (tensor<i64>) -> tensor<i64>
  %1:2 = plan.step "rows" on kernel (%x) {
  ^bb0(%p: tensor<4x8xf32>):
    %s = mnist.reduce_sum %p over [1] : tensor<4x8xf32> -> tensor<4xf32>
    %t = mnist.reduce_sum %s over [0] : tensor<4xf32> -> tensor<f32>
    %b = mnist.broadcast %s along [0] : tensor<4xf32> -> tensor<4x8xf32>
    plan.yield %b, %t : tensor<4x8xf32>, tensor<f32>
  } : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<f32>)
  %2 = plan.step "after" on kernel (%1#0, %0) {
  ^bb0(%p: tensor<4x8xf32>, %q: tensor<i64>):
    %s = mnist.reduce_sum %p over [0, 1] : tensor<4x8xf32> -> tensor<f32>
    %t = mnist.cast %s : tensor<f32> -> tensor<i64>
    %u = mnist.add %t, %q : tensor<i64>
    plan.yield %u : tensor<i64>
  } : (tensor<4x8xf32>, tensor<i64>) -> tensor<i64>
  %3 = plan.step "sum" on kernel (%sum, %1#1) {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = mnist.add %p, %q : tensor<f32>
    plan.yield %s : tensor<f32>
  } : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %2, %0, %3 : tensor<i64>, tensor<i64>, tensor<f32>
}
