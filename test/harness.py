"""What the tests of compiled programs share: running, checking, making files,
and the loop over the tests."""

import argparse
import importlib
import inspect
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import traceback

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIMIT_S = 300
JOBS = int(os.environ.get("MNISTC_JOBS") or os.cpu_count())


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


def run(*command, env=None, cwd=None, stdin=subprocess.DEVNULL):
    return Done(command, subprocess.run(
        [str(part) for part in command], capture_output=True, text=True,
        errors="replace", timeout=LIMIT_S, env=env, cwd=cwd,
        stdin=stdin))


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
    """inputs, outputs: (name, shape), of floats unless (name, shape, type) says
    otherwise; weights: (name, array)."""
    def info(what):
        name, shape, element = (*what, TensorProto.FLOAT)[:3]
        return helper.make_tensor_value_info(name, element, shape)

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

    def __init__(self, folder, options):
        self.folder, self.mnistc = folder, options.mnistc
        self.made = {}

    def path(self, name):
        return self.folder / name

    def close(self):
        """Ends what was started."""

    def once(self, key, make):
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]


def parser(description):
    """With the options of every runner."""
    made = argparse.ArgumentParser(description=description.splitlines()[0])
    made.add_argument("--mnistc", type=pathlib.Path,
                      default=ROOT / "build/bin/mnistc")
    made.add_argument("--only", default="")
    return made


def tests(modules, only):
    """The functions whose name begins with `test_`, in the order of the text."""
    for name in modules:
        module = importlib.import_module(name)
        defined = re.findall(r"^def (test_\w+)", inspect.getsource(module), re.M)
        twice = {key for key in defined if defined.count(key) > 1}
        if twice:  # the first one would never run
            sys.exit(f"run.py: error: expected one {min(twice)} in {name}.py, got two")
        for key, function in list(vars(module).items()):
            if key.startswith("test_") and only in f"{name}.{key}":
                yield f"{name}.{key}", function


def outcome(function, place):
    try:
        function(place)
        return "passed", ""
    except Skip as skip:
        return "skipped", f": {skip}"
    except AssertionError as error:
        return "failed", f": {error}"
    except Exception:  # a broken test is a failed test
        return "failed", ": " + traceback.format_exc()


def run_tests(modules, make_place, options):
    """Prints a line for each test, and the counts. Returns whether one failed."""
    options.mnistc = options.mnistc.resolve()
    if not options.mnistc.exists():
        sys.exit(f"run.py: error: no '{options.mnistc}'")
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with tempfile.TemporaryDirectory(prefix="mnistc-test") as folder:
        place = make_place(pathlib.Path(folder), options)
        try:
            for name, function in tests(modules, options.only):
                begin = time.monotonic()
                state, why = outcome(function, place)
                counts[state] += 1
                print(f"{state:7} {time.monotonic() - begin:6.1f} s  {name}{why}",
                      flush=True)
        finally:
            place.close()
    print(", ".join(f"{count} {state}" for state, count in counts.items()))
    return counts["failed"] > 0
