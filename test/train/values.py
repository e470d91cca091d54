"""Targets that are values, yes or no, or probabilities' classes."""

import json

import numpy as np
from onnx import helper

from harness import expect, fails, ok, run, save_model

ROWS, FEATURES = 24, 5


def node(operator, inputs, output, **attributes):
    return helper.make_node(operator, inputs.split(), [output], **attributes)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def softplus(z):
    return np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))


class Data:
    """x and w of a linear model, its results, and targets near them."""

    def __init__(self, place, outputs):
        random = np.random.default_rng(11)
        self.folder = place.fresh("values")
        self.x = random.normal(size=(ROWS, FEATURES)).astype(np.float32)
        self.w = random.normal(size=(FEATURES, outputs)).astype(np.float32)
        self.z = self.x.astype(float) @ self.w

    def model(self, nodes, outputs, weights=()):
        return save_model(self.folder / "m.onnx",
                          [node("MatMul", "x w", "z"), *nodes],
                          [("x", ["N", FEATURES])], [("y", ["N", outputs])],
                          [("w", self.w), *weights])

    def save(self, targets):
        np.save(self.folder / "x.npy", self.x)
        np.save(self.folder / "y.npy", targets)
        return f"--data={self.folder / 'x.npy'},{self.folder / 'y.npy'}"

    def compiled(self, place, *flags, batch=7):
        program = self.folder / f"program-{len(list(self.folder.iterdir()))}"
        ok(place.mnistc, self.folder / "m.onnx", f"--batch={batch}", "-o", program,
           f"--target={place.target}", *flags)
        return program


def test_regression(place):
    """Errors of values, of a program that only infers and of one that trains."""
    for outputs in (1, 3):
        data = Data(place, outputs)
        data.model([node("Identity", "z", "y")], outputs)
        wanted = (data.z + np.linspace(-1, 1, ROWS)[:, None]).astype(np.float32)
        flag = data.save(wanted if outputs > 1 else wanted[:, 0])
        errors = data.z - wanted
        for flags in ((), ("--train", "--loss=mse", "--targets=values")):
            program = data.compiled(place, *flags)
            said = json.loads(ok(program, "eval", flag, "--json").out)
            np.testing.assert_allclose(
                [said["mse"], said["mae"], said["rows"]],
                [(errors ** 2).mean(), np.abs(errors).mean(), ROWS], rtol=1e-5)
            expect("mse " in ok(program, "eval", flag).out, "expected words")
        path = data.folder / "out.onnx"
        ok(program, "train", flag, "--epochs=40", "--lr=.05", f"--save={path}")
        said = json.loads(ok(program, "eval", flag, "--json").out)
        ok(place.mnistc, path, "--batch=7", "-o", data.folder / "again",
           f"--target={place.target}")
        again = json.loads(ok(data.folder / "again", "eval", flag,
                              "--json").out)
        best = np.linalg.lstsq(data.x.astype(float), wanted)[0]
        least = ((data.x @ best - wanted) ** 2).mean()
        expect(least <= again["mse"] < .5 * said["mse"] + least,
               f"{again} {said} {least}")


def test_messages_say_what_to_pass(place):
    data = Data(place, 1)
    path = data.model([node("Identity", "z", "y")], 1)
    fails(1, place.mnistc, path, "--train", "--batch=7", "--emit=plan",
          parts=["two scores or more", "output 'y' of shape [7, 1]",
                 "--loss=mse --targets=values"])
    fails(1, place.mnistc, path, "--train", "--batch=7", "--emit=plan",
          "--loss=nll", "--targets=values", parts=["--targets=class"])
    data = Data(place, 3)
    data.model([node("Identity", "z", "y")], 3)
    program = data.compiled(place, "--train")
    values = data.save(data.z.astype(np.float32))
    fails(14, program, "train", values,
          parts=["expected classes", "--loss=mse --targets=values"])
    wide = data.save(np.zeros((ROWS, 2), np.float32))
    fails(14, program, "eval", wide, parts=["expected 3 targets per row"])
    fails(14, program, "eval", values, "--targets=class",
          parts=["expected classes"])
    fails(2, program, "eval", values, "--targets=class,values",
          parts=["'--targets'"])


