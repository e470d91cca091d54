"""Models and programs for the tests of training, each made once."""

import json
import pathlib
import re

import numpy as np
from onnx import helper

import harness
from harness import expect, ok, save_model

FLAGS = ("--data=digits", "--test-limit=300", "--limit=600")


def uniform(random, *shape):
    bound = 1 / np.sqrt(np.prod(shape[1:]))
    return random.uniform(-bound, bound, shape).astype(np.float32)


def make_mlp(path):
    """Dense, relu, dense; one with weights [in, out], the other [out, in]."""
    random = np.random.default_rng(1)
    nodes = [helper.make_node("Flatten", ["image"], ["flat"]),
             helper.make_node("MatMul", ["flat", "fc1.weight"], ["product"]),
             helper.make_node("Add", ["product", "fc1.bias"], ["sum"]),
             helper.make_node("Relu", ["sum"], ["hidden"]),
             helper.make_node("Gemm", ["hidden", "fc2.weight", "fc2.bias"],
                              ["logits"], transB=1)]
    weights = [("fc1.weight", uniform(random, 32, 784).T.copy()),
               ("fc1.bias", np.zeros(32, np.float32)),
               ("fc2.weight", uniform(random, 10, 32)),
               ("fc2.bias", np.zeros(10, np.float32))]
    return save_model(path, nodes, [("image", ["N", 1, 28, 28])],
                      [("logits", ["N", 10])], weights)


def make_cnn(path):
    """Convolution, normalization, pool, dropout, dense."""
    random = np.random.default_rng(2)
    ones, zeros = np.ones(4, np.float32), np.zeros(4, np.float32)
    nodes = [helper.make_node("Conv", ["image", "conv.weight", "conv.bias"],
                              ["features"], kernel_shape=[5, 5]),
             helper.make_node("BatchNormalization",
                              ["features", "norm.scale", "norm.bias",
                               "norm.mean", "norm.variance"], ["normal"]),
             helper.make_node("Relu", ["normal"], ["active"]),
             helper.make_node("MaxPool", ["active"], ["pooled"],
                              kernel_shape=[4, 4], strides=[4, 4]),
             helper.make_node("Flatten", ["pooled"], ["flat"]),
             helper.make_node("Gemm", ["flat", "fc.weight", "fc.bias"],
                              ["logits"], transB=1)]
    weights = [("conv.weight", uniform(random, 4, 1, 5, 5)),
               ("conv.bias", zeros), ("norm.scale", ones),
               ("norm.bias", zeros), ("norm.mean", zeros),
               ("norm.variance", ones), ("fc.weight", uniform(random, 10, 144)),
               ("fc.bias", np.zeros(10, np.float32))]
    return save_model(path, nodes, [("image", ["N", 1, 28, 28])],
                      [("logits", ["N", 10])], weights)


def make_deep(path):
    """Convolutions with and without a residual, pools, dense with a relu."""
    random = np.random.default_rng(3)
    same = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    half = {"kernel_shape": [2, 2], "strides": [2, 2]}
    nodes = [helper.make_node("Conv", ["image", "a.weight", "a.bias"], ["a"],
                              **same),
             helper.make_node("Relu", ["a"], ["ar"]),
             helper.make_node("MaxPool", ["ar"], ["ap"], **half),
             helper.make_node("Conv", ["ap", "b.weight"], ["b"], **same),
             helper.make_node("Add", ["b", "ap"], ["c"]),
             helper.make_node("Relu", ["c"], ["cr"]),
             helper.make_node("Conv", ["cr", "d.weight"], ["d"], **same),
             helper.make_node("Relu", ["d"], ["dr"]),
             helper.make_node("AveragePool", ["dr"], ["dp"], **half),
             helper.make_node("Flatten", ["dp"], ["flat"]),
             helper.make_node("Gemm", ["flat", "e.weight", "e.bias"], ["e"]),
             helper.make_node("Relu", ["e"], ["er"]),
             helper.make_node("Gemm", ["er", "f.weight"], ["logits"])]
    weights = [("a.weight", uniform(random, 16, 1, 3, 3)),
               ("a.bias", np.zeros(16, np.float32)),
               ("b.weight", uniform(random, 16, 16, 3, 3)),
               ("d.weight", uniform(random, 16, 16, 3, 3)),
               ("e.weight", uniform(random, 128, 784).T.copy()),
               ("e.bias", np.zeros(128, np.float32)),
               ("f.weight", uniform(random, 10, 128).T.copy())]
    return save_model(path, nodes, [("image", ["N", 1, 28, 28])],
                      [("logits", ["N", 10])], weights)


MODELS = {"mlp": make_mlp, "cnn": make_cnn, "deep": make_deep}
HOST = pathlib.Path(__file__).with_name("host.cpp")


class Trained:
    """What a run of 'train' said."""

    def __init__(self, done):
        self.code, self.out, self.err = done.code, done.out, done.err
        self.digests = re.findall(r"digest ([0-9a-f]{16})", done.out)
        self.accuracies = [float(x) for x in re.findall(
            r"; test loss [^;]*accuracy ([0-9.]+) %", done.out)]

    @property
    def digest(self):
        expect(self.digests, f"expected a digest: {self.out} {self.err}")
        return self.digests[-1]


class Place(harness.Place):
    def __init__(self, folder, options):
        super().__init__(folder, options)
        self.target = options.target

    def fresh(self, name):
        path = self.folder / f"{name}-{len(list(self.folder.iterdir()))}"
        path.mkdir()
        return path

    def model(self, name):
        return self.once(("model", name), lambda: MODELS[name](
            self.path(f"{name}.onnx")))

    def program(self, name, batch=32, compiled=()):
        def make():
            path = self.path(f"program-{len(self.made)}")
            ok(self.mnistc, self.model(name), "--train", f"--batch={batch}",
               "-o", path, f"--target={self.target}", *compiled)
            return path
        return self.once(("program", name, batch, compiled), make)

    def inference(self, name, ending="app", batch="--batch=1,32", *options):
        """A program, or a library, that only infers."""
        def make():
            path = self.path(f"infer-{len(self.made)}-{ending}")
            ok(self.mnistc, self.model(name), batch, "-o", path,
               f"--target={self.target}", *options)
            return path
        return self.once(("infer", name, ending, batch, options), make)

    def train(self, name, *flags, compiled=(), env=None):
        program = self.program(name, compiled=compiled)
        return Trained(ok(program, "train", *FLAGS, *flags, env=env))

    def plain(self, name):
        """Two epochs without anything else."""
        return self.once(("plain", name),
                         lambda: self.train(name, "--epochs=2"))


def events(path):
    return [json.loads(line) for line in path.read_text().splitlines()]
