#!/usr/bin/env python3
"""Makes reports, and looks at them with a browser.

usage: run.py [--mnistc=build/bin/mnistc] [--only=TEXT] [--screenshots=FOLDER]

Each test is a function, named `test_...`, of a file listed below. What needs
Chromium is skipped where there is none. The last line: N passed, N failed, N
skipped.
"""

import pathlib
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1]))

import harness  # noqa: E402
from pages import Place  # noqa: E402


def main():
    parser = harness.parser(__doc__)
    parser.add_argument("--screenshots", type=pathlib.Path,
                        help="keep the screenshots here")
    return harness.run_tests(("files", "graph", "plots", "looks", "hostile"),
                             Place, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
