"""Every loss: its value as NumPy has it, its gradient as differences have it."""

import json
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROWS, CLASSES, PLACES = 5, 4, 3


def log_softmax(z):
    shifted = z - z.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def one_hot(t, like):
    return (np.arange(like.shape[1]).reshape(
        (1, -1) + (1,) * (like.ndim - 2)) == np.expand_dims(t, 1)).astype(float)


def likelihood(log_p, t, smoothing=0.0):
    """Mean of -log p of the class over rows and places."""
    chosen = -(one_hot(t, log_p) * log_p).sum(axis=1)
    return ((1 - smoothing) * chosen - smoothing * log_p.mean(axis=1)).mean()


def binary(p, t):
    return -(t * np.log(p) + (1 - t) * np.log(1 - p)).mean()


# Of classes, as options and as numbers.
WEIGHTS = "--class-weights=0.5,3,0,1.25"
OF_CLASS = np.array([0.5, 3, 0, 1.25])


def weighted(log_p, t, smoothing=0.0):
    """PyTorch's formula for a weight of each class: of the cost of a label, of
    each class that a smoothed label has a part of, and of the mean."""
    w = OF_CLASS.reshape((1, -1) + (1,) * (log_p.ndim - 2))
    chosen = -(one_hot(t, log_p) * w * log_p).sum(axis=1)
    spread = -(w * log_p).mean(axis=1)
    return ((1 - smoothing) * chosen + smoothing * spread).sum() / OF_CLASS[t].sum()


