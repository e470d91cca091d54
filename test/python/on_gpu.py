"""usage: on_gpu.py LIBRARY X.npy Y.npy, where libcuda.so.1 is that of
test/cuda"""

import ctypes
import sys

import mnistc
import numpy as np
from mnistc._arrays import _CODES, _DLTensor
from wrong import raises

CUDA = ctypes.CDLL("libcuda.so.1")


class Managed(ctypes.Structure):
    _fields_ = [("tensor", _DLTensor), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class OnDevice:
    """A copy of an array there, as a framework shows it."""

    def __init__(self, array, device=2, strides=None):
        address = ctypes.c_uint64()
        assert CUDA.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(array.nbytes)) == 0
        ctypes.memmove(address.value, array.ctypes.data, array.nbytes)
        self.address, self.device, self.array, self.streams = address.value, device, array, []
        self.shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        self.strides = (ctypes.c_int64 * array.ndim)(*strides) if strides else None
        self.managed = Managed(_DLTensor(
            self.address, device, 0, array.ndim, _CODES[array.dtype.kind],
            8 * array.dtype.itemsize, 1, self.shape, self.strides, 0))

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        return new_capsule(ctypes.addressof(self.managed), b"dltensor", None)


def main():
    x, y = (np.load(path)[:40] for path in sys.argv[2:])
    program = mnistc.load(sys.argv[1], name="net")
    rows, out = OnDevice(x), OnDevice(np.zeros((40, 4), np.float32))
    assert program(rows, out={"y": out}) is out
    assert rows.streams == [1] and out.streams == [1]
    for part, call in (
            ("out= with arrays on the GPU", lambda: program(rows)),
            ("all arrays on the GPU or none",
             lambda: program(rows, out={"y": np.zeros((40, 4), np.float32)})),
            ("float32 on the GPU for 'x', got another type",
             lambda: program(OnDevice(x.astype(np.float64)), out={"y": out})),
            ("got strides", lambda: program(OnDevice(x, strides=(1, 40)), out={"y": out})),
            ("shape [rows, 12] for 'x', got [40, 4]", lambda: program(out, out={"y": out})),
            ("both on the GPU or none", lambda: program.step(OnDevice(x[:9]), y[:9])),
            ("in the host's memory", lambda: program.train(rows, y))):
        raises(mnistc.UsageError, 2, part, call)
    program.step(OnDevice(x[:9]), OnDevice(y[:9]))
    print("fine")


main()
