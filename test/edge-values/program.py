"""Compiled libraries through their C API."""

import ctypes

import numpy as np


def pointers(arrays):
    return (ctypes.c_void_p * len(arrays))(*(x.ctypes.data for x in arrays))


def outputs_of(library, inputs, outputs):
    """`outputs`, filled with what one row of inputs gives. Raises RuntimeError of
    a status and its message."""
    model = ctypes.CDLL(str(library))
    model.mn_error.restype = ctypes.c_char_p
    session = ctypes.c_void_p()
    status = model.mn_open(None, ctypes.byref(session))
    if status:
        raise RuntimeError(status, model.mn_error(None).decode())
    inputs = [np.ascontiguousarray(x) for x in inputs]
    # The rows of whatever comes first; where that is no batch, one.
    rows = inputs[0].shape[0] if inputs[0].ndim else 1
    status = model.mn_infer(session, ctypes.c_int64(rows), pointers(inputs),
                            pointers(outputs))
    message = model.mn_error(session).decode()
    model.mn_close(session)
    if status:
        raise RuntimeError(status, message)
    return outputs
