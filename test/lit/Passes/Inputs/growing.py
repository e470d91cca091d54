"""Prints a function of SIZE additions: of a `chain`, or each of a value and of
that value with its rows gathered in another order (`mixed`)."""

import sys

kind, size = sys.argv[1], int(sys.argv[2])
print("func.func @f(%x0: tensor<4x4xf32>, %w: tensor<4x4xf32>,")
print("             %at: tensor<4xi64>) -> tensor<4x4xf32> {")
for i in range(size):
    other = "%w"
    if kind == "mixed":
        other = f"%g{i}"
        print(f"  {other} = mnist.gather %x{i}, %at dim 0 : "
              "(tensor<4x4xf32>, tensor<4xi64>) -> tensor<4x4xf32>")
    print(f"  %x{i + 1} = mnist.add %x{i}, {other} : tensor<4x4xf32>")
print(f"  return %x{size} : tensor<4x4xf32>\n}}")
