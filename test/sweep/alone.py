"""Each run has the bits that it has alone."""

import json
import os

from harness import Skip, expect
from sweeps import DATA, alone


def check(place, results, name):
    for line in results.runs.values():
        expect(line["state"] == "finished", line)
        digests, summary = alone(place, line, name)
        expect(line["digest"] == digests[-1] == summary["digest"], line)
        last = line["epochs"][-1]
        for key in ("train_loss", "train_accuracy", "test_loss", "test_accuracy"):
            expect(last[key] == summary[key], f"{key}: {line} {summary}")
        expect(len(line["epochs"]) == summary["epochs"], line)


def test_products(place):
    for name in ("mlp", "cnn"):
        found = place.sweep("--lr=0.01,0.001", "--seed=1..3", "--epochs=2",
                            name=name)
        expect(len(found.runs) == 6, found.runs)
        expect(len(set(found.digests.values())) == 6, found.digests)
        check(place, found, name)


def test_all_kinds_of_options(place):
    found = place.sweep("--schedule=constant,cosine,lr-min=0.0001,warm-up=5",
                        "--init=file,he", "--batch=16,32", "--epochs=1,2")
    expect(len(found.runs) == 16, found.runs)
    check(place, found, "mlp")
    found = place.sweep("--beta1=0.8,0.9", "--weight-decay=0,0.1", "--no-shuffle",
                        "--drop-last", "--mean=0.1", "--epochs=1")
    expect(len(found.runs) == 4, found.runs)
    check(place, found, "mlp")


def test_lists(place):
    path = place.path("runs.jsonl")
    path.write_text('{"lr": 0.01, "seed": 4}\n\n'
                    '{"weight_decay": 1e-4, "schedule": "cosine"}\n'
                    '{"epochs": 3, "batch": 16, "init": "torch"}\n')
    found = place.sweep(f"--list={path}", "--epochs=2")
    expect([line["options"].get("epochs") for line in found.runs.values()] ==
           [2, 2, 3] or len(found.runs) == 3, found.runs)
    expect(sorted(len(line["epochs"]) for line in found.runs.values()) ==
           [2, 2, 3], found.runs)
    check(place, found, "mlp")


def test_random(place):
    flags = ("--lr=1e-4..1e-1", "--beta1=0.5..0.95", "--seed=1..100",
             "--init=file,he", "--epochs=1")
    some = place.sweep("--random=6", *flags)
    check(place, some, "mlp")
    more = place.sweep("--random=9", *flags)
    expect(some.digests.items() < more.digests.items(), "the first runs differ")
    others = place.sweep("--random=6", "--random-seed=2", *flags)
    expect(not some.digests.keys() & others.digests.keys(), "the same runs")


def test_any_number_at_a_time(place):
    flags = ("--lr=0.01,0.001", "--seed=1..4", "--epochs=2")
    found = {}
    for jobs in ((), ("--jobs=1",), ("--jobs=3",), ("--jobs=8",)):
        for threads in ("1", "4"):
            found[jobs, threads] = place.sweep(
                *jobs, *flags, env=os.environ | {"OMP_NUM_THREADS": threads}
            ).digests
    plain = found[(), "1"]
    expect(len(plain) == 8, plain)
    for how, digests in found.items():
        expect(digests == plain, how)


def test_jobs_are_at_a_time(place):
    """By what the summary says, and by the threads of each."""
    if place.target != "cpu":
        raise Skip("threads are of the CPU")
    for jobs, threads, each in ((None, 4, 1), (2, 4, 2), (1, 4, 4), (8, 4, 1)):
        flags = [f"--jobs={jobs}"] if jobs else []
        found = place.sweep("--json", "--seed=1..8", "--epochs=1", *flags,
                            env=os.environ | {"OMP_NUM_THREADS": str(threads)})
        summary = json.loads(found.done.out)
        expect(summary["jobs"] == (jobs or threads), summary)
        for line in found.runs.values():
            expect(f"CPU, {each} thread" in line["device"], line)


def test_streamed_data(place):
    flags = ("--seed=1..3", "--epochs=2")
    expect(place.sweep("--device-data=0", *flags).digests ==
           place.sweep(*flags).digests, DATA)
