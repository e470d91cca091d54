#!/usr/bin/env python3
"""Trains on a GPU: accuracies of the five recipes, and time per step beside peers.

usage: training-gpu.py PREFIX MODELS MNIST [--peers=FILE.jsonl]
                       [--pytorch=FILE.jsonl] [--out=FILE.md]

PREFIX is an installed mnistc, MODELS has what models/make.py makes, MNIST the
IDX files. FILE.jsonl are results of others, measured in the same session: of
peers, objects with model (a to d), batch, fw and variant (who), prec and
us_per_step; of PyTorch, what training-pytorch.py prints. Nothing else than
Python is needed.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ADAM = "--optimizer=adam --lr=0.001"
MEANS = "--mean=0.1307 --std=0.3081"
# name: model, flags of mnistc, flags of train
RECIPES = {
    "mxnet-simplecnn": ("mxnet-simplecnn", "--batch=64 --lr=0.01", ""),
    "mxnet-mlp": ("mxnet-mlp", "--batch=256 --lr=0.1", ""),
    "mxnet-mlp, normalised": ("mxnet-mlp", "--batch=256 --lr=0.1", MEANS),
    "pytorch-simplecnn": ("pytorch-simplecnn",
                          "--batch=64 --lr=0.01 --momentum=0.9", ""),
    "pytorch-net": ("pytorch-net", "--batch=64 " + ADAM, MEANS),
    "keras-cnn": ("keras-cnn", "--batch=64 --convention=keras " + ADAM, ""),
}
# The peers' letter: model, flags, batches.
TIMED = {
    "a": ("pytorch-simplecnn", "--lr=0.01 --momentum=0.9", (64, 1024)),
    "b": ("pytorch-net", ADAM, (64, 1024)),
    "c": ("keras-cnn", "--convention=keras " + ADAM, (64, 1024)),
    "d": ("mxnet-mlp", "--lr=0.1", (256, 1024)),
}


class Trainer:
    def __init__(self, options, folder):
        self.options, self.folder = options, pathlib.Path(folder)

    def run(self, model, flags, *train):
        """The epoch events of one training run, and the saved file's bytes."""
        app, log = self.folder / "app", self.folder / "log.jsonl"
        saved = self.folder / "trained.onnx"
        subprocess.run([self.options.prefix / "bin/mnistc",
                        self.options.models / f"{model}.onnx", "--train",
                        *flags.split(), "-o", app], check=True)
        log.unlink(missing_ok=True)
        subprocess.run([app, "train", f"--data={self.options.mnist}",
                        f"--log={log}", f"--save={saved}", *train],
                       check=True, capture_output=True)
        events = [json.loads(line) for line in log.read_text().splitlines()]
        return ([e for e in events if e["event"] == "epoch"],
                saved.read_bytes())

    def evaluate(self, name, pixels):
        """Accuracy of the saved file, compiled anew to infer."""
        app = self.folder / "evaluate"
        subprocess.run([self.options.prefix / "bin/mnistc",
                        self.folder / "trained.onnx", "--batch=1000", "-o",
                        app], check=True)
        text = subprocess.run([app, "eval", f"--data={self.options.mnist}",
                               "--json", *pixels.split()], check=True,
                              capture_output=True, text=True).stdout
        return json.loads(text)["accuracy"]


def read_lines(path):
    if not path:
        return []
    lines = path.read_text().splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


def accuracies(trainer, reference):
    yield "| recipe | test accuracy | saved, compiled anew | PyTorch | us/step | digest | same twice |"
    yield "|---|---|---|---|---|---|---|"
    for name, (model, flags, pixels) in RECIPES.items():
        runs = [trainer.run(model, flags, "--epochs=5", *pixels.split())
                for _ in range(2)]
        last = runs[0][0][-1]
        same = (runs[0][1] == runs[1][1] and
                last["digest"] == runs[1][0][-1]["digest"])
        peer = [f"{100 * r['accuracy']:.2f} %" for r in reference
                if r["model"] == name]
        times = [e["us_per_step"] for e in runs[0][0][1:]]
        yield (f"| {name} | {100 * last['test_accuracy']:.2f} % | "
               f"{100 * trainer.evaluate(name, pixels):.2f} % | "
               f"{peer[0] if peer else 'not run'} | "
               f"{statistics.median(times):.1f} | {last['digest']} | "
               f"{'yes' if same else 'NO'} |")


def times(trainer, peers):
    yield "| model, batch | us/step | best peer in fp32 | ratio |"
    yield "|---|---|---|---|"
    for letter, (model, flags, batches) in TIMED.items():
        for batch in batches:
            epochs, _ = trainer.run(model, f"{flags} --batch={batch}",
                                    "--epochs=4")
            ours = statistics.median(e["us_per_step"] for e in epochs[1:])
            theirs = [p for p in peers if p.get("model") == letter and
                      p.get("batch") == batch and p.get("prec") == "fp32"
                      and p.get("us_per_step")]
            best = min(theirs, key=lambda p: p["us_per_step"], default=None)
            beside = "not run | "
            if best:
                beside = (f"{best['us_per_step']:.1f} ({best['fw']}, "
                          f"{best['variant']}) | "
                          f"{ours / best['us_per_step']:.2f}")
            yield f"| {letter} {model}, {batch} | {ours:.1f} | {beside} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("prefix", "models", "mnist"):
        parser.add_argument(name, type=lambda t: pathlib.Path(t).resolve())
    for name in ("--peers", "--pytorch", "--out"):
        parser.add_argument(name, type=pathlib.Path)
    options = parser.parse_args()
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(options, folder)
        for line in [*accuracies(trainer, read_lines(options.pytorch)), "",
                     *times(trainer, read_lines(options.peers))]:
            print(line, flush=True)
            lines.append(line)
    if options.out:
        options.out.write_text("\n".join(lines) + "\n")
    return 1 if any("| NO |" in line for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
