"""Arrays as buffers of the C interface: NumPy's without a copy where they fit,
and what speaks DLPack, also on a GPU."""

from __future__ import annotations

import ctypes
import dataclasses
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from . import _native
from .errors import UsageError

# As mn_type has them.
DTYPES: List["np.dtype[Any]"] = [
    np.dtype(name) for name in ("float32", "float64", "int32", "int64", "bool", "uint8")
]

_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13
_LEGACY_STREAM = 1  # as DLPack numbers the default stream


@dataclasses.dataclass(frozen=True)
class Tensor:
    """An input, output or target. The first number of `shape` is that of rows, or
    the whole shape counts where it is not `batched`."""

    name: str
    dtype: "np.dtype[Any]"
    shape: Tuple[int, ...]
    batched: bool

    @staticmethod
    def of(tensor: _native.Tensor) -> "Tensor":
        shape = tuple(int(tensor.shape[i]) for i in range(tensor.rank))
        name: bytes = tensor.name
        return Tensor(name.decode(), DTYPES[tensor.type], shape, bool(tensor.batched))

    @property
    def row(self) -> Tuple[int, ...]:
        return self.shape[1:] if self.batched else self.shape

    def whole(self, rows: int) -> Tuple[int, ...]:
        return (rows, *self.row) if self.batched else self.row


@dataclasses.dataclass
class Given:
    """An array of the caller's, ready for a call."""

    shape: Tuple[int, ...]
    buffer: _native.Buffer
    on_device: bool
    keeps: Any  # the memory lives as long as this


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype = ctypes.c_void_p
_pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]

_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}


def _is_dense(tensor: _DLTensor, shape: Sequence[int]) -> bool:
    stride = 1
    for i in reversed(range(tensor.ndim)):
        if tensor.strides and shape[i] != 1 and tensor.strides[i] != stride:
            return False
        stride *= shape[i]
    return True


def _on_device(array: Any, tensor: Tensor) -> Given:
    """The memory itself; what the array's framework computes of it is waited for by
    the default stream."""
    capsule = array.__dlpack__(stream=_LEGACY_STREAM)
    # DLManagedTensor begins with its DLTensor.
    found = _DLTensor.from_address(_pointer_of(capsule, b"dltensor"))
    shape = tuple(int(found.shape[i]) for i in range(found.ndim))
    wanted = tensor.dtype
    if (found.code, found.bits, found.lanes) != (_CODES[wanted.kind], 8 * wanted.itemsize, 1):
        raise UsageError(f"expected {wanted} on the GPU for '{tensor.name}', got another type", 2)
    if not _is_dense(found, shape):
        raise UsageError(
            f"expected rows one after the other on the GPU for '{tensor.name}', got strides", 2)
    count = int(np.prod(shape, dtype=np.int64))
    buffer = _native.Buffer(None, (found.data or 0) + found.byte_offset, count * wanted.itemsize)
    return Given(shape, buffer, True, capsule)


def _converted(array: npt.NDArray[Any], tensor: Tensor) -> npt.NDArray[Any]:
    """Of the tensor's type, if no value becomes another one but by rounding."""
    if array.dtype == tensor.dtype:
        return np.ascontiguousarray(array)
    if not np.can_cast(array.dtype, tensor.dtype, "same_kind"):
        raise UsageError(
            f"expected {tensor.dtype} for '{tensor.name}', got {array.dtype}", 2)
    made = np.ascontiguousarray(array, tensor.dtype)
    if tensor.dtype.kind in "iu" and not np.array_equal(made, array):
        raise UsageError(
            f"expected numbers that {tensor.dtype} has for '{tensor.name}', got larger ones", 2)
    return made


def buffer_of(array: npt.NDArray[Any]) -> _native.Buffer:
    return _native.Buffer(None, array.ctypes.data, array.nbytes)


def given(array: Any, tensor: Tensor) -> Given:
    """Checks the shape of all but the rows."""
    device: Optional[Tuple[int, int]] = None
    if hasattr(array, "__dlpack_device__") and not isinstance(array, np.ndarray):
        device = array.__dlpack_device__()
    if device and device[0] in (_CUDA, _CUDA_MANAGED):
        found = _on_device(array, tensor)
    else:
        values = np.from_dlpack(array) if device else np.asarray(array)
        values = _converted(values, tensor)
        found = Given(values.shape, buffer_of(values), False, values)
    row = found.shape[1:] if tensor.batched else found.shape
    if row != tensor.row or (tensor.batched and not found.shape):
        wanted = ", ".join(map(str, (("rows",) if tensor.batched else ()) + tensor.row))
        got = ", ".join(map(str, found.shape))
        raise UsageError(f"expected shape [{wanted}] for '{tensor.name}', got [{got}]", 2)
    return found
