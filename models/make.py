#!/usr/bin/env python3
"""Makes the example models as ONNX files, the same bytes every time.

usage: make.py NAME OUT.onnx [--seed=1] [--fit=DATA_DIR]

Weights are drawn as the framework of the model draws them. With --fit the last
layer is solved for (ridge regression on the layers before it, which stay as
drawn), so that the model classifies: DATA_DIR holds MNIST's IDX files or what
digits.py writes.
"""

import argparse
import gzip
import math
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8


class Network:
    """A chain of layers that becomes a graph; `x` is the last tensor's name."""

    def __init__(self, name, input_shape, seed):
        self.name, self.input_shape, self.x = name, input_shape, "input"
        self.nodes, self.weights = [], []
        self.random = np.random.Generator(np.random.Philox(seed))

    def node(self, op, *weights, **attributes):
        name = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, [self.x, *weights], [name],
                                           name=name, **attributes))
        self.x = name
        return self

    def weight(self, name, value):
        self.weights.append(numpy_helper.from_array(
            np.asarray(value, np.float32, order="C"), name))
        return name

    def uniform(self, bound, shape):
        return self.random.uniform(-bound, bound, shape)

    def draw(self, shape, fan_in, fan_out, how):
        """Weight and bias as PyTorch, MXNet or Keras initialise them."""
        if how == "torch":
            bound = 1 / math.sqrt(fan_in)
            return self.uniform(bound, shape), self.uniform(bound, shape[0])
        bound = math.sqrt(6 / (fan_in + fan_out)) if how == "keras" else 0.07
        return self.uniform(bound, shape), np.zeros(shape[0])

    def conv(self, name, outputs, inputs, kernel, pad, how):
        area = kernel * kernel
        w, b = self.draw((outputs, inputs, kernel, kernel), inputs * area,
                         outputs * area, how)
        return self.node("Conv", self.weight(f"{name}.weight", w),
                         self.weight(f"{name}.bias", b),
                         kernel_shape=[kernel, kernel], pads=[pad] * 4)

    def dense(self, name, outputs, inputs, how):
        w, b = self.draw((outputs, inputs), inputs, outputs, how)
        return self.node("Gemm", self.weight(f"{name}.weight", w),
                         self.weight(f"{name}.bias", b), transB=1)

    def relu(self):
        return self.node("Relu")

    def pool(self):
        return self.node("MaxPool", kernel_shape=[2, 2], strides=[2, 2])

    def dropout(self, name, ratio):
        self.weight(f"{name}.ratio", np.float32(ratio))
        self.weights.append(numpy_helper.from_array(np.array(True),
                                                    f"{name}.training"))
        return self.node("Dropout", f"{name}.ratio", f"{name}.training")

    def model(self):
        shape = ["batch", *self.input_shape]
        graph = helper.make_graph(
            self.nodes, self.name,
            [helper.make_tensor_value_info("input", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(self.x, TensorProto.FLOAT, ["batch", 10])],
            self.weights)
        model = helper.make_model(
            graph, ir_version=IR_VERSION, producer_name="mnistc-models",
            opset_imports=[helper.make_opsetid("", OPSET)])
        onnx.checker.check_model(model, full_check=True)
        return model


def simple_cnn(net, how):
    net.conv("conv1", 32, 1, 3, 1, how).relu().pool()
    net.conv("conv2", 64, 32, 3, 1, how).relu().pool()
    net.node("Flatten").dense("fc1", 128, 3136, how).relu()
    return net.dense("fc2", 10, 128, how)


def mxnet_simplecnn(seed):
    return simple_cnn(Network("mxnet-simplecnn", [1, 28, 28], seed), "mxnet")


def mxnet_mlp(seed):
    net = Network("mxnet-mlp", [1, 28, 28], seed).node("Flatten")
    return net.dense("dense0", 256, 784, "mxnet").relu().dense(
        "dense1", 10, 256, "mxnet")


def pytorch_simplecnn(seed):
    net = Network("pytorch-simplecnn", [1, 28, 28], seed)
    return simple_cnn(net, "torch").node("LogSoftmax", axis=1)


def pytorch_net(seed):
    net = Network("pytorch-net", [1, 28, 28], seed)
    net.conv("conv1", 32, 1, 3, 0, "torch").relu()
    net.conv("conv2", 64, 32, 3, 0, "torch").relu().pool()
    net.dropout("dropout1", 0.25).node("Flatten")
    net.dense("fc1", 128, 9216, "torch").relu().dropout("dropout2", 0.5)
    return net.dense("fc2", 10, 128, "torch").node("LogSoftmax", axis=1)


def keras_cnn(seed):
    """Keras keeps images as N x H x W x C, also when it flattens them."""
    net = Network("keras-cnn", [28, 28, 1], seed)
    net.node("Transpose", perm=[0, 3, 1, 2])
    net.conv("conv2d", 32, 1, 3, 0, "keras").relu().pool()
    net.node("Transpose", perm=[0, 2, 3, 1]).node("Flatten")
    net.dense("dense", 64, 5408, "keras").relu().dense("dense_1", 10, 64, "keras")
    return net.node("Softmax", axis=1)


MODELS = {"mxnet-simplecnn": mxnet_simplecnn, "mxnet-mlp": mxnet_mlp,
          "pytorch-simplecnn": pytorch_simplecnn, "pytorch-net": pytorch_net,
          "keras-cnn": keras_cnn}


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
    parser.add_argument("name", choices=MODELS)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fit", type=pathlib.Path)
    options = parser.parse_args()
    model = MODELS[options.name](options.seed).model()
    if options.fit:
        fit(model, options.fit)
    onnx.save(model, str(options.out))


if __name__ == "__main__":
    main()
