"""Training itself: it learns, and always comes to the same weights."""

import random
import signal
import subprocess
import time

import numpy as np
import onnx

from harness import Skip, expect, fails, ok
from place import FLAGS, events


NUMBERS = (signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM)


def test_it_learns(place):
    for name, minimum in (("mlp", 75), ("cnn", 70)):
        run = place.train(name, "--epochs=10", "--lr=0.1")
        expect(len(run.accuracies) == 10, run.out)
        expect(run.accuracies[-1] >= minimum, f"{name}: {run.out}")


def test_two_runs_one_digest(place):
    for name in ("mlp", "cnn"):
        expect(place.train(name, "--epochs=2").digests ==
               place.plain(name).digests, name)


def test_what_changes_the_digest(place):
    plain = place.plain("mlp").digest
    for flags, same in ((["--report-every=3"], True),
                        (["--device-data=0"], True),
                        (["--check-nan"], True),
                        (["--seed=2"], False),
                        (["--no-shuffle"], False),
                        (["--lr=0.02"], False),
                        (["--schedule=cosine"], False),
                        (["--scale=1"], False),
                        (["--invert"], False),
                        (["--init=torch"], False)):
        found = place.train("mlp", "--epochs=2", *flags).digest
        expect((found == plain) == same, f"{flags}: {found}, plain {plain}")


def test_side_by_side_and_in_turn(place):
    """Streams change when a step runs, and nothing else."""
    if place.target == "cpu":
        raise Skip("the CPU has one stream")
    for name in ("mlp", "cnn"):
        found = place.train(name, "--epochs=2",
                            compiled=("--no-assign-streams",)).digest
        expect(found == place.plain(name).digest, name)


def test_no_shuffle_keeps_order(place):
    runs = [place.train("mlp", "--epochs=1", "--no-shuffle", f"--seed={seed}")
            for seed in (1, 2)]
    expect(runs[0].digest == runs[1].digest, "expected no use of the seed")


def test_initialization(place):
    """Deviations of the first layer's weights, [in, out] = [784, 32]."""
    bounds = {"he": np.sqrt(2 / 784), "xavier": np.sqrt(6 / 816 / 3),
              "torch": np.sqrt(1 / 784 / 3), "keras": np.sqrt(6 / 816 / 3)}
    for kind, deviation in bounds.items():
        path = place.path(f"init-{kind}.onnx")
        place.train("mlp", f"--init={kind}", "--lr=0", "--epochs=1",
                    f"--save={path}")
        weights = {tensor.name: onnx.numpy_helper.to_array(tensor)
                   for tensor in onnx.load(path).graph.initializer}
        found = weights["fc1.weight"].std()
        expect(abs(found / deviation - 1) < .03, f"{kind}: {found} {deviation}")
        expect((weights["fc1.bias"] != 0).any() == (kind == "torch"), kind)


def training(place, flags):
    return subprocess.Popen([place.program("mlp"), "train", *FLAGS, *flags],
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def killed(place, flags, seconds, number):
    """Exit code; negative where the signal killed it."""
    process = training(place, flags)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(number)
    error = process.communicate()[1].decode()
    # Before the first step a signal ends the process at once.
    expect(process.returncode in (0, 130, 143, *(-n for n in NUMBERS)),
           f"{process.returncode}: {error}")
    return process.returncode


def test_killed_and_resumed_ends_with_the_same_bits(place):
    flags = ["--epochs=12", "--checkpoint-every=5"]
    whole, parts = place.path("whole.onnx"), place.path("parts.onnx")
    seconds = []
    for _ in range(2):  # one of them may have had to wait for others
        begin = time.monotonic()
        place.train("mlp", *flags, f"--save={whole}",
                    f"--checkpoint={place.fresh('whole')}")
        seconds.append(time.monotonic() - begin)
    flags += [f"--save={parts}", f"--checkpoint={place.fresh('parts')}",
              "--resume"]
    draw, kills = random.Random(1), 0
    # Later and later: where starting takes long, a run must get somewhere.
    while killed(place, flags,
                 draw.uniform(.05, .5) * min(seconds) * (1 + kills / 10),
                 NUMBERS[kills % 4]) != 0:
        kills += 1
        expect(kills < 100, "expected the run to come to its end")
    expect(kills >= 1, "expected a run that is killed")
    expect(whole.read_bytes() == parts.read_bytes(),
           f"other weights after {kills} kills")


def interrupted(place, flags, log, number):
    """Exit code of a training that is sent a signal once it has written more."""
    known = log.stat().st_size if log.exists() else 0
    process = training(place, flags)
    while process.poll() is None and not (log.exists() and
                                          log.stat().st_size > known):
        time.sleep(.05)
    process.send_signal(number)
    error = process.communicate()[1].decode()
    return process.returncode, error


def test_interrupted(place):
    folder = place.fresh("interrupted")
    log = folder / "log.jsonl"
    flags = ["--epochs=100000", f"--save={folder / 'x.onnx'}",
             f"--checkpoint={folder}", f"--log={log}", "--resume"]
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        got, error = interrupted(place, flags, log, number)
        expect(got == code, f"expected {code}, got {got}: {error}")
        onnx.checker.check_model(onnx.load(folder / "x.onnx"))
        expect(events(log)[-1]["reason"] == "signal", folder)


def test_loss_that_is_not_finite(place):
    program, path = place.program("mlp"), place.path("nan.onnx")
    flags = ["train", *FLAGS, "--lr=1e30", f"--save={path}", "--epochs=2"]
    fails(15, program, *flags, parts=["NaN or infinity at step", "(epoch 1)"])
    fails(15, program, *flags, "--check-nan",
          parts=["computed by step", "batch", "of epoch 1"])
    expect(not path.exists(), "expected nothing to be saved")


def test_options(place):
    program = place.program("mlp")
    for flags, code, part in (
            (["--epochs=0"], 2, "to be 1 or more"),
            (["--lr=x"], 2, "to be a number, got 'x'"),
            (["--lr=nan"], 2, "to be a number"),
            (["--beta1=.9"], 2, "optimizer"),
            (["--schedule=cosin"], 2, "did you mean 'cosine'?"),
            (["--schedule=cosine,lrmin=1"], 2, "did you mean 'lr-min'?"),
            (["--epoch=3"], 2, "did you mean '--epochs'?"),
            (["--save=-"], 2, "for '--save', got '-'"),
            (["--schedule=step,gamma=-1"], 2, "'gamma'"),
            (["--batch=7"], 2, "'--batch' to be one of 32, got 7"),
            (["--init=xavir"], 2, "did you mean 'xavier'?"),
            (["--resume"], 2, "--checkpoint=DIR"),
            (["--checkpoint-every=3"], 2, "--checkpoint=DIR")):
        fails(code, program, "train", *FLAGS, *flags, parts=[part])
    fails(2, program, "train", parts=["--data=DIR"])
    expect("--weight-decay" in ok(program, "train", "--help").out, "help")
