"""mnist.h, by ctypes: structures, functions, and their errors."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Callable, Dict, List, Tuple, Type

from .errors import error_of

STATUS_OK = 0

Handle = ctypes.c_void_p


class Tensor(ctypes.Structure):
    """mn_tensor"""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("rank", ctypes.c_int),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("row_bytes", ctypes.c_size_t),
        ("batched", ctypes.c_int),
    ]


class Options(ctypes.Structure):
    """mn_options"""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("device", ctypes.c_int),
        ("no_graph", ctypes.c_int),
        ("threads", ctypes.c_int),
    ]


class TrainOptions(ctypes.Structure):
    """mn_train_options"""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("seed", ctypes.c_int64),
        ("batch", ctypes.c_int64),
        ("init", ctypes.c_char_p),
    ]


class Buffer(ctypes.Structure):
    """mn_buffer and mn_const_buffer"""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("data", ctypes.c_void_p),
        ("bytes", ctypes.c_size_t),
    ]


class Metrics(ctypes.Structure):
    """mn_metrics"""

    _fields_ = [
        ("loss", ctypes.c_double),
        ("rows", ctypes.c_int64),
        ("labels", ctypes.c_int64),
        ("correct", ctypes.c_int64),
    ]


_Text = ctypes.c_char_p
_Int, _Int64 = ctypes.c_int, ctypes.c_int64
_Buffers = ctypes.POINTER(Buffer)
_Double = ctypes.POINTER(ctypes.c_double)
_Metrics = ctypes.POINTER(Metrics)
_Tensor = ctypes.POINTER(Tensor)
_TrainOptions = ctypes.POINTER(TrainOptions)
_Rows: List[Any] = [Handle, _Int64, _Buffers, _Int, _Buffers]

# name: the result, and the arguments. A status is checked.
_FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "mn_version": (_Int, []),
    "mn_error": (_Text, []),
    "mn_open": ("status", [Handle, ctypes.POINTER(Options), ctypes.POINTER(Handle)]),
    "mn_close": ("status", [Handle]),
    "mn_plan_count": (_Int, [Handle]),
    "mn_plan_batch": (_Int64, [Handle, _Int]),
    "mn_input_count": (_Int, [Handle]),
    "mn_output_count": (_Int, [Handle]),
    "mn_input": ("status", [Handle, _Int, _Int, _Tensor]),
    "mn_output": ("status", [Handle, _Int, _Int, _Tensor]),
    "mn_model_name": (_Text, [Handle]),
    "mn_device_name": (_Text, [Handle]),
    "mn_device_bytes": (ctypes.c_size_t, [Handle]),
    "mn_infer": ("status", [*_Rows, _Int]),
    "mn_infer_on_device": ("status", [*_Rows, _Int, Handle]),
    "mn_train_start": ("status", [Handle, _TrainOptions]),
    "mn_train_batch": (_Int64, [Handle]),
    "mn_train_target": ("status", [Handle, _Tensor]),
    "mn_train_number": (_Text, [Handle, _Int]),
    "mn_train_get": ("status", [Handle, _Text, _Double]),
    "mn_train_set": ("status", [Handle, _Text, ctypes.c_double]),
    "mn_train_step": ("status", [*_Rows, _Double]),
    "mn_train_step_on_device": ("status", [*_Rows, Handle, _Double]),
    "mn_train_metrics": ("status", [Handle, _Metrics]),
    "mn_evaluate": ("status", [*_Rows, _Metrics]),
    "mn_train_digest": ("status", [Handle, ctypes.c_char * 17]),
    "mn_save": ("status", [Handle, _Text]),
    "mn_train_checkpoint": ("status", [Handle, _Text]),
    "mn_train_resume": ("status", [Handle, _TrainOptions, _Text]),
}


class Library:
    """A compiled model: the functions of mnist.h, which raise what fails."""

    def __init__(self, path: str, function: str) -> None:
        # A path without a slash would be looked for elsewhere.
        try:
            self._library = ctypes.CDLL(os.path.abspath(path))
        except OSError as error:
            raise error_of(12, f"expected a library that can be loaded: {error}") from error
        for name, (result, arguments) in _FUNCTIONS.items():
            function_of_c = getattr(self._library, name)
            function_of_c.argtypes = arguments
            function_of_c.restype = _Int if result == "status" else result
            wrapped = self._checked(function_of_c) if result == "status" else function_of_c
            setattr(self, name[3:], wrapped)
        model: Any = getattr(self._library, function)
        model.restype, model.argtypes = Handle, []
        self.model = Handle(model())

    def _checked(self, function: Callable[..., int]) -> Callable[..., None]:
        def call(*arguments: Any) -> None:
            status = function(*arguments)
            if status != STATUS_OK:
                raise error_of(status, self.why())

        return call

    def why(self) -> str:
        text: bytes = self._library.mn_error()
        return text.decode("utf-8", "replace")

    def __getattr__(self, name: str) -> Any:  # for type checkers
        raise AttributeError(name)


def out(kind: Type[Any]) -> Any:
    """Something for a function to fill in."""
    return kind()
