#!/usr/bin/env python3
"""Writes the skeleton of an elementwise operator of one operand, in each file it touches.

    utils/new-operator.py [--root=DIR] Softcap OPSET "x / (1 + |x|)"

The name is ONNX's, OPSET the first that has it, the formula the summary of the
op. docs/adding-an-operator.md lists the files. What is left to do is marked
TODO there: the function, the derivative and what comes out at the edges.
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Tree:
    """Edits of files, written all or none."""

    def __init__(self, root):
        self.root, self.texts = root, {}

    def text(self, path):
        if path not in self.texts:
            self.texts[path] = (self.root / path).read_text()
        return self.texts[path]

    def sort_in(self, path, row, rows, key, end):
        """`row` before the first of `rows` whose name comes later, or `end`."""
        text = self.text(path)
        stop = text.index(end)
        for match in re.finditer(rows, text[:stop], re.M):
            if match[1] > key:
                stop = match.start()
                break
        self.texts[path] = text[:stop] + row + text[stop:]

    def before(self, path, what, row):
        text = self.text(path)
        if text.count(what) != 1:
            sys.exit(f"error: expected '{what.strip()}' once in {path}, got it "
                     f"{text.count(what)} times")
        self.texts[path] = text.replace(what, row + what)

    def write(self):
        for path, text in self.texts.items():
            (self.root / path).write_text(text)


def edit_compiler(tree, name, snake, camel, opset, formula):
    dialect = "lib/IR/Mnist"
    tree.sort_in(f"{dialect}/ElementwiseOps.td", f'''def {name}Op : Mnist_UnaryOp<"{snake}"> {{
  let summary = "{formula}";
  let description = [{{
    ```mlir
    %y = mnist.{snake} %x : tensor<64x10xf32>
    ```
  }}];
}}

''', r"^def (\w+)Op : Mnist_UnaryOp", name, "//===" + "-" * 70 + "===//\n// Binary")
    # The unary ones end where the first binary one begins.
    tree.sort_in(f"{dialect}/MnistGradients.cpp", f'''// y = {formula}      dx = TODO
SmallVector<Value> {name}Op::buildGradient(OpBuilder &b, ValueRange dy) {{
  Arithmetic c{{b, getLoc()}};
  // TODO: the derivative; its case in test/gradcheck fails until then.
  return {{c.mul(getInput(), dy[0])}};
}}

''', r"^(?://[^\n]*\n)+SmallVector<Value> (\w+)Op::buildGradient", name, "// y = a + b ")
    tree.sort_in(f"{dialect}/Elementwise.def",
                 f'MNIST_FUNCTION({name}Op, cheap, {camel}, "{snake}")\n',
                 r"^MNIST_FUNCTION\((\w+)Op,", name, "\nMNIST_FUNCTION_OF(EluOp")
    tree.sort_in("lib/Import/ImportActivations.cpp",
                 f'      {{"{name}", {opset}, unary<{name}Op>}},\n',
                 r'^      \{"(\w+)", \d+, ', name, "  };\n  return rows;")
    tree.before("runtime/include/mnistrt/math.h",
                "template <Float T> MN_FN T leakyRelu(T x, T slope) {\n",
                f'''/// {formula}
template <Float T> MN_FN T {camel}(T x) {{
  return x; // TODO
}}

''')


def edit_tests(tree, name, snake, camel, opset):
    path = "test/lit/Import/activations.onnxtext"
    text = tree.text(path)
    inside = int(re.search(r'"" : (\d+)\]', text)[1])
    if opset > inside:
        text = text.replace(f'"" : {inside}]', f'"" : {opset}]')
    text = re.sub(r"\) \{\n", f",\n        float[2,3] {snake}) {{\n", text, count=1)
    text = text.replace("\n// What has none", f"// CHECK-DAG:   mnist.{snake} "
                        "%[[X]] : tensor<2x3xf32>\n\n// What has none", 1)
    tree.texts[path] = text
    tree.before(path, "  d = HardSwish (x)\n", f"  {snake} = {name} (x)\n")
    path = "test/lit/CodeGen/expressions.mlir"
    tree.texts[path] = tree.text(path) + f'''
// CHECK-LABEL: namespace infer_{snake} {{
// CHECK: y[i] = mn::{camel}(x0[i]);
func.func @infer_{snake}(%in0: tensor<4xf32> {{mnist.name = "x0"}}) -> tensor<4xf32> {{
  %y = plan.step "y" on kernel (%in0) {{
  ^bb0(%a: tensor<4xf32>):
    %0 = mnist.{snake} %a : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  }} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}}
'''
    tree.before("test/unit/math.cpp", "  EXPECT_TRUE(std::isnan(mn::leakyRelu(",
                f"  EXPECT_TRUE(std::isnan(mn::{camel}(nan)));\n")
    tree.before("test/gradcheck/cases.py", '    ("ThresholdedRelu", WIDE,',
                f'    ("{name}", WIDE, {{}}),\n')
    tree.before("test/edge-values/table.py", '            ("Reciprocal", 1 / x, 0, {})]',
                f'            ("{name}", x, 0, {{}}),  # TODO\n')
    path = "test/onnx-backend/operators.txt"
    names = [line for line in tree.text(path).splitlines() if line]
    tree.texts[path] = "\n".join(sorted({*names, f"test_{name.lower()}"})) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    parser.add_argument("name")
    parser.add_argument("opset", type=int)
    parser.add_argument("formula")
    options = parser.parse_args()
    root, name = options.root.resolve(), options.name
    if not re.fullmatch(r"([A-Z][a-z0-9]*)+", name):
        sys.exit(f"error: expected the name in CamelCase, got '{name}'")
    snake = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    camel = name[0].lower() + name[1:]
    tree = Tree(root)
    if f"def {name}Op " in tree.text("lib/IR/Mnist/ElementwiseOps.td"):
        sys.exit(f"error: expected a new operator, got '{name}'")
    edit_compiler(tree, name, snake, camel, options.opset, options.formula)
    edit_tests(tree, name, snake, camel, options.opset)
    tree.write()
    made = subprocess.run([sys.executable, root / "utils/make-reference.py"], cwd=root)
    if made.returncode:
        sys.exit(made.returncode)
    for path in [*tree.texts, "docs/reference/mnist.md"]:
        print(path)
    print(f"to do: grep -rn TODO; {name} is cheap unless its row of "
          "lib/IR/Mnist/Elementwise.def says expensive")


if __name__ == "__main__":
    main()
