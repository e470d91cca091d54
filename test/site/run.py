#!/usr/bin/env python3
"""Makes pages of the documents, and looks at them with a browser.

usage: run.py [--mnistc=build/bin/mnistc] [--only=TEXT] [--screenshots=FOLDER]

What needs Chromium is skipped where there is none. The last line: N passed, N
failed, N skipped.
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve()
sys.path[1:1] = [str(HERE.parents[1]), str(HERE.parents[1] / "report")]

import harness  # noqa: E402
from pages import Place  # noqa: E402


def main():
    parser = harness.parser(__doc__)
    parser.add_argument("--screenshots", type=pathlib.Path,
                        help="keep the screenshots here")
    return harness.run_tests(("documents",), Place, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
