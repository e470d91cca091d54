"""Classes that count more than others, against NumPy."""

import json

import numpy as np
import onnx
from onnx import helper, numpy_helper

from harness import expect, fails, ok, save_model

ROWS, BATCH, FEATURES, CLASSES = 10, 4, 3, 3
LABELS = np.array([0, 1, 0, 0, 2, 0, 1, 0, 0, 0])  # the last batch has class 0
LIST = (0.5, 2.0, 4.0)


def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def weights():
    return np.random.default_rng(1).normal(size=(FEATURES, CLASSES)).astype(np.float32)


def save_data(place):
    folder = place.fresh("rows")
    x = np.random.default_rng(2).normal(size=(ROWS, FEATURES)).astype(np.float32)
    for part in ("train", "test"):
        np.save(folder / f"{part}_x.npy", x)
        np.save(folder / f"{part}_y.npy", LABELS)
    return folder, x


def program(place, *flags):
    def make():
        model = save_model(
            place.path(f"softmax-{len(place.made)}.onnx"),
            [helper.make_node("MatMul", ["x", "w"], ["y"])],
            [("x", ["N", FEATURES])], [("y", ["N", CLASSES])], [("w", weights())])
        path = model.with_suffix("")
        ok(place.mnistc, model, "--train", "--lr=0.5", f"--batch={BATCH}", *flags,
           f"--target={place.target}", "-o", path)
        return path
    return place.once(("weighing", flags), make)


def expected(x, of_class, epochs):
    """Weights, the mean loss of each epoch's rows, and the loss of a test."""
    w, losses = weights().astype(float), []
    for _ in range(epochs):
        total = 0
        for first in range(0, ROWS, BATCH):
            rows, labels = x[first:first + BATCH], LABELS[first:first + BATCH]
            p, each = softmax(rows @ w), of_class[labels]
            cost = -np.log(p[np.arange(len(rows)), labels])
            total += (each * cost).sum() / each.sum() * len(rows)
            error = (p - np.eye(CLASSES)[labels]) * each[:, None] / each.sum()
            w = w - 0.5 * rows.T @ error
        losses.append(total / ROWS)
    tested = -np.log(softmax(x @ w)[np.arange(ROWS), LABELS]).mean()
    return w, losses, tested


def check(place, path, folder, x, of_class, *flags):
    saved, log = folder / "out.onnx", folder / "log"
    done = ok(path, "train", f"--data={folder}", "--no-shuffle", "--epochs=2",
              f"--save={saved}", "--json", *flags)
    w, losses, tested = expected(x, np.array(of_class), 2)
    found = numpy_helper.to_array(onnx.load(saved).graph.initializer[0])
    np.testing.assert_allclose(found, w, rtol=2e-5, atol=2e-6, err_msg=str(flags))
    summary = json.loads(done.out)
    np.testing.assert_allclose(
        [summary["train_loss"], summary["test_loss"]], [losses[-1], tested], rtol=1e-5)
    return done


def test_weighted_means(place):
    """Of batches that are not full too; a test counts rows as they are."""
    folder, x = save_data(place)
    plain = program(place, "--class-weights")
    given = ",".join(map(str, LIST))
    done = check(place, plain, folder, x, LIST, f"--class-weights={given}")
    expect("weighted by class" in done.err and "class weights 0.5, 2, 4" in done.err, done)
    check(place, plain, folder, x, (1, 1, 1))
    check(place, program(place, f"--class-weights={given}"), folder, x, LIST)
    # scikit-learn: n_samples / (n_classes * np.bincount(y))
    balanced = ROWS / (CLASSES * np.bincount(LABELS))
    check(place, plain, folder, x, balanced, "--class-weights=balanced")


def test_batches_that_weigh_nothing(place):
    """The last batch has only rows of class 0: nothing is learned from it."""
    folder, x = save_data(place)
    path = program(place, "--class-weights")
    saved = folder / "out.onnx"
    digests = []
    for flags in ((), ("--drop-last",)):
        done = ok(path, "train", f"--data={folder}", "--no-shuffle", "--epochs=1",
                  "--class-weights=0,1,1", *flags, f"--save={saved}")
        digests.append(done.out.split("digest ")[-1][:16])
    expect(digests[0] == digests[1], digests)


