#!/usr/bin/env python3
"""Trains the networks of tutorials with PyTorch, for accuracies to compare with.

usage: training-pytorch.py MODELS DATA_DIR [--epochs=5] [--seed=1] [--device=cuda]

MODELS has what models/make.py makes, DATA_DIR MNIST's IDX files. The weights are
the models' own, the whole data set is on the device, TF32 is off, and each
recipe is that of models/networks.py. One JSON object a model.
"""

import argparse
import json
import pathlib
import sys

import numpy as np
import torch
from torch import nn

from torch_peer import build, optimizer, set_precision

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models"))
from make import read_idx  # noqa: E402
from networks import TUTORIALS  # noqa: E402
from recipe import COMPARED  # noqa: E402


def train(name, data, options):
    model, pixel_flags = COMPARED[name]
    network = TUTORIALS[model]
    flags = dict(flag.lstrip("-").split("=") for flag in pixel_flags.split())
    mean, deviation = float(flags.get("mean", 0)), float(flags.get("std", 1))
    torch.manual_seed(options.seed)
    device = torch.device(options.device)
    images, labels, test_images, test_labels = (t.to(device) for t in data)

    def pixels(x):
        return (x.reshape(-1, *network.input).float() / 255 - mean) / deviation

    module = build(network, options.models / f"{model}.onnx", True).to(device)
    step = optimizer(network.train, module.parameters(), device)
    for _ in range(options.epochs):
        module.train()
        for rows in torch.randperm(len(images), device=device).split(
                network.batch):
            step.zero_grad(set_to_none=True)
            loss = nn.functional.cross_entropy(module(pixels(images[rows])),
                                               labels[rows])
            loss.backward()
            step.step()
    module.eval()
    with torch.no_grad():
        right = sum((module(pixels(x)).argmax(1) == y).sum().item()
                    for x, y in zip(test_images.split(1000),
                                    test_labels.split(1000)))
    return right / len(test_labels)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    set_precision("fp32")
    data = [torch.from_numpy(np.array(read_idx(options.data, stem))) for stem in (
        "train-images-idx3-ubyte", "train-labels-idx1-ubyte",
        "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")]
    data[1], data[3] = data[1].long(), data[3].long()
    for name in COMPARED:
        print(json.dumps({"model": name, "epochs": options.epochs,
                          "accuracy": train(name, data, options)}), flush=True)


if __name__ == "__main__":
    main()
