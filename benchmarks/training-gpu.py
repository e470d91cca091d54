#!/usr/bin/env python3
"""Trains the networks of tutorials on a GPU, and says what they become.

usage: training-gpu.py PREFIX MODELS MNIST [--pytorch=FILE.jsonl] [--out=FILE.md]

PREFIX is an installed mnistc, MODELS has what models/make.py makes, MNIST the
IDX files. FILE.jsonl is what training-pytorch.py prints. Nothing else than
Python is needed. Times beside peers: training-peers.py.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models"))
from networks import TUTORIALS  # noqa: E402
from recipe import COMPARED  # noqa: E402


class Trainer:
    def __init__(self, options, folder):
        self.options, self.folder = options, pathlib.Path(folder)

    def run(self, model, *train):
        """The epoch events of one training run, and the saved file's bytes."""
        app, log = self.folder / "app", self.folder / "log.jsonl"
        saved = self.folder / "trained.onnx"
        network = TUTORIALS[model]
        subprocess.run([self.options.prefix / "bin/mnistc",
                        self.options.models / f"{model}.onnx", "--train",
                        f"--batch={network.batch}", *network.train.split(),
                        "-o", app], check=True)
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
    for name, (model, pixels) in COMPARED.items():
        runs = [trainer.run(model, "--epochs=5", *pixels.split())
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("prefix", "models", "mnist"):
        parser.add_argument(name, type=lambda t: pathlib.Path(t).resolve())
    for name in ("--pytorch", "--out"):
        parser.add_argument(name, type=pathlib.Path)
    options = parser.parse_args()
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(options, folder)
        for line in accuracies(trainer, read_lines(options.pytorch)):
            print(line, flush=True)
            lines.append(line)
    if options.out:
        options.out.write_text("\n".join(lines) + "\n")
    return 1 if any("| NO |" in line for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
