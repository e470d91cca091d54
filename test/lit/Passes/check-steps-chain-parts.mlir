// RUN: mnist-opt %s --verify-diagnostics --plan-check-steps

// Parts of a tensor that do not begin where its dimensions do: 6 of 4 x 15.

module attributes {plan.constant_bytes = 0 : i64, plan.target = "cuda"} {
  func.func @parts(%x: tensor<6x10xf32> {plan.offset = 0 : i64}) -> tensor<6x8xf32> attributes {plan.arena_bytes = 1024 : i64, plan.workspace_bytes = 0 : i64} {
    // expected-error@+1 {{to read of a link before it the row that it computes, of 6, got otherwise at 'b'}}
    %0:2 = plan.step "a" on kernel at [256, 512] (%x) {
    ^bb0(%p: tensor<6x10xf32>):
      %1 = plan.step "a" on kernel (%p) {
      ^bb0(%q: tensor<6x10xf32>):
        %2 = mnist.exp %q : tensor<6x10xf32>
        plan.yield %2 : tensor<6x10xf32>
      } : (tensor<6x10xf32>) -> tensor<6x10xf32>
      %3 = plan.step "b" on kernel (%1) {
      ^bb0(%q: tensor<6x10xf32>):
        %2 = mnist.reshape %q : tensor<6x10xf32> -> tensor<4x15xf32>
        %4 = mnist.slice %2 starts [0, 0] steps [1, 1] : tensor<4x15xf32> -> tensor<4x12xf32>
        %5 = mnist.reshape %4 : tensor<4x12xf32> -> tensor<6x8xf32>
        plan.yield %5 : tensor<6x8xf32>
      } : (tensor<6x10xf32>) -> tensor<6x8xf32>
      plan.yield %1, %3 : tensor<6x10xf32>, tensor<6x8xf32>
    } : (tensor<6x10xf32>) -> (tensor<6x10xf32>, tensor<6x8xf32>)
    return %0#1 : tensor<6x8xf32>
  }
}
