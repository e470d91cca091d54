#!/usr/bin/env python3
"""Makes the example models as ONNX files, the same bytes every time.

usage: make.py NAME OUT.onnx [--seed=1] [--fit=DATA_DIR] [--no-dropout]

The networks are described in networks.py; random-7 is of random_networks.py, and
blocks-7 and small-7 of random_blocks.py, which have no end. Weights are drawn as the
framework of the model draws them. With --fit the last layer is solved for (ridge
regression on the layers before it, which stay as drawn), so that the model
classifies: DATA_DIR holds MNIST's IDX files or what digits.py writes.
"""

import argparse
import gzip
import math
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from named import NAMES, named

IR_VERSIONS = {17: 8, 20: 9}


class Graph:
    """A chain of layers that becomes a graph; `x` is the last tensor's name, and
    `shape` its shape without the batch."""

    def __init__(self, name, network, seed, with_dropout=True):
        self.name, self.network, self.x = name, network, "input"
        self.shape, self.with_dropout = list(network.input), with_dropout
        self.nodes, self.weights = [], []
        self.random = np.random.Generator(np.random.Philox(seed))
        self.layers(network.layers, "")

    def layers(self, layers, prefix):
        for i, layer in enumerate(layers):
            name = layer.args.get("name") or f"{prefix}{i}"
            getattr(self, layer.kind)(layer, name)

    def node(self, op, *weights, x=None, **attributes):
        """Of `x`, or else of the last tensor, to the next one."""
        name = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, [x or self.x, *weights], [name],
                                           name=name, **attributes))
        self.x = name
        return name

    def weight(self, name, value):
        self.weights.append(numpy_helper.from_array(
            np.asarray(value, np.float32, order="C"), name))
        return name

    def constant(self, name, values):
        self.weights.append(numpy_helper.from_array(np.array(values), name))
        return name

    def fixed(self, value):
        """A number that is no weight, and is not trained."""
        name = f"constant_{len(self.nodes)}"
        self.nodes.append(helper.make_node("Constant", [], [name], name=name,
                                           value=numpy_helper.from_array(value)))
        return name

    def uniform(self, bound, shape):
        return self.random.uniform(-bound, bound, shape)

    def draw(self, shape, fan_in, fan_out):
        """Weight and bias as PyTorch, MXNet or Keras initialise them."""
        how = self.network.draw
        if how == "torch":
            bound = 1 / math.sqrt(fan_in)
            return self.uniform(bound, shape), self.uniform(bound, shape[0])
        bound = math.sqrt(6 / (fan_in + fan_out)) if how == "keras" else 0.07
        return self.uniform(bound, shape), np.zeros(shape[0])

    # Layers with weights.

    def conv(self, layer, name):
        shape = (layer.channels, self.shape[0] // layer.groups, *layer.kernel)
        area = math.prod(layer.kernel)
        w, b = self.draw(shape, shape[1] * area, layer.channels * area)
        names = [self.weight(f"{name}.weight", w)]
        names += [self.weight(f"{name}.bias", b)] if layer.bias else []
        options = {"strides": [layer.stride] * 2} if layer.stride > 1 else {}
        options |= {"group": layer.groups} if layer.groups > 1 else {}
        options |= {"dilations": [layer.dilation] * 2} if layer.dilation > 1 else {}
        self.node("Conv", *names, kernel_shape=layer.kernel,
                  pads=layer.pad * 2, **options)
        self.shape = [layer.channels, *(
            (size + 2 * pad - layer.dilation * (kernel - 1) - 1) // layer.stride + 1
            for size, kernel, pad in zip(self.shape[1:], layer.kernel, layer.pad))]

    def conv_transpose(self, layer, name):
        area = layer.kernel ** 2
        w, _ = self.draw((self.shape[0], layer.channels, layer.kernel,
                          layer.kernel), layer.channels * area, 1)
        self.node("ConvTranspose", self.weight(f"{name}.weight", w),
                  self.weight(f"{name}.bias", np.zeros(layer.channels)),
                  kernel_shape=[layer.kernel] * 2, strides=[layer.stride] * 2)
        self.shape = [layer.channels, *((size - 1) * layer.stride + layer.kernel
                                        for size in self.shape[1:])]

    def linear(self, features, name):
        """A product with the last dimension; the weight of tokens is stored
        transposed, as TorchScript's exporter does."""
        w, b = self.draw((features, self.shape[-1]), self.shape[-1], features)
        if len(self.shape) == 1:
            self.node("Gemm", self.weight(f"{name}.weight", w),
                      self.weight(f"{name}.bias", b), transB=1)
        else:
            self.node("MatMul", self.weight(f"{name}.weight_transposed", w.T))
            self.node("Add", self.weight(f"{name}.bias", b))
        self.shape = [*self.shape[:-1], features]

    def dense(self, layer, name):
        self.linear(layer.features, name)

    def batch_norm(self, _, name):
        channels = self.shape[0]
        values = {"weight": 1, "bias": 0, "running_mean": 0, "running_var": 1}
        self.node("BatchNormalization", *(
            self.weight(f"{name}.{part}", np.full(channels, value))
            for part, value in values.items()))

    def layer_norm(self, _, name):
        width = self.shape[-1]
        self.node("LayerNormalization",
                  self.weight(f"{name}.weight", np.ones(width)),
                  self.weight(f"{name}.bias", np.zeros(width)), axis=-1)

    def group_norm(self, layer, name):
        """As TorchScript's exporter writes it: the instance norm of groups."""
        channels = self.shape[0]
        self.node("Reshape", self.constant(f"{name}.split", [0, layer.groups, -1]))
        self.node("InstanceNormalization",
                  *(self.fixed(np.full(layer.groups, value, np.float32))
                    for value in (1, 0)))
        self.node("Reshape", self.constant(f"{name}.join", [0, *self.shape]))
        self.node("Mul", self.weight(f"{name}.weight", np.ones((channels, 1, 1))))
        self.node("Add", self.weight(f"{name}.bias", np.zeros((channels, 1, 1))))

    def class_token(self, _, name):
        """A learned token before the others."""
        tokens, width = self.shape
        x = self.x
        token = self.weight(f"{name}.token", 0.02 * self.random.standard_normal(
            (1, 1, width)))
        self.node("Shape", start=0, end=1)
        shape = self.node("Concat", self.constant(f"{name}.size", [1, width]),
                          axis=0)
        repeated = self.node("Expand", shape, x=token)
        self.node("Concat", x, x=repeated, axis=1)
        self.shape = [tokens + 1, width]

    def positions(self, _, name):
        self.node("Add", self.weight(
            f"{name}.table", 0.02 * self.random.standard_normal(
                (1, *self.shape))))

    def attention(self, layer, name):
        """Scaled dot products of `heads` slices of the features."""
        tokens, width = self.shape
        size = width // layer.heads
        self.linear(3 * width, f"{name}.qkv")
        self.node("Reshape", self.constant(
            f"{name}.split", [0, tokens, 3, layer.heads, size]))
        stack = self.node("Transpose", perm=[2, 0, 3, 1, 4])
        q, k, v = (self.node("Gather", self.constant(f"{name}.{part}", i),
                             x=stack, axis=0) for i, part in enumerate("qkv"))
        scaled = self.node("Mul", self.constant(
            f"{name}.scale", np.float32(size ** -0.5)), x=q)
        columns = self.node("Transpose", x=k, perm=[0, 1, 3, 2])
        self.node("MatMul", columns, x=scaled)
        self.node("Softmax", axis=-1)
        self.node("MatMul", v)
        self.node("Transpose", perm=[0, 2, 1, 3])
        self.node("Reshape", self.constant(f"{name}.join", [0, tokens, width]))
        self.shape = [tokens, width]
        self.linear(width, f"{name}.out")

    def residual(self, layer, name):
        x, shape = self.x, self.shape
        self.layers(layer.body, f"{name}.body.")
        body, result = self.x, self.shape
        self.x, self.shape = x, shape
        self.layers(layer.shortcut, f"{name}.shortcut.")
        self.node("Add", self.x, x=body)
        self.shape = result

    def concat(self, layer, name):
        x, shape, results, channels = self.x, self.shape, [], 0
        for i, branch in enumerate(layer.branches):
            self.x, self.shape = x, list(shape)
            self.layers(branch, f"{name}.branches.{i}.")
            results.append(self.x)
            channels += self.shape[0]
        self.node("Concat", *results[1:], x=results[0], axis=1)
        self.shape = [channels, *self.shape[1:]]

    def gate(self, layer, name):
        x, shape = self.x, list(self.shape)
        self.layers(layer.body, f"{name}.body.")
        self.node("Mul", self.x, x=x)
        self.shape = shape

    # Layers without.

    def relu(self, *_):
        self.node("Relu")

    def tanh(self, *_):
        self.node("Tanh")

    def gelu(self, *_):
        self.node("Gelu")

    def sigmoid(self, *_):
        self.node("Sigmoid")

    def silu(self, *_):
        x = self.x
        self.node("Mul", self.node("Sigmoid"), x=x)

    def hard_swish(self, *_):
        self.node("HardSwish")

    def leaky_relu(self, *_):
        self.node("LeakyRelu", alpha=0.01)

    def relu6(self, _, name):
        self.node("Clip", self.constant(f"{name}.lowest", np.float32(0)),
                  self.constant(f"{name}.highest", np.float32(6)))

    def softmax(self, *_):
        self.node("Softmax", axis=1)

    def log_softmax(self, *_):
        self.node("LogSoftmax", axis=1)

    def pool(self, op, size):
        self.node(op, kernel_shape=[size] * 2, strides=[size] * 2)
        self.shape[1:] = [length // size for length in self.shape[1:]]

    def max_pool(self, layer, _):
        self.pool("MaxPool", layer.size)

    def average_pool(self, layer, _):
        self.pool("AveragePool", layer.size)

    def channel_means(self, *_):
        self.node("GlobalAveragePool")
        self.shape = [self.shape[0], 1, 1]

    def global_pool(self, *_):
        self.channel_means()
        self.flatten()

    def shuffle(self, layer, name):
        channels, *size = self.shape
        self.node("Reshape", self.constant(
            f"{name}.split", [0, layer.groups, channels // layer.groups, *size]))
        self.node("Transpose", perm=[0, 2, 1, 3, 4])
        self.node("Reshape", self.constant(f"{name}.join", [0, *self.shape]))

    def flatten(self, *_):
        self.node("Flatten")
        self.shape = [math.prod(self.shape)]

    def transpose(self, layer, _):
        self.node("Transpose", perm=[0, *layer.order])
        self.shape = [self.shape[i - 1] for i in layer.order]

    def tokens(self, _, name):
        channels, count = self.shape[0], math.prod(self.shape[1:])
        self.node("Reshape", self.constant(f"{name}.shape",
                                           [0, channels, count]))
        self.node("Transpose", perm=[0, 2, 1])
        self.shape = [count, channels]

    def first_token(self, _, name):
        self.node("Gather", self.constant(f"{name}.index", 0), axis=1)
        self.shape = self.shape[1:]

    def mean_token(self, _, name):
        self.node("ReduceMean", self.constant(f"{name}.axes", [1]), keepdims=0)
        self.shape = self.shape[1:]

    def dropout(self, layer, name):
        if not self.with_dropout:
            return
        self.weight(f"{name}.ratio", np.float32(layer.ratio))
        self.constant(f"{name}.training", True)
        self.node("Dropout", f"{name}.ratio", f"{name}.training")

    def model(self):
        shape, opset = ["batch", *self.network.input], self.network.opset
        graph = helper.make_graph(
            self.nodes, self.name,
            [helper.make_tensor_value_info("input", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(self.x, TensorProto.FLOAT, ["batch", 10])],
            self.weights)
        model = helper.make_model(
            graph, ir_version=IR_VERSIONS[opset],
            producer_name="mnistc-models",
            opset_imports=[helper.make_opsetid("", opset)])
        onnx.checker.check_model(model, full_check=True)
        return model


def read_idx(folder, stem):
    for path in (folder / stem, folder / f"{stem}.gz"):
        if path.exists():
            data = path.read_bytes()
            data = gzip.decompress(data) if path.suffix == ".gz" else data
            dims = np.frombuffer(data, ">u4", data[3], 4)
            return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(dims)
    sys.exit(f"make.py: error: no {stem} in '{folder}'")


def fit(model, folder, count=10000, ridge=10.0):
    """Solves the last Gemm for the data: least squares on its input."""
    import onnxruntime
    last = [node for node in model.graph.node if node.op_type == "Gemm"][-1]
    features = onnx.ModelProto()
    features.CopyFrom(model)
    for node in features.graph.node:
        if node.op_type == "Dropout":
            del node.input[1:]
    del features.graph.output[:]
    features.graph.output.append(helper.make_tensor_value_info(
        last.input[0], TensorProto.FLOAT, None))
    session = onnxruntime.InferenceSession(features.SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    x = read_idx(folder, "train-images-idx3-ubyte")[:count].reshape(-1, *shape[1:])
    labels = read_idx(folder, "train-labels-idx1-ubyte")[:count]
    x = np.concatenate([
        session.run(None, {"input": x[i:i + 500].astype(np.float32) / 255})[0]
        for i in range(0, len(x), 500)]).astype(np.float64)
    x = np.concatenate([x, np.ones((len(x), 1))], axis=1)
    target = 8.0 * (np.eye(10)[labels] - 0.1)
    scale = ridge * np.mean(np.sum(x * x, axis=0)) / len(x)
    solution = np.linalg.solve(x.T @ x + scale * np.eye(x.shape[1]), x.T @ target)
    for weight in model.graph.initializer:
        if weight.name == last.input[1]:
            weight.CopyFrom(numpy_helper.from_array(
                np.ascontiguousarray(solution[:-1].T, np.float32), weight.name))
        if weight.name == last.input[2]:
            weight.CopyFrom(numpy_helper.from_array(
                solution[-1].astype(np.float32), weight.name))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fit", type=pathlib.Path)
    parser.add_argument("--no-dropout", action="store_true")
    options = parser.parse_args()
    if not (network := named(options.name)):
        parser.error(f"expected one of {NAMES}, got "
                     f"'{options.name}'")
    model = Graph(options.name, network, options.seed,
                  with_dropout=not options.no_dropout).model()
    if options.fit:
        fit(model, options.fit)
    onnx.save(model, str(options.out))


if __name__ == "__main__":
    main()
