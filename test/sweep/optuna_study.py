"""The example that searches with Optuna."""

import importlib.util
import sys

from harness import ROOT, Skip, expect, ok

EXAMPLE = ROOT / "examples/optuna"


def python():
    if not importlib.util.find_spec("optuna"):
        raise Skip("no optuna: scripts/setup installs it")
    return sys.executable


def best(done):
    """The value, the digest and the options that it prints last."""
    line, flags = done.out.splitlines()[-2:]
    expect(line.startswith("best of "), done)
    words = line.split()
    return float(words[3].rstrip(",")), words[-1], flags.split()


def check(place, done):
    """The best trial is what 'train' makes of its options."""
    value, digest, flags = best(done)
    run = place.train("mlp", "--epochs=3", *flags,
                      compiled=("--optimizer=adam",))
    expect(run.digest == digest, f"{done} {run.out}")
    expect(abs(run.accuracies[-1] / 100 - value) < 1e-4, f"{done} {run.out}")
    expect(value > 0.7, done)


DATA = ("--data=digits", "--limit=600", "--test-limit=300", "--epochs=3")


def test_study(place):
    program = place.program("mlp", compiled=("--optimizer=adam",))
    storage = f"--storage=sqlite:///{place.fresh('optuna')}/study.db"
    done = ok(python(), EXAMPLE / "study.py", program, *DATA, "--trials=8", storage)
    check(place, done)
    expect("pruned" in done.err, done)
    # It goes on with those that there are.
    more = ok(python(), EXAMPLE / "study.py", program, *DATA, "--trials=2", storage)
    expect("best of 10: " in more.out, more)
    check(place, more)


def test_batches(place):
    program = place.program("mlp", compiled=("--optimizer=adam",))
    done = ok(python(), EXAMPLE / "batches.py", program, *DATA, "--rounds=3",
              "--batch=5", f"--out={place.fresh('rounds')}")
    expect("best of 15: " in done.out, done)
    check(place, done)
