#!/usr/bin/env python3
"""Compares the gradients of two targets, in float, on the models of run.py.

usage: targets.py dump MNISTC MODELS OUT --target=cpu|cuda
       targets.py compare A B

`dump` compiles each model of MODELS (run.py --keep=MODELS leaves them there)
and writes its inputs, loss and gradients to OUT/MODEL; `compare` says how far
two such folders are apart. So the CPU's can be made on one machine and compared
on another that has a GPU. The last line: N passed, N failed, N skipped.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

GROUPS = ("unary", "binary", "windows", "reductions", "moves", "special",
          "products", "losses")
TOLERANCE = 1e-4  # of the difference's norm, relative to the first's


def dump(options):
    with tempfile.TemporaryDirectory() as folder:
        for group in GROUPS:
            app, out = pathlib.Path(folder) / group, options.out / group
            out.mkdir(parents=True, exist_ok=True)
            subprocess.run([options.mnistc, "gradcheck",
                            options.models / f"{group}.onnx", "--loss=mse",
                            "--targets=values", "--f32",
                            f"--target={options.target}", "-o", app],
                           check=True)
            subprocess.run([app, "gradcheck", "--seed=1", f"--dump={out}"],
                           check=True)


def distance(first, second):
    a, b = (np.load(path).astype(np.float64) for path in (first, second))
    norm = np.linalg.norm(a)
    return np.linalg.norm(a - b) / (norm if norm > 0 else 1)


def compare(options):
    passed = failed = 0
    for first in sorted(options.a.glob("*/*.npy")):
        name = first.relative_to(options.a)
        error = distance(first, options.b / name)
        failed += not error <= TOLERANCE
        passed += error <= TOLERANCE
        if not error <= TOLERANCE:
            print(f"failed  {name}: {error:.1e}, at most {TOLERANCE} expected")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 0 if passed and not failed else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("dump")
    for name in ("mnistc", "models", "out"):
        one.add_argument(name, type=lambda t: pathlib.Path(t).resolve())
    one.add_argument("--target", choices=("cpu", "cuda"), required=True)
    one.set_defaults(run=dump)
    other = commands.add_parser("compare")
    other.add_argument("a", type=pathlib.Path)
    other.add_argument("b", type=pathlib.Path)
    other.set_defaults(run=compare)
    options = parser.parse_args()
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main())
