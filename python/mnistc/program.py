"""A compiled model in this process."""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import tempfile
import time
from typing import Any, Callable, Dict, Iterator, List, Mapping, MutableMapping, Optional
from typing import Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _native
from ._arrays import Given, Tensor, buffer_of, given
from .errors import UsageError
from .reports import Profile, decoded

Array = npt.NDArray[Any]
Result = Union[Array, Dict[str, Array]]

__all__ = ["Epoch", "Metrics", "Program", "Tensor"]


@dataclasses.dataclass(frozen=True)
class Metrics:
    """What a number of rows came to. `accuracy` is None without classes."""

    loss: float
    accuracy: Optional[float]

    @staticmethod
    def of(found: _native.Metrics) -> "Metrics":
        accuracy = found.correct / found.labels if found.labels else None
        return Metrics(found.loss, accuracy)


@dataclasses.dataclass(frozen=True)
class Epoch:
    """What `Program.train` tells of an epoch, from 1 on."""

    epoch: int
    train: Metrics
    test: Optional[Metrics]
    seconds: float

    @staticmethod
    def of(event: Mapping[str, Any]) -> "Epoch":
        """Of the log of a program."""
        def metrics(kind: str) -> Metrics:
            return Metrics(event[f"{kind}_loss"], event.get(f"{kind}_accuracy"))
        return Epoch(event["epoch"], metrics("train"),
                     metrics("test") if "test_loss" in event else None, event["seconds"])


class Numbers(MutableMapping[str, float]):
    """The optimizer's numbers, by the names that mnistc has for them."""

    def __init__(self, program: "Program") -> None:
        self._program = program

    def __getitem__(self, name: str) -> float:
        if name not in list(self):
            raise KeyError(name)
        value = ctypes.c_double()
        self._program._call("train_get", name.encode(), ctypes.byref(value))
        return value.value

    def __setitem__(self, name: str, value: float) -> None:
        self._program._call("train_set", name.encode(), float(value))

    def __delitem__(self, name: str) -> None:
        raise UsageError("expected another value for a number, got a deletion", 2)

    def __iter__(self) -> Iterator[str]:
        self._program._begun()
        number = 0
        while True:
            name = self._program._value("train_number", number)
            if name is None:
                return
            yield name.decode()
            number += 1

    def __len__(self) -> int:
        return len(list(iter(self)))


