"""Memory of a GPU through the C interface, on the driver of test/cuda, which
makes copies and runs no kernel: who may give what, not what comes out."""

import os
import sys

import harness
import numpy as np
from harness import ROOT, Skip, expect, run
from onnx import TensorProto, helper

TRAINS = ("--train", "--optimizer=sgd", "--lr=0.1")


def test_memory_on_the_device(place):
    driver = place.build / "lib/fake-cuda/libcuda.so.1"
    if not driver.exists():
        raise Skip("no fake driver")
    place.needs_nvrtc()
    place.data()
    library = place.output(".so", place.model(), ("--target=cuda", *TRAINS))
    parts = place.output(".so", place.model(), ("--target=cuda", "--accumulate=3", *TRAINS))
    words = harness.save_model(
        place.path("words.onnx"), [helper.make_node("Gather", ["table", "word"], ["y"])],
        [("word", ["n"], TensorProto.INT64)], [("y", ["n", 4])],
        [("table", np.zeros((5, 4), np.float32))])
    indexed = place.output(".so", words, ("--target=cuda",))
    environment = dict(os.environ, LD_LIBRARY_PATH=str(driver.parent),
                       PYTHONPATH=os.pathsep.join(map(str, (ROOT / "python", ROOT / "test",
                                                            ROOT / "test/embed"))))
    done = run(sys.executable, ROOT / "test/embed/on_device.py", library,
               place.path("x.npy"), place.path("y.npy"), indexed, parts, env=environment)
    expect(done.code == 0 and done.out == "fine\n", done)
