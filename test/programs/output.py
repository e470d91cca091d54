"""What the commands of a program write: files, JSON, tables, standard output."""

import io
import json
import os
import re
import subprocess

import numpy as np
import onnx
from commands import as_input, images, infer
from harness import expect, fails, ok, save_model
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
           ["a f32 [3, 3]", "b f32 [3, 3]", "c i64 [3, 3]"], done.out)
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
    for command in (["info"], ["bench", "--repeat=1"], ["profile", "--repeat=1"],
                    ["infer", x], ["eval", f"--data={place.data()}"]):
        for key in keys_of(json.loads(ok(app, *command, "--json").out)):
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
