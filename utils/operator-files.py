#!/usr/bin/env python3
"""Checks that an operator is named in the files that a document lists.

    utils/operator-files.py [--root=DIR] LeakyRelu
    utils/operator-files.py [--root=DIR] --loops MaxPool

The files of docs/adding-an-operator.md's table, with --loops of its table for an
op with its own loops, must be those of lib and runtime that name the operator,
in whatever spelling, and no others. Tests and documents that are listed must
name it, too; others may. ONNX's own tests of it must be listed as those that
pass.
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
STRICT = ("lib", "runtime")
# What frameworks call for some operators: a report shows it, nothing needs it.
TOLD = "lib/IR/Mnist/FrameworkCalls.def"
LISTS = ("operators.txt", "tier1.txt", "tier2.txt")


def pattern_of(name):
    """LeakyRelu, leakyRelu, leaky_relu, as words or in TanhOp; of a kernel its
    function and its macro."""
    snake = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    camel = name[0].lower() + name[1:]
    # Comments may speak of tanh, and <cmath> has one.
    return re.compile(rf"\b(?:{name}(?:Op)?\b|mnist\.{snake}\b|mn::{camel}\b|"
                      rf"\"{snake}\"|(?:T|float) {camel}\((?:T|float) |"
                      rf"\bvoid {camel}\(|\bMN_{snake.upper()}_KERNEL\b)")


def listed(root, head):
    """The files of the table whose first column is called `head`."""
    text = (root / "docs/adding-an-operator.md").read_text()
    table = re.search(rf"^\| {head} \|.*\n((?:\|.*\n)+)", text, re.M)
    if not table:
        sys.exit(f"error: expected a table of '{head}' in the document, got none")
    return set(re.findall(r"^\| `([^`]+)` \|", table[1], re.M))


def naming(root, name):
    """The files of lib and runtime that name the operator."""
    pattern = pattern_of(name)
    for folder in STRICT:
        for path in sorted((root / folder).rglob("*")):
            file = path.relative_to(root).as_posix()
            if file != TOLD and path.is_file() and \
                    pattern.search(path.read_text(errors="replace")):
                yield file


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    parser.add_argument("--loops", action="store_true",
                        help="an op with its own loops")
    parser.add_argument("name")
    options = parser.parse_args()
    root, name = options.root, options.name
    wanted = listed(root, "file of a root" if options.loops else "file")
    found = set(naming(root, name))
    errors = [f"{path}: error: names {name}, but is not in the document"
              for path in sorted(found - wanted)]
    for path in sorted(wanted - found):
        file = root / path
        if path.startswith(STRICT) or not file.is_file() or \
                not pattern_of(name).search(file.read_text()):
            errors.append(
                f"{path}: error: is in the document, but does not name {name}")
    lists = [root / "test/onnx-backend" / each for each in LISTS]
    if not any(re.search(rf"^test_{name.lower()}(_|$)", path.read_text(), re.M)
               for path in lists if path.is_file()):
        errors.append(f"test/onnx-backend/operators.txt: error: expected "
                      f"test_{name.lower()}, ONNX's own test of {name}")
    for error in errors:
        print(error)
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())
