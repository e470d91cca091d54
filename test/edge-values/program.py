"""Compiled libraries through their C API."""

import ctypes

import numpy as np


class Buffer(ctypes.Structure):
    """mn_buffer and mn_const_buffer."""
    _fields_ = [("name", ctypes.c_char_p), ("data", ctypes.c_void_p),
                ("bytes", ctypes.c_size_t)]


def buffers(arrays):
    """By position."""
    return (Buffer * len(arrays))(
        *(Buffer(None, x.ctypes.data, x.nbytes) for x in arrays))


def outputs_of(library, inputs, outputs):
    """`outputs`, filled with what one row of inputs gives. Raises RuntimeError of
    a status and its message."""
    code = ctypes.CDLL(str(library))
    code.mn_error.restype = ctypes.c_char_p
    find = getattr(code, f"{library.stem}_model")
    find.restype = ctypes.c_void_p
    model = ctypes.c_void_p(find())
    session = ctypes.c_void_p()
    status = code.mn_open(model, None, ctypes.byref(session))
    if status:
        raise RuntimeError(status, code.mn_error().decode())
    inputs = [np.ascontiguousarray(x) for x in inputs]
    # The rows of whatever comes first; where that is no batch, one.
    rows = inputs[0].shape[0] if inputs[0].ndim else 1
    status = code.mn_infer(session, ctypes.c_int64(rows), buffers(inputs),
                           len(inputs), buffers(outputs), len(outputs))
    message = code.mn_error().decode()
    code.mn_close(session)
    if status:
        raise RuntimeError(status, message)
    return outputs
