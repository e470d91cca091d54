// RUN: mnist-opt %s --split-input-file --verify-diagnostics --plan-check-steps

// A link that needs other rows than its own of what another block makes.

module attributes {plan.constant_bytes = 0 : i64, plan.target = "cuda"} {
  func.func @weights(%x: tensor<8x8xf32> {plan.offset = 0 : i64}) -> tensor<8x8xf32> attributes {plan.arena_bytes = 1024 : i64, plan.workspace_bytes = 0 : i64} {
    // expected-error@+1 {{expected each link of chain 'a' to read of a link before it the row that it computes, of 8, got otherwise at 'b'}}
    %0:2 = plan.step "a" on kernel at [256, 512] (%x) {
    ^bb0(%p: tensor<8x8xf32>):
      %1 = plan.step "a" on kernel (%p) {
      ^bb0(%q: tensor<8x8xf32>):
        %2 = mnist.exp %q : tensor<8x8xf32>
        plan.yield %2 : tensor<8x8xf32>
      } : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %3 = plan.step "b" on kernel (%p, %1) {
      ^bb0(%q: tensor<8x8xf32>, %r: tensor<8x8xf32>):
        %2 = mnist.matmul %q, %r : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
        plan.yield %2 : tensor<8x8xf32>
      } : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      plan.yield %1, %3 : tensor<8x8xf32>, tensor<8x8xf32>
    } : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
    return %0#1 : tensor<8x8xf32>
  }
}

// -----

// A sum over all rows.

module attributes {plan.constant_bytes = 0 : i64, plan.target = "cuda"} {
  func.func @rows(%x: tensor<8x8xf32> {plan.offset = 0 : i64}) -> tensor<8x8xf32> attributes {plan.arena_bytes = 1024 : i64, plan.workspace_bytes = 0 : i64} {
    // expected-error@+1 {{expected each link of chain 'a' to compute rows one by one, got otherwise at 'b'}}
    %0:2 = plan.step "a" on kernel at [256, 512] (%x) {
    ^bb0(%p: tensor<8x8xf32>):
      %1 = plan.step "a" on kernel (%p) {
      ^bb0(%q: tensor<8x8xf32>):
        %2 = mnist.exp %q : tensor<8x8xf32>
        plan.yield %2 : tensor<8x8xf32>
      } : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %3 = plan.step "b" on kernel (%1) {
      ^bb0(%q: tensor<8x8xf32>):
        %2 = mnist.reduce_sum %q over [0] : tensor<8x8xf32> -> tensor<8xf32>
        plan.yield %2 : tensor<8xf32>
      } : (tensor<8x8xf32>) -> tensor<8xf32>
      plan.yield %1, %3 : tensor<8x8xf32>, tensor<8xf32>
    } : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>)
    return %0#0 : tensor<8x8xf32>
  }
}

// -----

// Rows that are others after what moves them.

module attributes {plan.constant_bytes = 0 : i64, plan.target = "cuda"} {
  func.func @turned(%x: tensor<8x8xf32> {plan.offset = 0 : i64}) -> tensor<8x8xf32> attributes {plan.arena_bytes = 1024 : i64, plan.workspace_bytes = 0 : i64} {
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
        %2 = mnist.slice %q starts [7, 0] steps [-1, 1] : tensor<8x8xf32> -> tensor<8x8xf32>
        plan.yield %2 : tensor<8x8xf32>
      } : (tensor<8x8xf32>) -> tensor<8x8xf32>
      plan.yield %1, %3 : tensor<8x8xf32>, tensor<8x8xf32>
    } : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
    return %0#1 : tensor<8x8xf32>
  }
}

// -----

module attributes {plan.constant_bytes = 0 : i64, plan.target = "cuda"} {
  func.func @moved(%x: tensor<8x8xf32> {plan.offset = 0 : i64}) -> tensor<8x8xf32> attributes {plan.arena_bytes = 1024 : i64, plan.workspace_bytes = 0 : i64} {
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
        %2 = mnist.pad constant %q low [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
        plan.yield %2 : tensor<8x8xf32>
      } : (tensor<8x8xf32>) -> tensor<8x8xf32>
      plan.yield %1, %3 : tensor<8x8xf32>, tensor<8x8xf32>
    } : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
    return %0#1 : tensor<8x8xf32>
  }
}

// -----

module attributes {plan.constant_bytes = 0 : i64, plan.target = "cuda"} {
  func.func @doubled(%x: tensor<8x8xf32> {plan.offset = 0 : i64}) -> tensor<16x8xf32> attributes {plan.arena_bytes = 1024 : i64, plan.workspace_bytes = 0 : i64} {
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
        %2 = mnist.concat %q, %q dim 0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
        plan.yield %2 : tensor<16x8xf32>
      } : (tensor<8x8xf32>) -> tensor<16x8xf32>
      plan.yield %1, %3 : tensor<8x8xf32>, tensor<16x8xf32>
    } : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<16x8xf32>)
    return %0#1 : tensor<16x8xf32>
  }
}

// -----

module attributes {plan.constant_bytes = 0 : i64, plan.target = "cuda"} {
  func.func @repeated(%x: tensor<8x8xf32> {plan.offset = 0 : i64}) -> tensor<8x8x8xf32> attributes {plan.arena_bytes = 1024 : i64, plan.workspace_bytes = 0 : i64} {
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
        %2 = mnist.broadcast %q along [1, 2] : tensor<8x8xf32> -> tensor<8x8x8xf32>
        plan.yield %2 : tensor<8x8x8xf32>
      } : (tensor<8x8xf32>) -> tensor<8x8x8xf32>
      plan.yield %1, %3 : tensor<8x8xf32>, tensor<8x8x8xf32>
    } : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8x8xf32>)
    return %0#1 : tensor<8x8x8xf32>
  }
}

