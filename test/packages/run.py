#!/usr/bin/env python3
"""Makes the packages, installs each where nothing else is, and uses it.

usage: run.py [--mnistc=build/bin/mnistc] [--only=TEXT]
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve()
sys.path[1:1] = [str(HERE.parents[1]), str(HERE.parents[1] / "embed"),
                 str(HERE.parents[2] / "python")]

import harness  # noqa: E402
from libraries import Place  # noqa: E402


def main():
    options = harness.parser(__doc__).parse_args()
    options.build = options.mnistc.resolve().parents[1]
    return harness.run_tests(("packages",), Place, options)


if __name__ == "__main__":
    sys.exit(main())
