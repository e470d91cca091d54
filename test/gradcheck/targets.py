#!/usr/bin/env python3
"""Compares the gradients of two targets, in float, on the models of run.py.

usage: targets.py make MNISTC DIR
       targets.py check MNISTC DIR

`make` writes the models to DIR/models and, with programs for the CPU, their
inputs, loss and gradients to DIR/cpu; `check` does the same with CUDA and says
how far the two are apart. So the CPU's can be made on one machine and compared
on another that has a GPU. The last line: N passed, N failed, N skipped.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import cases
import model

TOLERANCE = 1e-4  # of the difference's norm, relative to the first's


def dump(mnistc, models, out, target):
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(models.glob("*.onnx")):
            app, values = pathlib.Path(folder) / path.stem, out / path.stem
            values.mkdir(parents=True, exist_ok=True)
            subprocess.run([mnistc, "gradcheck", path, "--loss=mse",
                            "--targets=values", "--f32", f"--target={target}",
                            "-o", app], check=True)
            subprocess.run([app, "gradcheck", "--seed=1", f"--dump={values}"],
                           check=True)


def make(options):
    models = options.folder / "models"
    models.mkdir(parents=True, exist_ok=True)
    for name, group in cases.groups().items():
        model.save_many(models / f"{name}.onnx", group)
    dump(options.mnistc, models, options.folder / "cpu", "cpu")


def distance(first, second):
    a, b = (np.load(path).astype(np.float64) for path in (first, second))
    norm = np.linalg.norm(a)
    return np.linalg.norm(a - b) / (norm if norm > 0 else 1)


def check(options):
    """Counts tensors that are near enough, and those that are not."""
    first = options.folder / "cpu"
    counts = {"passed": 0, "failed": 0}
    with tempfile.TemporaryDirectory() as folder:
        second = pathlib.Path(folder)
        dump(options.mnistc, options.folder / "models", second, "cuda")
        for path in sorted(first.glob("*/*.npy")):
            name = path.relative_to(first)
            error = distance(path, second / name)
            state = "passed" if error <= TOLERANCE else "failed"
            counts[state] += 1
            print(f"{state}  {name}: {error:.1e}, at most {TOLERANCE} expected")
    print(f"{counts['passed']} passed, {counts['failed']} failed, 0 skipped")
    return 0 if counts["passed"] and not counts["failed"] else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=("make", "check"))
    parser.add_argument("mnistc", type=lambda t: pathlib.Path(t).resolve())
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    return make(options) if options.command == "make" else check(options)


if __name__ == "__main__":
    sys.exit(main())
