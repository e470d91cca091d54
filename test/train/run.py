#!/usr/bin/env python3
"""Compiles small models with --train and trains them as a user does.

usage: run.py [--mnistc=build/bin/mnistc] [--only=TEXT] [--target=cpu]

Each test is a function, named `test_...`, of a file listed below. What needs
something that is not there (onnxruntime, root) is skipped. The last line:
N passed, N failed, N skipped.
"""

import pathlib
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1]))

import harness  # noqa: E402
from place import Place  # noqa: E402


def main():
    parser = harness.parser(__doc__)
    parser.add_argument("--target", default="cpu")
    return harness.run_tests(("start", "runs", "updates", "threads", "finite",
                              "data", "files", "resume", "truth", "learned",
                              "values", "architectures",
                              "validation", "colors", "class_names",
                              "augment", "class_weights", "accumulate", "rates", "mnist",
                              "averages", "orders"), Place,
                             parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
