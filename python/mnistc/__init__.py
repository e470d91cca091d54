"""ONNX models as native programs that infer and train.

    program = mnistc.compile("model.onnx", target="cpu", batch=[1, 64])
    scores = program(images)
"""

from ._compiler import CompileWarning, compile, explain, load
from .errors import (
    BusyError,
    DataError,
    DeviceError,
    Error,
    LibraryError,
    ModelError,
    NumericError,
    OutOfMemoryError,
    ToolchainError,
    UnsupportedError,
    UsageError,
)
from .program import Epoch, Metrics, Program, Tensor
from .reports import Explanation, Profile

__all__ = [
    "BusyError",
    "CompileWarning",
    "DataError",
    "DeviceError",
    "Epoch",
    "Error",
    "Explanation",
    "LibraryError",
    "Metrics",
    "ModelError",
    "NumericError",
    "OutOfMemoryError",
    "Profile",
    "Program",
    "Tensor",
    "ToolchainError",
    "UnsupportedError",
    "UsageError",
    "compile",
    "explain",
    "load",
]