class Program:
    """One session of a compiled model; `clone` opens another, for another thread.

    Made by `mnistc.compile` and `mnistc.load`. Arrays are NumPy's, or of anything that
    speaks DLPack; float64 becomes float32 where the model has that.
    """

    def __init__(self, library: _native.Library, *, device: int = 0, threads: int = 0,
                 program: Optional[Callable[[str], None]] = None,
                 folder: Optional[object] = None) -> None:
        # `folder` is where the library is.
        self._library, self._folder, self._compile = library, folder, program
        self._handle = _native.Handle()
        self._options = _native.Options(ctypes.sizeof(_native.Options), device, 0, threads)
        library.open(library.model, ctypes.byref(self._options), ctypes.byref(self._handle))
        self.inputs = self._tensors("input")
        self.outputs = self._tensors("output")
        self.batches: List[int] = [self._value("plan_batch", i)
                                   for i in range(self._value("plan_count"))]
        self.name: str = self._value("model_name").decode()
        self.device: str = self._value("device_name").decode()
        self.numbers = Numbers(self)
        self._target: Optional[Tensor] = None

    # The library

    def _call(self, name: str, *arguments: Any) -> None:
        getattr(self._library, name)(self._handle, *arguments)

    def _value(self, name: str, *arguments: Any) -> Any:
        return getattr(self._library, name)(self._handle, *arguments)

    def _tensors(self, side: str) -> List[Tensor]:
        found = []
        for i in range(self._value(f"{side}_count")):
            tensor = _native.Tensor()
            self._call(side, 0, i, ctypes.byref(tensor))
            found.append(Tensor.of(tensor))
        return found

    def close(self) -> None:
        """Frees everything. A program that is no longer used does so itself."""
        handle, self._handle = self._handle, _native.Handle()
        if handle:
            self._library.close(handle)

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()

    def __repr__(self) -> str:
        return f"<mnistc.Program {self.name} on {self.device}>"

    def clone(self) -> "Program":
        """Another session of the same library, with the model's own weights."""
        return Program(self._library, device=self._options.device,
                       threads=self._options.threads, program=self._compile,
                       folder=self._folder)

    # Inference

    def __call__(self, *arrays: Any, out: Optional[Mapping[str, Any]] = None,
                 **named: Any) -> Result:
        """Infers any number of rows: the inputs in their order, or by name. An array,
        or a dict where the model has several outputs.

        out: arrays to write to, by name. Inputs and outputs may be on the GPU, all of
        them, in arrays that speak DLPack: nothing is then copied through the host.
        """
        inputs = self._inputs(arrays, named)
        rows = self._rows(inputs)
        if out is None:
            if any(each.on_device for each in inputs):
                raise UsageError("expected out= with arrays on the GPU, as the inputs are", 2)
            results = {t.name: np.empty(t.whole(rows), t.dtype) for t in self.outputs}
            outputs = [Given(a.shape, buffer_of(a), False, a) for a in results.values()]
        else:
            results = dict(out)
            outputs = self._outputs(results, rows)
        self._infer(rows, inputs, outputs)
        return next(iter(results.values())) if len(results) == 1 else results

    def _inputs(self, arrays: Tuple[Any, ...], named: Mapping[str, Any]) -> List[Given]:
        if bool(arrays) == bool(named):
            raise UsageError("expected inputs by position or by name, got "
                             f"{len(arrays)} and {len(named)}", 2)
        names = [tensor.name for tensor in self.inputs]
        if named and set(named) != set(names):
            raise UsageError(f"expected inputs {', '.join(names)}, got {', '.join(named)}", 2)
        if arrays and len(arrays) != len(names):
            raise UsageError(f"expected {len(names)} inputs, got {len(arrays)}", 2)
        in_order = arrays or [named[name] for name in names]
        return [given(array, tensor) for array, tensor in zip(in_order, self.inputs)]

    def _rows(self, inputs: List[Given]) -> int:
        counts = {array.shape[0] for array, tensor in zip(inputs, self.inputs) if tensor.batched}
        if len(counts) > 1:
            raise UsageError(f"expected as many rows in each input, got {sorted(counts)}", 2)
        return int(counts.pop()) if counts else 1

    def _outputs(self, out: Mapping[str, Any], rows: int) -> List[Given]:
        names = [tensor.name for tensor in self.outputs]
        if set(out) != set(names):
            raise UsageError(f"expected outputs {', '.join(names)}, got {', '.join(out)}", 2)
        found = []
        for tensor in self.outputs:
            array = out[tensor.name]
            if isinstance(array, np.ndarray) and not (
                    array.dtype == tensor.dtype and array.flags.c_contiguous
                    and array.flags.writeable):
                raise UsageError(f"expected a writable, contiguous array of {tensor.dtype} "
                                 f"for '{tensor.name}', got another", 2)
            each = given(array, tensor)
            if not each.on_device and not isinstance(array, np.ndarray):
                raise UsageError(f"expected a NumPy array or memory on the GPU for "
                                 f"'{tensor.name}', got another", 2)
            if each.shape != tensor.whole(rows):
                raise UsageError(f"expected shape {list(tensor.whole(rows))} for "
                                 f"'{tensor.name}', got {list(each.shape)}", 2)
            found.append(each)
        return found

    def _infer(self, rows: int, inputs: List[Given], outputs: List[Given]) -> None:
        places = {each.on_device for each in inputs + outputs}
        if len(places) > 1:
            raise UsageError("expected all arrays on the GPU or none, got some", 2)
        sides = (rows, _buffers(inputs), len(inputs), _buffers(outputs), len(outputs))
        if places == {True}:
            self._call("infer_on_device", *sides, None)
        else:
            self._call("infer", *sides)

    # Training

    def start(self, *, seed: int = 1, batch: int = 0, init: str = "file") -> None:
        """Begins training anew: the file's weights, or random ones (he, xavier, torch,
        keras), and the optimizer's numbers as compiled."""
        options = _native.TrainOptions(ctypes.sizeof(_native.TrainOptions), seed, batch,
                                       init.encode())
        self._call("train_start", ctypes.byref(options))
        self._find_target()

    def resume(self, folder: Union[str, "os.PathLike[str]"], *, batch: int = 0) -> None:
        """Continues where `checkpoint` was called, or `app train --checkpoint`."""
        options = _native.TrainOptions(ctypes.sizeof(_native.TrainOptions), 0, batch, None)
        self._call("train_resume", ctypes.byref(options), os.fsencode(folder))
        self._find_target()

    def _find_target(self) -> None:
        tensor = _native.Tensor()
        self._call("train_target", ctypes.byref(tensor))
        self._target = Tensor.of(tensor)

    def _begun(self) -> Tensor:
        if self._target is None:
            self.start()
        assert self._target is not None
        return self._target

    @property
    def target(self) -> Tensor:
        """What `y` must be."""
        return self._begun()

    @property
    def train_batch(self) -> int:
        """How many rows a step takes at most."""
        self._begun()
        return int(self._value("train_batch"))

    def _pairs(self, x: Any, y: Any) -> Tuple[Given, Given]:
        target = self._begun()
        pair = given(x, self.inputs[0]), given(y, target)
        if pair[0].shape[0] != pair[1].shape[0]:
            raise UsageError(f"expected as many targets as rows, got {pair[1].shape[0]} and "
                             f"{pair[0].shape[0]}", 2)
        return pair

    def step(self, x: Any, y: Any) -> float:
        """The loss of a step on up to `train_batch` rows, on the GPU or not."""
        inputs, targets = self._pairs(x, y)
        if inputs.on_device != targets.on_device:
            raise UsageError("expected rows and targets both on the GPU or none, got one", 2)
        loss, rows = ctypes.c_double(), inputs.shape[0]
        where = (None,) if inputs.on_device else ()
        self._call("train_step_on_device" if inputs.on_device else "train_step", rows,
                   ctypes.byref(inputs.buffer), 1, ctypes.byref(targets.buffer), *where,
                   ctypes.byref(loss))
        return loss.value

    def train(self, x: Any, y: Any, *, epochs: int = 1, shuffle: bool = True, seed: int = 1,
              test: Optional[Tuple[Any, Any]] = None,
              callback: Optional[Callable[[Epoch], Optional[bool]]] = None) -> List[Epoch]:
        """Trains on all rows, `epochs` times, from where the training is; `start` begins
        anew. The order of an epoch's rows is drawn by NumPy from the seed.

        callback: is told of each epoch, and ends the training by True.
        """
        inputs, targets = self._pairs(x, y)
        if inputs.on_device or targets.on_device:
            raise UsageError("expected rows in the host's memory, got some on the GPU; see step", 2)
        rows: Array = inputs.keeps
        labels: Array = targets.keeps
        random = np.random.Generator(np.random.PCG64(seed))
        done: List[Epoch] = []
        self._metrics()  # what others left
        for number in range(1, epochs + 1):
            begin = time.monotonic()
            order = random.permutation(len(rows)) if shuffle else np.arange(len(rows))
            self._epoch(rows, labels, order)
            metrics = self._metrics()
            tested = self.evaluate(*test) if test is not None else None
            done.append(Epoch(number, metrics, tested, time.monotonic() - begin))
            if callback is not None and callback(done[-1]):
                break
        return done

    def train_on(self, data: Union[str, "os.PathLike[str]"], *, epochs: int = 1, seed: int = 1,
                 callback: Optional[Callable[[Epoch], Optional[bool]]] = None,
                 **options: Any) -> List[Epoch]:
        """Trains anew on data that `app train --data` reads: a folder, files, or
        "digits". A program of the same model and options does it, with the options of
        `app train`; this one then has its weights, states and numbers."""
        from ._compiler import flags, watch
        if not self._compile:
            raise UsageError("expected a program that mnistc.compile has made, got a library", 2)
        done: List[Epoch] = []

        def look(event: Dict[str, Any]) -> bool:
            if event["event"] != "epoch":
                return False
            done.append(Epoch.of(event))
            return bool(callback and callback(done[-1]))

        with tempfile.TemporaryDirectory(prefix="mnistc") as folder:
            program, state = (os.path.join(folder, name) for name in ("program", "state"))
            self._compile(program)
            watch([program, "train", f"--data={os.fspath(data)}", "--log=-",
                   f"--checkpoint={state}",
                   *flags({"epochs": epochs, "seed": seed, **options})], look)
            self.resume(state, batch=int(options.get("batch", 0)))
        return done

    def _epoch(self, rows: Array, labels: Array, order: Array) -> None:
        size = self.train_batch
        for first in range(0, len(order), size):
            part = order[first:first + size]
            x, y = np.ascontiguousarray(rows[part]), np.ascontiguousarray(labels[part])
            self._call("train_step", len(part), ctypes.byref(buffer_of(x)), 1,
                       ctypes.byref(buffer_of(y)), None)

    def _metrics(self) -> Metrics:
        found = _native.Metrics()
        self._call("train_metrics", ctypes.byref(found))
        return Metrics.of(found)

    def evaluate(self, x: Any, y: Any) -> Metrics:
        """Loss and accuracy; changes nothing."""
        inputs, targets = self._pairs(x, y)
        if inputs.on_device or targets.on_device:
            raise UsageError("expected rows in the host's memory, got some on the GPU", 2)
        found = _native.Metrics()
        self._call("evaluate", inputs.shape[0], ctypes.byref(inputs.buffer), 1,
                   ctypes.byref(targets.buffer), ctypes.byref(found))
        return Metrics.of(found)

    @property
    def digest(self) -> str:
        """Equal for weights of the same bits."""
        self._begun()
        text = (ctypes.c_char * 17)()
        self._call("train_digest", text)
        return text.value.decode()

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the ONNX file that was compiled, with the weights of now."""
        self._begun()
        self._call("save", os.fsencode(path))

    def checkpoint(self, folder: Union[str, "os.PathLike[str]"]) -> None:
        """Writes all that `resume` needs to go on with the same bits."""
        self._begun()
        self._call("train_checkpoint", os.fsencode(folder))

    # Looking closer

    def profile(self, plan: str = "infer", *, batch: int = 0) -> Profile:
        """What each step takes: a program of the same model and options is compiled,
        with the file's weights, and profiles itself."""
        from ._compiler import run
        if not self._compile:
            raise UsageError("expected a program that mnistc.compile has made, got a library", 2)
        with tempfile.TemporaryDirectory(prefix="mnistc") as folder:
            program = os.path.join(folder, "program")
            self._compile(program)
            size = [f"--batch={batch}"] if batch else []
            found: Dict[str, Any] = json.loads(
                run([program, "profile", "--json", f"--plan={plan}", *size]))
        return decoded(Profile, found)


def _buffers(arrays: List[Given]) -> Any:
    return (_native.Buffer * len(arrays))(*[array.buffer for array in arrays])
