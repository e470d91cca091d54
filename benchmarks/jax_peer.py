"""A network of models/networks.py in JAX, with the weights of its ONNX file.

An epoch is one jitted function: a permutation, and a scan over the steps. Only
the layers of the example models of tutorials.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import onnx
from jax import lax
from onnx import numpy_helper

KINDS = {"conv", "dense", "max_pool", "relu", "flatten", "dropout", "transpose",
         "softmax", "log_softmax"}


def supports(network):
    return all(layer.kind in KINDS for layer in network.layers)


class Model:
    def __init__(self, case, with_dropout=True):
        network, self.batch = case.network, case.batch
        self.layers, self.with_dropout = network.layers, with_dropout
        self.precision = (lax.Precision.HIGHEST if case.precision == "fp32"
                          else lax.Precision.DEFAULT)
        self.type = jnp.bfloat16 if case.precision == "bf16" else jnp.float32
        self.option = dict(part.lstrip("-").split("=")
                           for part in case.train.split())
        path = case.path if with_dropout else case.plain_path
        names = {f"{layer.args.get('name') or i}.{part}"
                 for i, layer in enumerate(network.layers)
                 for part in ("weight", "bias")
                 if layer.kind in ("conv", "dense")}
        self.weights = {
            tensor.name: jnp.asarray(numpy_helper.to_array(tensor))
            for tensor in onnx.load(str(path)).graph.initializer
            if tensor.name in names}
        missing = names - set(self.weights)
        if missing:
            raise SystemExit(
                f"error: expected {sorted(missing)} in '{path}', got none")
        zeros = [{name: jnp.zeros_like(w) for name, w in self.weights.items()}
                 for _ in range(2)]
        self.state = (self.weights, *zeros, jnp.zeros(()))

    def layer(self, x, layer, name, weights, key):
        def bias(y, shape):
            return y + weights[f"{name}.bias"].astype(self.type).reshape(shape)

        if layer.kind == "conv":
            w = weights[f"{name}.weight"].astype(self.type)
            y = lax.conv_general_dilated(
                x, w, (layer.stride,) * 2, [(pad, pad) for pad in layer.pad],
                precision=self.precision, feature_group_count=layer.groups)
            return bias(y, (1, -1, 1, 1))
        if layer.kind == "dense":
            w = weights[f"{name}.weight"].astype(self.type)
            return bias(jnp.dot(x, w.T, precision=self.precision), (1, -1))
        if layer.kind == "max_pool":
            window = (1, 1, layer.size, layer.size)
            return lax.reduce_window(x, -jnp.inf, lax.max, window, window,
                                     "VALID")
        if layer.kind == "dropout" and self.with_dropout:
            kept = jax.random.bernoulli(key, 1 - layer.ratio, x.shape)
            return jnp.where(kept, x / (1 - layer.ratio), 0).astype(x.dtype)
        if layer.kind == "relu":
            return jax.nn.relu(x)
        if layer.kind == "flatten":
            return x.reshape(len(x), -1)
        if layer.kind == "transpose":
            return x.transpose(0, *layer.order)
        return x  # the loss takes logits

    def loss(self, weights, x, labels, key):
        x = x.astype(self.type)
        for i, layer in enumerate(self.layers):
            key = jax.random.fold_in(key, i)
            x = self.layer(x, layer, layer.args.get("name") or i, weights, key)
        p = jax.nn.log_softmax(x.astype(jnp.float32))
        return -jnp.mean(jnp.take_along_axis(p, labels[:, None], 1))

    def update(self, state, gradients):
        weights, first, second, count = state
        lr, count = float(self.option["lr"]), count + 1
        each = functools.partial(jax.tree_util.tree_map)
        if self.option["optimizer"] != "adam":
            momentum = float(self.option.get("momentum", 0))
            first = each(lambda m, g: momentum * m + g, first, gradients)
            return each(lambda w, m: w - lr * m, weights, first), first, \
                second, count
        first = each(lambda m, g: .9 * m + .1 * g, first, gradients)
        second = each(lambda v, g: .999 * v + .001 * g * g, second, gradients)
        a, b = 1 - .9 ** count, 1 - .999 ** count
        return each(lambda w, m, v: w - lr * (m / a) / (jnp.sqrt(v / b) + 1e-8),
                    weights, first, second), first, second, count

    def steps(self, state, order, key, images, labels):
        """A step for each row of `order`; the states and the losses."""
        def body(state, i_rows):
            i, rows = i_rows
            x, y = (jnp.take(t, rows, axis=0, mode="clip")
                    for t in (images, labels))
            loss, gradients = jax.value_and_grad(self.loss)(
                state[0], x, y, jax.random.fold_in(key, i))
            return self.update(state, gradients), loss
        return lax.scan(body, state, (jnp.arange(len(order)), order))

    def epoch(self, state, key, images, labels):
        steps = len(images) // self.batch
        order = jax.random.permutation(key, len(images))[:steps * self.batch]
        state, losses = self.steps(state, order.reshape(steps, self.batch), key,
                                   images, labels)
        return state, losses[-1]


class Epochs:
    """What a benchmark runs."""

    def __init__(self, model, data):
        self.model, self.data, self.state = model, data, model.state
        self.key = jax.random.key(1, impl="rbg")  # the fast generator
        self.epoch = jax.jit(model.epoch, donate_argnums=0)

    def prepare(self):
        """It measures kernels while it compiles, and must be alone."""
        for _ in range(2):
            self.run(1)

    def run(self, count):
        """Whole epochs."""
        steps = len(self.data[0]) // self.model.batch
        epochs = -(-count // steps)
        for _ in range(epochs):
            self.key, key = jax.random.split(self.key)
            self.state, loss = self.epoch(self.state, key, *self.data)
        loss.block_until_ready()
        return epochs * steps


class Peer:
    """One network and batch in one precision."""

    def __init__(self, case, data, _):
        self.case = case
        self.data = (jnp.asarray(data[0]), jnp.asarray(data[1].astype(np.int32)))

    def versions(self):
        return {"JAX": jax.__version__}

    def losses(self, count):
        case = self.case
        model = Model(case, with_dropout=False)
        order = jnp.arange(count * case.batch).reshape(count, case.batch)
        _, losses = jax.jit(model.steps)(model.state, order,
                                         jax.random.key(1), *self.data)
        return [float(loss) for loss in losses]

    def ways(self):
        return ["scan"] if supports(self.case.network) else []

    def compile(self, _):
        return Epochs(Model(self.case), self.data)

    def wait(self):
        pass
