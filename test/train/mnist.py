"""The recipe of the documents, on the real digits."""

import sys

from harness import ROOT, Skip, expect, ok
from place import Trained

DATA = ROOT.parent / "shared/mnist"


def test_99_percent(place):
    if not DATA.is_dir():
        raise Skip(f"no MNIST at {DATA}")
    model, program = place.path("simplecnn.onnx"), place.path("mnist-program")
    ok(sys.executable, ROOT / "models/make.py", "pytorch-simplecnn", model)
    ok(place.mnistc, model, "--train", "--optimizer=nesterov", "--batch=64",
       f"--target={place.target}", "-o", program)
    done = ok(program, "train", f"--data={DATA}", "--epochs=3",
              "--momentum=0.9", "--lr=0.05", "--schedule=one-cycle",
              "--augment=shift:1")
    expect(Trained(done).accuracies[-1] >= 99, done)
