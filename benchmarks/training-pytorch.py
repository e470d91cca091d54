#!/usr/bin/env python3
"""Trains the five example models with PyTorch, for accuracies to compare with.

usage: training-pytorch.py DATA_DIR [--epochs=5] [--seed=1] [--device=cuda]

DATA_DIR holds MNIST's IDX files. The whole data set lies on the device, TF32 is
off, and each recipe is that of models/recipe.py. One JSON object a model.
"""

import argparse
import gzip
import json
import pathlib

import torch
from torch import nn


def read_idx(folder, stem):
    for path in (folder / stem, folder / f"{stem}.gz"):
        if path.exists():
            data = path.read_bytes()
            data = gzip.decompress(data) if path.suffix == ".gz" else data
            shape = [int.from_bytes(data[4 + 4 * i:8 + 4 * i], "big")
                     for i in range(data[3])]
            return torch.frombuffer(bytearray(data[4 + 4 * data[3]:]),
                                    dtype=torch.uint8).reshape(shape)
    raise SystemExit(f"error: expected {stem} in {folder}, got none")


def convolutions(pad, second, classes_in, hidden, dropout=False):
    """Blocks of 3 x 3 convolutions and two dense layers."""
    layers = [nn.Conv2d(1, 32, 3, padding=pad), nn.ReLU()]
    if not dropout:
        layers.append(nn.MaxPool2d(2))
    if second:
        layers += [nn.Conv2d(32, 64, 3, padding=pad), nn.ReLU(),
                   nn.MaxPool2d(2)]
    layers += [nn.Dropout(0.25)] * dropout + [
        nn.Flatten(), nn.Linear(classes_in, hidden), nn.ReLU()]
    return nn.Sequential(*layers, *[nn.Dropout(0.5)] * dropout,
                         nn.Linear(hidden, 10))


def draw(model, how):
    """Weights as MXNet (uniform 0.07) or Keras (Glorot) draw them."""
    for layer in model:
        if isinstance(layer, (nn.Conv2d, nn.Linear)):
            if how == "keras":
                nn.init.xavier_uniform_(layer.weight)
            else:
                nn.init.uniform_(layer.weight, -0.07, 0.07)
            nn.init.zeros_(layer.bias)
    return model


def sgd(lr, momentum=0.0):
    return lambda p: torch.optim.SGD(p, lr=lr, momentum=momentum)


def adam(lr, eps=1e-8):
    return lambda p: torch.optim.Adam(p, lr=lr, eps=eps)


def mlp():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(),
                         nn.Linear(256, 10))


# name: model, optimizer, batch, mean, standard deviation
RECIPES = {
    "mxnet-simplecnn": (
        lambda: draw(convolutions(1, True, 3136, 128), "mxnet"), sgd(0.01),
        64, 0, 1),
    "mxnet-mlp": (lambda: draw(mlp(), "mxnet"), sgd(0.1), 256, 0, 1),
    "pytorch-simplecnn": (lambda: convolutions(1, True, 3136, 128),
                          sgd(0.01, 0.9), 64, 0, 1),
    "pytorch-net": (lambda: convolutions(0, True, 9216, 128, dropout=True),
                    adam(0.001), 64, 0.1307, 0.3081),
    "keras-cnn": (lambda: draw(convolutions(0, False, 5408, 64), "keras"),
                  adam(0.001, 1e-7), 64, 0, 1),
    "mxnet-mlp, normalised": (lambda: draw(mlp(), "mxnet"), sgd(0.1), 256,
                              0.1307, 0.3081),
}


def train(name, data, options):
    make, optimizer, batch, mean, deviation = RECIPES[name]
    torch.manual_seed(options.seed)
    device = torch.device(options.device)
    images, labels, test_images, test_labels = (t.to(device) for t in data)

    def pixels(x):
        return (x.unsqueeze(1).float() / 255 - mean) / deviation

    model = make().to(device)
    step = optimizer(model.parameters())
    for _ in range(options.epochs):
        model.train()
        for rows in torch.randperm(len(images), device=device).split(batch):
            step.zero_grad(set_to_none=True)
            loss = nn.functional.cross_entropy(model(pixels(images[rows])),
                                               labels[rows])
            loss.backward()
            step.step()
    model.eval()
    with torch.no_grad():
        right = sum((model(pixels(x)).argmax(1) == y).sum().item()
                    for x, y in zip(test_images.split(1000),
                                    test_labels.split(1000)))
    return right / len(test_labels)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    data = [read_idx(options.data, stem) for stem in (
        "train-images-idx3-ubyte", "train-labels-idx1-ubyte",
        "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")]
    data[1], data[3] = data[1].long(), data[3].long()
    for name in RECIPES:
        print(json.dumps({"model": name, "epochs": options.epochs,
                          "accuracy": train(name, data, options)}), flush=True)


if __name__ == "__main__":
    main()
