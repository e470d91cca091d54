"""Arrays on a GPU, by DLPack, on the driver of test/cuda: what is refused, and
that memory is used where it is."""

import os
import sys

from harness import ROOT, Skip, expect, run


def test_arrays_on_the_device(place):
    driver = place.build / "lib/fake-cuda/libcuda.so.1"
    if not driver.exists():
        raise Skip("no fake driver")
    place.needs_nvrtc()
    place.data()
    # NVRTC would ask this driver for what it has not: the library is made before.
    library = place.output(".so", place.model(), ("--target=cuda", "--train", "--optimizer=sgd"))
    folders = (ROOT / "python", ROOT / "test", ROOT / "test/embed", ROOT / "test/python")
    environment = dict(os.environ, LD_LIBRARY_PATH=str(driver.parent),
                       PYTHONPATH=os.pathsep.join(map(str, folders)))
    done = run(sys.executable, ROOT / "test/python/on_gpu.py", library,
               place.path("x.npy"), place.path("y.npy"), env=environment)
    expect(done.code == 0 and done.out == "fine\n", done)
