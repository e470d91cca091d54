"""Models and files made to harm: `mnistc` ends in time, says why, leaves nothing.

Each family of graphs has a size that takes no time where what the compiler does
is linear, and minutes where it is quadratic or worse.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import harness


def main():
    options = harness.parser(__doc__).parse_args()
    failed = harness.run_tests(["growth", "files", "interrupts"], harness.Place,
                               options)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
