#!/usr/bin/env python3
"""Compiles models into libraries and calls them as other programs do: by the C
interface, by the C++ one, and by the examples.

usage: run.py [--mnistc=build/bin/mnistc] [--only=TEXT] [--build=BUILD_DIR]
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve()
sys.path[1:1] = [str(HERE.parents[1]), str(HERE.parents[2] / "python")]

import harness  # noqa: E402
from libraries import Place  # noqa: E402


def main():
    parser = harness.parser(__doc__)
    parser.set_defaults(mnistc=None)
    parser.add_argument("--build", type=pathlib.Path,
                        default=harness.ROOT / "build")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.mnistc = options.mnistc or options.build / "bin/mnistc"
    return harness.run_tests(("training", "refused", "fake_gpu", "programs"),
                             Place, options)


if __name__ == "__main__":
    sys.exit(main())
