"""What the tests of compiled programs share: running, checking, making files."""

import pathlib
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT_S = 300


class Skip(Exception):
    """What a test needs is not here."""


class Done:
    """A command that ended."""

    def __init__(self, command, done):
        self.command = [str(part) for part in command]
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def __str__(self):
        return (f"{' '.join(self.command)[:500]}\n  exit code {self.code}\n"
                f"  stdout: {self.out[-500:]}\n  stderr: {self.err[-2000:]}")


def run(*command, env=None, cwd=None):
    return Done(command, subprocess.run(
        [str(part) for part in command], capture_output=True, text=True,
        errors="replace", timeout=LIMIT_S, env=env, cwd=cwd,
        stdin=subprocess.DEVNULL))


def expect(condition, message):
    if not condition:
        raise AssertionError(str(message))


def ok(*command, **options):
    done = run(*command, **options)
    expect(done.code == 0, f"expected success: {done}")
    return done


def fails(code, *parts_and_command, parts=(), lines=1, **options):
    """The command ends with `code` and says so in `lines` lines (None: any
    number) that hold all of `parts`."""
    done = run(*parts_and_command, **options)
    expect(done.code == code, f"expected exit code {code}: {done}")
    said = done.err.splitlines()
    expect(lines is None or len(said) == lines, f"expected {lines} line: {done}")
    for line in said:
        expect(line.startswith("error: "), f"expected 'error: ...': {done}")
        # Names such as NVRTC and INPUT stay as they are.
        word = line.split()[1]
        expect(not word[0].isupper() or word.isupper(),
               f"expected lower case: {done}")
        expect(not line.endswith("."), f"expected no full stop: {done}")
    for part in parts:
        expect(part in done.err, f"expected '{part}': {done}")
    return done


def save_tensor(path, array, name=""):
    pathlib.Path(path).write_bytes(
        numpy_helper.from_array(array, name).SerializeToString())


def save_idx(path, array):
    header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    pathlib.Path(path).write_bytes(header + array.astype(np.uint8).tobytes())


def save_model(path, nodes, inputs, outputs, weights=()):
    """inputs, outputs: (name, shape); weights: (name, array)."""
    def info(pair):
        return helper.make_tensor_value_info(pair[0], TensorProto.FLOAT, pair[1])

    graph = helper.make_graph(
        nodes, "graph", [info(pair) for pair in inputs],
        [info(pair) for pair in outputs],
        [numpy_helper.from_array(array, name) for name, array in weights])
    model = helper.make_model(graph, ir_version=8,
                              opset_imports=[helper.make_opsetid("", 17)])
    onnx.save(model, str(path))
    return path


def reference(model, inputs):
    """onnxruntime's answer, one row at a time."""
    try:
        import onnxruntime
    except ImportError as error:
        raise Skip("no onnxruntime") from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(model), options,
                                           providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return np.concatenate([session.run(None, {name: inputs[i:i + 1]})[0]
                           for i in range(len(inputs))])


class Place:
    """The folder of a run, with what several tests need, made once."""

    def __init__(self, folder, mnistc, shared):
        self.folder, self.mnistc, self.shared = folder, mnistc, shared
        self.made = {}

    def path(self, name):
        return self.folder / name

    def once(self, key, make):
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]

    def model(self, name):
        def make():
            path = self.path(f"{name}.onnx")
            ok(self.python, ROOT / "models/make.py", name, path)
            return path
        return self.once(("model", name), make)

    def program(self, name, *options):
        options = options or ("--target=cpu", "--batch=1,8")

        def make():
            path = self.path(f"program-{len(self.made)}")
            ok(self.mnistc, self.model(name), "-o", path, *options)
            return path
        return self.once(("program", name, options), make)

    def needs_nvrtc(self):
        def make():
            return run(self.mnistc, self.model("mxnet-mlp"), "-o",
                       self.path("mlp-cuda"))
        done = self.once("nvrtc", make)
        if "expected NVRTC" in done.err:
            raise Skip("no NVRTC")
        expect(done.code == 0, done)

    def data(self):
        """Forty images in MNIST's files, and as an array."""
        def make():
            folder = self.path("digits")
            ok(self.python, ROOT / "models/digits.py", folder, "--train=20",
               "--test=40")
            return folder
        return self.once("data", make)
