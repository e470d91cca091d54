#!/usr/bin/env python3
"""Compiles models for the CPU and uses the programs as a user does.

usage: run.py [--mnistc=build/bin/mnistc] [--only=TEXT] [--build=BUILD_DIR]

Each test is a function of commands.py, driver.py or install.py whose name
begins with `test_`. What needs something that is not there (onnxruntime, cmake,
the folder of bad models) is skipped. The last line: N passed, N failed, N
skipped.
"""

import argparse
import importlib
import pathlib
import sys
import tempfile
import time
import traceback

import harness

MODULES = ("commands", "driver", "install")


def tests(only):
    for name in MODULES:
        module = importlib.import_module(name)
        for key, function in vars(module).items():
            if key.startswith("test_") and only in f"{name}.{key}":
                yield f"{name}.{key}", function


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mnistc", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path,
                        default=harness.ROOT / "build")
    parser.add_argument("--shared", type=pathlib.Path,
                        default=harness.ROOT.parent / "shared")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    build = options.build.resolve()
    mnistc = (options.mnistc or build / "bin/mnistc").resolve()
    if not mnistc.exists():
        sys.exit(f"run.py: error: no '{mnistc}'")
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with tempfile.TemporaryDirectory(prefix="mnistc-programs") as folder:
        place = harness.Place(pathlib.Path(folder), mnistc, options.shared)
        place.python, place.build = sys.executable, build
        for name, function in tests(options.only):
            begin, why = time.monotonic(), ""
            try:
                function(place)
                state = "passed"
            except harness.Skip as skip:
                state, why = "skipped", f": {skip}"
            except Exception as error:  # a broken test is a failed test
                state = "failed"
                why = f": {error}" if isinstance(error, AssertionError) else (
                    ": " + traceback.format_exc())
            counts[state] += 1
            print(f"{state:7} {time.monotonic() - begin:6.1f} s  {name}{why}",
                  flush=True)
    print(", ".join(f"{count} {state}" for state, count in counts.items()))
    return counts["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
