"""Writes a plan of one step in which as many ops follow one another."""

import sys

count = int(sys.argv[1])
print("""module attributes {plan.constant_bytes = 0 : i64} {
  func.func @infer(%x: tensor<4xf32> {plan.offset = 0 : i64}) -> tensor<4xf32> attributes {plan.arena_bytes = 512 : i64, plan.workspace_bytes = 0 : i64} {
    %y = plan.step "y" on kernel at [256] (%x) {
    ^bb0(%0: tensor<4xf32>):""")
for i in range(count):
    print(f"      %{i + 1} = mnist.neg %{i} : tensor<4xf32>")
print(f"""      plan.yield %{count} : tensor<4xf32>
    }} : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }}
}}""")
