#!/usr/bin/env python3
"""Trains models as PyTorch trained them, and compares with PyTorch's numbers.

usage: run.py [--mnistc=build/bin/mnistc] [--target=cpu] [--only=TEXT]
              [--models=DIR] [--oracles=DIR]

Needs a folder of models and one of PyTorch's numbers, which are not part of the
project: without them every case is skipped. NAME-oracle.npz holds a batch (x,
bytes; label) and, in double and in single precision (f64/, f32/), the output,
the gradients of the first step (grad/), the losses of twenty steps on that
batch, and the parameters after them (after20/; the first 4096 elements of what
is large).

A number has to be within the tolerance of the one in double precision. Where
PyTorch's own in single precision does not, since relu and max-pool have kinks
at which rounding decides, ours has to be as close to that one; the line of the
case says so. The last line: N passed, N failed, N skipped.
"""

import argparse
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SHARED = HERE.parents[2] / "shared"
LIMIT_S = 300
OUTPUT_TOLERANCE, TOLERANCE = 1e-5, 1e-4

# Oracle, batch, how PyTorch trained; exporters.
RECIPES = [("simplecnn", 64, ["--optimizer=momentum", "--momentum=0.9", "--lr=0.01"]),
           ("mlp", 256, ["--optimizer=sgd", "--lr=0.1"])]
EXPORTERS = ["ts17", "dynamo"]
DROPOUT = "pytorch-net-ts17-train"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mnistc", default=str(HERE.parents[1] / "build/bin/mnistc"))
    parser.add_argument("--models", type=pathlib.Path, default=SHARED / "models")
    parser.add_argument("--oracles", type=pathlib.Path, default=SHARED / "oracles")
    parser.add_argument("--target", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--only", default="")
    return parser.parse_args()


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True,
                          text=True, errors="replace", timeout=LIMIT_S)
    if done.returncode:
        raise RuntimeError(f"'{command[0]}' ended with {done.returncode}: "
                           f"{(done.stdout + done.stderr).strip()[-300:]}")
    return done.stdout


def read_checkpoint(folder):
    """The tensors of a safetensors file."""
    import numpy as np
    data = (folder / "checkpoint.safetensors").read_bytes()
    size, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + size])
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = (8 + size + at for at in entry["data_offsets"])
            tensors[name] = np.frombuffer(data[begin:end], np.float32)
    return tensors


def distance(found, expected):
    """Relative, by the norm."""
    import numpy as np
    found, expected = (np.asarray(x, np.float64).ravel() for x in (found, expected))
    return np.linalg.norm(found[:expected.size] - expected) / np.linalg.norm(expected)


class Oracle:
    """One model against one file of PyTorch's numbers."""

    def __init__(self, numbers, folder):
        import numpy as np
        self.numbers, self.folder, self.outcomes = numbers, folder, []
        np.save(folder / "x.npy", numbers["x"])
        np.save(folder / "y.npy", numbers["label"].astype(np.int32))
        self.data = f"--data={folder / 'x.npy'},{folder / 'y.npy'}"

    def check(self, what, found, measure, tolerance):
        """`found` against f64/what, or f32/what where that is further off."""
        double, single = (self.numbers[f"{kind}/{what}"] for kind in ("f64", "f32"))
        error, own = measure(found, double), measure(single, double)
        text = f"{error:.1e} from double precision"
        if error > tolerance and own > tolerance:
            error = measure(found, single)
            text = (f"{error:.1e} from PyTorch's single precision, which is {own:.1e} "
                    "from double")
        self.outcomes.append((what, error <= tolerance, text))

    def train(self, program, name, *flags):
        folder = self.folder / name
        run(program, "train", self.data, "--no-shuffle",
            f"--checkpoint={folder}", f"--log={folder}.jsonl", *flags)
        epochs = [event for event in map(json.loads, pathlib.Path(
            f"{folder}.jsonl").read_text().splitlines()) if event["event"] == "epoch"]
        return [event["train_loss"] for event in epochs], read_checkpoint(folder)

    def parameters(self, prefix):
        return [key.split("/", 2)[2] for key in self.numbers
                if key.startswith(f"f64/{prefix}/")]

    def compare(self, trainer, differentiator):
        """What two programs compute; the second one keeps its momentum."""
        import numpy as np

        def largest(found, expected):
            return np.abs(np.ravel(found) - np.ravel(expected)).max()

        def relative(found, expected):
            return np.abs(np.asarray(found) / expected - 1).max()

        output = self.folder / "output.npy"
        run(trainer, "infer", self.folder / "x.npy", f"--output={output}")
        self.check("output", np.load(output), largest, OUTPUT_TOLERANCE)
        # After one step momentum is the gradient, before anything is rounded.
        _, state = self.train(differentiator, "one", "--epochs=1")
        for name in self.parameters("grad"):
            self.check(f"grad/{name}", state[f"{name}.momentum"], distance, TOLERANCE)
        losses, state = self.train(trainer, "twenty", "--epochs=20")
        self.check("losses", losses, relative, TOLERANCE)
        for name in self.parameters("after20"):
            self.check(f"after20/{name}", state[name], distance, TOLERANCE)


