#!/usr/bin/env python3
"""Starts a pass: its definition, its file and its test, named by the law.

    utils/new-pass.py mnist|plan FooBar "What it does, as a sentence"
"""

import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("mnist", "plan"):
        sys.exit(__doc__.split("\n\n")[1].strip())
    level, name, summary = sys.argv[1:]
    if not re.fullmatch(r"([A-Z][a-z0-9]+)+", name):
        sys.exit(f"error: expected a verb in CamelCase, got '{name}'")
    flag = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()
    summary = summary.rstrip(".")

    source = root / f"lib/Passes/{name}.cpp"
    test = root / f"test/lit/Passes/{flag}.mlir"
    for path in (source, test):
        if path.exists():
            sys.exit(f"error: {path.relative_to(root)} is there already")

    passes = root / f"lib/Passes/{level.capitalize()}Passes.td"
    text, end = passes.read_text(), "\n#endif"
    if end not in text:
        sys.exit(f"error: expected an #endif at the end of {passes.relative_to(root)}")
    head, _, tail = text.rpartition(end)
    passes.write_text(f'''{head}
def {name} : Pass<"{level}-{flag}", "::mlir::func::FuncOp"> {{
  let summary = "{summary}";
  let description = [{{
    TODO
  }}];
}}
{end}{tail}''')

    banner = f"//===- {name}.cpp - {summary[0].lower() + summary[1:]} "
    banner += "-" * max(3, 80 - len(banner) - len("===//")) + "===//"
    source.write_text(f'''{banner}

#include "lib/Passes/Passes.h"

namespace mlir::mnistc {{

#define GEN_PASS_DEF_{name.upper()}
#include "lib/Passes/Passes.h.inc"

namespace {{
struct {name} : impl::{name}Base<{name}> {{
  void runOnOperation() override {{}}
}};
}} // namespace

}} // namespace mlir::mnistc
''')

    test.parent.mkdir(parents=True, exist_ok=True)
    test.write_text(f'''// RUN: mnist-opt %s --{level}-{flag} | FileCheck %s

// {summary}.

// CHECK-LABEL: @nothing_to_do
func.func @nothing_to_do() {{
  return
}}
''')

    print(f"{passes.relative_to(root)}: {name}, last: move it to its place in the pipeline")
    for path in (source, test):
        print(path.relative_to(root))
    print("lib/Passes/Pipelines.cpp: not touched")


if __name__ == "__main__":
    main()
