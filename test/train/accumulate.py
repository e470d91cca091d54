"""N batches of B rows are one update: that of a batch of N B rows."""

import json
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

from harness import ROOT, expect, fails, ok, save_model

sys.path.append(str(ROOT / "test/ranks"))
from ranks_place import make_dropout  # noqa: E402

STEPS, LARGE = 20, 24
# model, options of mnistc, batches of an update, options of 'train'. Of 100 rows
# the last update has 4, of 110 it has 14.
CASES = {
    "adamw, one batch in the last update": (
        "mlp", ("--optimizer=adamw", "--lr=0.003"), 4, ("--limit=100", "--epochs=4")),
    "momentum, a moving mean, a schedule": (
        "mlp", ("--momentum=0.9", "--ema=0.9", "--lr=0.05"), 3,
        ("--limit=110", "--epochs=4", "--schedule=one-cycle")),
    "updates dropped that are not full": (
        "mlp", ("--optimizer=rmsprop", "--lr=0.003"), 2,
        ("--limit=110", "--epochs=5", "--drop-last")),
    "clipped by norm, smoothed labels": (
        "deep", ("--clip-norm=0.5", "--label-smoothing=0.1", "--lr=0.1"), 2,
        ("--limit=110", "--epochs=4", "--no-shuffle")),
    "keras, decay, clipped by value": (
        "mlp", ("--optimizer=adam", "--convention=keras", "--clip-value=0.01",
                "--weight-decay=0.01"), 24, ("--limit=100", "--epochs=4")),
    "values": ("mlp", ("--loss=mse", "--targets=class", "--optimizer=adagrad",
                       "--lr=0.01"), 4, ("--limit=110", "--epochs=4")),
    "dropout, changed pictures": (
        "dropout", ("--lr=0.1", "--momentum=0.9"), 4,
        ("--limit=110", "--epochs=4", "--seed=7", "--augment=shift:2,rotate:10")),
}


def program(place, model, batch, *flags):
    def make():
        path = place.path(f"accumulate-{len(place.made)}")
        source = (place.once("dropout", lambda: make_dropout(place.path("dropped.onnx")))
                  if model == "dropout" else place.model(model))
        ok(place.mnistc, source, "--train", f"--batch={batch}",
           f"--target={place.target}", *flags, "-o", path)
        return path
    return place.once(("accumulate", model, batch, flags), make)


def run(path, folder, *flags):
    """The loss of each step, what tests said, and the weights."""
    ok(path, "train", "--data=digits", "--test-limit=50", "--report-every=1",
       f"--log={folder / 'log'}", f"--save={folder / 'out.onnx'}", *flags)
    lines = [json.loads(line) for line in (folder / "log").read_text().splitlines()]
    losses = [line["loss"] for line in lines if line["event"] == "report"]
    expect(len(losses) == STEPS, losses)
    return losses, [line["test_loss"] for line in lines if line["event"] == "epoch"], {
        one.name: numpy_helper.to_array(one)
        for one in onnx.load(folder / "out.onnx").graph.initializer}


