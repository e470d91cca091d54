"""What the C interface refuses: a status and a reason for each misuse."""

import ctypes
import os

import numpy as np
from harness import expect
from libraries import CLASSES, FEATURES, Session, buffer, batches
from mnistc import Error, _native

RECIPE = ("--train", "--optimizer=sgd", "--lr=0.1", "--clip-value=1")


def refuses(code, part, function, *arguments):
    try:
        function(*arguments)
    except Error as error:
        expect(error.code == code and part in str(error),
               f"expected {code} '{part}', got {error.code} '{error}'")
    else:
        raise AssertionError(f"expected '{part}', got success")


def options(size=ctypes.sizeof(_native.TrainOptions), **values):
    return ctypes.byref(_native.TrainOptions(size, **values))


def test_wrong_training_calls(place):
    x, y = place.data()
    s = Session(place.library(*RECIPE))
    value, metrics, tensor = ctypes.c_double(), _native.Metrics(), _native.Tensor()
    first = "mn_train_start or mn_train_resume first"
    expect(s.train_batch() == -1 and first in s.library.why(), s.library.why())
    refuses(2, first, s.train, x[:4], y[:4])
    refuses(2, "init to be file, he", s.start, 1, 0, b"best")
    refuses(2, "one of 16, got 8", s.start, 1, 8)
    refuses(2, "a batch of 0 or more", s.start, 1, -1)
    refuses(2, "mn_train_options of 32 bytes, got 8", s.train_start, options(8))
    s.start()
    expect(s.train_batch() == 16, s.train_batch())
    bad = y.copy()
    bad[3] = CLASSES
    wide = np.zeros((17, FEATURES), np.float32)
    for code, part, function, *arguments in (
            (2, "1 to 16 rows, got 17", s.train, wide, np.zeros(17, np.int32)),
            (2, "1 to 16 rows, got 0", s.train, wide[:0], y[:0]),
            (2, "192 bytes for input 'x', got 96", s.train_step, 4, buffer(x[:2]), 1,
             buffer(y[:4]), None),
            (2, "16 bytes for target 'mn.labels', got 32", s.train, x[:4],
             y[:4].astype(np.int64)),
            (2, "1 input buffers, got 2", s.train_step, 4, buffer(x[:4]), 2, buffer(y[:4]), None),
            (2, "input buffers, got NULL", s.train_step, 4, None, 1, buffer(y[:4]), None),
            (2, "target buffers, got NULL", s.train_step, 4, buffer(x[:4]), 1, None, None),
            (2, "an input of the model ('x'), got 'z'", s.train_step, 4, buffer(x[:4], b"z"), 1,
             buffer(y[:4]), None),
            (2, "a target of the model ('mn.labels'), got 'z'", s.train_step, 4, buffer(x[:4]), 1,
             buffer(y[:4], b"z"), None),
            (2, "0 rows or more, got -1", s.train_step, -1, buffer(x[:4]), 1, buffer(y[:4]), None),
            (14, f"from 0 to {CLASSES - 1} in 'mn.labels', got {CLASSES} in element 3",
             s.train, x[:16], bad[:16]),
            (14, "in 'mn.labels', got 4", s.evaluate_on, x, bad),
            (2, "a number of the optimizer (lr, weight-decay, clip-value), got 'momentum'",
             s.train_set, b"momentum", 0.5),
            (2, "got 'LR'", s.train_get, b"LR", ctypes.byref(value)),
            (2, "the name of a number, got NULL", s.train_set, None, 1.0),
            (2, "'lr' to be 0 or more, got -1", s.train_set, b"lr", -1.0),
            (2, "'lr' to be 0 or more, got nan", s.train_set, b"lr", float("nan")),
            (2, "'clip-value' to be positive, got 0", s.train_set, b"clip-value", 0.0),
            (2, "a place for the number", s.train_get, b"lr", None),
            (2, "a place for the metrics", s.train_metrics, None),
            (2, "a tensor to fill in", s.train_target, None),
            (2, "a file to write, got none", s.save, b""),
            (14, "No such file or directory", s.save, b"/nowhere/at/all.onnx"),
            (2, "a folder to write to, got none", s.train_checkpoint, None),
            (14, "checkpoint.safetensors", s.train_resume, None, b"/nowhere"),
            (2, "compiled for a GPU", s.infer_on_device, 1, buffer(x[:1]), 1,
             buffer(np.zeros(CLASSES, np.float32)), 1, None),
            (2, "compiled for a GPU", s.train_step_on_device, 4, buffer(x[:4]), 1, buffer(y[:4]),
             None, None)):
        refuses(code, part, function, *arguments)
    # Nothing of it changed the training.
    fresh = Session(s.library).start()
    expect(s.digest() == fresh.digest(), "changed")
    for batch in batches(x, y, 16):
        expect(s.train(*batch) == fresh.train(*batch), "another loss")
    names = []
    while (name := s.train_number(len(names))) is not None:
        names.append(name.decode())
    expect(names == ["lr", "weight-decay", "clip-value"], names)
    s.train_target(ctypes.byref(tensor))
    expect((tensor.type, tensor.row_bytes, tensor.batched) == (2, 4, 1), tensor.type)
    s.close(), fresh.close()
    refuses(2, "closed or never opened", s.train, x[:4], y[:4])
    del metrics


