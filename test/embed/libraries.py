"""Small models compiled into libraries, and sessions of them."""

import contextlib
import ctypes
import sys

import harness
import numpy as np
from harness import Skip, ok, run
from mnistc import _native
from onnx import helper

ROWS, FEATURES, CLASSES = 100, 12, 4


class Session:
    """One session of a library, with arrays for buffers."""

    def __init__(self, library, options=None):
        self.library, self.handle = library, _native.Handle()
        library.open(library.model, options, ctypes.byref(self.handle))

    def __getattr__(self, name):
        function = getattr(self.library, name)
        return lambda *rest: function(self.handle, *rest)

    def start(self, seed=1, batch=0, init=None):
        given = _native.TrainOptions(ctypes.sizeof(_native.TrainOptions), seed, batch, init)
        self.train_start(ctypes.byref(given))
        return self

    def train(self, x, y):
        """The loss of a step."""
        loss = ctypes.c_double()
        self.train_step(len(x), buffer(x), 1, buffer(y), ctypes.byref(loss))
        return loss.value

    def metrics(self):
        found = _native.Metrics()
        self.train_metrics(ctypes.byref(found))
        return found

    def evaluate_on(self, x, y):
        found = _native.Metrics()
        self.evaluate(len(x), buffer(x), 1, buffer(y), ctypes.byref(found))
        return found

    def digest(self):
        text = (ctypes.c_char * 17)()
        self.train_digest(text)
        return text.value.decode()

    def scores(self, x):
        y = np.zeros((len(x), CLASSES), np.float32)
        self.infer(len(x), buffer(x), 1, buffer(y), 1)
        return y


def buffer(array, name=None):
    return ctypes.byref(_native.Buffer(name, array.ctypes.data, array.nbytes))


def batches(x, y, size):
    return [(x[i:i + size], y[i:i + size]) for i in range(0, len(x), size)]


class Place(harness.Place):
    def __init__(self, folder, options):
        super().__init__(folder, options)
        self.build, self.python = options.build, sys.executable

    def data(self):
        """Rows whose class is that of the nearest of four points."""
        def make():
            random = np.random.default_rng(3)
            points = random.normal(size=(CLASSES, FEATURES))
            y = random.integers(0, CLASSES, ROWS).astype(np.int32)
            x = (points[y] + random.normal(size=(ROWS, FEATURES)) / 2).astype(np.float32)
            for name, array in (("x", x), ("y", y)):
                np.save(self.path(f"{name}.npy"), array)
            return x, y
        return self.once("data", make)

    def model(self, hidden=16, dropout=False):
        """Dense layers with random weights; none hidden where that is 0."""
        def make():
            random = np.random.default_rng(7)
            sizes = [FEATURES, *([hidden] if hidden else []), CLASSES]
            nodes, weights, last = [], [], "x"
            for i, (n, m) in enumerate(zip(sizes, sizes[1:])):
                weights += [(f"w{i}", random.normal(size=(n, m)).astype(np.float32) / 3),
                            (f"b{i}", np.zeros(m, np.float32))]
                end = "y" if i + 2 == len(sizes) else f"h{i}"
                nodes.append(helper.make_node("Gemm", [last, f"w{i}", f"b{i}"], [end]))
                if end != "y":
                    nodes.append(helper.make_node("Relu", [end], [f"r{i}"]))
                last = f"r{i}"
            return harness.save_model(
                self.path(f"net-{hidden}.onnx"), nodes, [("x", ["n", FEATURES])],
                [("y", ["n", CLASSES])], weights)
        return self.once(("model", hidden), make)

    def output(self, ending, model, options):
        def make():
            path = self.path(f"net-{len(self.made)}{ending}")
            ok(self.mnistc, model, "--name=net" if ending else "--quiet",
               "--batch=16", *options, "-o", path)
            return path
        return self.once((ending, str(model), options), make)

    def library(self, *options, hidden=16, target="cpu"):
        path = self.output(".so", self.model(hidden), (f"--target={target}", *options))
        return self.once(("loaded", path), lambda: _native.Library(str(path), "net_model"))

    def program(self, *options, hidden=16):
        return self.output("", self.model(hidden), ("--target=cpu", *options))

    @contextlib.contextmanager
    def session(self, library):
        opened = Session(library)
        try:
            yield opened
        finally:
            opened.close()

    def needs_nvrtc(self):
        done = self.once("nvrtc", lambda: run(self.mnistc, self.model(), "--batch=16", "-o",
                                              self.path("cuda")))
        if "expected NVRTC" in done.err:
            raise Skip("no NVRTC")
