#!/usr/bin/env python3
"""Times training steps of random convolution networks, compiled in several ways.

usage: random-networks.py WAY... [--mnistc=build/bin/mnistc] [--target=cuda]
                          [--seeds=0:24] [--repeat=15] [--keep=DIR]

WAY is options of mnistc, joined by commas: "", --libraries=none, or
--libraries=none,--layout=nhwc. Network number N is the same on every machine:
six convolutions with ReLU, of 1 to 256 channels, windows of 1, 3 or 5, strides
and groups, on images of 14 to 32, at batch 16, 64 or 256. A row has the
microseconds of one training step for each way, the last row their geometric mean
relative to the first way. An option that is not listed here is a way.
"""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LAYERS, CLASSES = 6, 10
CHANNELS = (8, 16, 16, 24, 32, 32, 48, 64, 64, 96, 128, 128, 256)


class Network:
    """A chain; `x` is the last tensor's name, of so many channels and pixels."""

    def __init__(self, random, channels, size):
        self.random, self.channels, self.size = random, channels, size
        self.nodes, self.weights, self.x = [], [], "x"

    def weight(self, name, shape):
        fan_in = math.prod(shape[1:])
        values = self.random.standard_normal(shape) / math.sqrt(fan_in)
        self.weights.append(numpy_helper.from_array(
            values.astype(np.float32), name))
        return name

    def bias(self, name, size):
        self.weights.append(numpy_helper.from_array(
            np.zeros(size, np.float32), name))
        return name

    def node(self, op, inputs, name, **attributes):
        self.nodes.append(helper.make_node(op, [self.x, *inputs], [name],
                                           name=name, **attributes))
        self.x = name

    def conv(self, i, window, stride, channels, groups):
        self.node("Conv",
                  [self.weight(f"w{i}", [channels, self.channels // groups,
                                         window, window]),
                   self.bias(f"b{i}", channels)], f"conv{i}",
                  kernel_shape=[window] * 2, strides=[stride] * 2,
                  pads=[window // 2] * 4, group=groups)
        self.node("Relu", [], f"relu{i}")
        self.channels = channels
        self.size = (self.size + 2 * (window // 2) - window) // stride + 1


def random_network(seed):
    """Its model and its batch size."""
    random = np.random.default_rng(seed)

    def pick(*values):
        return int(random.choice(values))

    batch = pick(16, 64, 64, 64, 256)
    network = Network(random, pick(1, 3, 8), pick(14, 20, 28, 32))
    shape = [network.channels, network.size, network.size]
    for i in range(LAYERS):
        window = pick(1, 3, 3, 3, 5)
        stride = pick(1, 1, 1, 2) if network.size > 8 else 1
        channels, groups = pick(*CHANNELS), 1
        if batch == 256:
            channels = min(channels, 96)
        if i > 0 and random.random() < .2:
            channels = groups = network.channels
        elif i > 0 and random.random() < .1 and network.channels % 4 == 0:
            channels, groups = channels // 4 * 4, 4
        network.conv(i, window, stride, channels, groups)
    network.node("GlobalAveragePool", [], "pool")
    network.node("Flatten", [], "flat")
    network.node("Gemm", [network.weight("wc", [CLASSES, network.channels]),
                          network.bias("bc", CLASSES)], "scores", transB=1)
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", *dims])
              for name, dims in (("x", shape), ("scores", [CLASSES]))]
    graph = helper.make_graph(network.nodes, "random", values[:1], values[1:],
                              network.weights)
    opset = helper.make_opsetid("", 17)
    return helper.make_model(graph, opset_imports=[opset], ir_version=8), batch


def compile_one(options, folder, seed, way):
    model, batch = random_network(seed)
    stem = folder / f"{seed}-{options.way.index(way)}"
    path = stem.with_suffix(".onnx")
    onnx.save(model, str(path))
    subprocess.run([options.mnistc, path, "--train", f"--batch={batch}",
                    f"--target={options.target}", "--quiet", "-o", stem,
                    *filter(None, way.split(","))], check=True)
    return stem


def time_one(options, program):
    said = subprocess.run(
        [program, "profile", "--plan=train", f"--repeat={options.repeat}",
         "--json"], check=True, capture_output=True, text=True).stdout
    return json.loads(said)["plan_us"]


def run(options, folder):
    first, last = map(int, options.seeds.split(":"))
    jobs = [(seed, way) for seed in range(first, last) for way in options.way]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        programs = list(pool.map(
            lambda job: compile_one(options, folder, *job), jobs))
    times = {job: time_one(options, program)
             for job, program in zip(jobs, programs)}
    print("network", *(repr(way) for way in options.way), sep="\t")
    for seed in range(first, last):
        print(seed, *(f"{times[seed, way]:.1f}" for way in options.way), sep="\t")
    means = [math.exp(np.mean([math.log(times[seed, way] /
                                        times[seed, options.way[0]])
                               for seed in range(first, last)]))
             for way in options.way]
    print("mean", *(f"{mean:.3f}" for mean in means), sep="\t")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("way", nargs="+")
    parser.add_argument("--mnistc", default="build/bin/mnistc")
    parser.add_argument("--target", default="cuda")
    parser.add_argument("--seeds", default="0:24")
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--keep", type=pathlib.Path)
    options, ways = parser.parse_known_args()
    options.way += ways
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        run(options, options.keep)
        return
    with tempfile.TemporaryDirectory() as folder:
        run(options, pathlib.Path(folder))


if __name__ == "__main__":
    main()