def test_one_score_for_two_classes(place):
    """As of a softmax of two classes."""
    folder, x = save_data(place)
    labels = (LABELS > 0).astype(np.int64)
    np.save(folder / "train_y.npy", labels)
    w, each = weights()[:, :1], np.where(labels == 1, 3, 0.5)
    model = save_model(folder / "m.onnx", [helper.make_node("MatMul", ["x", "w"], ["z"]),
                                           helper.make_node("Sigmoid", ["z"], ["y"])],
                       [("x", ["N", FEATURES])], [("y", ["N", 1])], [("w", w)])
    ok(place.mnistc, model, "--train", "--lr=0.5", f"--batch={ROWS}", "--class-weights",
       f"--target={place.target}", "-o", folder / "program")
    data = f"{folder / 'train_x.npy'},{folder / 'train_y.npy'}"
    ok(folder / "program", "train", f"--data={data}", "--epochs=1",
       "--class-weights=0.5,3", f"--save={folder / 'out.onnx'}")
    p = 1 / (1 + np.exp(-(x @ w.astype(float))[:, 0]))
    step = x.T @ (each * (p - labels)) / each.sum()
    found = numpy_helper.to_array(onnx.load(folder / "out.onnx").graph.initializer[0])
    np.testing.assert_allclose(found[:, 0], w[:, 0] - 0.5 * step, rtol=2e-5, atol=2e-6)


def test_resumed_runs_keep_weights(place):
    folder, _ = save_data(place)
    path = program(place, "--class-weights")
    flags = (f"--data={folder}", "--class-weights=balanced")
    whole = ok(path, "train", *flags, "--epochs=4")
    state = f"--checkpoint={folder / 'state'}"
    ok(path, "train", *flags, "--epochs=2", state)
    done = ok(path, "train", "--resume", state, "--epochs=4")
    expect("--class-weights=balanced" in done.out, done)
    expect(done.out.split("digest ")[-1][:16] == whole.out.split("digest ")[-1][:16], done)
    other = ok(path, "train", "--resume", state, "--epochs=5", "--class-weights=1,1,2")
    expect("overridden" in other.out and "(balanced in the checkpoint)" in other.out, other)


def test_streamed_data(place):
    folder, _ = save_data(place)
    path = program(place, "--class-weights=1,2,3")
    digests = [ok(path, "train", f"--data={folder}", *flags).out.split("digest ")[-1][:16]
               for flags in ((), ("--device-data=0",), ("--check-nan",))]
    expect(len(set(digests)) == 1, digests)


def test_what_is_refused(place):
    folder, x = save_data(place)
    path, data = program(place, "--class-weights"), f"--data={folder}"
    for text in ("1,2", "1,2,3,4", "1,2,x", "1,2,", "0,0,0", "1,-1,1", "1,nan,1", "1,1e99,1"):
        fails(2, path, "train", data, f"--class-weights={text}",
              parts=["to be balanced, or 3 numbers", f"got '{text}'"])
    fails(2, program(place), "train", data, "--class-weights=balanced",
          parts=["compiled with '--class-weights'"])
    np.save(folder / "train_y.npy", np.minimum(LABELS, 1))
    fails(14, path, "train", data, "--class-weights=balanced",
          parts=["none of class 2"])
    for more, part in (("--loss=mse", "mse of classes"),
                       ("--loss=bce-logits", "bce-logits of classes"),
                       ("--targets=values", "values")):
        fails(1, place.mnistc, path.with_suffix(".onnx"), "--train", "--batch=4",
              "--class-weights", more, "-o", folder / "none", parts=[part])
    for flag, code, part in (("balanced", 2, "the program takes it"), ("1,-1,1", 2, "'-1'"),
                             ("0", 2, "above 0"), ("1,2", 1, "expected 3 class weights")):
        fails(code, place.mnistc, path.with_suffix(".onnx"), "--train", "--batch=4",
              f"--class-weights={flag}", "-o", folder / "none", parts=[part])
