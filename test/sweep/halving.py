"""Successive halving: runs are compared, and the best are trained on."""

import signal

from harness import expect
from stopped import continue_until_done, timed
from sweeps import alone

FLAGS = ("--lr=0.1,0.03,0.01,0.003,0.001,0.0001", "--seed=1..3", "--epochs=9",
         "--halving=3")
RUNS = 18


def score(line, epoch):
    at = line["epochs"][epoch - 1]
    return -at["test_accuracy"], at["test_loss"], line["run"]


def lengths(found):
    return sorted(len(line["epochs"]) for line in found.runs.values())


def test_the_worse_part_is_dropped(place):
    found = place.sweep(*FLAGS)
    # Rungs of 1, 3 and 9 epochs, with 18, 6 and 2 runs.
    expect(lengths(found) == 12 * [1] + 4 * [3] + 2 * [9], lengths(found))
    alive = set(found.runs)
    for epoch, kept in ((1, 6), (3, 2)):
        best = sorted(alive, key=lambda run: score(found.runs[run], epoch))[:kept]
        for run in alive - set(best):
            line = found.runs[run]
            expect(line["state"] == "dropped" and len(line["epochs"]) == epoch,
                   line)
        alive = set(best)
    expect(all(found.runs[run]["state"] == "finished" for run in alive), alive)
    expect("epoch 1: 6 of 18 runs go on" in found.done.out, found.done)
    expect(not (found.folder / "unfinished").exists(), "checkpoints were left")


def test_survivors_have_the_bits_of_one_alone(place):
    found = place.sweep(*FLAGS, "--schedule=cosine")
    for line in found.runs.values():
        count = len(line["epochs"])
        if count > 1:
            digests, _ = alone(place, line)
            expect(line["digest"] == digests[count - 1], line)


def test_any_number_at_a_time(place):
    rows = [place.sweep(*FLAGS, f"--jobs={jobs}").rows() for jobs in (1, 4)]
    expect(rows[0] == rows[1], rows)


def test_killed(place):
    whole, took = timed(place, FLAGS)
    for seed, number in enumerate((signal.SIGKILL, signal.SIGTERM)):
        found, _, _ = continue_until_done(place, number, seed, took, FLAGS)
        expect(found.rows() == whole.rows(), number)


def test_all_runs_are_trained_without_it(place):
    """What was dropped is no obstacle."""
    flags = FLAGS[:-1]
    found = place.sweep(*FLAGS)
    found = place.sweep(*flags, folder=found.folder)
    expect(lengths(found) == RUNS * [9], lengths(found))
    expect(found.rows() == place.sweep(*flags).rows(), "rows")


def test_failed_runs_are_the_first_to_go(place):
    found = place.sweep("--lr=1e30,0.01,1e29", "--epochs=3", "--halving=3")
    expect([found.runs[i]["state"] for i in (1, 2, 3)] ==
           ["failed", "finished", "failed"], found.runs)
