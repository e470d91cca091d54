#!/usr/bin/env python3
"""Runs CUDA programs on an emulated GPU: kernels, gradients, trainings, times.

usage: run.py [--mnistc=build/bin/mnistc] [--build=build] [--only=TEXT] [-j N]

Each test is a function, named `test_...`, of a file listed below. The last
line: N passed, N failed, N skipped. FAKE_CUDA_ORDER and FAKE_CUDA_ASYNC say how
kernels are run (module.h).
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import harness  # noqa: E402
from place import Place  # noqa: E402


def main():
    parser = harness.parser(__doc__)
    parser.add_argument("--build", type=pathlib.Path,
                        default=harness.ROOT / "build")
    parser.add_argument("-j", "--jobs", type=int, default=harness.JOBS)
    return harness.run_tests(("kernels", "trainings", "timelines"), Place,
                             parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
