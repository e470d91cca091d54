"""NaN in, NaN out, or exit 15: nothing on the way makes a number of it."""

import numpy as np
import onnx

from harness import expect, fails, ok
from place import FLAGS

# What a plan looks like, by the compiler's options.
PLANS = ((), ("--no-fuse",), ("--libraries=none",))


def images(place, odd, count):
    """Images, the first of which has one odd pixel."""
    x = np.random.default_rng(4).random((count, 1, 28, 28), np.float32)
    x[0, 0, 13, 14] = odd
    path = place.path(f"odd-{count}.npy")
    np.save(path, x)
    return path


def test_inference(place):
    """The row of a NaN is NaN in every class, as in NumPy and PyTorch, by
    either plan; the other rows are what they were."""
    for name in ("mlp", "cnn", "deep"):
        for options in PLANS:
            program = place.inference(name, "app", "--batch=1,32", *options)

            def classes(odd, count):
                y = place.path("y.npy")
                ok(program, "infer", images(place, odd, count),
                   f"--output={y}")
                return np.load(y)
            plain, found = classes(0, 10), classes(np.nan, 10)
            expect(np.isfinite(plain).all(), f"{name} {options}")
            expect((found[1:] == plain[1:]).all(), f"{name} {options}: others")
            for row in (found[0], classes(np.nan, 1)[0]):
                expect(np.isnan(row).all(), f"{name} {options}: {row}")


def test_check_nan(place):
    for name in ("mlp", "cnn", "deep"):
        fails(15, place.inference(name), "infer", images(place, np.nan, 10),
              "--check-nan", parts=["got NaN"])


def data_with_one_nan(place, image):
    folder = place.fresh("data")
    random = np.random.default_rng(5)
    x = random.random((64, 1, 28, 28), np.float32)
    x[image, 0, 13, 14] = np.nan
    np.save(folder / "train_x.npy", x)
    np.save(folder / "train_y.npy", np.arange(64) % 10)
    return folder


def test_training_on_one_nan(place):
    """In the first step, and in the last one."""
    path = place.path("nan-data.onnx")
    for name in ("mlp", "cnn", "deep"):
        for image in (0, 63):
            fails(15, place.program(name), "train", "--epochs=1",
                  "--no-shuffle", f"--save={path}",
                  f"--data={data_with_one_nan(place, image)}",
                  parts=["finite"])
            expect(not path.exists(), "expected nothing to be saved")


def test_weights_that_are_not_finite_after_the_last_step(place):
    path, folder = place.path("last.onnx"), place.fresh("last")
    flags = ["train", "--data=digits", "--limit=32", "--test-limit=32",
             "--epochs=1", "--scale=1000", "--lr=3e38", f"--save={path}", f"--checkpoint={folder}"]
    fails(15, place.program("mlp"), *flags, parts=["expected finite weights"])
    expect(not path.exists(), "expected nothing to be saved")
    expect(not list(folder.iterdir()), "expected no checkpoint")


def test_model_with_nan(place):
    model = onnx.load(place.model("mlp"))
    for weight in model.graph.initializer:
        if weight.name == "fc1.bias":
            values = onnx.numpy_helper.to_array(weight).copy()
            values[5] = np.nan
            weight.CopyFrom(onnx.numpy_helper.from_array(values, weight.name))
    path, program = place.path("nan-model.onnx"), place.path("nan-model")
    onnx.save(model, path)
    ok(place.mnistc, path, "--train", "--batch=32", "-o", program,
       f"--target={place.target}")
    fails(14, program, "train", *FLAGS,
          parts=["got NaN in element 5 of 'fc1.bias'"])


def test_checkpoint_with_nan(place):
    folder = place.fresh("nan-checkpoint")
    flags = ["train", *FLAGS, "--epochs=1", f"--checkpoint={folder}"]
    ok(place.program("mlp"), *flags)
    path = folder / "checkpoint.safetensors"
    data = bytearray(path.read_bytes())
    data[-4:] = np.float32(np.nan).tobytes()
    path.write_bytes(data)
    fails(14, place.program("mlp"), *flags, "--resume",
          parts=["checkpoint.safetensors"])
