#!/usr/bin/env python3
"""Runs operators beside onnxruntime and NumPy, on cases that ONNX's own
tests do not have.

usage: run.py [--mnistc=build/bin/mnistc] [--only=TEXT] [--target=cpu]

cases.py has a table for each operator, of which one program computes all cases.
The last line: N passed, N failed, N skipped.
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent), str(HERE.parent / "edge-values")]

import harness  # noqa: E402


class Place:
    def __init__(self, folder, options):
        self.folder, self.options = folder, options

    def close(self):
        """The folder goes by itself."""


def main():
    parser = harness.parser(__doc__)
    parser.add_argument("--target", default="cpu", choices=["cpu", "cuda"])
    return harness.run_tests(("cases",), Place, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