def compile_model(options, model, program, *flags):
    run(options.mnistc, options.models / f"{model}.onnx", "--train",
        f"--target={options.target}", "-o", program, *flags)
    return program


def check_oracle(options, model, recipe, folder):
    import numpy as np
    name, batch, flags = recipe
    oracle = Oracle(dict(np.load(options.oracles / f"{name}-oracle.npz")), folder)
    batch = f"--batch={batch}"
    trainer = compile_model(options, model, folder / "trainer", batch, *flags)
    differentiator = trainer if "--optimizer=momentum" in flags else compile_model(
        options, model, folder / "differentiator", batch, "--optimizer=momentum")
    oracle.compare(trainer, differentiator)
    return oracle.outcomes


def check_dropout(options, folder):
    """Exported while training: without shuffling, only dropout reads the seed."""
    program = compile_model(options, DROPOUT, folder / "net", "--batch=16",
                            "--optimizer=adam", "--lr=0.001")
    runs = []
    for seed in (1, 1, 2):
        said = run(program, "train", "--data=digits", "--limit=128", "--test-limit=16",
                   "--epochs=4", "--no-shuffle", f"--seed={seed}")
        runs.append((re.findall(r"digest (\w+)", said)[-1],
                     [float(x) for x in re.findall(r"train loss ([\d.]+)", said)]))
    losses = runs[0][1]
    return [("loss falls", losses[-1] < .9 * losses[0], f"{losses}"),
            ("one seed, one digest", runs[0] == runs[1], f"{runs[:2]}"),
            ("another seed, another digest", runs[0][0] != runs[2][0], f"{runs[1:]}")]


def cases(options):
    for recipe in RECIPES:
        for exporter in EXPORTERS:
            model = f"pytorch-{recipe[0]}-{exporter}"
            yield model, lambda folder, model=model, recipe=recipe: check_oracle(
                options, model, recipe, folder)
    yield DROPOUT, lambda folder: check_dropout(options, folder)


def missing(options):
    """Why nothing can be tested; None if it can."""
    for folder in (options.models, options.oracles):
        if not folder.is_dir():
            return f"no folder '{folder.name}'"
    try:
        import numpy  # noqa: F401
    except ImportError:
        return "no numpy; run scripts/setup"
    return None


def main():
    options = arguments()
    wanted = [case for case in cases(options) if re.search(options.only, case[0])]
    reason = missing(options)
    if reason:
        print(f"skipped: {reason}")
        print(f"0 passed, 0 failed, {len(wanted)} skipped")
        return 0
    counts = {"passed": 0, "failed": 0}
    for model, function in wanted:
        with tempfile.TemporaryDirectory(prefix="mnistc-oracles") as folder:
            try:
                outcomes = function(pathlib.Path(folder))
            except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
                outcomes = [("run", False, str(error))]
        for what, passed, text in outcomes:
            state = "passed" if passed else "failed"
            counts[state] += 1
            print(f"{state}  {model} {what}: {text}", flush=True)
    print(f"{counts['passed']} passed, {counts['failed']} failed, 0 skipped")
    return counts["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
