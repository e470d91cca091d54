#!/usr/bin/env python3
"""How far weights are from those in double precision after some training steps.

usage: training-accuracy.py PREFIX DATA [--only=NAMES] [--steps=20] [--batch=64]
                            [--device=cpu]

PREFIX is an installed mnistc, DATA has MNIST's IDX files; PyTorch, onnx and numpy
are needed. Our program and PyTorch train the networks of models/networks.py in
single precision, without dropout, on the same rows from the same weights;
PyTorch also does in double precision. Printed for each network: the norm of the
difference from double precision relative to the norm, over all trained weights,
ours, PyTorch's, and the ratio. Running statistics of batch norms are left out:
PyTorch's variance is that of a sample, ONNX's that of the batch.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import torch
import torch_peer
from onnx import numpy_helper
from peer_case import Case

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "models"))
from make import Graph, read_idx  # noqa: E402
from networks import NETWORKS  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("prefix", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--only", default=",".join(NETWORKS))
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    options = parser.parse_args()
    for name in options.only.split(","):
        if name not in NETWORKS:
            parser.error(f"expected networks of models/networks.py, got '{name}'")
    return options


def by_torch(case, options, data, element):
    trainer = torch_peer.Eager(case, data, with_dropout=False, element=element)
    trainer.losses(options.steps)
    return {name: weight.detach().double().cpu().numpy()
            for name, weight in trainer.module.named_parameters()}


def by_us(case, options, names):
    app, trained = case.folder / "app", case.folder / "trained.onnx"
    for command in (
            [options.prefix / "bin/mnistc", case.plain_path, "--train",
             f"--batch={options.batch}", f"--target={options.device}",
             *case.train.split(), "-o", app],
            [app, "train", f"--data={options.data}", "--no-shuffle", "--epochs=1",
             f"--limit={options.steps * options.batch}", "--test-limit=64",
             f"--save={trained}"]):
        subprocess.run([str(word) for word in command], check=True,
                       capture_output=True)
    weights = {}
    for tensor in onnx.load(str(trained)).graph.initializer:
        name = tensor.name.removesuffix("_transposed")
        if name in names:
            value = numpy_helper.to_array(tensor).astype(np.float64)
            weights[name] = value if name == tensor.name else value.T
    if missing := names - weights.keys():
        raise SystemExit(f"error: expected {sorted(missing)} in '{trained}', got none")
    return weights


def distance(weights, exact):
    norms = [(np.sum((weights[name] - value) ** 2), np.sum(value ** 2))
             for name, value in exact.items()]
    return float(np.sqrt(sum(a for a, _ in norms) / sum(b for _, b in norms)))


def main():
    options = arguments()
    rows = options.steps * options.batch
    images = read_idx(options.data, "train-images-idx3-ubyte")[:rows]
    labels = torch.from_numpy(
        read_idx(options.data, "train-labels-idx1-ubyte")[:rows].astype("int64"))
    print(f"after {options.steps} steps of {options.batch} rows on {options.device}, "
          f"PyTorch {torch.__version__}\n\n"
          "| network | ours | PyTorch | ratio |\n|---|---|---|---|", flush=True)
    for name in options.only.split(","):
        with tempfile.TemporaryDirectory() as folder:
            case = Case(name, options.batch, "fp32", pathlib.Path(folder))
            onnx.save(Graph(name, case.network, 1, with_dropout=False).model(),
                      str(case.plain_path))
            data = (torch.from_numpy(images.reshape(
                rows, *case.network.input).astype(np.float32) / 255
                                     ).to(options.device),
                    labels.to(options.device))
            exact, single = (by_torch(case, options, data, element)
                             for element in (torch.float64, torch.float32))
            far = [distance(weights, exact) for weights in
                   (by_us(case, options, exact.keys()), single)]
        print(f"| {name} | {far[0]:.1e} | {far[1]:.1e} | {far[0] / far[1]:.2f} |",
              flush=True)


if __name__ == "__main__":
    main()
