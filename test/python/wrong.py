"""What goes wrong is an exception, with the exit code and mnistc's words."""

import os
import warnings

import harness
import mnistc
import numpy as np
from harness import expect
from onnx import helper


def raises(kind, code, part, call):
    try:
        call()
    except mnistc.Error as error:
        expect(type(error) is kind and error.code == code and part in str(error),
               f"expected {kind.__name__} {code} '{part}', got {error!r} {error.code}")
    else:
        raise AssertionError(f"expected {kind.__name__}, got success")


def compiled(model, **options):
    return lambda: mnistc.compile(model, **{"target": "cpu", "batch": 16, **options})


def test_what_cannot_be_compiled(place):
    model = place.model()
    unknown = harness.save_model(
        place.path("unknown.onnx"), [helper.make_node("NonZero", ["x"], ["y"])],
        [("x", [3])], [("y", [1, 3])])
    for kind, code, part, call in (
            (mnistc.ModelError, 1, "", compiled(b"no model")),
            (mnistc.ModelError, 1, "nowhere", compiled("/nowhere.onnx")),
            (mnistc.UsageError, 2, "target", compiled(model, target="tpu")),
            (mnistc.UsageError, 2, "no-such", compiled(model, no_such=True)),
            (mnistc.UsageError, 2, "options of the program, got emit", compiled(model, emit="plan")),
            (mnistc.UsageError, 2, "a number or a list for layout", compiled(model, layout=object())),
            (mnistc.UsageError, 2, "ends in .so", compiled(model, output=place.path("a.out"))),
            (mnistc.UnsupportedError, 3, "NonZero", compiled(unknown, batch=None)),
            (mnistc.ToolchainError, 4, "cannot write", compiled(model, output="/nowhere/libx.so")),
            (mnistc.LibraryError, 12, "that can be loaded", lambda: mnistc.load("/nowhere.so"))):
        raises(kind, code, part, call)
    os.environ["CXX"] = "no-such-compiler"
    try:
        raises(mnistc.ToolchainError, 4, "expected a C++ compiler", compiled(model))
    finally:
        del os.environ["CXX"]


def test_arrays_that_do_not_fit(place):
    x, _ = place.data()
    program = mnistc.compile(place.model(), target="cpu", batch=16)
    for part, call in (
            ("shape [rows, 12] for 'x', got [100, 6]", lambda: program(x[:, :6])),
            ("shape [rows, 12] for 'x', got [12]", lambda: program(x[0])),
            ("float32 for 'x', got complex64", lambda: program(x * 1j)),
            ("float32 for 'x', got <U1", lambda: program([["a"] * 12])),
            ("inputs x, got z", lambda: program(z=x)),
            ("1 inputs, got 2", lambda: program(x, x)),
            ("by position or by name, got 0 and 0", lambda: program()),
            ("outputs y, got z", lambda: program(x, out={"z": x})),
            ("a writable, contiguous array of float32",
             lambda: program(x, out={"y": np.empty((100, 4))})),
            ("shape [100, 4] for 'y', got [99, 4]",
             lambda: program(x, out={"y": np.empty((99, 4), np.float32)})),
            ("compiled with --train", program.start)):
        raises(mnistc.UsageError, 2, part, call)
    program.close()
    program.close()
    raises(mnistc.UsageError, 2, "a session, got NULL", lambda: program(x))


def test_training_that_goes_wrong(place):
    x, y = place.data()
    program = mnistc.compile(place.model(), target="cpu", batch=16, train={"lr": 0.1})
    for kind, code, part, call in (
            (mnistc.UsageError, 2, "as many targets as rows, got 3 and 100",
             lambda: program.train(x, y[:3])),
            (mnistc.UsageError, 2, "int32 for 'mn.labels', got float64",
             lambda: program.train(x, y * 1.5)),
            (mnistc.UsageError, 2, "numbers that int32 has",
             lambda: program.train(x, y.astype(np.int64) + 2**40)),
            (mnistc.DataError, 14, "from 0 to 3 in 'mn.labels', got 4",
             lambda: program.train(x, y * 0 + 4)),
            (mnistc.UsageError, 2, "1 to 16 rows, got 100", lambda: program.step(x, y)),
            (mnistc.UsageError, 2, "got 'beta1'",
             lambda: program.numbers.__setitem__("beta1", 0.5)),
            (mnistc.DataError, 14, "expected", lambda: program.train_on("/nowhere")),
            (mnistc.DataError, 14, "/nowhere", lambda: program.save("/nowhere/x.onnx"))):
        raises(kind, code, part, call)
    program.start()
    program.numbers["lr"] = 1e38
    raises(mnistc.NumericError, 15, "at step", lambda: program.train(x, y, epochs=3))


def test_warnings_are_pythons(place):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mnistc.compile(place.model(), target="cpu", train=True)
    found = [w for w in caught if w.category is mnistc.CompileWarning]
    expect(len(found) == 1 and "there is no --batch" in str(found[0].message), caught)
    expect(found[0].filename == __file__, found[0].filename)