def test_integers_are_values_too(place):
    data = Data(place, 1)
    data.model([node("Identity", "z", "y")], 1)
    program = data.compiled(place, "--train", "--loss=mse")
    flag = data.save(np.arange(ROWS))
    ok(program, "train", flag, "--epochs=1")
    said = json.loads(ok(program, "eval", flag, "--json",
                         "--targets=values").out)
    np.testing.assert_allclose(
        said["mse"], ((data.z[:, 0] - np.arange(ROWS)) ** 2).mean(), rtol=1e-5)


def test_yes_or_no(place):
    """One score: a logit, or the probability that a sigmoid makes."""
    for last in ("Identity", "Sigmoid"):
        data = Data(place, 1)
        data.model([node(last, "z", "y")], 1)
        z, labels = data.z[:, 0], np.arange(ROWS) % 2
        program = data.compiled(place)
        said = json.loads(ok(program, "eval", data.save(labels), "--json").out)
        np.testing.assert_allclose(
            [said["loss"], said["correct"]],
            [(softplus(z) - labels * z).mean(), ((z > 0) == labels).sum()],
            rtol=1e-5)


def epoch_at_start(program, flag):
    """Of steps that learn nothing."""
    out = ok(program, "train", flag, "--lr=0", "--epochs=1",
             f"--log={program}.log").out
    events = [json.loads(line) for line in open(f"{program}.log")]
    return out, next(e for e in events if e["event"] == "epoch")


def loss_at_start(program, flag):
    out, epoch = epoch_at_start(program, flag)
    return out, epoch["train_loss"]


def test_yes_or_no_without_sigmoid(place):
    """A probability that no sigmoid makes is yes from a half on."""
    data = Data(place, 1)
    data.model([node("Sigmoid", "z", "s"), node("Sub", "one s", "y")], 1,
               [("one", np.ones(1, np.float32))])
    labels = np.arange(ROWS) % 2
    _, epoch = epoch_at_start(data.compiled(place, "--train", "--loss=bce"),
                              data.save(labels))
    z = -data.z[:, 0]
    np.testing.assert_allclose(
        [epoch["train_loss"], epoch["train_accuracy"]],
        [(softplus(z) - labels * z).mean(), ((z > 0) == labels).mean()],
        rtol=1e-4)


def test_infinite_target(place):
    """The step where the loss is infinite is named, not the next one."""
    data = Data(place, 1)
    data.model([node("Identity", "z", "y")], 1)
    targets = data.z.astype(np.float32)
    targets[8] = np.inf  # of the second batch of 7
    fails(15, data.compiled(place, "--train", "--loss=mse"), "train",
          data.save(targets), "--no-shuffle", "--epochs=1",
          parts=["NaN or infinity at step 2 (epoch 1)"])


def test_probabilities_without_softmax(place):
    """1 - s and s concatenated, in either order; e over its own sum."""
    one = [("one", np.ones(1, np.float32))]
    for order in ("n s", "s n"):
        data = Data(place, 1)
        data.model([node("Sigmoid", "z", "s"), node("Sub", "one s", "n"),
                    node("Concat", order, "y", axis=1)], 2, one)
        labels = np.arange(ROWS) % 2
        z = data.z[:, 0] * (1 if order == "n s" else -1)
        out, found = loss_at_start(data.compiled(place, "--train"),
                                   data.save(labels))
        expect("on the output as probabilities" in out, out)
        np.testing.assert_allclose(found, (softplus(z) - labels * z).mean(),
                                   rtol=1e-4)
    data = Data(place, 3)
    data.model([node("Exp", "z", "e"),
                node("ReduceSum", "e axes", "sum", keepdims=1),
                node("Div", "e sum", "y")], 3, [("axes", np.array([1]))])
    labels = np.arange(ROWS) % 3
    _, found = loss_at_start(data.compiled(place, "--train"), data.save(labels))
    p = np.exp(data.z) / np.exp(data.z).sum(1, keepdims=True)
    np.testing.assert_allclose(found, -np.log(p[np.arange(ROWS), labels]).mean(),
                               rtol=1e-4)


