"""Parameters that the device has in another order than the file."""

import numpy as np
import onnx
from onnx import numpy_helper

from harness import expect, ok

# In this layout a dense layer would flatten transposed images.
FLAGS = ("--layout=nhwc", "--optimizer=momentum", "--ema=0.9")
PLAIN = (*FLAGS, "--no-order-parameters")
ORDERED = {"cnn": "fc.weight", "deep": "e.weight"}


def weights(path):
    return {tensor.name: numpy_helper.to_array(tensor)
            for tensor in onnx.load(path).graph.initializer}


def test_saved_models_have_the_order_of_the_file(place):
    for name, parameter in ORDERED.items():
        plan = ok(place.mnistc, place.model(name), "--train", "--batch=32",
                  f"--target={place.target}", *FLAGS, "--emit=plan", "-o",
                  "-").out
        ordered = [line.split("@")[1].split("(")[0]
                   for line in plan.splitlines() if "mnist.order =" in line]
        expect(sorted(ordered) == [parameter + end for end in
                                   ("", ".ema", ".momentum")], ordered)
        saved = [place.path(f"{name}-{i}.onnx") for i in range(2)]
        for path, flags in zip(saved, (FLAGS, PLAIN)):
            place.train(name, "--epochs=1", "--momentum=0.9",
                        f"--save={path}", compiled=flags)
        found, wanted, before = map(weights, (*saved, place.model(name)))
        for each, value in wanted.items():
            np.testing.assert_allclose(found[each], value, rtol=1e-3,
                                       atol=2e-5, err_msg=f"{name} {each}")
        expect(not np.allclose(found[parameter], before[parameter]), parameter)


def test_resumed_runs_go_on(place):
    folder = place.fresh("orders")
    run = {"compiled": FLAGS}
    whole = place.train("cnn", "--epochs=2", **run)
    place.train("cnn", "--epochs=1", f"--checkpoint={folder}", **run)
    rest = place.train("cnn", "--epochs=2", f"--checkpoint={folder}",
                       "--resume", **run)
    expect(rest.digest == whole.digest, rest.out)
