"""Runs mnistc: its options as Python values, its errors as exceptions."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import warnings
import weakref
from typing import Any, Callable, Dict, List, Mapping, Optional, Protocol, Sequence, Union

from mnistc_tree import binary

from ._native import Library
from .errors import ToolchainError, UsageError, error_of
from .program import Program
from .reports import Explanation, decoded

Value = Union[str, int, float, bool, None, Sequence[Union[str, int, float]]]


class _Proto(Protocol):
    def SerializeToString(self) -> bytes: ...


# A path, the bytes of a file, or an onnx.ModelProto.
Model = Union[str, "os.PathLike[str]", bytes, _Proto]
Train = Union[bool, Mapping[str, Value]]


class CompileWarning(UserWarning):
    """What mnistc warns of when it compiles."""


def flags(options: Mapping[str, Value]) -> List[str]:
    """`{"clip_norm": 1, "fuse": False}`: `--clip-norm=1`. False and None are
    options that are not given, True is one without a value."""
    given = []
    for name, value in options.items():
        flag = ("-" if name in ("O", "v") else "--") + name.replace("_", "-")
        if value is True:
            given.append(flag)
        elif isinstance(value, (str, int, float)) and value is not False:
            given.append(f"{flag}={value}")
        elif isinstance(value, Sequence):
            given.append(f"{flag}={','.join(map(str, value))}")
        elif value is not None and value is not False:
            raise UsageError(
                f"expected a string, a number or a list for {name}, got {type(value).__name__}", 2)
    return given


def all_flags(target: str, batch: Value, train: Train, options: Mapping[str, Value]) -> List[str]:
    reserved = {"o", "emit", "name", "explain", "json", "quiet"} & set(options)
    if reserved:
        raise UsageError(f"expected options of the program, got {min(reserved)}", 2)
    given = flags({"target": target, "batch": batch, "train": bool(train)})
    return given + flags({**(train if isinstance(train, Mapping) else {}), **options})


def run(arguments: Sequence[str]) -> str:
    """What mnistc or a program prints; what it says is an exception or warnings."""
    done = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace")
    check(done.returncode, done.stderr)
    for line in done.stderr.splitlines():
        if line.startswith("warning: "):
            warnings.warn(line[len("warning: "):], CompileWarning, stacklevel=3)
    return done.stdout


def check(code: int, stderr: str) -> None:
    if code == 0:
        return
    said = [line for line in stderr.splitlines() if line]
    problems = [line[len("error: "):] for line in said if line.startswith("error: ")]
    raise error_of(code, "\n".join(problems or said[-1:] or [f"ended with {code}"]))


def watch(arguments: Sequence[str], look: Callable[[Dict[str, Any]], bool]) -> None:
    """Runs a program whose standard output is JSON, a line an event. `look` ends it
    by True, after it has saved."""
    stopped = False
    with tempfile.TemporaryFile("w+") as said, subprocess.Popen(
            arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said,
            text=True) as running:
        assert running.stdout is not None
        try:
            for line in running.stdout:
                if look(json.loads(line)) and not stopped:
                    stopped = True
                    running.send_signal(signal.SIGINT)
        except BaseException:
            running.kill()
            raise
        code = running.wait()
        said.seek(0)
        check(0 if stopped and code == 128 + signal.SIGINT else code, said.read())


def compiler() -> str:
    found = binary()
    if not found:
        raise ToolchainError("expected mnistc in the package or on PATH, got none", 4)
    return found


class Folder:
    """A folder that lives as long as this."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="mnistc")
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


class Source:
    """A model's file: the caller's, or one that lives as long as this."""

    def __init__(self, model: Model) -> None:
        self.folder: Optional[Folder] = None
        if isinstance(model, (str, os.PathLike)):
            self.path = os.fspath(model)
            return
        data = model if isinstance(model, bytes) else model.SerializeToString()
        self.folder = Folder()
        self.path = os.path.join(self.folder.path, "model.onnx")
        with open(self.path, "wb") as file:
            file.write(data)


def compile(model: Model, *, target: str = "cuda", batch: Value = None, train: Train = False,
            output: Optional[Union[str, "os.PathLike[str]"]] = None, device: int = 0,
            threads: int = 0, **options: Value) -> Program:
    """Compiles a model and opens it.

    train: True, or the options of training: {"optimizer": "adam", "lr": 0.001}.
    output: keeps the library there (libNAME.so), for `load` and for C; without it, it
    is gone when the Program is.
    device, threads: where it runs: the number of a GPU; threads of a CPU, 0: all.
    options: those of `mnistc --help`, with _ for -: precision="tf32".
    """
    given = all_flags(target, batch, train, options)
    source = Source(model)
    folder = Folder()
    path = os.fspath(output) if output else os.path.join(folder.path, "libmodel.so")
    if not path.endswith(".so"):
        raise UsageError(f"expected the name of a library that ends in .so, got '{path}'", 2)
    named = [] if output else ["--name=model"]
    run([compiler(), source.path, *given, "--emit=library", "--quiet", *named, "-o", path])

    def profile(program: str) -> None:
        run([compiler(), source.path, *given, "--quiet", "-o", program])

    return Program(Library(path, function_of(path)), device=device, threads=threads,
                   program=profile, folder=folder)


def explain(model: Model, *, target: str = "cuda", batch: Value = None, train: Train = False,
            **options: Value) -> Explanation:
    """What becomes of each node of a model, and why."""
    given = all_flags(target, batch, train, options)
    source = Source(model)
    text = run([compiler(), source.path, *given, "--explain=json"])
    found: Dict[str, Any] = json.loads(text)
    return decoded(Explanation, found)


def function_of(path: str) -> str:
    """What the header of a library declares."""
    stem = os.path.splitext(os.path.basename(path))[0]
    if len(stem) > 3 and stem.startswith("lib"):
        stem = stem[3:]
    name = re.sub(r"[^A-Za-z0-9_]", "_", stem)
    return ("_" if name[:1].isdigit() else "") + name + "_model"


def load(path: Union[str, "os.PathLike[str]"], *, name: Optional[str] = None, device: int = 0,
         threads: int = 0) -> Program:
    """Opens a library that was compiled before. name: as `--name` said."""
    path = os.fspath(path)
    function = f"{name}_model" if name else function_of(path)
    return Program(Library(path, function), device=device, threads=threads)