def test_what_is_assumed_is_said(place):
    data = Data(place, 3)
    path = data.model([node("Tanh", "z", "y")], 3)
    said = ok(place.mnistc, path, "--train", "--batch=7", "--emit=plan").err
    expect(said.count("warning: ") == 1 and "as logits" in said, said)
    data.model([node("Sigmoid", "z", "y")], 3)
    flag = data.save(np.arange(ROWS) % 3)
    program = data.compiled(place)
    expect("--scores=" in ok(program, "eval", flag).err, "expected a warning")
    rows = data.folder / "x.npy"
    expect("--scores=" in ok(program, "infer", rows).err, "expected a warning")
    for command, what in (("eval", flag), ("infer", rows)):
        done = ok(program, command, what, "--scores=probabilities", "--json")
        expect(not done.err, done)


def test_a_guess_that_later_rows_contradict(place):
    data = Data(place, 1)
    data.model([node("Identity", "z", "y")], 1)
    data.x = data.x[np.argsort((data.z[:, 0] < 0) | (data.z[:, 0] > 1))]
    flag, program = data.save(np.arange(ROWS) % 2), data.compiled(place, batch=1)
    done = run(program, "eval", flag)
    expect(done.code == 2 and "error: expected '--scores=': " in done.err, done)
    ok(program, "eval", flag, "--scores=logits")


def test_a_row_of_nan_contradicts_no_guess(place):
    data = Data(place, 3)
    data.model([node("Softmax", "z", "y", axis=1)], 3)
    data.x[-1, 0] = np.nan
    done = ok(data.compiled(place, batch=1), "eval",
              data.save(np.arange(ROWS) % 3), "--json")
    said = json.loads(done.out)
    expect(said["scores"] == "probabilities" and said["loss"] == "nan", done)


def test_dropout_in_training_mode(place):
    data = Data(place, 3)
    weights = [("ratio", np.array(.5, np.float32)), ("on", np.array(True))]
    path = data.model([node("Dropout", "z ratio on", "y")], 3, weights)
    for flags, warned in (((), True), (("--train",), False)):
        said = ok(place.mnistc, path, "--batch=7", "--emit=plan", *flags).err
        expect(("keeps every element" in said) == warned, said)


def test_batch_norm_in_training_mode(place):
    data = Data(place, 3)
    weights = [(name, np.ones(3, np.float32)) for name in "s b m v".split()]
    path = data.model([node("BatchNormalization", "z s b m v", "y",
                            training_mode=1)], 3, weights)
    for flags, warned in (((), True), (("--train",), False)):
        said = ok(place.mnistc, path, "--batch=7", "--emit=plan", *flags).err
        expect(("takes mean and variance from the batch" in said) == warned, said)


def test_the_batch_that_is_taken(place):
    data = Data(place, 3)
    path = data.model([node("Identity", "z", "y")], 3)
    done = ok(place.mnistc, path, "--train", "--emit=plan")
    expect("warning: " in done.err and "64 is used" in done.err and
           "@train_64" in done.out, done.err)
    done = ok(place.mnistc, path, "--train", "--emit=plan", "--batch=3")
    expect(not done.err and "@train_3" in done.out, done.err)


def test_what_train_would_refuse(place):
    folder = place.fresh("refused")
    path = save_model(folder / "m.onnx", [
        node("MatMul", "x w", "z"), node("Add", "z b", "y")],
        [("x", ["N", 5]), ("b", ["N", 3])], [("y", ["N", 3])],
        [("w", np.ones((5, 3), np.float32))])
    fails(1, place.mnistc, path, "--train", "--batch=7", "--emit=plan",
          parts=["one input", "'x', 'b'", "--bind=NAME=VALUE"])
