#!/usr/bin/env python3
"""Trains small models as several ranks, which mpirun starts.

usage: run.py [--mnistc=build/bin/mnistc] [--only=TEXT]

Each test is a function, named `test_...`, of a file listed below. Without
mpirun those that need it are skipped. The last line: N passed, N failed,
N skipped.
"""

import pathlib
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1]))

import harness  # noqa: E402
from ranks_place import RanksPlace  # noqa: E402


def main():
    return harness.run_tests(("equal", "starting", "faults", "memory", "gpus",
                              "slurm"), RanksPlace,
                             harness.parser(__doc__).parse_args())


if __name__ == "__main__":
    sys.exit(main())
