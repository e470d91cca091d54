"""Prints steps, or links of a chain, that together read and write more tensors
than the arguments of a kernel can be.

usage: many-links.py steps|chain
"""
import sys

ROW = "tensor<8x8xf32>"


def print_steps(steps=70, others=64):
    """Each reads the tensor before it, and all others."""
    arguments = ", ".join(f"%a{i}: {ROW}" for i in range(others))
    all_types = ", ".join([ROW] * (others + 1))
    rest = ", ".join(f"%a{i}" for i in range(others))
    wide = f"tensor<8x{8 * (others + 1)}xf32>"
    print(f"func.func @many(%x: {ROW}, {arguments}) -> {ROW} {{")
    last = "%x"
    for step in range(steps):
        print(f"  %c{step} = mnist.concat {last}, {rest} dim 1 : ({all_types})"
              f" -> {wide}")
        print(f"  %s{step} = mnist.reduce_sum %c{step} over [1] : {wide} -> "
              "tensor<8xf32>")
        print(f"  %y{step} = mnist.broadcast %s{step} along [0] : "
              f"tensor<8xf32> -> {ROW}")
        last = f"%y{step}"
    print(f"  return {last} : {ROW}\n}}")


def print_link(name, operand, inputs):
    values = ", ".join([operand] * inputs)
    types = ", ".join([ROW] * inputs)
    arguments = ", ".join(f"%{name}{i}: {ROW}" for i in range(inputs))
    print(f"""      %{name} = plan.step "{name}" on kernel ({values}) {{
      ^bb0({arguments}):
        %e = mnist.exp %{name}0 : {ROW}
        plan.yield %e : {ROW}
      }} : ({types}) -> {ROW}""")


def print_chain(inputs=2047):
    print(f"""module attributes {{plan.constant_bytes = 0 : i64, \
plan.target = "cuda"}} {{
  func.func @links(%x: {ROW} {{plan.offset = 0 : i64}}) -> {ROW} attributes \
{{plan.arena_bytes = 1024 : i64, plan.workspace_bytes = 0 : i64}} {{
    %0:2 = plan.step "chain" on kernel at [256, 512] (%x) {{
    ^bb0(%p: {ROW}):""")
    print_link("a", "%p", inputs)
    print_link("b", "%a", inputs)
    print(f"""      plan.yield %a, %b : {ROW}, {ROW}
    }} : ({ROW}) -> ({ROW}, {ROW})
    return %0#1 : {ROW}
  }}
}}""")


{"steps": print_steps, "chain": print_chain}[sys.argv[1]]()
