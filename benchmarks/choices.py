#!/usr/bin/env python3
"""How far what mnistc chooses is from the best way, for shapes nobody chose.

usage: choices.py PREFIX [--shapes=0:240] [--large] [--precision=fp32]
                  [--repeat=15] [--keep=DIR] [--out=FILE.json] [--tuned=FILE]
       choices.py PREFIX --tune=FILE [--shapes=0:240] [--large]
                  [--precision=fp32] [--budget=SECONDS]

PREFIX is an installed mnistc; the packages onnx and numpy and a GPU are needed.
Each shape is a convolution, its gradients, or a matrix product, drawn at random:
1 to 256 channels, windows of 1 to 7, strides, groups, batches of 1 to 1024; with
--large 32 to 512 channels, batches of 32 to 512, and up to 16 times the work. All
are compiled as mnistc chooses and with each --prefer=; a row has the microseconds
of one step each way, with what could not be fused into it, and without chains and
pools in it. Last, the median and the worst of what was chosen by the best. Exit
code 1 where the median is over 1.15 or the worst over 2. The model's choice is
judged, without tables of measured choices, unless --tuned names one.

With --tune the shapes are measured by mnistc --tune instead, one model after
another, as many as the budget allows: share/mnistc/tuned is made so.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WAYS = ("", "libraries", "tensor-cores", "fma")
IN_A_MODEL = 6
MEDIAN, WORST = 1.15, 2.0


@dataclasses.dataclass
class Limits:
    work: tuple = (1 << 18, 1 << 30)
    elements: int = 1 << 22
    channels: tuple = (1, 2, 3, 4, 6, 8, 12, 16, 16, 20, 24, 32, 32, 48, 64, 64, 96,
                       128, 192, 256)
    sides: tuple = (1, 4, 10, 16, 32, 50, 64, 100, 128, 200, 256, 400, 512, 784, 1024)
    batches: tuple = (1, 8, 16, 32, 64, 64, 64, 100, 128, 256, 512, 1024)
    grouped: float = .2  # of the convolutions


SMALL = Limits()
LARGE = Limits(work=(1 << 29, 1 << 34), elements=1 << 25,
               channels=(32, 48, 64, 64, 96, 128, 128, 192, 256, 256, 384, 512),
               sides=(64, 128, 256, 512, 768, 1024, 2048, 4096),
               batches=(32, 64, 64, 128, 128, 256, 512), grouped=.05)


class Convolution:
    steps = ("forward", "input's gradient", "filter's gradient")

    def __init__(self, draw, batch, limits):
        self.batch = batch
        while True:
            self.size = draw.choice((4, 5, 7, 8, 10, 14, 16, 20, 28, 32))
            self.kernel = min(draw.choice((1, 2, 3, 3, 3, 4, 5, 5, 7)), self.size)
            self.pad = draw.choice((0, self.kernel // 2))
            self.stride = draw.choice((1, 1, 1, 2))
            self.channels, self.out = draw.choices(limits.channels, k=2)
            kind = draw.random() * (.2 / limits.grouped)
            self.groups = 1
            if kind < .12:
                self.out = self.groups = self.channels
            elif kind < .2 and self.channels % 4 == 0 and self.out % 4 == 0:
                self.groups = 4
            if self.fits(limits):
                return

    def after(self):
        return (self.size + 2 * self.pad - self.kernel) // self.stride + 1

    def fits(self, limits):
        pixels = self.batch * self.after() ** 2
        work = pixels * self.out * self.channels // self.groups * self.kernel ** 2
        least, most = limits.work
        return self.after() > 1 and least < work < most and \
            self.batch * self.size ** 2 * self.channels < limits.elements and \
            pixels * self.out < limits.elements

    def __str__(self):
        return (f"conv {self.batch}x{self.channels}x{self.size} -> {self.out}, "
                f"window {self.kernel}, pad {self.pad}, stride {self.stride}, "
                f"groups {self.groups}")

    def nodes(self, i):
        """Ending in a scalar `end_i`; the pool keeps gradients in memory."""
        options = {"kernel_shape": [self.kernel] * 2, "pads": [self.pad] * 4,
                   "strides": [self.stride] * 2, "group": self.groups}
        return [*operand(i),
                node("Conv", [f"x_{i}", f"w_{i}", f"b_{i}"], f"conv_{i}", **options),
                node("Relu", [f"conv_{i}"], f"relu_{i}"),
                node("MaxPool", [f"relu_{i}"], f"pool_{i}", kernel_shape=[2, 2],
                     strides=[2, 2]),
                node("ReduceMean", [f"pool_{i}"], f"end_{i}", keepdims=0)]

    def tensors(self, i):
        return {f"data_{i}": (self.batch, self.channels, self.size, self.size),
                f"p_{i}": (self.channels, 1, 1),
                f"w_{i}": (self.out, self.channels // self.groups, self.kernel,
                           self.kernel), f"b_{i}": (self.out,)}

    def step_of(self, name, i):
        return owner(name, ((f"conv_{i}", f"relu_{i}"), *gradients(i)))


class MatrixProduct:
    steps = ("forward", "left gradient", "right gradient")

    def __init__(self, draw, batch, limits):
        self.m = batch
        least, most = limits.work
        while True:
            self.k, self.n = draw.choices(limits.sides, k=2)
            self.batch = draw.choice((1, 1, 1, 1, 16, 64))
            work = self.batch * self.m * self.n * self.k
            if least // 4 < work < most and max(
                    work // side for side in (self.n, self.k, self.m)) < limits.elements:
                return

    def __str__(self):
        return f"matmul {self.batch} times {self.m}x{self.k} by {self.k}x{self.n}"

    def nodes(self, i):
        return [*operand(i),
                node("MatMul", [f"x_{i}", f"w_{i}"], f"mm_{i}"),
                node("Softmax", [f"mm_{i}"], f"soft_{i}", axis=-1),
                node("Mul", [f"soft_{i}", f"soft_{i}"], f"square_{i}"),
                node("ReduceMean", [f"square_{i}"], f"end_{i}", keepdims=0)]

    def tensors(self, i):
        return {f"data_{i}": (self.batch, self.m, self.k), f"p_{i}": (self.k,),
                f"w_{i}": (self.batch, self.k, self.n)}

    def step_of(self, name, i):
        return owner(name, ((f"mm_{i}",), *gradients(i)))


def operand(i):
    """Something computed, which needs a gradient as it does between layers."""
    return [node("Add", [f"data_{i}", f"p_{i}"], f"add_{i}"),
            node("Tanh", [f"add_{i}"], f"x_{i}")]


def gradients(i):
    """Names of the steps of both, and of an update with the latter."""
    return ((f"x_{i}.grad", f"add_{i}.grad"), (f"w_{i}", f"w_{i}.grad"))


def owner(name, names):
    """Which of the steps a step called `name` is, or a part of."""
    return next((which for which, own in enumerate(names) if name in own), None)


def node(op, inputs, output, **attributes):
    return helper.make_node(op, inputs, [output], name=output, **attributes)


def shape_of(number):
    """Those of one model have the same batch. Negative numbers are large shapes."""
    limits = LARGE if number < 0 else SMALL
    group = random.Random(f"group {number // IN_A_MODEL}")
    batch = group.choice(limits.batches)
    draw = random.Random(f"shape {number}")
    kind = MatrixProduct if draw.random() < .2 else Convolution
    return kind(draw, batch, limits), batch


def model_of(numbers):
    shapes = [shape_of(number)[0] for number in numbers]
    batch = shape_of(numbers[0])[1]
    values = np.random.default_rng(abs(numbers[0]))
    nodes, weights, last = [], {"w": (4, 10)}, "scores"
    nodes.append(node("MatMul", ["x", "w"], last))
    for i, shape in enumerate(shapes):
        nodes += shape.nodes(i)
        weights |= shape.tensors(i) | {f"v_{i}": (10,)}
        nodes += [node("Mul", [f"end_{i}", f"v_{i}"], f"part_{i}"),
                  node("Add", [last, f"part_{i}"], f"sum_{i}")]
        last = f"sum_{i}"
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "choices", [info("x", TensorProto.FLOAT, [batch, 4])],
        [info(last, TensorProto.FLOAT, [batch, 10])],
        [numpy_helper.from_array(
            (values.standard_normal(shape) * .1).astype(np.float32), name)
         for name, shape in weights.items()])
    return helper.make_model(graph, ir_version=8,
                             opset_imports=[helper.make_opsetid("", 17)]), batch


class Model:
    def __init__(self, options, folder, numbers):
        self.options, self.numbers = options, numbers
        self.path = folder / f"{numbers[0]}.onnx"
        model, self.batch = model_of(numbers)
        onnx.save(model, str(self.path))

    def app(self, way):
        return self.path.with_suffix(f".{way or 'auto'}")

    def compile(self, way):
        command = [self.options.prefix / "bin/mnistc", self.path, "--train", "--freeze=data_*",
                   f"--batch={self.batch}", "--quiet", "-o", self.app(way),
                   f"--precision={self.options.precision}",
                   f"--tuned={self.options.tuned}",
                   "--no-form-chains", "--no-join-pools",
                   *([f"--prefer={way}"] if way else [])]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{self.path.name} {way}: {done.stderr.strip()[-300:]}",
                  file=sys.stderr)

    def tune(self):
        done = subprocess.run(
            [self.options.prefix / "bin/mnistc", self.path, "--train",
             "--freeze=data_*", f"--batch={self.batch}", "-o", self.app("tuned"),
             f"--precision={self.options.precision}", f"--tune={self.options.tune}"],
            capture_output=True, text=True, check=False)
        print(self.path.name, (done.stdout + done.stderr).strip(), flush=True)
        return done.returncode == 0

    def times(self, way):
        """(number, step): microseconds and on what."""
        done = subprocess.run(
            [self.app(way), "profile", "--plan=train", "--json",
             f"--repeat={self.options.repeat}"], capture_output=True, text=True,
            check=False)
        if done.returncode:
            print(f"{self.path.name} {way}: {done.stderr.strip()[-300:]}",
                  file=sys.stderr)
            return {}
        result = {}
        for step in json.loads(done.stdout)["steps"]:
            for i, number in enumerate(self.numbers):
                which = shape_of(number)[0].step_of(step["name"], i)
                if which is None:
                    continue
                us, on = result.get((number, which), (0, "kernel"))
                on = max(on, f"{step['implementation']} {step['mma']}".strip(),
                         key=lambda way: (way.split()[0] != "kernel", len(way)))
                result[number, which] = us + step["us"], on
        return result


def models_of(options, folder):
    first, last = map(int, options.shapes.split(":"))
    if options.large:
        first, last = -last, -first
    return [Model(options, folder, range(i, min(i + IN_A_MODEL, last)))
            for i in range(first, last, IN_A_MODEL)]


def tune(options, folder):
    begin, failed = time.monotonic(), 0
    for model in models_of(options, folder):
        if time.monotonic() - begin > options.budget:
            break
        failed += not model.tune()
    return 1 if failed else 0


def measure(options, folder):
    models = models_of(options, folder)
    jobs = [(model, way) for model in models for way in WAYS]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda job: job[0].compile(job[1]), jobs))
    rows = {}
    for model, way in jobs:
        if model.app(way).exists():
            for key, value in model.times(way).items():
                rows.setdefault(key, {})[way or "chosen"] = value
    return rows


def show(rows):
    ratios = []
    for (number, which), ways in sorted(rows.items()):
        shape = shape_of(number)[0]
        best = min(us for us, _ in ways.values())
        ratio = ways["chosen"][0] / best if "chosen" in ways else float("nan")
        ratios.append(ratio)
        times = ", ".join(f"{way} {us:.1f} ({on})" for way, (us, on) in ways.items())
        print(f"{ratio:.2f}  {shape}, {shape.steps[which]}: {times}")
    median, worst = statistics.median(ratios), max(ratios)
    print(f"{len(ratios)} steps: median {median:.3f}, worst {worst:.2f}")
    return 0 if median <= MEDIAN and worst <= WORST else 1


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("prefix", type=lambda t: pathlib.Path(t).resolve())
    parser.add_argument("--shapes", default="0:240")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--tuned", default="none")
    parser.add_argument("--tune", type=pathlib.Path)
    parser.add_argument("--budget", type=float, default=float("inf"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if options.tune:
            return tune(options, folder)
        rows = measure(options, folder)
    if options.out:
        options.out.write_text(json.dumps(
            [[number, which, str(shape_of(number)[0]), ways]
             for (number, which), ways in sorted(rows.items())]))
    return show(rows)


if __name__ == "__main__":
    sys.exit(main())
