"""Sweeps that were stopped go on where they were."""

import random
import signal
import subprocess
import time

from harness import expect, fails
from sweeps import DATA, Results

FLAGS = ("--lr=0.01,0.003,0.001", "--seed=1..4", "--epochs=4")


def stop_after(place, folder, seconds, number, flags, begun=False):
    """The exit code; below 0 for the signal that killed it. The time counts from
    the start, or once the sweep has begun to write."""
    process = subprocess.Popen(
        [place.swept(), "sweep", *DATA, f"--out={folder}", *flags],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while begun and process.poll() is None and not any(
            folder.glob("results.jsonl")):
        time.sleep(0.01)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(number)
    said = process.communicate()[1]
    return process.returncode, said


def timed(place, flags):
    """A sweep that is not stopped, and how long it takes."""
    place.swept()
    begin = time.monotonic()
    return place.sweep(*flags), time.monotonic() - begin


def continue_until_done(place, number, seed, took, flags=FLAGS):
    """Stops it at random moments of the time that it would take."""
    folder, times = place.fresh("stopped"), random.Random(seed)
    stops, codes = 0, set()
    while True:
        begin = time.monotonic()
        code, said = stop_after(place, folder, took * times.uniform(0.2, 0.8),
                                number, flags)
        codes.add(code)
        if code == 0:
            break
        stops += 1
        expect(stops < 200 and time.monotonic() - begin < 60, "it does not end")
    return Results(folder), stops, codes


def test_killed(place):
    whole, took = timed(place, FLAGS)
    stops = 0
    for seed in range(3):
        found, more, codes = continue_until_done(place, signal.SIGKILL, seed,
                                                 took)
        stops += more
        expect(codes <= {0, -signal.SIGKILL}, codes)
        expect(found.rows() == whole.rows(), f"{found.rows()} {whole.rows()}")
        expect({path.name for path in (found.folder / "models").iterdir()} ==
               {path.name for path in (whole.folder / "models").iterdir()},
               "models")
        # What is written is not trained again.
        ids = [line["id"] for line in found.lines[1:]]
        expect(len(ids) == len(set(ids)), ids)
    expect(stops > 0, "expected some that were killed")


def test_asked_to_stop(place):
    flags = ("--seed=1..4", "--epochs=40")
    whole, took = timed(place, flags)
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        folder = place.fresh("asked")
        ended, said = stop_after(place, folder, took / 3, number, flags,
                                 begun=True)
        for _ in range(50):
            # One that does not listen yet dies of the signal.
            if ended == -number:
                ended, said = stop_after(place, folder, took, number, flags,
                                         begun=True)
                continue
            if ended != code:
                break
            expect(said.startswith("error: ") and
                   "of 4 runs; the same command continues" in said, said)
            left = Results(folder)
            kept = list((folder / "unfinished").glob("*/checkpoint.safetensors")) \
                if (folder / "unfinished").exists() else []
            # A GPU is opened for much of the time.
            expect(place.target != "cpu" or len(left.runs) + len(kept) > 0,
                   "nothing is kept")
            ended, said = stop_after(place, folder, took / 3, number, flags,
                                 begun=True)
        expect(ended == 0, f"{ended} {said}")
        found = Results(folder)
        expect(found.rows() == whole.rows(), number)
        expect(not (folder / "unfinished").exists(), "checkpoints were left")


def test_two_in_one_folder(place):
    folder = place.fresh("two")
    command = [place.swept(), "sweep", *DATA, f"--out={folder}"]
    first = subprocess.Popen([*command, "--seed=1..100000", "--keep=0"],
                             stdout=subprocess.DEVNULL)
    try:
        # What is written is locked.
        while not any(path.stat().st_size
                      for path in folder.glob("results.jsonl")):
            time.sleep(0.01)
        fails(14, *command, "--seed=1,2", parts=["no other sweep", "results.jsonl"])
    finally:
        first.kill()
        first.wait()


def test_torn_lines(place):
    """Of a process that was killed while it wrote."""
    flags = ("--seed=1..3", "--epochs=1", "--keep=0")
    found = place.sweep(*flags)
    file = found.folder / "results.jsonl"
    text = file.read_text()
    file.write_text(text[:-20])
    again = place.sweep(*flags, folder=found.folder)
    expect(again.digests == found.digests, again.lines)
    expect(len(again.lines) == len(found.lines), again.lines)
