"""Weights after five steps, against NumPy with finite differences."""

import numpy as np
import onnx
from onnx import helper, numpy_helper

from harness import expect, ok, save_model

ROWS, FEATURES, CLASSES = 6, 4, 3


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def node(operator, inputs, output, **attributes):
    return helper.make_node(operator, inputs.split(), [output], **attributes)


def turned(x):
    return np.swapaxes(x, -1, -2)


# Nodes, shapes of the weights, and the same in NumPy.
MODELS = {
    "low rank": (
        [node("MatMul", "A B", "W"), node("MatMul", "x W", "y")],
        {"A": (4, 2), "B": (2, 3)},
        lambda x, w: x @ (w["A"] @ w["B"])),
    "product": (
        [node("Mul", "A B", "W"), node("MatMul", "x W", "y")],
        {"A": (4, 3), "B": (4, 3)},
        lambda x, w: x @ (w["A"] * w["B"])),
    "adapter": (
        [node("MatMul", "A B", "D"), node("Mul", "D alpha", "E"),
         node("Add", "V E", "W"), node("MatMul", "x W", "z"),
         node("Add", "z b", "y")],
        {"A": (4, 2), "B": (2, 3), "V": (4, 3), "b": (3,)},
        lambda x, w: x @ (w["V"] + 2 * w["A"] @ w["B"]) + w["b"]),
    "tied": (
        [node("MatMul", "x A", "h"), node("Tanh", "h", "r"),
         node("Transpose", "A", "T", perm=[1, 0]), node("MatMul", "r T", "z"),
         node("MatMul", "z B", "y")],
        {"A": (4, 2), "B": (4, 3)},
        lambda x, w: np.tanh(x @ w["A"]) @ w["A"].T @ w["B"]),
    "used twice": (
        [node("MatMul", "x A", "h"), node("MatMul", "h S", "i"),
         node("Tanh", "i", "r"), node("MatMul", "r S", "j"),
         node("MatMul", "j B", "y")],
        {"A": (4, 2), "S": (2, 2), "B": (2, 3)},
        lambda x, w: np.tanh(x @ w["A"] @ w["S"]) @ w["S"] @ w["B"]),
    "queries": (
        [node("Reshape", "x rows", "k"),
         node("Transpose", "k", "kt", perm=[0, 2, 1]),
         node("MatMul", "Q A", "q"), node("MatMul", "q kt", "s"),
         node("Softmax", "s", "p", axis=-1), node("MatMul", "p k", "o"),
         node("Flatten", "o", "f"), node("MatMul", "f B", "y")],
        {"Q": (3, 2), "A": (2, 2), "B": (6, 3)},
        lambda x, w: (softmax(w["Q"] @ w["A"] @ turned(x.reshape(-1, 2, 2))) @
                      x.reshape(-1, 2, 2)).reshape(-1, 6) @ w["B"]),
}
CONSTANTS = [("alpha", np.array([2], np.float32)),
             ("rows", np.array([-1, 2, 2]))]


def gradients(forward, x, labels, weights):
    def loss():
        p = softmax(forward(x, weights))
        return -np.log(p[np.arange(len(x)), labels]).mean()

    found = {}
    for name, weight in weights.items():
        found[name] = np.zeros_like(weight)
        for i in np.ndindex(weight.shape):
            kept, sides = weight[i], []
            for step in (1e-5, -1e-5):
                weight[i] = kept + step
                sides.append(loss())
            weight[i] = kept
            found[name][i] = (sides[0] - sides[1]) / 2e-5
    return found


def sgd(weights, found, _, __):
    for name, weight in weights.items():
        weight -= .1 * (found[name] + .01 * weight)


def clipped_momentum(weights, found, state, _):
    norm = np.sqrt(sum((g * g).sum() for g in found.values()))
    for name, weight in weights.items():
        g = found[name] * min(1, .2 / (norm + 1e-6))
        state[name] = .9 * state.get(name, 0) + g
        weight -= .1 * state[name]


def adam(weights, found, state, t):
    for name, weight in weights.items():
        g = found[name]
        m, v = state.get(name, (0, 0))
        m, v = .9 * m + .1 * g, .999 * v + .001 * g * g
        state[name] = m, v
        weight -= .01 * m / (1 - .9 ** t) / (np.sqrt(v / (1 - .999 ** t)) + 1e-4)


RECIPES = (
    (sgd, ("--optimizer=sgd", "--lr=.1", "--weight-decay=.01")),
    (clipped_momentum, ("--optimizer=momentum", "--lr=.1", "--clip-norm=.2")),
    (adam, ("--optimizer=adam", "--lr=.01", "--epsilon=1e-4")))


def check(place, name, update, flags):
    nodes, shapes, forward = MODELS[name]
    random = np.random.default_rng(5)
    first = {key: random.normal(size=shape).astype(np.float32)
             for key, shape in shapes.items()}
    x = random.normal(size=(ROWS, FEATURES)).astype(np.float32)
    labels = np.arange(ROWS) % CLASSES
    folder = place.fresh("truth")
    used = {tensor for each in nodes for tensor in each.input}
    save_model(folder / "m.onnx", nodes, [("x", ["N", FEATURES])],
               [("y", ["N", CLASSES])], [*first.items(), *(
                   pair for pair in CONSTANTS if pair[0] in used)])
    np.save(folder / "x.npy", x)
    np.save(folder / "y.npy", labels)
    ok(place.mnistc, folder / "m.onnx", "--train", f"--batch={ROWS}", *flags,
       f"--target={place.target}", "-o", folder / "program")
    ok(folder / "program", "train", "--epochs=5", "--no-shuffle",
       f"--data={folder / 'x.npy'},{folder / 'y.npy'}",
       f"--save={folder / 'out.onnx'}")
    weights = {key: value.astype(float) for key, value in first.items()}
    state = {}
    for t in range(1, 6):
        update(weights, gradients(forward, x, labels, weights), state, t)
    for tensor in onnx.load(folder / "out.onnx").graph.initializer:
        found = numpy_helper.to_array(tensor)
        if tensor.name not in weights:
            expect((found == dict(CONSTANTS)[tensor.name]).all(), tensor.name)
            continue
        np.testing.assert_allclose(found, weights[tensor.name], rtol=2e-4,
                                   atol=2e-5, err_msg=f"{name}: {tensor.name}")


def test_products_of_parameters(place):
    """Each gradient needs another parameter's old value."""
    for number, name in enumerate(MODELS):
        check(place, name, *RECIPES[number % 3])
