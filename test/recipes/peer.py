"""Trains the model of a recipe with PyTorch, from the weights of the ONNX file."""

import multiprocessing
import re

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch.nn import functional as F


def simple_cnn(w, x, training):
    x = F.max_pool2d(F.relu(F.conv2d(x, w["conv1.weight"], w["conv1.bias"], padding=1)), 2)
    x = F.max_pool2d(F.relu(F.conv2d(x, w["conv2.weight"], w["conv2.bias"], padding=1)), 2)
    x = F.relu(F.linear(x.flatten(1), w["fc1.weight"], w["fc1.bias"]))
    return F.linear(x, w["fc2.weight"], w["fc2.bias"])


def mlp(w, x, training):
    x = F.relu(F.linear(x.flatten(1), w["dense0.weight"], w["dense0.bias"]))
    return F.linear(x, w["dense1.weight"], w["dense1.bias"])


def net(w, x, training):
    x = F.relu(F.conv2d(x, w["conv1.weight"], w["conv1.bias"]))
    x = F.max_pool2d(F.relu(F.conv2d(x, w["conv2.weight"], w["conv2.bias"])), 2)
    x = F.dropout(x, .25, training).flatten(1)
    x = F.dropout(F.relu(F.linear(x, w["fc1.weight"], w["fc1.bias"])), .5, training)
    return F.linear(x, w["fc2.weight"], w["fc2.bias"])


def keras_cnn(w, x, training):
    x = F.max_pool2d(F.relu(F.conv2d(x, w["conv2d.weight"], w["conv2d.bias"])), 2)
    x = x.permute(0, 2, 3, 1).flatten(1)
    x = F.relu(F.linear(x, w["dense.weight"], w["dense.bias"]))
    return F.linear(x, w["dense_1.weight"], w["dense_1.bias"])


def sgd(lr, momentum=0):
    return lambda weights: torch.optim.SGD(weights, lr=lr, momentum=momentum)


def adam(epsilon):
    return lambda weights: torch.optim.Adam(weights, lr=.001, eps=epsilon)


# Network, optimizer, batch.
PEERS = {"mxnet-simplecnn": (simple_cnn, sgd(.01), 64),
         "mxnet-mlp": (mlp, sgd(.1), 256),
         "pytorch-simplecnn": (simple_cnn, sgd(.01, .9), 64),
         "pytorch-net": (net, adam(1e-8), 64),
         "keras-cnn": (keras_cnn, adam(1e-7), 64)}


def tensors(arrays, pixels, device):
    numbers = dict(re.findall(r"--(mean|std)=(\S+)", " ".join(pixels)))
    mean, deviation = float(numbers.get("mean", 0)), float(numbers.get("std", 1))
    images, labels = (torch.from_numpy(np.array(array)).to(device) for array in arrays)
    images = (images.reshape(-1, 1, 28, 28).float() / 255 - mean) / deviation
    return images, labels.long()


def train(name, model, train_set, test_set, epochs, pixels, seed):
    """Accuracy on the test set, in percent."""
    network, optimizer, batch = PEERS[name]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.manual_seed(seed)
    weights = {w.name: torch.tensor(numpy_helper.to_array(w), device=device,
                                    requires_grad=True)
               for w in onnx.load(str(model)).graph.initializer
               if w.data_type == onnx.TensorProto.FLOAT and w.dims}
    optimizer = optimizer(list(weights.values()))
    images, labels = tensors(train_set, pixels, device)
    for _ in range(epochs):
        for rows in torch.randperm(len(images), device=device).split(batch):
            optimizer.zero_grad()
            F.cross_entropy(network(weights, images[rows], True), labels[rows]).backward()
            optimizer.step()
    images, labels = tensors(test_set, pixels, device)
    with torch.no_grad():
        right = sum((network(weights, x, False).argmax(1) == y).sum().item()
                    for x, y in zip(images.split(1000), labels.split(1000)))
    return 100 * right / len(images)


def train_all(name, model, train_set, test_set, epochs, pixels, seeds):
    """The same for each seed, in as many processes: one leaves a GPU idle."""
    rows = [(name, model, train_set, test_set, epochs, pixels, seed) for seed in seeds]
    if not torch.cuda.is_available():
        return [train(*row) for row in rows]
    with multiprocessing.get_context("spawn").Pool(len(rows)) as pool:
        return pool.starmap(train, rows)
