"""Moving means of the parameters."""

import numpy as np
import onnx
from onnx import numpy_helper

from harness import expect, fails, ok
from place import FLAGS, Trained

STEPS = 6


def weights(path):
    return {one.name: numpy_helper.to_array(one).astype(float)
            for one in onnx.load(path).graph.initializer}


def runs(place, name, compiled):
    """What is saved after 1 to STEPS epochs of one step, and what was tested."""
    program = place.program(name, compiled=compiled)
    found = []
    for epochs in range(1, STEPS + 1):
        path = place.path(f"means-{len(list(place.folder.iterdir()))}.onnx")
        done = Trained(ok(program, "train", "--data=digits", "--limit=32",
                          "--test-limit=300", f"--epochs={epochs}",
                          f"--save={path}"))
        found.append((weights(path), done, path))
    return found


def check(place, name, optimizer):
    plain = runs(place, name, optimizer)
    meant = runs(place, name, (*optimizer, "--ema=0.75"))
    # The weights that train are the same.
    expect([run.digest for _, run, _ in plain]
           == [run.digest for _, run, _ in meant], meant[-1][1].out)
    mean = weights(place.model(name))
    for (now, _, _), (saved, _, _) in zip(plain, meant):
        for key, value in now.items():
            trains = "norm.mean" not in key and "variance" not in key
            mean[key] = mean[key] + 0.25 * (value - mean[key]) if trains else value
            np.testing.assert_allclose(saved[key], mean[key], rtol=1e-5,
                                       atol=1e-7, err_msg=key)
    # Tested is what is saved.
    _, run, path = meant[-1]
    program = place.path(f"means-{name}")
    ok(place.mnistc, path, "-o", program, f"--target={place.target}")
    said = ok(program, "eval", "--data=digits", "--limit=300").out
    expect(f"accuracy {run.accuracies[-1]:.2f} %" in said, f"{said} {run.out}")


def test_beside_numpy(place):
    check(place, "mlp", ("--optimizer=sgd", "--lr=0.5"))
    check(place, "cnn", ("--optimizer=adam", "--lr=0.01"))


def test_new_weights_begin_their_means(place):
    """Kept whole, the mean stays what the parameters were."""
    flags = ("--data=digits", "--limit=32", "--init=he", "--seed=3")
    paths = []
    for ema, epochs, lr in (("1", 4, "0.5"), ("0.5", 1, "0")):
        program = place.program("mlp", compiled=(f"--ema={ema}",))
        paths.append(place.path(f"kept-{ema}.onnx"))
        ok(program, "train", *flags, f"--epochs={epochs}", f"--lr={lr}",
           f"--save={paths[-1]}")
    first, second = map(weights, paths)
    old = weights(place.model("mlp"))
    for key, value in first.items():
        np.testing.assert_array_equal(value, second[key])
    expect(any((first[key] != old[key]).any() for key in old), "new weights")


def test_an_untrained_program_infers_with_its_weights(place):
    plain, meant = (place.program("mlp", compiled=c) for c in ((), ("--ema=0.9",)))
    np.save(place.path("x.npy"), np.random.default_rng(1).random(
        (3, 1, 28, 28), np.float32))
    said = {ok(program, "infer", place.path("x.npy")).out
            for program in (plain, meant)}
    expect(len(said) == 1, said)


def test_a_resumed_run_goes_on_alike(place):
    folder = place.fresh("means")
    program = place.program("mlp", compiled=("--ema=0.9",))
    ok(program, "train", *FLAGS, "--epochs=2", f"--checkpoint={folder}")
    ok(program, "train", "--resume", f"--checkpoint={folder}", "--epochs=3",
       f"--save={folder / 'a.onnx'}")
    ok(program, "train", *FLAGS, "--epochs=3", f"--save={folder / 'b.onnx'}")
    expect((folder / "a.onnx").read_bytes() == (folder / "b.onnx").read_bytes(),
           "files")


def test_what_is_refused(place):
    fails(2, place.mnistc, place.model("mlp"), "--train", "--ema=1.5", "-o",
          place.path("x"), parts=["expected --ema of 0 to 1, got 1.5"])
    fails(2, place.mnistc, place.model("mlp"), "--ema=0.5", "-o",
          place.path("x"), parts=["expected --train with --ema"])


def test_a_tensor_of_that_name_is_no_mean(place):
    """Of a model that was saved with one beside each parameter."""
    model = onnx.load(place.model("mlp"))
    for one in list(model.graph.initializer):
        twin = model.graph.initializer.add()
        twin.CopyFrom(numpy_helper.from_array(
            numpy_helper.to_array(one) + np.float32(1), one.name + ".ema"))
    for node in model.graph.node:  # Read, so that it is kept.
        if node.output[0] == "hidden":
            node.input[0] = "twice"
    model.graph.node.insert(3, onnx.helper.make_node(
        "Add", ["sum", "fc1.bias.ema"], ["twice"]))
    path, saved = place.path("twins.onnx"), place.path("twins-saved.onnx")
    onnx.save(model, path)
    program = place.path("twins")
    ok(place.mnistc, path, "--train", "--batch=32", "-o", program,
       f"--target={place.target}")
    ok(program, "train", *FLAGS, "--epochs=1", "--lr=0.1", f"--save={saved}")
    found = weights(saved)
    # Both have the same gradients.
    np.testing.assert_allclose(found["fc1.bias.ema"], found["fc1.bias"] + 1,
                               atol=1e-6)
    expect((found["fc1.bias"] != 0).any(), found["fc1.bias"])
    fails(1, place.mnistc, path, "--train", "--ema=0.9", "--batch=32",
          "-o", program, f"--target={place.target}", parts=["expected no tensor 'fc1.bias.ema'"])