def check(place, name):
    model, compiled, parts, flags = CASES[name]
    wanted = run(program(place, model, LARGE, *compiled), place.fresh("one"), *flags)
    found = run(program(place, model, LARGE // parts, f"--accumulate={parts}", *compiled),
                place.fresh("several"), *flags)
    # On a GPU the kernels of another batch round otherwise, and steps of Adam
    # are as long for small gradients.
    times = 1 if place.target == "cpu" else 20
    np.testing.assert_allclose(found[0], wanted[0], rtol=times * 1e-6, err_msg=name)
    np.testing.assert_allclose(found[1], wanted[1], rtol=times * 1e-5, err_msg=name)
    if place.target != "cpu":
        return
    for key, value in wanted[2].items():
        np.testing.assert_allclose(found[2][key], value, rtol=1e-4, atol=2e-6,
                                   err_msg=f"{name}: {key}")


def test_one_large_batch(place):
    for name in CASES:
        check(place, name)


def digests(done):
    return [part[:16] for part in done.out.split("digest ")[1:]]


def test_streamed_resumed_and_checked(place):
    """The same bits wherever the data is; a run goes on inside of an epoch."""
    path = program(place, "mlp", 6, "--accumulate=4", "--optimizer=adam")
    flags = ("--data=digits", "--test-limit=50", "--limit=110", "--seed=3")
    whole = ok(path, "train", *flags, "--epochs=3")
    for more in ("--device-data=0", "--check-nan"):
        expect(digests(ok(path, "train", *flags, "--epochs=3", more)) == digests(whole), more)
    folder = place.fresh("state")
    state = f"--checkpoint={folder}"
    ok(path, "train", *flags, "--epochs=3", state, "--max-time=0.000001")
    ok(path, "train", "--resume", state, "--max-time=0.000001")
    done = ok(path, "train", "--resume", state)
    expect("resumed at step 2 of 15" in done.out, done)
    expect(digests(done)[-1] == digests(whole)[-1], done)
    other = program(place, "mlp", 6, "--accumulate=2", "--optimizer=adam")
    fails(14, other, "train", "--resume", state,
          parts=["4 batches per step", "2 batches per step"])


def test_running_statistics(place):
    """They move by each batch; an update that is not full is left out."""
    random, names = np.random.default_rng(6), ("scale", "bias", "mean", "variance")
    weights = [(name, random.uniform(0.5, 1.5, 3).astype(np.float32)) for name in names]
    folder = place.fresh("norm")
    model = save_model(
        folder / "norm.onnx",
        [helper.make_node("BatchNormalization", ["x", *names], ["y"], momentum=0.8)],
        [("x", ["N", 3])], [("y", ["N", 3])], weights)
    x = random.uniform(-3, 3, (14, 3)).astype(np.float32)
    np.save(folder / "x.npy", x)
    np.save(folder / "y.npy", 0 * x)
    ok(place.mnistc, model, "--train", "--loss=mse", "--targets=values", "--batch=4",
       "--accumulate=2", f"--target={place.target}", "-o", folder / "program")
    ok(folder / "program", "train", f"--data={folder / 'x.npy'},{folder / 'y.npy'}",
       "--epochs=1", "--no-shuffle", f"--save={folder / 'out.onnx'}")
    mean, variance = (array.astype(float) for _, array in weights[2:])
    for rows in (x[:4], x[4:8]):
        mean = 0.8 * mean + 0.2 * rows.mean(axis=0)
        variance = 0.8 * variance + 0.2 * rows.var(axis=0)
    found = {one.name: numpy_helper.to_array(one)
             for one in onnx.load(folder / "out.onnx").graph.initializer}
    np.testing.assert_allclose(found["mean"], mean, rtol=1e-5)
    np.testing.assert_allclose(found["variance"], variance, rtol=1e-5)


def test_rates_and_sweeps(place):
    flags = ("--data=digits", "--limit=110", "--seed=3")
    large, small = (program(place, "mlp", *each, "--optimizer=adam")
                    for each in ((24,), (6, "--accumulate=4")))
    rates = [json.loads(ok(path, "train", *flags, "--lr-find", "--json").out)["points"]
             for path in (large, small)]
    np.testing.assert_allclose(*[[point["loss"] for point in each][:20] for each in rates],
                               rtol=1e-5)
    done = ok(small, "sweep", *flags, "--lr=0.01", "--epochs=2", f"--out={place.fresh('sweep')}")
    alone = ok(small, "train", *flags, "--lr=0.01", "--epochs=2")
    expect(digests(alone)[-1] in done.out, (done, alone))


def test_what_is_refused(place):
    model, out = place.model("mlp"), place.path("none")
    for flags, code, part in ((("--accumulate=0",), 2, "1 to 1048576"),
                              (("--accumulate=x",), 2, "whole number"),
                              (("--accumulate=2", "--class-weights"), 2, "got both")):
        fails(code, place.mnistc, model, "--train", "--batch=4", *flags, "-o", out,
              parts=[part])
    fails(2, place.mnistc, model, "--accumulate=2", "-o", out, parts=["--train"])
    fails(14, program(place, "mlp", 6, "--accumulate=4", "--optimizer=adam"), "train",
          "--data=digits", "--limit=20", "--drop-last", parts=["24 rows"])
