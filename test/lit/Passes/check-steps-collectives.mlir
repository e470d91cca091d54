// RUN: mnist-opt %s --plan-check-steps=alignment=64 --split-input-file \
// RUN:   --verify-diagnostics

// In place, next to each other, in one order.

module attributes {plan.target = "cuda", plan.constant_bytes = 0 : i64} {
  func.func @elsewhere(%x: tensor<4xf32> {plan.offset = 0 : i64}) -> tensor<4xf32>
      attributes {plan.arena_bytes = 256 : i64, plan.workspace_bytes = 0 : i64} {
    // expected-error @+1 {{expected the operands of step 's' next to each other, each in the place of its result, got otherwise for result 0}}
    %s = plan.step "s" on nccl at [64] (%x) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.all_reduce %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    return %s : tensor<4xf32>
  }
}

// -----

module attributes {plan.target = "cuda", plan.constant_bytes = 0 : i64} {
  func.func @gap(%x: tensor<4xf32> {plan.offset = 0 : i64}, %y: tensor<4xf32> {plan.offset = 128 : i64}) -> (tensor<4xf32>, tensor<4xf32>)
      attributes {plan.arena_bytes = 256 : i64, plan.workspace_bytes = 0 : i64} {
    // expected-error @+1 {{got otherwise for result 1}}
    %s:2 = plan.step "s" on nccl at [0, 128] (%x, %y) {
    ^bb0(%i: tensor<4xf32>, %j: tensor<4xf32>):
      %0 = mnist.all_reduce %i : tensor<4xf32>
      %1 = mnist.all_reduce %j : tensor<4xf32>
      plan.yield %0, %1 : tensor<4xf32>, tensor<4xf32>
    } : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    return %s#0, %s#1 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

module attributes {plan.target = "cuda", plan.constant_bytes = 0 : i64} {
  func.func @types(%x: tensor<16xf32> {plan.offset = 0 : i64}, %y: tensor<4xf64> {plan.offset = 64 : i64}) -> (tensor<16xf32>, tensor<4xf64>)
      attributes {plan.arena_bytes = 256 : i64, plan.workspace_bytes = 0 : i64} {
    // expected-error @+1 {{expected the operands of step 's' to have one type, got 'f32' and 'f64'}}
    %s:2 = plan.step "s" on nccl at [0, 64] (%x, %y) {
    ^bb0(%i: tensor<16xf32>, %j: tensor<4xf64>):
      %0 = mnist.all_reduce %i : tensor<16xf32>
      %1 = mnist.all_reduce %j : tensor<4xf64>
      plan.yield %0, %1 : tensor<16xf32>, tensor<4xf64>
    } : (tensor<16xf32>, tensor<4xf64>) -> (tensor<16xf32>, tensor<4xf64>)
    return %s#0, %s#1 : tensor<16xf32>, tensor<4xf64>
  }
}

// -----

module attributes {plan.target = "cuda", plan.constant_bytes = 0 : i64} {
  func.func @unordered(%x: tensor<4xf32> {plan.offset = 0 : i64}, %y: tensor<4xf32> {plan.offset = 64 : i64}) -> (tensor<4xf32>, tensor<4xf32>)
      attributes {plan.arena_bytes = 256 : i64, plan.workspace_bytes = 0 : i64} {
    %s = plan.step "s" on nccl at [0] (%x) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.all_reduce %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @+1 {{expected step 't' of stream 1 to wait for step 's' of stream 0, since ranks run collectives in one order}}
    %t = plan.step "t" on nccl at [64] (%y) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.all_reduce %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } {plan.stream = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    return %s, %t : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

module attributes {plan.target = "cuda", plan.constant_bytes = 0 : i64} {
  func.func @exchanged(%x: tensor<4xf32> {plan.offset = 0 : i64}, %y: tensor<4xf32> {plan.offset = 64 : i64}) -> (tensor<4xf32>, tensor<4xf32>)
      attributes {plan.arena_bytes = 256 : i64, plan.workspace_bytes = 0 : i64} {
    // expected-error @+1 {{expected each result of step 's' to be a collective of the input of its number, got otherwise for input 0}}
    %s:2 = plan.step "s" on nccl at [0, 64] (%x, %y) {
    ^bb0(%i: tensor<4xf32>, %j: tensor<4xf32>):
      %0 = mnist.all_reduce %i : tensor<4xf32>
      %1 = mnist.all_reduce %j : tensor<4xf32>
      plan.yield %1, %0 : tensor<4xf32>, tensor<4xf32>
    } : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    return %s#0, %s#1 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

module attributes {plan.target = "cpu", plan.constant_bytes = 0 : i64} {
  func.func @by_a_kernel(%x: tensor<4xf32> {plan.offset = 0 : i64}) -> tensor<4xf32>
      attributes {plan.arena_bytes = 256 : i64, plan.workspace_bytes = 0 : i64} {
    // expected-error @+1 {{expected an implementation for cpu that can compute step 's' around 'all_reduce', got 'kernel'}}
    %s = plan.step "s" on kernel at [0] (%x) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.all_reduce %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    return %s : tensor<4xf32>
  }
}
