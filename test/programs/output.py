"""What the commands of a program write: files, JSON, tables, standard output; and
what they do where it cannot be written."""

import functools
import io
import json
import os
import re
import resource
import subprocess

import numpy as np
import onnx
from commands import as_input, images, infer
from harness import expect, fails, ok, run, save_model
from onnx import helper


def three_outputs(place):
    def make():
        node = helper.make_node
        model = save_model(
            place.path("three.onnx"),
            [node("Neg", ["x"], ["a"]), node("Exp", ["x"], ["b"]),
             node("Cast", ["x"], ["c"], to=onnx.TensorProto.INT64)],
            [("x", ["N", 3])],
            [("a", ["N", 3]), ("b", ["N", 3]),
             ("c", ["N", 3], onnx.TensorProto.INT64)])
        ok(place.mnistc, model, "--target=cpu", "--batch=2", "-o",
           place.path("three"))
        return place.path("three")
    return place.once("three", make)


def test_infer_writes_all_outputs(place):
    app, x = three_outputs(place), place.path("x.npy")
    rows = np.arange(9, dtype=np.float32).reshape(3, 3)
    np.save(x, rows)
    wanted = [-rows, np.exp(rows), rows.astype(np.int64)]
    for given, written in (("all.npy", "all.{}.npy"), ("all", "all.{}")):
        done = ok(app, "infer", x, f"--output={place.path(given)}")
        for i, array in enumerate(wanted):
            file = place.path(written.format(i))
            found = np.load(file)
            expect(found.dtype == array.dtype, found.dtype)
            np.testing.assert_allclose(found, array, rtol=1e-6)
            expect(f"wrote '{file}': output '{'abc'[i]}'" in done.err, done)
    expect([line.split(":")[0] for line in done.out.splitlines()] ==
           ["a float [3, 3]", "b float [3, 3]", "c int64 [3, 3]"], done.out)
    found = json.loads(ok(app, "infer", x, "--json").out)
    expect(found["outputs"][2]["values"] == rows.astype(int).tolist(), found)
    expect("classes" not in found, found)
    fails(2, app, "infer", x, "--output=-", parts=["model of 3 outputs"])


def test_standard_output(place):
    """What goes there is all that goes there."""
    app, x = place.program("pytorch-simplecnn"), place.path("x.npy")
    np.save(x, as_input("", images(place, 3)))
    plain = infer(place, app, x)
    done = subprocess.run([app, "infer", x, "--output=-"], capture_output=True)
    np.testing.assert_array_equal(np.load(io.BytesIO(done.stdout)), plain)
    expect(done.stderr.count(b"\n") == 3, done.stderr)
    trace = json.loads(ok(app, "profile", "--repeat=1", "--trace=-").out)
    expect(trace["traceEvents"], trace)
    for command, flag in (("profile", "--trace=-"), ("infer", "--output=-")):
        fails(2, app, command, *([x] * (command == "infer")), flag, "--json",
              parts=["expected one output on standard output"])
    found = json.loads(ok(app, "infer", x, "--json", "--top=2").out)
    np.testing.assert_array_equal(np.float32(found["outputs"][0]["values"]),
                                  plain)
    expect([row[0]["class"] for row in found["classes"]] ==
           plain.argmax(axis=1).tolist(), found)


def keys_of(value):
    if isinstance(value, dict):
        for key, inside in value.items():
            yield key
            yield from keys_of(inside)
    elif isinstance(value, list):
        for inside in value:
            yield from keys_of(inside)


def test_json_keys_are_in_one_style(place):
    app, x = place.program("pytorch-simplecnn"), place.path("x.npy")
    np.save(x, as_input("", images(place, 1)))
    gradients = place.path("gradients")
    ok(place.mnistc, "gradcheck", place.model("mxnet-mlp"), "--batch=2", "-o",
       gradients)
    printed = [ok(app, *command, "--json").out for command in (
        ["info"], ["bench", "--repeat=1"], ["profile", "--repeat=1"], ["infer", x],
        ["eval", f"--data={place.data()}"])]
    printed += ok(gradients, "gradcheck", "--samples=1", "--json").out.splitlines()
    for options in ([], ["--train"]):
        printed.append(ok(place.mnistc, place.model("mxnet-mlp"), "--target=cpu",
                          "--explain=json", *options).out)
    for text in printed:
        for key in keys_of(json.loads(text)):
            expect(re.fullmatch("[a-z0-9]+(_[a-z0-9]+)*", key), key)


def test_tables_fit_the_terminal(place):
    app = place.program("pytorch-simplecnn")
    for columns in (60, 80, 100):
        narrow = {**os.environ, "COLUMNS": str(columns)}
        for command in (["info"], ["bench", "--repeat=1"],
                        ["profile", "--repeat=1"]):
            for line in ok(app, *command, env=narrow).out.splitlines():
                expect(len(line) <= columns or command == ["bench", "--repeat=1"]
                       and columns < 80 or line.startswith("command"), line)
    whole = {**os.environ}
    whole.pop("COLUMNS", None)
    expect("reshape conv broadcast add relu" in ok(app, "info", env=whole).out,
           "a pipe has no width")


def test_outputs_that_cannot_be_written(place):
    app, npy = place.program("pytorch-simplecnn"), place.path("in.npy")
    folder = place.path("outputs")
    folder.mkdir()
    np.save(npy, as_input("", images(place, 3)))
    for command in (["info"], ["info", "--json"], ["--help"], ["--version"],
                    ["infer", "--help"], ["infer", npy],
                    ["bench", "--repeat=1"], ["profile", "--repeat=1"]):
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
    fails(14, app, "profile", "--repeat=1", "--trace=/dev/full",
          parts=["cannot write '/dev/full'"])
    fails(14, app, "infer", npy, f"--output={folder}", parts=["got a folder"])
    fails(14, app, "infer", npy, f"--output={folder / 'none/out.npy'}",
          parts=["cannot write"])
    out, victim = folder / "out.npy", folder / "victim"
    out.write_text("old"), victim.write_text("mine")
    limit = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (64, 64))
    done = subprocess.run([app, "infer", npy, f"--output={out}"],
                          preexec_fn=limit, capture_output=True, text=True)
    expect(done.returncode == 14 and "cannot write" in done.stderr, done)
    expect(out.read_text() == "old" and len(list(folder.iterdir())) == 2, "left")
    # A file in the place of the temporary one is not overwritten.
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