class Loss:
    """`value` computes the loss from the scores before `activation`."""

    def __init__(self, name, options, value, activation=None, places=False,
                 scores=CLASSES):
        self.name, self.options, self.value = name, options.split(), value
        self.activation, self.places, self.count = activation, places, scores

    def arrays(self):
        random = np.random.default_rng(7)
        return (random.normal(size=(6, self.count)).astype(np.float32),
                random.normal(size=(self.count,)).astype(np.float32))

    def scores(self, x):
        w, b = (array.astype(np.float64) for array in self.arrays())
        z = x @ w + b
        return np.moveaxis(z, -1, 1) if self.places else z

    def save(self, path):
        w, b = self.arrays()
        nodes = [helper.make_node("MatMul", ["x", "w"], ["product"]),
                 helper.make_node("Add", ["product", "b"], ["scores"])]
        last, out = "scores", [ROWS, self.count]
        if self.places:
            nodes.append(helper.make_node("Transpose", [last], ["classes"],
                                          perm=[0, 2, 1]))
            last, out = "classes", [ROWS, CLASSES, PLACES]
        if self.activation:
            attributes = ({} if self.activation == "Sigmoid" else {"axis": 1})
            nodes.append(helper.make_node(self.activation, [last], ["result"],
                                          **attributes))
            last = "result"
        image = [ROWS, PLACES, 6] if self.places else [ROWS, 6]
        graph = helper.make_graph(
            nodes, self.name,
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, image)],
            [helper.make_tensor_value_info(last, TensorProto.FLOAT, out)],
            [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")])
        onnx.save(helper.make_model(
            graph, ir_version=8,
            opset_imports=[helper.make_opsetid("", 17)]), str(path))


def two_classes(z):
    """log p of both, and of two that no label has."""
    pair = log_softmax(np.concatenate([0 * z, z], axis=1))
    return np.concatenate([pair, 0 * pair], axis=1)


def mean_square(z, t):
    return ((z - t) ** 2).mean()


CASES = [
    Loss("cross-entropy-of-logits", "--loss=cross-entropy",
         lambda z, t: likelihood(log_softmax(z), t)),
    Loss("cross-entropy-after-softmax", "",
         lambda z, t: likelihood(log_softmax(z), t), "Softmax"),
    Loss("cross-entropy-after-log-softmax", "--loss=cross-entropy",
         lambda z, t: likelihood(log_softmax(z), t), "LogSoftmax"),
    Loss("cross-entropy-smoothed", "--loss=cross-entropy --label-smoothing=0.2",
         lambda z, t: likelihood(log_softmax(z), t, 0.2)),
    Loss("cross-entropy-of-places", "--loss=cross-entropy",
         lambda z, t: likelihood(log_softmax(z), t), places=True),
    Loss("nll", "--loss=nll", lambda z, t: likelihood(log_softmax(z), t),
         "LogSoftmax"),
    Loss("nll-of-places-smoothed", "--loss=nll --label-smoothing=0.1",
         lambda z, t: likelihood(log_softmax(z), t, 0.1), "LogSoftmax", True),
    Loss("cross-entropy-weighted", WEIGHTS,
         lambda z, t: weighted(log_softmax(z), t), "Softmax"),
    Loss("cross-entropy-of-places-weighted-and-smoothed",
         "--loss=cross-entropy --label-smoothing=0.3 " + WEIGHTS,
         lambda z, t: weighted(log_softmax(z), t, 0.3), places=True),
    Loss("nll-weighted", "--loss=nll " + WEIGHTS,
         lambda z, t: weighted(log_softmax(z), t), "LogSoftmax"),
    Loss("bce-weighted", "--loss=bce --targets=class --class-weights=0.5,3",
         lambda z, t: weighted(two_classes(z), t), "Sigmoid", scores=1),
    Loss("bce-logits-weighted",
         "--loss=bce-logits --targets=class --class-weights=0.5,3",
         lambda z, t: weighted(two_classes(z), t), scores=1),
    Loss("mse-of-values", "--loss=mse --targets=values", mean_square),
    Loss("mse-of-classes", "--loss=mse --targets=class",
         lambda z, t: mean_square(z, one_hot(t, z))),
    Loss("mse-of-places", "--loss=mse --targets=values", mean_square,
         places=True),
    Loss("l1-of-values", "--loss=l1 --targets=values",
         lambda z, t: np.abs(z - t).mean()),
    Loss("bce-of-values", "--loss=bce --targets=values",
         lambda z, t: binary(sigmoid(z), t), "Sigmoid"),
    Loss("bce-of-probabilities", "--loss=bce --targets=class",
         lambda z, t: binary(np.exp(log_softmax(z)), one_hot(t, z)), "Softmax"),
    Loss("bce-logits-of-values", "--loss=bce-logits --targets=values",
         lambda z, t: binary(sigmoid(z), t)),
    Loss("bce-logits-of-classes", "--loss=bce-logits --targets=class",
         lambda z, t: binary(sigmoid(z), one_hot(t, z))),
]


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True,
                          text=True, timeout=300, stdin=subprocess.DEVNULL)


def dumped(program, folder, *options):
    """What a program computes: tensors by name."""
    folder.mkdir(exist_ok=True)
    done = run(program, "gradcheck", f"--dump={folder}", *options)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    index = json.loads((folder / "index.json").read_text())
    return {row["tensor"]: np.load(folder / row["file"]) for row in index}


def check(mnistc, path, case, folder):
    """What is wrong with a loss, or nothing."""
    program = folder / f"{case.name}-app"
    case.save(path)
    built = run(mnistc, "gradcheck", path, "-o", program, *case.options)
    if built.returncode != 0:
        return built.stderr
    for valid in (ROWS, ROWS - 2):
        options = [f"--limit={valid}", f"--classes={max(case.count, 2)}"]
        done = run(program, "gradcheck", *options)
        if done.returncode != 0:
            return f"{valid} rows: {done.stderr}{done.stdout}"
        found = dumped(program, folder / f"{case.name}-{valid}", *options)
        expected = case.value(case.scores(found["x"])[:valid],
                              found["mn.labels"][:valid])
        if not np.isclose(found["mn.loss"], expected, rtol=1e-12, atol=0):
            return (f"{valid} rows: loss {float(found['mn.loss'])!r}, expected "
                    f"{float(expected)!r}")
    return ""
