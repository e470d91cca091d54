// RUN: mnist-opt %s --split-input-file --verify-diagnostics --plan-check-steps

// Rows that are others after what moves them: it is made in the order in which
// they are read, but another link cannot read it.

module attributes {plan.constant_bytes = 0 : i64, plan.target = "cuda"} {
  func.func @transposed(%x: tensor<8x8xf32> {plan.offset = 0 : i64}) -> tensor<8x8xf32> attributes {plan.arena_bytes = 1024 : i64, plan.workspace_bytes = 0 : i64} {
    // expected-error@+1 {{to read of a link before it the row that it computes, of 8, got otherwise at 'c'}}
    %0:3 = plan.step "a" on kernel at [256, 512, 768] (%x) {
    ^bb0(%p: tensor<8x8xf32>):
      %1 = plan.step "a" on kernel (%p) {
      ^bb0(%q: tensor<8x8xf32>):
        %2 = mnist.exp %q : tensor<8x8xf32>
        plan.yield %2 : tensor<8x8xf32>
      } : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %3 = plan.step "b" on kernel (%1) {
      ^bb0(%q: tensor<8x8xf32>):
        %2 = mnist.transpose %q perm [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
        plan.yield %2 : tensor<8x8xf32>
      } : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %4 = plan.step "c" on kernel (%3) {
      ^bb0(%q: tensor<8x8xf32>):
        %2 = mnist.exp %q : tensor<8x8xf32>
        plan.yield %2 : tensor<8x8xf32>
      } : (tensor<8x8xf32>) -> tensor<8x8xf32>
      plan.yield %1, %3, %4 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
    } : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
    return %0#2 : tensor<8x8xf32>
  }
}

// -----

// The same of a transpose that also computes.

module attributes {plan.constant_bytes = 0 : i64, plan.target = "cuda"} {
  func.func @computed(%x: tensor<8x8xf32> {plan.offset = 0 : i64}) -> tensor<8x8xf32> attributes {plan.arena_bytes = 1024 : i64, plan.workspace_bytes = 0 : i64} {
    // expected-error@+1 {{to read of a link before it the row that it computes, of 8, got otherwise at 'b'}}
    %0:2 = plan.step "a" on kernel at [256, 512] (%x) {
    ^bb0(%p: tensor<8x8xf32>):
      %1 = plan.step "a" on kernel (%p) {
      ^bb0(%q: tensor<8x8xf32>):
        %2 = mnist.exp %q : tensor<8x8xf32>
        plan.yield %2 : tensor<8x8xf32>
      } : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %3 = plan.step "b" on kernel (%1) {
      ^bb0(%q: tensor<8x8xf32>):
        %2 = mnist.transpose %q perm [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
        %4 = mnist.exp %2 : tensor<8x8xf32>
        plan.yield %4 : tensor<8x8xf32>
      } : (tensor<8x8xf32>) -> tensor<8x8xf32>
      plan.yield %1, %3 : tensor<8x8xf32>, tensor<8x8xf32>
    } : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
    return %0#1 : tensor<8x8xf32>
  }
}
