#!/usr/bin/env python3
"""Makes a model, compiles it and trains it, as an introduction to MNIST does.

usage: recipe.py NAME [--data=digits] [--epochs=5] [--target=cuda]
                 [--mnistc=build/bin/mnistc] [--out=DIR] [--print]
                 [--mean=MEAN --std=DEVIATION] [--precision=NAME] [OPTION...]

NAME is one of RECIPES. Each command is printed as one would type it in DIR
(default: the folder that one is in), and run; with --print, only printed.
--mean and --std stand for the recipe's own, --precision is mnistc's; other
options go to `train`. The trained model is NAME-trained.onnx; it is compiled and
evaluated at the end.
"""

import argparse
import os
import pathlib
import shlex
import subprocess
import sys

from networks import TUTORIALS

ROOT = pathlib.Path(__file__).resolve().parents[1]
RECIPES = TUTORIALS
# How pixels are read.
PIXELS = {"pytorch-net": "--mean=0.1307 --std=0.3081"}
# Name: network and pixels, of what benchmarks compare in accuracy.
COMPARED = {**{name: (name, PIXELS.get(name, "")) for name in RECIPES},
            "mxnet-mlp, normalised": ("mxnet-mlp", PIXELS["pytorch-net"])}


def commands(name, options, others):
    """(as typed, as run) of every step."""
    network = RECIPES[name]
    flags = [f"--batch={network.batch}", *network.train.split()]
    pixels = PIXELS.get(name, "").split()
    if options.mean is not None:
        pixels = [f"--mean={options.mean}", f"--std={options.std}"]
    limit = [text.replace("--test-", "--") for text in others
             if text.startswith("--test-limit=")]
    data = f"--data={options.data}"
    target = [] if options.target == "cuda" else [f"--target={options.target}"]
    if options.precision:
        target.append(f"--precision={options.precision}")

    def compile_to(model, program, *flags):
        return ["mnistc", f"{model}.onnx", *flags, *target, "-o", program]

    yield ["make.py", name, f"{name}.onnx"]
    yield compile_to(name, name, "--train", *flags)
    yield [f"./{name}", "train", data, *pixels, f"--epochs={options.epochs}",
           f"--save={name}-trained.onnx", *others]
    yield compile_to(f"{name}-trained", f"{name}-trained", "--batch=1000")
    yield [f"./{name}-trained", "eval", data, *pixels, *limit]


def python():
    """One that has the package onnx: of scripts/setup, or else this one."""
    cache = pathlib.Path(os.environ.get("MNISTC_CACHE", "~/.cache/mnistc"))
    venv = cache.expanduser() / "venv/bin/python"
    return str(venv) if venv.exists() else sys.executable


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=RECIPES)
    parser.add_argument("--data", default="digits")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--target", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--mnistc", type=pathlib.Path,
                        default=ROOT / "build/bin/mnistc")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--print", action="store_true")
    parser.add_argument("--mean", type=float)
    parser.add_argument("--std", type=float)
    parser.add_argument("--precision")
    options, others = parser.parse_known_args()
    if (options.mean is None) != (options.std is None):
        sys.exit("recipe.py: error: expected --mean and --std, got one of them")
    replaced = {"make.py": [python(), str(ROOT / "models/make.py")],
                "mnistc": [str(options.mnistc.resolve())]}
    if not options.print:
        if not options.mnistc.exists():
            sys.exit(f"recipe.py: error: no '{options.mnistc}'")
        options.out.mkdir(parents=True, exist_ok=True)
    for typed in commands(options.name, options, others):
        print(f"$ {shlex.join(typed)}", flush=True)
        if options.print:
            continue
        code = subprocess.run(replaced.get(typed[0], typed[:1]) + typed[1:],
                              cwd=options.out, check=False).returncode
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
