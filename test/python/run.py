#!/usr/bin/env python3
"""The Python package, from the tree and with the compiler of the build.

usage: run.py [--mnistc=build/bin/mnistc] [--only=TEXT]
"""

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve()
sys.path[1:1] = [str(HERE.parents[1]), str(HERE.parents[1] / "embed"),
                 str(HERE.parents[2] / "python")]

import harness  # noqa: E402
from libraries import Place  # noqa: E402


def main():
    parser = harness.parser(__doc__)
    options = parser.parse_args()
    options.build = options.mnistc.resolve().parents[1]
    # The package looks there.
    os.environ["PATH"] = f"{options.mnistc.resolve().parent}{os.pathsep}{os.environ['PATH']}"
    return harness.run_tests(("inference", "train", "wrong", "reports", "gpu"), Place, options)


if __name__ == "__main__":
    sys.exit(main())
