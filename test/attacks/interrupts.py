"""A compile that is stopped, or whose reader goes, leaves nothing."""

import functools
import os
import resource
import signal
import subprocess
import time

import graphs
import numpy as np
import onnx
from harness import expect


def children(pid):
    """All processes below `pid`."""
    found, parents = set(), {pid}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = open(f"/proc/{entry}/stat", encoding="utf8").read()
            except OSError:
                continue
            parent = int(stat.rsplit(")", 1)[1].split()[1])
            if parent in parents:
                found.add(int(entry))
    return found | {pid for child in found for pid in children(child)}


def ended(pids, limit_s=5):
    begin = time.monotonic()
    while time.monotonic() - begin < limit_s:
        if not any(os.path.exists(f"/proc/{pid}/exe") for pid in pids):
            return True
        time.sleep(0.05)
    return False


def slow_model(place):
    def make():
        path = place.path("slow.onnx")
        onnx.save(graphs.layers(300), str(path))
        return path
    return place.once("slow", make)


def listen(number):
    """A shell lets what it starts in the background ignore interrupts."""
    signal.signal(number, signal.SIG_DFL)


def test_signals(place):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        work = place.path(f"signal-{number}")
        work.mkdir()
        with subprocess.Popen(
                [place.mnistc, slow_model(place), "--target=cpu", "-o",
                 work / "app"], env={**os.environ, "TMPDIR": str(work)},
                stderr=subprocess.PIPE, start_new_session=True,
                preexec_fn=functools.partial(listen, number)) as compiler:
            begin, below = time.monotonic(), set()
            while len(below) < 2 and time.monotonic() - begin < 60:
                below = children(compiler.pid)
                expect(compiler.poll() is None, "it was too fast")
            expect(len(below) >= 2, "no compilers were started")
            compiler.send_signal(number)
            expect(compiler.wait(10) == -number, compiler.returncode)
            expect(compiler.stderr.read() == b"", "said something")
        expect(ended(below), f"still there: {below}")
        expect(os.listdir(work) == [], os.listdir(work))


def test_ignored_hangup_stays_ignored(place):
    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    with subprocess.Popen(
            [place.mnistc, slow_model(place), "--target=cpu", "-o",
             place.path("app")], preexec_fn=ignore) as compiler:
        time.sleep(0.5)
        compiler.send_signal(signal.SIGHUP)
        time.sleep(0.2)
        expect(compiler.poll() is None, "a hangup that is ignored ended it")
        compiler.send_signal(signal.SIGTERM)
        compiler.wait(10)


def test_reader_that_goes(place):
    with subprocess.Popen(
            [place.mnistc, slow_model(place), "--emit=source", "--target=cpu"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE) as compiler:
        compiler.stdout.close()
        said = compiler.stderr.read().decode()
        expect(compiler.wait(60) == 4, (compiler.returncode, said))
        expect(said.startswith("error: cannot write to standard output"), said)
    with open("/dev/full", "w", encoding="utf8") as full:
        for command in ("--list-operators", "--help", "--version"):
            done = subprocess.run(
                [place.mnistc, command], stdout=full, stderr=subprocess.PIPE,
                text=True, timeout=60, check=False)
            expect(done.returncode == 4 and "No space left" in done.stderr, done)
            unsaid = subprocess.run([place.mnistc, command], stdout=full,
                                    stderr=full, timeout=60, check=False)
            expect(unsaid.returncode == 4, unsaid)


def test_limit_of_size(place):
    """SIGXFSZ is an error of the write; nothing is half-written."""
    work = place.path("limit")
    work.mkdir()
    model = work / "model.onnx"
    big = graphs.model([graphs.node("Add", ["x", "w"], "y")], {"x": (300, 300)},
                       {"y": (300, 300)},
                       {"w": np.random.default_rng(1).random(
                           (300, 300), np.float32)})
    onnx.save(big, str(model))

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))

    for options in (["--emit=plan"], []):
        done = subprocess.run(
            [place.mnistc, model, "--target=cpu", *options, "-o", work / "out"],
            env={**os.environ, "TMPDIR": str(place.folder)},
            capture_output=True, text=True, timeout=60, preexec_fn=limit,
            check=False)
        expect(done.returncode == 4 and done.stderr.startswith("error: "), done)
        expect(os.listdir(work) == ["model.onnx"], os.listdir(work))