def test_numbers_that_are_not_finite(place):
    x, y = place.data()
    path = os.fsencode(place.path("never.onnx"))
    with place.session(place.library("--train", "--optimizer=sgd", "--lr=1e38")) as s:
        s.start()
        try:
            losses = [s.train(*batch) for batch in batches(x, y, 16)]
            raise AssertionError(f"expected no finite loss, got {losses}")
        except Error as error:
            expect(error.code == 15 and "at step" in str(error), error)
        refuses(15, "finite weights", s.save, path)
        refuses(15, "finite weights", s.train_checkpoint, os.fsencode(place.path("never")))
        refuses(15, "a finite loss", s.metrics)
        expect(not place.path("never.onnx").exists(), "written")
        s.start()
        s.train(x[:16], y[:16])


def test_models_of_several_ranks(place):
    with place.session(place.library("--train", "--data-parallel")) as s:
        refuses(2, "compiled without '--data-parallel'", s.start)


def test_models_that_only_infer(place):
    with place.session(place.library()) as s:
        refuses(2, "a model compiled with --train, got one without", s.start)


def test_checkpoints_of_other_trainings(place):
    x, y = place.data()
    folder = os.fsencode(place.path("sgd-state"))
    with place.session(place.library(*RECIPE)) as s:
        s.start()
        s.train(x[:16], y[:16])
        s.train_checkpoint(folder)
    with place.session(place.library("--train", "--optimizer=adam")) as s:
        refuses(14, "as in the checkpoint", s.train_resume, None, folder)
    file = place.path("sgd-state") / "checkpoint.safetensors"
    data = bytearray(file.read_bytes())
    data[-5] ^= 1
    file.write_bytes(data)
    with place.session(place.library(*RECIPE)) as s:
        refuses(14, "checkpoint.safetensors", s.train_resume, None, folder)


def test_batches_that_must_be_full(place):
    """A model that normalizes by a batch's statistics."""
    import harness
    from onnx import helper
    w = np.random.default_rng(1).normal(size=(FEATURES, CLASSES)).astype(np.float32)
    ones = np.ones(CLASSES, np.float32)
    model = harness.save_model(
        place.path("norm.onnx"),
        [helper.make_node("MatMul", ["x", "w"], ["m"]),
         helper.make_node("BatchNormalization", ["m", "s", "b", "mean", "var"], ["y"])],
        [("x", ["n", FEATURES])], [("y", ["n", CLASSES])],
        [("w", w), ("s", ones), ("b", 0 * ones), ("mean", 0 * ones), ("var", ones)])
    x, y = place.data()
    path = place.output(".so", model, ("--target=cpu", "--train"))
    with place.session(_native.Library(str(path), "net_model")) as s:
        s.start()
        refuses(2, "expected 16 rows, since the model normalizes", s.train, x[:4], y[:4])
        s.train(x[:16], y[:16])
