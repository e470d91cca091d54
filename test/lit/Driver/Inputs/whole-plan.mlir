module attributes {
    mnist.bound = [{name = "size", value = dense<[2, 3]> : tensor<2xi64>}],
    mnist.recipe = {accumulate = 1 : i64, clip = "none", convention = "torch", loss = "a loss", numbers = array<f64: 0.1, 0.0, 0.0, 0.9, 0.999, 1.0e-8, 0.0, 0.0, 1.0, 1.0>, optimizer = "sgd", partial = "masked", targets = "values"},
    plan.constant_bytes = 512 : i64, plan.initial_bytes = 256 : i64,
    plan.libraries = "all", plan.parameter_bytes = 512 : i64, plan.target = "cpu"} {
  ml_program.global private mutable @w(dense<[[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]> : tensor<3x2xf32>) : tensor<3x2xf32> {mnist.role = "parameter", plan.offset = 0 : i64}
  ml_program.global private mutable @mn.step(dense<0> : tensor<i64>) : tensor<i64> {mnist.role = "state", plan.offset = 256 : i64}
  func.func @infer(%x: tensor<4x3xf32> {mnist.name = "x", plan.offset = 512 : i64},
      %w: tensor<3x2xf32> {mnist.parameter = "w", plan.offset = 0 : i64})
      -> (tensor<4x2xf32> {mnist.name = "y"})
      attributes {plan.arena_bytes = 1024 : i64, plan.layout_reason = "no images", plan.workspace_bytes = 0 : i64} {
    %b = mnist.constant dense<[1.0, 2.0]> : tensor<2xf32> {mnist.name = "b", plan.offset = 0 : i64}
    %scale = mnist.constant dense<[3.0, 4.0]> : tensor<2xf32> {mnist.name = "scale", plan.offset = 256 : i64}
    %h = plan.step "h" on onednn at [768] (%x, %w, %b) {
    ^bb0(%i: tensor<4x3xf32>, %j: tensor<3x2xf32>, %k: tensor<2xf32>):
      %0 = mnist.matmul %i, %j : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
      %1 = mnist.broadcast %k along [1] : tensor<2xf32> -> tensor<4x2xf32>
      %2 = mnist.add %0, %1 : tensor<4x2xf32>
      plan.yield %2 : tensor<4x2xf32>
    } : (tensor<4x3xf32>, tensor<3x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    %y = plan.step "y" on kernel at [512] (%h, %scale) {
    ^bb0(%i: tensor<4x2xf32>, %j: tensor<2xf32>):
      %c = mnist.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>
      %0 = mnist.reduce_sum %i over [1] {plan.inline} : tensor<4x2xf32> -> tensor<4xf32>
      %1 = mnist.broadcast %0 along [0] : tensor<4xf32> -> tensor<4x2xf32>
      %2 = mnist.broadcast %j along [1] : tensor<2xf32> -> tensor<4x2xf32>
      %3 = mnist.mul %1, %2 : tensor<4x2xf32>
      %4 = mnist.add %3, %c : tensor<4x2xf32>
      plan.yield %4 : tensor<4x2xf32>
    } : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    return %y : tensor<4x2xf32>
  }
  func.func @train(%w: tensor<3x2xf32> {mnist.parameter = "w", plan.offset = 0 : i64},
      %step: tensor<i64> {mnist.parameter = "mn.step", plan.offset = 256 : i64})
      -> (tensor<3x2xf32> {mnist.parameter = "w"}, tensor<i64> {mnist.parameter = "mn.step"})
      attributes {plan.arena_bytes = 512 : i64, plan.workspace_bytes = 0 : i64} {
    %new:2 = plan.step "updates" on kernel at [0, 256] (%w, %step) {
    ^bb0(%i: tensor<3x2xf32>, %j: tensor<i64>):
      %one = mnist.constant dense<1> : tensor<i64>
      %0 = mnist.neg %i : tensor<3x2xf32>
      %1 = mnist.add %j, %one : tensor<i64>
      plan.yield %0, %1 : tensor<3x2xf32>, tensor<i64>
    } : (tensor<3x2xf32>, tensor<i64>) -> (tensor<3x2xf32>, tensor<i64>)
    return %new#0, %new#1 : tensor<3x2xf32>, tensor<i64>
  }
}
