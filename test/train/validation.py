"""Rows that are kept aside, and when a run stops early."""

import re

import numpy as np

from harness import expect, fails, ok
from place import FLAGS, events


def evaluated(place, path):
    """The accuracy, in percent, of a saved model on the test rows."""
    program = place.path(f"{path.stem}-program")
    ok(place.mnistc, path, "-o", program, f"--target={place.target}")
    found = ok(program, "eval", "--data=digits", "--limit=300").out
    return re.search(r"accuracy ([0-9.]+) %", found)[1]


def test_test_set_is_for_the_end(place):
    folder = place.fresh("validation")
    best, last = folder / "best.onnx", folder / "last.onnx"
    # A rate that is too high for the epochs to get better and better.
    done = place.train("mlp", "--epochs=40", "--validation=0.25", "--lr=0.8",
                       "--early-stop=3", f"--best={best}", f"--save={last}",
                       f"--log={folder / 'log'}")
    expect("450 training rows, 150 to validate with, 300 test rows" in done.out,
           done.out)
    epochs = [e for e in events(folder / "log") if e["event"] == "epoch"]
    expect(all("validation_loss" in e and "test_loss" not in e for e in epochs),
           epochs)
    scores = [e["validation_accuracy"] for e in epochs]
    top = scores.index(max(scores)) + 1
    expect(len(epochs) == top + 3 < 40, f"{top} {scores}")
    expect(f"stopped early: no epoch since epoch {top} was better" in done.out
           and f"best epoch {top} of {top + 3}: validation loss" in done.out,
           done.out)
    for path, said in ((last, "at the end"), (best, f"'{best}'")):
        accuracy = evaluated(place, path)
        expect(re.search(rf"{re.escape(said)}: test loss [0-9.]+, accuracy "
                         rf"{accuracy} %", done.out), f"{accuracy} {done.out}")
    end = events(folder / "log")[-1]
    expect(end["event"] == "end" and end["reason"] == "early-stop", end)


def test_rows_do_not_depend_on_the_seed(place):
    """Without training, each seed has the same validation result."""
    found = {re.search(r"; (validation loss .*?);", place.train(
        "mlp", "--epochs=1", "--validation=0.5", "--lr=0", f"--seed={seed}").out
                       )[1] for seed in (1, 2)}
    expect(len(found) == 1, found)


def test_time_is_over(place):
    folder = place.fresh("time")
    flags = (f"--checkpoint={folder}",)
    done = place.train("mlp", "--epochs=1000000", "--max-time=1.5s",
                       f"--log={folder / 'log'}", *flags)
    expect("stopped after '--max-time=1.5s'" in done.out, done.out)
    end = events(folder / "log")[-1]
    expect(end["reason"] == "max-time" and 1.5 <= end["seconds"] < 10, end)
    again = place.train("mlp", "--resume", "--max-time=100",
                        f"--epochs={end['step'] // 19 + 2}",
                        f"--checkpoint={folder}")
    expect(f"resumed at step {end['step']}" in again.out, again.out)


def test_what_is_refused(place):
    program = place.program("mlp")
    lone = place.fresh("lone") / "x.npy"
    labels = lone.with_name("y.npy")
    np.save(lone, np.zeros((32, 1, 28, 28), np.float32))
    np.save(labels, np.arange(32) % 10)
    alone = f"--data={lone},{labels}"
    for code, flags, said in (
            (2, ("--validation=1", *FLAGS), "between 0 and 1, got 1"),
            (2, ("--validation=0", *FLAGS), "between 0 and 1, got 0"),
            (14, ("--validation=0.0005", *FLAGS), "got 600 rows in all"),
            (14, ("--early-stop=2", alone), "or a test set for '--early-stop'"),
            (14, ("--best=x.onnx", alone), "or a test set for '--best'"),
            (2, ("--max-time=2x", *FLAGS), "such as 90s, 1.5m or 2h, got '2x'"),
            (2, ("--max-time=0", *FLAGS), "such as 90s, 1.5m or 2h, got '0'"),
            (2, ("--max-time=s", *FLAGS), "such as 90s, 1.5m or 2h, got 's'")):
        fails(code, program, "train", *flags, parts=[said])
