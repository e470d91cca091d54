"""One run of few steps against the formulas of NumPy: every optimizer, and what
only training does to a model. The data come in order, in full batches."""

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from harness import expect, ok, save_model

STEPS, BATCH = 5, 4
# Every number differs from every default and from every other.
NUMBERS = {"lr": 0.07, "momentum": 0.6, "weight-decay": 0.03, "beta1": 0.7,
           "beta2": 0.8, "epsilon": 0.02, "dampening": 0.35}
USES = {"sgd": (), "momentum": ("momentum", "dampening"),
        "nesterov": ("momentum", "dampening"),
        "adam": ("beta1", "beta2", "epsilon"),
        "adamw": ("beta1", "beta2", "epsilon"),
        "rmsprop": ("beta2", "epsilon"), "adagrad": ("epsilon",)}


def initializers(path):
    return {each.name: numpy_helper.to_array(each).astype(np.float64)
            for each in onnx.load(path).graph.initializer}


def trained(place, model, x, y, compiled=(), flags=()):
    """The initializers after an epoch over the rows of x and y."""
    folder = place.fresh("updates")
    paths = [folder / "x.npy", folder / "y.npy"]
    for path, array in zip(paths, (x, y)):
        np.save(path, array.astype(np.float32))
    program, saved = folder / "program", folder / "saved.onnx"
    ok(place.mnistc, model, "--train", "--loss=mse", "--targets=values",
       f"--batch={BATCH}", f"--target={place.target}", "-o", program, *compiled)
    ok(program, "train", f"--data={paths[0]},{paths[1]}", "--epochs=1",
       "--no-shuffle", f"--save={saved}", *flags)
    return initializers(saved)


class Updates:
    """The optimizers of PyTorch 2.9 (torch.optim) and Keras 3, as their
    documentation defines them."""

    def __init__(self, kind, form):
        self.kind, self.keras = kind, form == "keras"
        self.m = self.v = 0

    def __call__(self, w, g, t):
        n = {key.replace("-", "_"): value for key, value in NUMBERS.items()}
        lr, decay, epsilon = n["lr"], n["weight_decay"], n["epsilon"]
        if self.kind == "adamw":
            w = w - lr * decay * w
        else:
            g = g + decay * w
        return getattr(self, self.kind)(w, g, t, lr, epsilon, n)

    def sgd(self, w, g, t, lr, epsilon, n):
        return w - lr * g

    def momentum(self, w, g, t, lr, epsilon, n):
        if self.keras:
            self.m = n["momentum"] * self.m - lr * g
            return w + self.m
        self.m = g if t == 1 else n["momentum"] * self.m + (1 - n["dampening"]) * g
        return w - lr * self.m

    def nesterov(self, w, g, t, lr, epsilon, n):
        self.momentum(w, g, t, lr, epsilon, n)
        if self.keras:
            return w + n["momentum"] * self.m - lr * g
        return w - lr * (g + n["momentum"] * self.m)

    def adam(self, w, g, t, lr, epsilon, n):
        beta1, beta2 = n["beta1"], n["beta2"]
        self.m = beta1 * self.m + (1 - beta1) * g
        self.v = beta2 * self.v + (1 - beta2) * g * g
        if self.keras:
            rate = lr * np.sqrt(1 - beta2 ** t) / (1 - beta1 ** t)
            return w - rate * self.m / (np.sqrt(self.v) + epsilon)
        mean, square = self.m / (1 - beta1 ** t), self.v / (1 - beta2 ** t)
        return w - lr * mean / (np.sqrt(square) + epsilon)

    adamw = adam

    def rmsprop(self, w, g, t, lr, epsilon, n):
        self.v = n["beta2"] * self.v + (1 - n["beta2"]) * g * g
        return w - lr * g / (np.sqrt(self.v + epsilon) if self.keras
                             else np.sqrt(self.v) + epsilon)

    def adagrad(self, w, g, t, lr, epsilon, n):
        self.v = self.v + g * g
        return w - lr * g / (np.sqrt(self.v) + epsilon)


def linear_model(place):
    random = np.random.default_rng(3)
    return place.once("linear", lambda: save_model(
        place.path("linear.onnx"),
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        [("x", ["N", 3])], [("y", ["N", 2])],
        [("w", random.uniform(-1, 1, (3, 2)).astype(np.float32))]))


def check_optimizer(place, kind, form):
    model, random = linear_model(place), np.random.default_rng(4)
    x = random.uniform(-1, 1, (STEPS * BATCH, 3))
    y = random.uniform(-2, 2, (STEPS * BATCH, 2))
    used = ["lr", "weight-decay", *USES[kind]]
    if form == "keras":
        used = [name for name in used if name != "dampening"]
    flags = [f"--{name}={NUMBERS[name]}" for name in used]
    wanted, update = initializers(model)["w"], Updates(kind, form)
    for t in range(1, STEPS + 1):
        rows = slice((t - 1) * BATCH, t * BATCH)
        error = x[rows] @ wanted - y[rows]
        wanted = update(wanted, x[rows].T @ error * 2 / error.size, t)
    # Every other number is given when the program is run.
    found = trained(place, model, x, y,
                    [f"--optimizer={kind}", f"--convention={form}", *flags[::2]],
                    flags[1::2])["w"]
    expect(np.allclose(found, wanted, rtol=2e-5, atol=2e-6),
           f"{kind} ({form}): expected {wanted.tolist()}, got {found.tolist()}")


def make_optimizer_test(kind, form):
    return lambda place: check_optimizer(place, kind, form)


