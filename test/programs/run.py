#!/usr/bin/env python3
"""Compiles models for the CPU and uses the programs as a user does.

usage: run.py [--mnistc=build/bin/mnistc] [--only=TEXT] [--build=BUILD_DIR]

Each test is a function, named `test_...`, of a file listed below. What needs
something that is not there (onnxruntime, cmake,
the folder of bad models) is skipped. The last line: N passed, N failed, N
skipped.
"""

import pathlib
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1]))

import harness  # noqa: E402
from place import Place  # noqa: E402


def main():
    parser = harness.parser(__doc__)
    parser.set_defaults(mnistc=None)
    parser.add_argument("--build", type=pathlib.Path,
                        default=harness.ROOT / "build")
    parser.add_argument("--shared", type=pathlib.Path,
                        default=harness.ROOT.parent / "shared")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.mnistc = options.mnistc or options.build / "bin/mnistc"
    return harness.run_tests(("commands", "evaluation", "command_line", "completion", "output",
                              "driver", "bad_models", "gpu_codes", "wgmma",
                              "install"),
                             Place, options)


if __name__ == "__main__":
    sys.exit(main())
