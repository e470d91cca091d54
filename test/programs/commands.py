"""The commands of a compiled program: what they answer, how they fail."""

import gzip
import json
import struct
import subprocess
import zlib

import numpy as np
import onnx
from harness import (expect, fails, ok, reference, run, save_idx, save_model,
                     save_tensor)
from onnx import helper

MODELS = ("mxnet-simplecnn", "mxnet-mlp", "pytorch-simplecnn", "pytorch-net",
          "keras-cnn")


def images(place, count=40):
    packed = (place.data() / "t10k-images-idx3-ubyte.gz").read_bytes()
    pixels = np.frombuffer(gzip.decompress(packed), np.uint8, offset=16)
    return pixels.reshape(-1, 28, 28)[:count]


def as_input(name, pixels):
    shape = (-1, 28, 28, 1) if name == "keras-cnn" else (-1, 1, 28, 28)
    return (pixels.astype(np.float32) / 255).reshape(shape)


def infer(place, app, *arguments):
    out = place.path("out.npy")
    ok(app, "infer", *arguments, f"--output={out}")
    return np.load(out)


def save_png(path, pixels):
    height, width = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(
        b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
        chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def test_all_models_answer_as_onnxruntime(place):
    for name in MODELS:
        x = as_input(name, images(place, 11))  # 8 and a partial batch of 3
        npy = place.path("x.npy")
        np.save(npy, x)
        found = infer(place, place.program(name), npy)
        np.testing.assert_allclose(found, reference(place.model(name), x),
                                   rtol=1e-4, atol=1e-5, err_msg=name)


def test_batches_answer_alike(place):
    app = place.program("pytorch-simplecnn")
    npy = place.path("x.npy")
    for rows in (1, 2, 7, 8, 9, 17):
        x = as_input("", images(place, rows))
        np.save(npy, x)
        one = infer(place, app, npy, "--batch=1")
        eight = infer(place, app, npy, "--batch=8")
        expect(one.shape == (rows, 10), f"got shape {one.shape}")
        np.testing.assert_allclose(one, eight, rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(eight, infer(place, app, npy, "--batch=8"))


def test_infer_reads_every_format(place):
    app, pixels = place.program("pytorch-simplecnn"), images(place, 3)
    x = as_input("", pixels)
    files = [place.path(f"x.{ending}") for ending in ("npy", "pb", "idx", "gz")]
    np.save(files[0], x)
    save_tensor(files[1], x)
    save_idx(files[2], pixels)
    files[3].write_bytes(gzip.compress(files[2].read_bytes()))
    found = [infer(place, app, file) for file in files]
    pngs = [place.path(f"{i}.png") for i in range(3)]
    for png, digit in zip(pngs, pixels):
        save_png(png, digit)
    found.append(infer(place, app, *pngs))
    np.save(files[0], x.astype(np.float64))
    found.append(infer(place, app, files[0]))
    for array in found[1:]:
        np.testing.assert_allclose(array, found[0], rtol=1e-6, atol=1e-6)
    lines = ok(app, "infer", *pngs, "--top=2").out.splitlines()
    best = np.argmax(found[0], axis=1)
    expect([line.split()[:2] for line in lines] ==
           [[f"{png}:", str(c)] for png, c in zip(pngs, best)], lines)


def test_bytes_give_the_bits_of_their_floats(place):
    """Bytes become floats in the executor, alone or among files of floats."""
    app, pixels = place.program("pytorch-simplecnn"), images(place, 11)
    bytes_, floats = place.path("bytes.npy"), place.path("floats.npy")
    np.save(bytes_, pixels.reshape(-1, 1, 28, 28))
    for flags, scale, shift in (
            ([], 1 / 255, 0.0),
            (["--mean=.3", "--std=.7"], 1 / 255 / .7, -.3 / .7),
            (["--scale=.01", "--invert"], -.01, 255 * .01)):
        x = (pixels * scale + shift).astype(np.float32).reshape(-1, 1, 28, 28)
        np.save(floats, x)
        wanted = infer(place, app, floats)
        np.testing.assert_array_equal(infer(place, app, bytes_, *flags), wanted)
        np.testing.assert_array_equal(
            infer(place, app, bytes_, bytes_, *flags, "--check-nan"),
            infer(place, app, floats, floats))
        if not flags:
            np.testing.assert_array_equal(infer(place, app, bytes_, floats),
                                          infer(place, app, floats, floats))
        # eval tells losses by all bits of the scores.
        labels = place.path("labels.npy")
        np.save(labels, np.arange(11, dtype=np.int32) % 10)
        losses = [json.loads(ok(app, "eval", f"--data={data},{labels}",
                                "--batch=8", "--json", *more).out)["loss"]
                  for data, more in ((bytes_, flags), (floats, []))]
        expect(losses[0] == losses[1], losses)


def two_inputs(place):
    def make():
        model = save_model(
            place.path("two.onnx"), [helper.make_node("Sub", ["a", "b"], ["y"])],
            [("a", ["N", 3]), ("b", ["N", 3])], [("y", ["N", 3])])
        ok(place.mnistc, model, "--target=cpu", "--batch=2", "-o",
           place.path("two"))
        return place.path("two")
    return place.once("two", make)


def test_infer_takes_inputs_by_name(place):
    app = two_inputs(place)
    a, b = place.path("a.npy"), place.path("b.npy")
    np.save(a, np.arange(9, dtype=np.float32).reshape(3, 3))
    np.save(b, np.ones((3, 3), np.float32))
    wanted = np.load(a) - 1
    for arguments in ((f"a={a}", f"b={b}"), (f"b={b}", f"a={a}"), (a, b)):
        np.testing.assert_array_equal(infer(place, app, *arguments), wanted)
    fails(2, app, "infer", a, parts=["'a', 'b'", "got none for 'b'"])
    fails(2, app, "infer", a, b, a, parts=["expected 2 inputs"])
    np.save(b, np.ones((2, 3), np.float32))
    fails(14, app, "infer", a, b, parts=["expected 3 rows", "got 2"])
    np.save(b, np.ones((3, 4), np.float32))
    fails(14, app, "infer", a, b, parts=["expected shape [N, 3]",
                                         "got [3, 4]", "'b'"])


def test_infer_names_what_is_wrong_with_a_file(place):
    app, bad = place.program("pytorch-simplecnn"), place.path("bad")
    fails(14, app, "infer", place.path("none.npy"), parts=["cannot read", "none.npy"])
    empty = place.path("empty")
    empty.mkdir()
    fails(14, app, "infer", empty, parts=["got none of them"])
    pb, npy, idx, png = (place.path(f"bad.{e}") for e in ("pb", "npy", "idx", "png"))
    x = np.zeros((2, 1, 28, 28), np.float32)
    np.save(npy, x)
    save_tensor(pb, x)
    save_idx(idx, x)
    save_png(png, np.zeros((28, 28), np.uint8))
    for file in (pb, npy, idx, png):
        whole = file.read_bytes()
        # libpng does without a picture's last bytes.
        for size in {0, 1, 5, 11, 20, len(whole) // 2,
                     len(whole) - (30 if file == png else 1)}:
            file.write_bytes(whole[:size])
            fails(14, app, "infer", file, parts=[file.name])
    packed = gzip.compress(bytes(range(256)) * 50)
    for damaged in (packed[:-20], packed[:12], packed[:40] + b"x" * 50):
        bad.write_bytes(damaged)
        fails(14, app, "infer", bad, parts=["cannot unpack", "bad"])
    bad.write_bytes(b"hello")
    fails(14, app, "infer", bad, parts=["begins like none of them"])


def test_infer_says_expected_and_found(place):
    app, npy = place.program("pytorch-simplecnn"), place.path("bad.npy")
    for shape in ((1, 3, 28, 28), (784, 2), (), (2, 28), (1, 1, 1, 28, 29)):
        np.save(npy, np.zeros(shape, np.float32))
        fails(14, app, "infer", npy, parts=[
            "expected shape [N, 1, 28, 28]", "'input'", "got ["])
    np.save(npy, np.zeros((1, 1, 28, 28), np.complex64))
    fails(14, app, "infer", npy, parts=["expected elements of type", "<c8"])
    np.save(npy, np.asfortranarray(np.zeros((2, 28, 28), np.float32)))
    fails(14, app, "infer", npy, parts=["Fortran order"])
    np.save(npy, np.array([None, 1], object), allow_pickle=True)
    fails(14, app, "infer", npy, parts=["|O"])
    np.save(npy, np.zeros((0, 1, 28, 28), np.float32))
    expect(run(app, "infer", npy).code in (0, 14), "an empty batch")


def test_infer_wants_integers_for_indices(place):
    from onnx import TensorProto
    graph = helper.make_graph(
        [helper.make_node("Cast", ["i"], ["y"], to=TensorProto.FLOAT)], "graph",
        [helper.make_tensor_value_info("i", TensorProto.INT64, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])])
    model = helper.make_model(graph, ir_version=8,
                              opset_imports=[helper.make_opsetid("", 17)])
    onnx.save(model, str(place.path("cast.onnx")))
    app, npy = place.path("cast"), place.path("i.npy")
    ok(place.mnistc, place.path("cast.onnx"), "--target=cpu", "-o", app)
    np.save(npy, np.array([1 << 40, -3], np.int64))
    np.testing.assert_array_equal(infer(place, app, npy),
                                  np.array([1 << 40, -3], np.float32))
    np.save(npy, np.array([1.5, 2], np.float32))
    fails(14, app, "infer", npy, parts=["expected elements of type int64", "got float"])


def test_check_nan(place):
    model = save_model(
        place.path("log.onnx"), [helper.make_node("Flatten", ["x"], ["f"]),
                                 helper.make_node("Log", ["f"], ["l"]),
                                 helper.make_node("Neg", ["l"], ["y"])],
        [("x", ["N", 1, 28, 28])], [("y", ["N", 784])])
    app = place.path("log")
    ok(place.mnistc, model, "--target=cpu", "--batch=4", "--no-fuse", "-o", app)
    x = place.path("x.npy")
    np.save(x, np.ones((3, 1, 28, 28), np.float32))
    ok(app, "infer", x, "--check-nan")
    bad = np.ones((3, 1, 28, 28), np.float32)
    bad[2, 0, 0, 5] = -1
    np.save(x, bad)
    ok(app, "infer", x)
    fails(15, app, "infer", x, "--check-nan", parts=[
        "got NaN in element 1573 of 'l'", "step"])
    fails(15, app, "eval", f"--data={place.data()}", "--check-nan",
          parts=["got infinity", "'l'"])


def test_verify(place):
    app, folder = place.program("pytorch-simplecnn"), place.path("verify")
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    x = as_input("", images(place, 5))
    y = reference(place.model("pytorch-simplecnn"), x)
    save_tensor(data / "input_0.pb", x, "input")
    save_tensor(data / "output_0.pb", y)
    for where in (folder, data):
        expect(": ok, worst error" in ok(app, "verify", where).out, "ok")
    rows = json.loads(ok(app, "verify", folder, "--json").out)
    expect(rows[0]["wrong"] == 0 and rows[0]["elements"] == 50, rows)
    y[3, 7] += 1
    save_tensor(data / "output_0.pb", y)
    done = fails(15, app, "verify", folder, parts=["1 of 1 that are not"])
    expect("1 of 50 elements wrong, element 37" in done.out, done)
    ok(app, "verify", folder, "--atol=2")
    save_tensor(data / "output_0.pb", y[:3])
    fails(15, app, "verify", folder, parts=["expected float [3, 10]", "[5, 10]"])
    (data / "output_0.pb").unlink()
    fails(14, app, "verify", data, parts=["got none"])
    fails(14, app, "verify", place.path("none"), parts=["got none"])


def test_reports(place):
    app, trace = place.program("pytorch-simplecnn"), place.path("trace.json")
    bench = json.loads(ok(app, "bench", "--json", "--repeat=3", "--warmup=1").out)
    expect([plan["batch"] for plan in bench["plans"]] == [1, 8], bench)
    profile = json.loads(ok(app, "profile", "--json", "--repeat=2",
                            f"--trace={trace}").out)
    events = json.loads(trace.read_text())["traceEvents"]
    expect(len(events) == len(profile["steps"]) + 2, events)
    info = json.loads(ok(app, "info", "--json").out)
    expect(info["target"] == "cpu" and len(info["plans"]) == 2, info)
    for command in ("bench", "profile"):
        expect(ok(app, command, "--repeat=1").out.count("\n") > 2, command)


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
