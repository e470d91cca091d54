#!/usr/bin/env python3
"""Checks that an operator is named in the files that a document lists.

    utils/operator-files.py LeakyRelu

The files of docs/adding-an-operator.md's table must be those, and no others, of
lib, runtime and test that name the operator, in whatever spelling.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("lib", "runtime", "test/lit", "test/unit")


def spellings(name):
    """LeakyRelu, leakyRelu, leaky_relu."""
    snake = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    return name, name[0].lower() + name[1:], snake


def files_naming(name):
    pattern = re.compile("|".join(spellings(name)))
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.name == "operator-files.test" or not path.is_file():
                continue
            if pattern.search(path.read_text(errors="replace")):
                yield path.relative_to(ROOT).as_posix()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    document = (ROOT / "docs/adding-an-operator.md").read_text()
    listed = set(re.findall(r"^\| `([^`]+)` \|", document, re.M))
    found = set(files_naming(sys.argv[1]))
    for path in sorted(found - listed):
        print(f"{path}: error: names {sys.argv[1]}, but is not in the document")
    for path in sorted(listed - found):
        print(f"{path}: error: is in the document, but does not name {sys.argv[1]}")
    return found != listed


if __name__ == "__main__":
    sys.exit(main())
