#!/usr/bin/env python3
"""Runs models/recipe.py for all recipes, and evaluates what it trained.

usage: run.py [--mnistc=build/bin/mnistc] [--target=cpu] [--only=TEXT]
              [--data=DIR] [--epochs=2] [--precision=NAME] [--peer]
              [--report=FILE]

Without --data, on a few synthetic digits: loss falls, and onnxruntime finds the
accuracy of the trained file that the trainer and our program say. With MNIST's
files and five epochs each recipe has to reach its accuracy, as a mean over a few
shuffles, and two runs one digest. --peer also trains with PyTorch, from the same
weights and for as many shuffles, and compares the means. The last line: N passed, N failed, N skipped.
"""

import argparse
import gzip
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT_S = 1800
NORMALISED = ("--mean=0.1307", "--std=0.3081")
# What is run: recipe, options, minimum mean accuracy in percent after five epochs
# on MNIST (None: whatever PyTorch reaches). The MLP's own recipe has pixels between
# 0 and 1, of which it learns slower.
RUNS = {"mxnet-simplecnn": ("mxnet-simplecnn", (), None),
        "mxnet-mlp": ("mxnet-mlp", (), 93.0),
        "mxnet-mlp, normalised": ("mxnet-mlp", NORMALISED, 96.3),
        "pytorch-simplecnn": ("pytorch-simplecnn", (), 98.7),
        "pytorch-net": ("pytorch-net", (), 98.7),
        "keras-cnn": ("keras-cnn", (), 98.0)}
# One run is as much luck as recipe: seeds of the same recipe are up to 0.35
# points apart, with PyTorch and with us.
SEEDS = (1, 2, 3, 4, 5)
PEER_TOLERANCE = 0.3  # percent points, of the means


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mnistc", type=pathlib.Path, default=ROOT / "build/bin/mnistc")
    parser.add_argument("--target", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--report", type=pathlib.Path)
    return parser.parse_args()


def read_idx(folder, stem):
    import numpy as np
    path = folder / stem
    data = path.read_bytes() if path.exists() else gzip.open(f"{path}.gz").read()
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3])


def read_set(folder, split):
    return (read_idx(folder, f"{split}-images-idx3-ubyte").reshape(-1, 784),
            read_idx(folder, f"{split}-labels-idx1-ubyte"))


def by_onnxruntime(model, test_set, pixels):
    """Accuracy in percent; None without onnxruntime."""
    import numpy as np
    import onnx
    try:
        import onnxruntime
    except ImportError:
        return None
    proto = onnx.load(str(model))
    for node in proto.graph.node:
        if node.op_type == "Dropout":  # exported while training
            del node.input[1:]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    info, = session.get_inputs()
    numbers = dict(re.findall(r"--(mean|std)=(\S+)", " ".join(pixels)))
    mean, deviation = (np.float32(numbers.get(key, default))
                       for key, default in (("mean", 0), ("std", 1)))
    images, labels = test_set
    x = (images.astype(np.float32) / np.float32(255) - mean) / deviation
    x = x.reshape(-1, *info.shape[1:])
    right = sum((session.run(None, {info.name: x[i:i + 500]})[0].argmax(1)
                 == labels[i:i + 500]).sum() for i in range(0, len(x), 500))
    return 100 * right / len(x)


def accuracies(text):
    """After each epoch, in percent."""
    return [float(x) for x in
            re.findall(r"; test loss [\d.]+, accuracy ([\d.]+) %", text)]


class Recipe:
    """One recipe, run once; what was said."""

    def __init__(self, name, pixels, options, data, folder):
        self.name, self.program = name, folder / name
        done = subprocess.run(
            [sys.executable, ROOT / "models/recipe.py", name, f"--data={data}",
             f"--epochs={options.epochs}", f"--target={options.target}",
             f"--mnistc={options.mnistc.resolve()}", f"--out={folder}",
             f"--precision={options.precision}", *pixels],
            capture_output=True, text=True, errors="replace", timeout=LIMIT_S)
        if done.returncode:
            raise RuntimeError((done.stdout + done.stderr).strip()[-400:])
        self.text = done.stdout
        self.model = folder / f"{name}.onnx"
        self.trained = folder / f"{name}-trained.onnx"

    def again(self, seed, pixels, epochs, data):
        """The accuracy after training once more, in another order."""
        done = subprocess.run(
            [self.program, "train", f"--data={data}", f"--epochs={epochs}",
             f"--seed={seed}", *pixels], capture_output=True, text=True,
            check=True, timeout=LIMIT_S)
        return accuracies(done.stdout)[-1]

    def numbers(self, pattern):
        return [float(x) for x in re.findall(pattern, self.text)]

    @property
    def losses(self):
        return self.numbers(r"train loss ([\d.]+)")

    @property
    def accuracy(self):
        return accuracies(self.text)[-1]

    @property
    def evaluated(self):
        return self.numbers(r"accuracy ([\d.]+) % \(")[-1]

    @property
    def digest(self):
        return re.findall(r"digest (\w+)", self.text)[-1]


