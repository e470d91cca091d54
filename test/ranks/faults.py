"""Ranks that are killed or stopped: the others end soon, and say which."""

import os
import pathlib
import random
import re
import signal
import subprocess
import time

from harness import expect
from ranks_place import DATA

MISSED = {signal.SIGKILL: r"got no rank (\d) any more",
          signal.SIGSTOP: r"got no answer from rank (\d) for [0-9.]+ s"}


def ranks_of(program):
    """The processes that run a program, by rank."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(folder / "exe") != str(program):
                continue
            text = (folder / "environ").read_bytes()
        except OSError:
            continue
        rank = re.search(rb"OMPI_COMM_WORLD_RANK=(\d+)", text)
        if rank:
            found[int(rank[1])] = int(folder.name)
    return found


def start(place, program, *flags):
    return subprocess.Popen(
        [str(part) for part in (*place.command(3), program, "train", *DATA,
                                "--epochs=10000", "--limit=3000", *flags)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def hit(place, program, victim, number, seconds):
    """Waits for a checkpoint and a random while; what is said afterwards, and
    after how long."""
    folder = place.fresh("hit")
    run = start(place, program, "--timeout=2", f"--checkpoint={folder}")
    file = folder / "checkpoint.safetensors"
    begin = time.monotonic()
    while not file.exists() and time.monotonic() < begin + 60:
        time.sleep(0.05)
    time.sleep(seconds)
    os.kill(ranks_of(program)[victim], number)
    begin = time.monotonic()
    out = run.communicate(timeout=60)[0]
    took = time.monotonic() - begin
    expect(took < 30, f"expected an end within 30 s, got {took}: {out}")
    expect(run.returncode != 0, out)
    return out, file


def check(place, number):
    program = place.parallel("mlp", "8").resolve()
    draw = random.Random(int(number))
    for victim in (0, 1, 2):
        out, file = hit(place, program, victim, number, draw.random())
        said = re.findall(r"error: .*", out)
        expect(len(said) == 1, f"expected one line: {out}")
        found = re.search(r"error: expected all 3 ranks in step (\d+), "
                          + MISSED[number], said[0])
        expect(found and int(found[2]) == victim and int(found[1]) > 1, out)
        expect(not ranks_of(program), "expected no rank to live on")
        # The last checkpoint is whole: one rank goes on from it.
        done = subprocess.run(
            [str(program), "train", f"--checkpoint={file.parent}", "--resume",
             "--epochs=1"], capture_output=True, text=True)
        expect("'--epochs' of" in done.stderr or "resumed at" in done.stdout,
               done)


def profile(place, program, repeat, env=None):
    return subprocess.Popen(
        [str(part) for part in (*place.command(2), program, "profile",
                                "--plan=train", f"--repeat={repeat}",
                                "--timeout=2")],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)


def lose(place, program, number, repeat, seconds, env=None):
    """Rank 1 of two that profile is killed or stopped after some seconds, and
    the other one says so."""
    run = profile(place, program, repeat, env)
    time.sleep(seconds)
    os.kill(ranks_of(program)[1], number)
    out = run.communicate(timeout=60)[0]
    expect(not ranks_of(program), "expected no rank to live on")
    said = re.findall(r"error: .*", out)
    expect(len(said) == 1
           and re.search(MISSED[number].replace(r"\d", "1"), said[0]), out)
    # Of one that was killed mpirun has a code of its own.
    expect(run.returncode == {signal.SIGKILL: 137, signal.SIGSTOP: 16}[number],
           (run.returncode, out))


def ends_within(place, program, repeat, seconds):
    run = profile(place, program, repeat)
    try:
        run.communicate(timeout=seconds)
        return True
    except subprocess.TimeoutExpired:
        for number in ranks_of(program).values():
            os.kill(number, signal.SIGKILL)
        run.communicate(timeout=60)
        return False


def test_profile_without_a_rank(place):
    """In the first half of a run. Until the first tenth of it ranks measure
    alone, and miss nobody."""
    program = place.parallel("mlp", "8").resolve()
    begin = time.monotonic()
    expect("sums over 2 ranks" in profile(place, program, 1).communicate(
        timeout=60)[0], program)
    start, repeat = time.monotonic() - begin, 4000
    while ends_within(place, program, repeat, start + 2):
        repeat *= 2
    for number in MISSED:
        lose(place, program, number, 2 * repeat, start + 2)


def test_killed(place):
    check(place, signal.SIGKILL)


def test_who_speaks_is_late(place):
    """Rank 0 is stopped, and rank 1, which is to say so, goes on just before
    rank 2 has waited long enough. If that ended first, mpirun would have rank 0
    go on, and say that rank 2 is gone."""
    program = place.parallel("mlp", "8").resolve()
    run = start(place, program, "--timeout=2")
    while len(ranks_of(program)) < 3:
        time.sleep(0.05)
    time.sleep(1)
    ranks = ranks_of(program)
    for rank, number, seconds in ((0, signal.SIGSTOP, 1.2),
                                  (1, signal.SIGSTOP, 2.6),
                                  (1, signal.SIGCONT, 0)):
        os.kill(ranks[rank], number)
        time.sleep(seconds)
    out = run.communicate(timeout=60)[0]
    said = re.findall(r"error: .*", out)
    found = [re.search(MISSED[signal.SIGSTOP], line) for line in said]
    expect(len(found) == 1 and found[0] and found[0][1] == "0", out)
    expect(not ranks_of(program), "expected no rank to live on")


def test_stopped(place):
    check(place, signal.SIGSTOP)


def test_terminated(place):
    """Whichever rank gets the signal, all stop after the same step."""
    program = place.parallel("mlp", "8").resolve()
    folder = place.fresh("terminated")
    run = start(place, program, f"--checkpoint={folder}")
    while len(ranks_of(program)) < 3:
        time.sleep(0.05)
    time.sleep(2)
    os.kill(ranks_of(program)[1], signal.SIGTERM)
    out = run.communicate(timeout=60)[0]
    said = re.findall(r"error: .*", out)
    expect(len(said) == 1 and "terminated at step" in said[0], out)
    expect(run.returncode == 143, out)


def test_one_rank_fails(place):
    """What only one rank finds out it says with its number."""
    program = place.parallel("mlp", "8").resolve()
    script = place.path("limited.sh")
    script.write_text(f"""#!/bin/sh
[ $OMPI_COMM_WORLD_RANK != 2 ] || export TMPDIR=/tmp data=/nowhere
exec {program} train --data=${{data:-digits}} --limit=48 --epochs=1
""")
    script.chmod(0o755)
    done = subprocess.run([*place.command(3), str(script)],
                          capture_output=True, text=True)
    said = re.findall(r"error: .*", done.stderr)
    expect(len(said) == 1 and said[0].startswith("error: rank 2: ")
           and "/nowhere" in said[0], done)
    expect(done.returncode == 14, done)
