#!/usr/bin/env python3
"""Makes one module of all examples in the descriptions of ops.

    utils/td-examples.py FILE.td...

What an example uses but does not define becomes an argument; its type follows
from the types after the example's last colon: one for each operand, or one for
the first operand and one for all others, or one for all. Fails for an op that
no example shows.
"""

import pathlib
import re
import sys


def types_in(text):
    """The operands' types in `A, B`, `A -> R` or `(A, B) -> R`."""
    operands = text.split("->")[0].strip().removeprefix("(").removesuffix(")")
    return re.findall(r"tensor<[^>]*>", operands)


def arguments(example):
    """Name and type of each value that is used but not defined."""
    defined = re.findall(r"(%\w+)(?:, %\w+)* =|\^\w+\((%\w+):", example)
    defined = {name for pair in defined for name in pair}
    used = re.findall(r"%\w+", example)
    names = [name for name in dict.fromkeys(used) if name not in defined]
    types = types_in(example[example.rindex(" : ") if " : " in example else 0:])
    if names and not types:
        sys.exit(f"error: expected types at the end of the example\n{example}")
    types += types[-1:] * (len(names) - len(types))
    return [f"{name}: {type}" for name, type in zip(names, types)]


def main():
    texts = [(path, pathlib.Path(path).read_text()) for path in sys.argv[1:]]
    examples = [
        example
        for _, text in texts
        for example in re.findall(r"```mlir\n(.*?)```", text, re.S)
    ]
    shown = "\n".join(examples)
    missing = [
        f"{path}: expected an example of '{dialect}.{op}'"
        for path, text in texts
        for dialect, op in operations(path, text)
        if not re.search(rf"\b{dialect}\.{op}\b", shown)
    ]
    for number, example in enumerate(examples):
        example = example.replace("\n        :", " :").rstrip()
        print(f"func.func @example_{number}({', '.join(arguments(example))}) {{")
        print(f"{example}\n    return\n}}")
    print("\n".join(missing), file=sys.stderr, end="\n" if missing else "")
    sys.exit(bool(missing))


def operations(path, text):
    dialect = "plan" if pathlib.Path(path).name.startswith("Plan") else "mnist"
    return [
        (dialect, op)
        for op in re.findall(r'^def \w+Op\s*:\s*\w+<(?:\w+_Dialect,\s*)?"(\w+)"', text, re.M)
    ]


if __name__ == "__main__":
    main()