def compare_with_peer(recipe, ours, pixels, epochs, data):
    try:
        import peer
    except ImportError:
        return None, "no PyTorch"
    theirs = peer.train_all(recipe.name, recipe.model, read_set(data, "train"),
                            read_set(data, "t10k"), epochs, pixels, SEEDS)
    mean = statistics.mean(theirs)
    return (abs(ours - mean) <= PEER_TOLERANCE,
            f"mean {ours:.2f} %, PyTorch {mean:.2f} % of {theirs}")


def check_accuracy(recipe, minimum, pixels, options, data):
    """Means over shuffles, with Recipe's program."""
    ours = [recipe.again(seed, pixels, options.epochs, data) for seed in SEEDS]
    mean = statistics.mean(ours)
    if minimum:
        yield ("accuracy", mean >= minimum,
               f"mean {mean:.2f} % of {ours}, expected {minimum} %")
    if options.peer:
        yield ("as good as PyTorch",
               *compare_with_peer(recipe, mean, pixels, options.epochs, data))


def check_recipe(name, options, data, folder):
    """[(what, passed or None where skipped, text)]"""
    sys.path.insert(0, str(ROOT / "models"))
    import recipe as recipes
    model, changed, minimum = RUNS[name]
    pixels = changed or recipes.PIXELS.get(model, "").split()
    first = Recipe(model, changed, options, data, folder / "first")
    test_set = read_set(data, "t10k")
    # Programs for other batches round differently: by less than decides, unless
    # they round to few digits.
    row = 100 / len(test_set[0]) * (10 if options.precision in ("tf32", "bf16") else 1)
    outcomes = [("loss falls", first.losses[-1] < first.losses[0], f"{first.losses}"),
                ("our program evaluates it", abs(first.evaluated - first.accuracy) < row,
                 f"{first.evaluated:.2f} %, trained to {first.accuracy:.2f} %")]
    found = by_onnxruntime(first.trained, test_set, pixels)
    outcomes.append(("onnxruntime evaluates it",
                     None if found is None else abs(found - first.accuracy) < 1.5 * row,
                     "no onnxruntime" if found is None else f"{found:.2f} %"))
    if options.data and (options.peer or options.epochs == 5):
        outcomes += check_accuracy(first, minimum if options.epochs == 5 else None,
                                   pixels, options, data)
    if options.data:
        second = Recipe(model, changed, options, data, folder / "second")
        outcomes.append(("two runs, one digest", first.digest == second.digest,
                         f"{first.digest} {second.digest}"))
    microseconds = first.numbers(r"([\d.]+) us/step")
    outcomes.append(("time", True, f"{min(microseconds):.1f} us/step"))
    return outcomes


def make_digits(folder):
    subprocess.run([sys.executable, ROOT / "models/digits.py", folder, "--train=384",
                    "--test=200"], check=True, capture_output=True)
    return folder


def main():
    options = arguments()
    if not options.mnistc.exists():
        sys.exit(f"run.py: error: no '{options.mnistc}'")
    if options.peer and not options.data:
        sys.exit("run.py: error: expected --data=DIR with --peer")
    counts, lines = {"passed": 0, "failed": 0, "skipped": 0}, []
    with tempfile.TemporaryDirectory(prefix="mnistc-recipes") as temporary:
        folder = pathlib.Path(temporary)
        data = options.data.resolve() if options.data else make_digits(folder / "digits")
        for name in (name for name in RUNS if re.search(options.only, name)):
            try:
                outcomes = check_recipe(name, options, data, folder / name)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                outcomes = [("run", False, str(error))]
            except Exception:  # a broken test is a failed test
                outcomes = [("run", False, traceback.format_exc())]
            for what, passed, text in outcomes:
                state = {True: "passed", False: "failed", None: "skipped"}[
                    None if passed is None else bool(passed)]
                counts[state] += what != "time"
                print(f"{state:7} {name} {what}: {text}", flush=True)
                lines.append([name, what, state, text])
    if options.report:
        options.report.write_text(json.dumps(lines, indent=1) + "\n")
    print(", ".join(f"{count} {state}" for state, count in counts.items()))
    return counts["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
