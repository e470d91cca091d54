"""usage: on_device.py LIBRARY X.npy Y.npy INDEXED PARTS, where libcuda.so.1 is that of
test/cuda"""

import ctypes
import sys

import numpy as np
from libraries import CLASSES, Session
from mnistc import _native
from refused import refuses

CUDA = ctypes.CDLL("libcuda.so.1")


def on_device(array):
    """A buffer with a copy of the array."""
    address = ctypes.c_uint64()
    assert CUDA.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(array.nbytes)) == 0
    ctypes.memmove(address.value, array.ctypes.data, array.nbytes)
    return _native.Buffer(None, address.value, array.nbytes)


def refuses_indices(path, stream):
    """No kernel can refuse them: the host reads them from there."""
    s = Session(_native.Library(path, "net_model"))
    rows = np.arange(20) % 5
    out = on_device(np.zeros((20, CLASSES), np.float32))
    s.infer_on_device(20, on_device(rows), 1, out, 1, stream)
    rows[18] = 5
    refuses(14, "numbers from -5 to 4 in 'word', got 5 in element 18", s.infer_on_device, 20,
            on_device(rows), 1, out, 1, stream)
    s.close()


def takes_rows_of_several_batches(path, x, y, stream):
    s = Session(_native.Library(path, "net_model"))
    s.start()
    rows, labels = on_device(x), on_device(y)
    assert s.train_batch() == 48
    s.train_step_on_device(len(x), rows, 1, labels, stream, None)
    # The address of the second batch is inside of what the caller has.
    refuses(2, "on the GPU, got less for 'x'", s.train_step_on_device, 40,
            _native.Buffer(None, on_device(x[:30]).data, x.nbytes), 1, labels, stream, None)
    s.close()


def main():
    library = _native.Library(sys.argv[1], "net_model")
    x, y = (np.load(path)[:40] for path in sys.argv[2:4])
    stream = ctypes.c_void_p()
    assert CUDA.cuStreamCreate(ctypes.byref(stream), 0) == 0
    host = _native.Buffer(None, x.ctypes.data, x.nbytes)
    device, out = on_device(x), on_device(np.zeros((40, CLASSES), np.float32))
    s = Session(library)
    for where in (stream, None):
        s.infer_on_device(40, device, 1, out, 1, where)
    refuses(2, "on the GPU, got an address elsewhere for 'x'", s.infer_on_device, 40, host, 1,
            out, 1, stream)
    refuses(2, "on the GPU, got an address elsewhere for 'y'", s.infer_on_device, 40, device, 1,
            _native.Buffer(None, x.ctypes.data, out.bytes), 1, stream)
    refuses(2, "1920 bytes for input 'x', got 960", s.infer_on_device, 40,
            _native.Buffer(None, device.data, 960), 1, out, 1, stream)
    # The size is right, and the allocation is smaller.
    refuses(2, "got less for 'x'", s.infer_on_device, 400,
            _native.Buffer(None, device.data, 10 * x.nbytes), 1,
            on_device(np.zeros((400, CLASSES), np.float32)), 1, stream)
    s.start()
    rows, labels = on_device(x[:9]), on_device(y[:9])
    loss = ctypes.c_double()
    s.train_step_on_device(9, rows, 1, labels, stream, None)
    s.train_step_on_device(9, rows, 1, labels, None, ctypes.byref(loss))
    refuses(2, "an address elsewhere for 'mn.labels'", s.train_step_on_device, 9, rows, 1,
            _native.Buffer(None, y.ctypes.data, 36), stream, None)
    bad = y[:9] * 0 + CLASSES
    refuses(14, f"in 'mn.labels', got {CLASSES} in element 0", s.train_step_on_device, 9, rows, 1,
            on_device(bad), stream, None)
    s.close()
    refuses_indices(sys.argv[4], stream)
    takes_rows_of_several_batches(sys.argv[5], x, y, stream)
    print("fine")


main()
