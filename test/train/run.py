#!/usr/bin/env python3
"""Compiles small models with --train and trains them as a user does.

usage: run.py [--mnistc=build/bin/mnistc] [--only=TEXT] [--target=cpu]

Each test is a function of runs.py, data.py or files.py whose name begins with
`test_`. What needs something that is not there (onnxruntime, root) is skipped.
The last line: N passed, N failed, N skipped.
"""

import argparse
import importlib
import pathlib
import sys
import tempfile
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "programs"))

import harness  # noqa: E402
import place as places  # noqa: E402

MODULES = ("runs", "data", "files")


def tests(only):
    for name in MODULES:
        module = importlib.import_module(name)
        for key, function in vars(module).items():
            if key.startswith("test_") and only in f"{name}.{key}":
                yield f"{name}.{key}", function


def outcome(function, place):
    try:
        function(place)
        return "passed", ""
    except harness.Skip as skip:
        return "skipped", f": {skip}"
    except AssertionError as error:
        return "failed", f": {error}"
    except Exception:  # a broken test is a failed test
        return "failed", ": " + traceback.format_exc()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mnistc", type=pathlib.Path,
                        default=harness.ROOT / "build/bin/mnistc")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    mnistc = options.mnistc.resolve()
    if not mnistc.exists():
        sys.exit(f"run.py: error: no '{mnistc}'")
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with tempfile.TemporaryDirectory(prefix="mnistc-train") as folder:
        place = places.Place(pathlib.Path(folder), mnistc, options.target)
        for name, function in tests(options.only):
            begin = time.monotonic()
            state, why = outcome(function, place)
            counts[state] += 1
            print(f"{state:7} {time.monotonic() - begin:6.1f} s  {name}{why}",
                  flush=True)
    print(", ".join(f"{count} {state}" for state, count in counts.items()))
    return counts["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
