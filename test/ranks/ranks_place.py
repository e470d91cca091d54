"""Programs of several ranks, and how they are started."""

import os
import shutil
import sys

import numpy as np
from onnx import helper, numpy_helper

import harness
from harness import ROOT, Skip, ok, save_model

sys.path.append(str(ROOT / "test/train"))
import place as train_place  # noqa: E402

DATA = ("--data=digits", "--test-limit=50")


def make_dropout(path):
    """Dense, dropout of half, dense; the mask of a row depends on its place
    among the rows of all ranks."""
    nodes = [helper.make_node("Flatten", ["image"], ["flat"]),
             helper.make_node("Gemm", ["flat", "a", "b"], ["hidden"], transB=1),
             helper.make_node("Relu", ["hidden"], ["active"]),
             helper.make_node("Dropout", ["active", "ratio", "training"], ["dropped"]),
             helper.make_node("Gemm", ["dropped", "c"], ["logits"], transB=1)]
    random = np.random.default_rng(4)
    uniform = train_place.uniform
    weights = [("a", uniform(random, 16, 784)), ("b", np.zeros(16, np.float32)),
               ("c", uniform(random, 10, 16)),
               ("ratio", np.float32(0.5).reshape(())), ("training", np.array(True))]
    return save_model(path, nodes, [("image", ["N", 1, 28, 28])],
                      [("logits", ["N", 10])], weights)


MODELS = {**train_place.MODELS, "dropout": make_dropout}
# Ranks share the cores of a test machine, and must not wait for each other's.
COMMAND = ("mpirun", "--allow-run-as-root", "--oversubscribe", "--mca",
           "btl_vader_single_copy_mechanism", "none")


class RanksPlace(harness.Place):
    def model(self, name):
        return self.once(("model", name), lambda: MODELS[name](
            self.path(f"{name}.onnx")))

    def program(self, name, batches, *flags):
        def make():
            path = self.path(f"program-{len(self.made)}")
            ok(self.mnistc, self.model(name), "--train", "--target=cpu",
               f"--batch={batches}", *flags, "-o", path)
            return path
        return self.once(("program", name, batches, flags), make)

    def parallel(self, name, batches, *flags):
        return self.program(name, batches, "--data-parallel", *flags)

    def command(self, count):
        if not shutil.which("mpirun"):
            raise Skip("no mpirun; openmpi-bin has it")
        return (*COMMAND, "-n", str(count))

    def start(self, count, program, *flags, env=()):
        """Trains as `count` ranks."""
        return harness.run(*self.command(count), program, "train", *DATA,
                           *flags, env={**os.environ, **dict(env)})

    def fresh(self, name):
        path = self.path(f"{name}-{len(list(self.folder.iterdir()))}")
        path.mkdir()
        return path


def weights_of(path):
    import onnx
    return {one.name: numpy_helper.to_array(one)
            for one in onnx.load(path).graph.initializer}