// -----

module attributes {plan.constant_bytes = 0 : i64, plan.target = "cuda"} {
  func.func @halved(%x: tensor<8x8xf32> {plan.offset = 0 : i64}) -> tensor<8x4xf32> attributes {plan.arena_bytes = 1024 : i64, plan.workspace_bytes = 0 : i64} {
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
        %5 = mnist.reshape %q : tensor<8x8xf32> -> tensor<4x16xf32>
        %4 = mnist.slice %5 starts [0, 0] steps [1, 1] : tensor<4x16xf32> -> tensor<4x8xf32>
        %2 = mnist.reshape %4 : tensor<4x8xf32> -> tensor<8x4xf32>
        plan.yield %2 : tensor<8x4xf32>
      } : (tensor<8x8xf32>) -> tensor<8x4xf32>
      plan.yield %1, %3 : tensor<8x8xf32>, tensor<8x4xf32>
    } : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x4xf32>)
    return %0#1 : tensor<8x4xf32>
  }
}

// -----

// The place of an operand that other blocks still read.

module attributes {plan.constant_bytes = 0 : i64, plan.target = "cuda"} {
  // expected-note@+1 {{defined here}}
  func.func @place(%x: tensor<8x8xf32> {plan.offset = 0 : i64}) -> tensor<8x8xf32> attributes {plan.arena_bytes = 1024 : i64, plan.workspace_bytes = 0 : i64} {
    // expected-error@+1 {{expected result 1 of 'a' (bytes 0 to 256) apart from argument 0 (bytes 0 to 256), which is alive}}
    %0:2 = plan.step "a" on kernel at [256, 0] (%x) {
    ^bb0(%p: tensor<8x8xf32>):
      %1 = plan.step "a" on kernel (%p) {
      ^bb0(%q: tensor<8x8xf32>):
        %2 = mnist.exp %q : tensor<8x8xf32>
        plan.yield %2 : tensor<8x8xf32>
      } : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %3 = plan.step "b" on kernel (%1) {
      ^bb0(%q: tensor<8x8xf32>):
        %2 = mnist.exp %q : tensor<8x8xf32>
        plan.yield %2 : tensor<8x8xf32>
      } : (tensor<8x8xf32>) -> tensor<8x8xf32>
      plan.yield %1, %3 : tensor<8x8xf32>, tensor<8x8xf32>
    } : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
    return %0#1 : tensor<8x8xf32>
  }
}

// -----

// A link with an address of its own, a chain that leaves a result out, and a
// target whose code knows no chains.

module attributes {plan.constant_bytes = 0 : i64, plan.target = "cuda"} {
  func.func @address(%x: tensor<8x8xf32> {plan.offset = 0 : i64}) -> tensor<8x8xf32> attributes {plan.arena_bytes = 1024 : i64, plan.workspace_bytes = 0 : i64} {
    // expected-error@+1 {{expected each link of chain 'a' to have neither address nor tiles, got one at 'a'}}
    %0 = plan.step "a" on kernel at [256] (%x) {
    ^bb0(%p: tensor<8x8xf32>):
      %1 = plan.step "a" on kernel at [256] (%p) {
      ^bb0(%q: tensor<8x8xf32>):
        %2 = mnist.exp %q : tensor<8x8xf32>
        plan.yield %2 : tensor<8x8xf32>
      } : (tensor<8x8xf32>) -> tensor<8x8xf32>
      plan.yield %1 : tensor<8x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}

// -----

module attributes {plan.constant_bytes = 0 : i64, plan.target = "cuda"} {
  func.func @result(%x: tensor<8x8xf32> {plan.offset = 0 : i64}) -> tensor<8x8xf32> attributes {plan.arena_bytes = 1024 : i64, plan.workspace_bytes = 0 : i64} {
    // expected-error@+1 {{expected chain 'a' to yield the results of its links in their order, but for those that blocks hold for other links, got otherwise}}
    %0 = plan.step "a" on kernel at [256] (%x) {
    ^bb0(%p: tensor<8x8xf32>):
      %1 = plan.step "a" on kernel (%p) {
      ^bb0(%q: tensor<8x8xf32>):
        %2 = mnist.exp %q : tensor<8x8xf32>
        plan.yield %2 : tensor<8x8xf32>
      } : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %3 = plan.step "b" on kernel (%1) {
      ^bb0(%q: tensor<8x8xf32>):
        %2 = mnist.exp %q : tensor<8x8xf32>
        plan.yield %2 : tensor<8x8xf32>
      } : (tensor<8x8xf32>) -> tensor<8x8xf32>
      plan.yield %3 : tensor<8x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}

// -----

module attributes {plan.constant_bytes = 0 : i64, plan.target = "cpu"} {
  func.func @target(%x: tensor<8x8xf32> {plan.offset = 0 : i64}) -> tensor<8x8xf32> attributes {plan.arena_bytes = 1024 : i64, plan.workspace_bytes = 0 : i64} {
    // expected-error@+1 {{expected an implementation for cpu that can compute step 'a'}}
    %0 = plan.step "a" on kernel at [256] (%x) {
    ^bb0(%p: tensor<8x8xf32>):
      %1 = plan.step "a" on kernel (%p) {
      ^bb0(%q: tensor<8x8xf32>):
        %2 = mnist.exp %q : tensor<8x8xf32>
        plan.yield %2 : tensor<8x8xf32>
      } : (tensor<8x8xf32>) -> tensor<8x8xf32>
      plan.yield %1 : tensor<8x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}