for each in USES:
    for convention in ("torch", "keras"):
        globals()[f"test_{each}_{convention}"] = make_optimizer_test(each, convention)


def test_clipped_values(place):
    """Each number of a gradient on its own, from above and from below."""
    model, random, clip, lr = linear_model(place), np.random.default_rng(8), 0.2, 0.3
    x = random.uniform(-1, 1, (STEPS * BATCH, 3))
    y = random.uniform(-2, 2, (STEPS * BATCH, 2))
    wanted, gradients = initializers(model)["w"], []
    for t in range(STEPS):
        rows = slice(t * BATCH, (t + 1) * BATCH)
        error = x[rows] @ wanted - y[rows]
        gradients.append(x[rows].T @ error * 2 / error.size)
        wanted = wanted - lr * np.clip(gradients[-1], -clip, clip)
    for side in (np.less(gradients, -clip), np.greater(gradients, clip),
                 np.less(np.abs(gradients), clip)):
        expect(side.any(), gradients)
    found = trained(place, model, x, y,
                    ["--optimizer=sgd", f"--clip-value={clip}"], [f"--lr={lr}"])["w"]
    expect(np.allclose(found, wanted, rtol=2e-5, atol=2e-6),
           f"expected {wanted.tolist()}, got {found.tolist()}")


def test_dropout(place):
    """y = dropout(x w): with x = 1 and targets 0 a weight that was kept shrinks
    by the square of the scale 1 / (1 - p), and one that was not stays."""
    size, ratio, lr = 4096, 0.25, 500
    weights = np.random.default_rng(5).uniform(1, 2, size).astype(np.float32)
    model = save_model(
        place.path("dropout.onnx"),
        [helper.make_node("Mul", ["x", "w"], ["p"]),
         helper.make_node("Dropout", ["p", "ratio", "training"], ["y"])],
        [("x", ["N", size])], [("y", ["N", size])],
        [("w", weights), ("ratio", np.array(ratio, np.float32)),
         ("training", np.array(True))])
    found = trained(place, model, np.eye(1, BATCH).T @ np.ones((1, size)),
                    np.zeros((BATCH, size)), ["--optimizer=sgd", "--train-only=w"],
                    [f"--lr={lr}"])["w"] / weights
    kept = 1 - lr * 2 / (BATCH * size) / (1 - ratio) ** 2
    dropped = np.isclose(found, 1, atol=1e-6)
    expect(np.all(dropped | np.isclose(found, kept, atol=1e-6)),
           f"expected 1 or {kept}, got {np.unique(found.round(6))}")
    expect(abs(dropped.mean() - ratio) < 0.03, dropped.mean())


def test_running_statistics(place):
    """After one step they are what ONNX's own reference says."""
    random = np.random.default_rng(6)
    names = ("scale", "bias", "mean", "variance")
    weights = [(name, random.uniform(0.5, 1.5, 3).astype(np.float32))
               for name in names]
    node = helper.make_node("BatchNormalization", ["x", *names], ["y"],
                            momentum=0.8, epsilon=0.01)
    x = random.uniform(-3, 3, (BATCH, 3)).astype(np.float32)

    def train():
        model = save_model(place.path("norm.onnx"), [node], [("x", ["N", 3])],
                           [("y", ["N", 3])], weights)
        return trained(place, model, x, np.zeros((BATCH, 3)))
    found = train()
    node.attribute.append(helper.make_attribute("training_mode", 1))
    node.output.extend(["running_mean", "running_variance"])
    exported = train()  # in training mode
    for name, value in found.items():
        expect((exported[name] == value).all(), f"{name}: {exported[name]}")
    reference = save_model(place.path("norm-train.onnx"), [node],
                           [("x", ["N", 3])],
                           [(name, None) for name in node.output], weights)
    wanted = ReferenceEvaluator(str(reference)).run(None, {"x": x})
    for name, value in zip(names[2:], wanted[1:]):
        expect(np.allclose(found[name], value, rtol=1e-5),
               f"{name}: expected {value}, got {found[name]}")


def test_running_statistics_of_two_nodes(place):
    """They go through both, in the order of the file, as in PyTorch, not in that
    in which what follows needs them."""
    random = np.random.default_rng(7)
    names = ("scale", "bias", "mean", "variance")
    weights = {name: random.uniform(0.5, 1.5, 3).astype(np.float32)
               for name in names}
    x = random.uniform(-3, 3, (BATCH, 3)).astype(np.float32)

    def node(x, y, *more, **attributes):
        return helper.make_node("BatchNormalization", [x, *names], [y, *more],
                                momentum=0.8, **attributes)
    model = save_model(
        place.path("norms.onnx"),
        [node("x", "first"), helper.make_node("Exp", ["x"], ["z"]),
         node("z", "second"), helper.make_node("Sub", ["second", "first"], ["y"])],
        [("x", ["N", 3])], [("y", ["N", 3])], list(weights.items()))
    found = trained(place, model, x, np.zeros((BATCH, 3)))
    wanted = dict(weights)
    for seen in (x, np.exp(x)):
        reference = save_model(
            place.path("norm-of-one.onnx"),
            [node("x", "y", "running_mean", "running_variance", training_mode=1)],
            [("x", ["N", 3])],
            [(name, None) for name in ("running_mean", "running_variance")],
            list(wanted.items()))
        wanted["mean"], wanted["variance"] = ReferenceEvaluator(
            str(reference)).run(None, {"x": seen})
    for name in names[2:]:
        expect(np.allclose(found[name], wanted[name], rtol=1e-5),
               f"{name}: expected {wanted[name]}, got {found[name]}")
