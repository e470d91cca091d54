"""What a compiled program writes and prints where the world is hostile."""

import functools
import json
import os
import resource
import subprocess

import numpy as np
from commands import as_input, images
from harness import expect, fails, ok, run, save_idx


def test_outputs_that_cannot_be_written(place):
    app, npy = place.program("pytorch-simplecnn"), place.path("x.npy")
    np.save(npy, as_input("", images(place, 1)))
    for where in ("/dev/full", place.path("none/out.npy"), place.folder):
        fails(14, app, "infer", npy, f"--output={where}", parts=["cannot write"])
    fails(14, app, "profile", "--repeat=1", "--trace=/dev/full",
          parts=["cannot write '/dev/full'"])
    with open("/dev/full", "w") as full:
        for command in (["infer", str(npy)], ["info"], ["bench", "--repeat=1"],
                        ["profile", "--repeat=1"]):
            done = subprocess.run([str(app), *command], stdout=full,
                                  stderr=subprocess.PIPE, text=True)
            expect(done.returncode == 14 and "No space left" in done.stderr,
                   f"{command}: {done}")


def test_eval(place):
    app, folder = place.program("pytorch-simplecnn"), place.data()
    found = [json.loads(ok(app, "eval", f"--data={folder}", "--json",
                           f"--batch={n}").out) for n in (1, 8)]
    expect(found[0]["images"] == found[1]["images"] == 40, found)
    expect(found[0]["correct"] == found[1]["correct"], found)
    expect(abs(found[0]["loss"] - found[1]["loss"]) < 1e-4, found)
    expect(ok(app, "eval", f"--data={folder}", "--split=train").out.startswith(
        "loss "), "a line")
    fails(2, app, "eval", parts=["--data=DIR"])
    fails(2, app, "eval", f"--data={folder}", "--split=x", parts=["'x'"])
    fails(14, app, "eval", f"--data={place.path('none')}", parts=["got none at"])


def test_eval_finds_bad_labels(place):
    app, folder = place.program("pytorch-simplecnn"), place.path("labels")
    folder.mkdir()
    labels = folder / "t10k-labels-idx1-ubyte"
    save_idx(folder / "t10k-images-idx3-ubyte", np.zeros((3, 28, 28)))
    save_idx(labels, np.array([0, 10, 2]))
    fails(14, app, "eval", f"--data={folder}", parts=["labels below 10", "got 10"])
    save_idx(labels, np.array([0, 1]))
    fails(14, app, "eval", f"--data={folder}", parts=["(3), got 2"])
    labels.write_bytes(labels.read_bytes()[:-1])
    fails(14, app, "eval", f"--data={folder}", parts=["expected 2 bytes", "got 1"])
    save_idx(folder / "t10k-images-idx3-ubyte", np.zeros((3, 27, 28)))
    save_idx(labels, np.array([0, 1, 2]))
    fails(14, app, "eval", f"--data={folder}", parts=["got [3, 27, 28]"])


def test_outputs_that_cannot_be_written(place):
    app, npy = place.program("pytorch-simplecnn"), place.path("in.npy")
    folder = place.path("outputs")
    folder.mkdir()
    np.save(npy, as_input("", images(place, 3)))
    for command in (["info"], ["info", "--json"], ["--help"], ["--version"],
                    ["infer", "--help"], ["infer", npy]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([app, *command], stdout=full,
                                  stderr=subprocess.PIPE, text=True)
        expect(done.returncode == 14 and "No space left" in done.stderr,
               f"{command}: {done}")
    # A reader that goes away.
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([app, "info"], stdout=write, stderr=subprocess.PIPE,
                          text=True)
    os.close(write)
    expect(done.returncode == 14 and "Broken pipe" in done.stderr, done)
    # Only regular files are replaced, whole or not at all.
    fails(14, app, "infer", npy, "--output=/dev/full", parts=["got a device"])
    fails(14, app, "infer", npy, f"--output={folder}", parts=["got a folder"])
    out, victim = folder / "out.npy", folder / "victim"
    out.write_text("old"), victim.write_text("mine")
    limit = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (64, 64))
    done = subprocess.run([app, "infer", npy, f"--output={out}"],
                          preexec_fn=limit, capture_output=True, text=True)
    expect(done.returncode == 14 and "cannot write" in done.stderr, done)
    expect(out.read_text() == "old" and len(list(folder.iterdir())) == 2, "left")
    # What lies in the way of the temporary file is not written through.
    for make in (os.symlink, os.link, lambda _, to: os.mkfifo(to)):
        make(victim, f"{out}.tmp")
        fails(14, app, "infer", npy, f"--output={out}", parts=["cannot write"])
        expect(victim.read_text() == "mine", make)
        os.unlink(f"{out}.tmp")
    ok(app, "infer", npy, f"--output={out}")
    expect(np.load(out).shape == (3, 10), out)


def test_hostile_names(place):
    app = place.program("pytorch-simplecnn")
    name = place.path("\x1b[31m\n\xff")
    for done in (run(app, "infer", name), run(app, "eval", f"--data={name}"),
                 run(app, "info", "--\x1b[2J")):
        expect(done.code in (2, 14), done)
        expect("\x1b" not in done.err and "\\x1b[" in done.err, done)
        expect(done.err.count("\n") == 1, done)
