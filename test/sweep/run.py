#!/usr/bin/env python3
"""Trains many small networks with 'app sweep', and each of them alone.

usage: run.py [--mnistc=build/bin/mnistc] [--only=TEXT] [--target=cpu]

Each test is a function, named `test_...`, of a file listed below. The last
line: N passed, N failed, N skipped.
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent), str(HERE.parent / "train")]

import harness  # noqa: E402
from sweeps import Place  # noqa: E402


def main():
    parser = harness.parser(__doc__)
    parser.add_argument("--target", default="cpu")
    return harness.run_tests(("alone", "results", "stopped", "halving", "wrong",
                              "gpu", "optuna_study"),
                             Place, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
