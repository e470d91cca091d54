module attributes {plan.constant_bytes = 0 : i64} {
  func.func @infer(%x: tensor<2x3xf32> {mnist.name = "x", plan.offset = 0 : i64}) -> (tensor<2x3xf32> {mnist.name = "y"}) attributes {plan.arena_bytes = 512 : i64, plan.workspace_bytes = 0 : i64} {
    %y = plan.step "y" on kernel at [256] (%x) {
    ^bb0(%a: tensor<2x3xf32>):
      %0 = mnist.relu %a : tensor<2x3xf32>
      plan.yield %0 : tensor<2x3xf32>
    } : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %y : tensor<2x3xf32>
  }
}
