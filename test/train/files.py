"""What training writes: models, checkpoints, logs, plots."""

import csv
import json
import os
import re
import resource
import struct
import subprocess
import xml.dom.minidom

import numpy as np
import onnx

from harness import Skip, expect, fails, ok, reference, run
from place import FLAGS, events


def test_saved_model_is_the_same_model(place):
    """As onnxruntime sees it, and but for its weights, the same file."""
    for name in ("mlp", "cnn"):
        path, output = place.path(f"{name}-saved.onnx"), place.path("out.npy")
        trained = place.train(name, "--epochs=2", f"--save={path}")
        expect(trained.digests[0] != trained.digest, trained.out)
        before, after = onnx.load(place.model(name)), onnx.load(path)
        onnx.checker.check_model(after)
        changed = [a.name for a, b in zip(before.graph.initializer,
                                          after.graph.initializer) if a != b]
        expect(changed, f"{name}: expected other weights")
        del before.graph.initializer[:], after.graph.initializer[:]
        expect(before == after, f"{name}: expected the same graph")
        program = place.path(f"{name}-again")
        ok(place.mnistc, path, "-o", program, f"--target={place.target}")
        x = np.random.default_rng(3).random((4, 1, 28, 28), np.float32)
        np.save(place.path("x.npy"), x)
        ok(program, "infer", place.path("x.npy"), f"--output={output}")
        np.testing.assert_allclose(np.load(output), reference(path, x),
                                   rtol=1e-4, atol=1e-5)


def test_saved_model_scores_as_the_trainer_says(place):
    path = place.path("scores.onnx")
    run = place.train("cnn", "--epochs=2", f"--save={path}")
    program = place.path("scores")
    ok(place.mnistc, path, "-o", program, f"--target={place.target}")
    found = ok(program, "eval", "--data=digits", "--limit=300").out
    expect(f"accuracy {run.accuracies[-1]:.2f} %" in found,
           f"{found} {run.accuracies}")


def test_best_is_kept(place):
    folder = place.fresh("best")
    run = place.train("mlp", "--epochs=3", f"--best={folder / 'best.onnx'}",
                      f"--log={folder / 'log'}")
    saves = [e for e in events(folder / "log") if e["event"] == "save"]
    expect(saves and all(e["best"] for e in saves), saves)
    best = max(range(3), key=lambda i: run.accuracies[i])
    expect(saves[-1]["step"] == 19 * (best + 1), f"{saves} {run.accuracies}")


def test_log_tensorboard_and_plot(place):
    folder = place.fresh("logs")
    place.train("mlp", "--epochs=3", "--report-every=5",
                f"--log={folder / 'log'}", f"--tensorboard={folder / 'board'}",
                f"--plot={folder / 'curve.svg'}", f"--save={folder / 'x.onnx'}",
                f"--checkpoint={folder / 'checkpoint'}")
    found = events(folder / "log")
    kinds = [event["event"] for event in found]
    expect(kinds[0] == "start" and kinds[-1] == "end", kinds)
    expect(kinds.count("epoch") == 3 and kinds.count("checkpoint") == 3, kinds)
    expect(kinds.count("report") == 57 // 5, kinds)
    epoch = next(event for event in found if event["event"] == "epoch")
    for key in ("train_loss", "train_accuracy", "test_loss", "test_accuracy",
                "us_per_step", "device_bytes", "digest"):
        expect(key in epoch, epoch)
    picture = xml.dom.minidom.parse(str(folder / "curve.svg"))
    expect(picture.documentElement.tagName == "svg", "svg")
    board, = (folder / "board").iterdir()
    expect(records(board.read_bytes()) == 1 + 3 + 3 + 57 // 5, "tensorboard")


def records(data):
    """The number of TFRecords in an event file."""
    at = count = 0
    while at < len(data):
        size, = struct.unpack_from("<Q", data, at)
        at += 16 + size
        count += 1
    expect(at == len(data), "expected whole records")
    return count


def test_nothing_is_written_before_it_can_be(place):
    program = place.program("mlp")
    for flag in ("--save=/nowhere/x.onnx", f"--save={place.folder}",
                 "--best=/nowhere/x.onnx", "--checkpoint=/proc/nowhere",
                 "--log=/nowhere/log", "--plot=/nowhere/x.svg",
                 "--csv=/nowhere/x.csv",
                 "--tensorboard=/proc/nowhere"):
        done = fails(14, program, "train", *FLAGS, flag, parts=["cannot"])
        expect("epoch 1" not in done.out, flag)


def limited(place, size, *flags):
    """A run that may write no file beyond `size` bytes."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return subprocess.run([place.program("mlp"), "train", *FLAGS, *flags],
                          preexec_fn=limit, capture_output=True, text=True)


def test_full_disk(place):
    folder = place.fresh("full")
    path = folder / "x.onnx"
    done = limited(place, 50000, f"--save={path}")
    expect(done.returncode == 14 and "epoch 1" not in done.stdout, done)
    expect(done.stderr.count("\n") == 1 and not list(folder.iterdir()), done)
    # A log that grows too long does not end the run.
    done = limited(place, 300000, f"--save={path}", "--report-every=1",
                   f"--log={folder / 'log'}", "--epochs=200")
    expect(done.returncode == 14 and "saved" in done.stdout, done)
    expect("warning: " in done.stdout, done)
    events(folder / "log")
    onnx.checker.check_model(onnx.load(path))


def test_full_file_system(place):
    """A disk that fills up while the training runs."""
    mount = place.fresh("mount")
    if run("mount", "-t", "tmpfs", "-o", "size=600k", "none", mount).code != 0:
        raise Skip("no right to mount")
    try:
        filler = mount / "filler"
        filler.write_bytes(b"\0" * 550000)
        done = fails(14, place.program("mlp"), "train", *FLAGS,
                     f"--save={mount / 'x.onnx'}", parts=["free space"])
        expect("epoch 1" not in done.out, done)
        filler.unlink()
        ok(place.program("mlp"), "train", *FLAGS, f"--save={mount / 'x.onnx'}")
        kept = (mount / "x.onnx").read_bytes()
        filler.write_bytes(b"\0" * (600 * 1024 - len(kept) - 30000))
        fails(14, place.program("mlp"), "train", *FLAGS,
              f"--save={mount / 'x.onnx'}", parts=["free space"])
        expect((mount / "x.onnx").read_bytes() == kept, "expected the old file")
        expect(sorted(os.listdir(mount)) == ["filler", "x.onnx"], "files were left")
    finally:
        ok("umount", mount)


def test_tensorboard_has_steps_of_a_short_run(place):
    folder = place.fresh("board")
    place.train("mlp", "--epochs=2", f"--tensorboard={folder}")
    board, = folder.iterdir()
    # The version, two epochs, and a point at the end of each at least.
    expect(records(board.read_bytes()) >= 1 + 2 + 4, "points between epochs")


def test_log_keys_are_in_one_style(place):
    path = place.path("keys.jsonl")
    place.train("mlp", "--epochs=1", f"--log={path}")
    for event in events(path):
        for key in event:
            expect(re.fullmatch("[a-z0-9]+(_[a-z0-9]+)*", key), event)


def fields(message):
    """Number and value of each field of a protobuf message: integers of varints
    and of fixed sizes, bytes."""
    def varint(at):
        value = shift = 0
        while True:
            value |= (message[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if not message[at - 1] & 128:
                return value, at
    at = 0
    while at < len(message):
        key, at = varint(at)
        size = {1: 8, 5: 4}.get(key & 7)
        if key & 7 == 2:
            size, at = varint(at)
        if key & 7 == 0:
            value, at = varint(at)
        else:
            value, at = message[at:at + size], at + size
        yield key >> 3, value


def histograms(data):
    """The last histogram of each tag in an event file."""
    at, found = 0, {}
    while at < len(data):
        size, = struct.unpack_from("<Q", data, at)
        event = dict(fields(data[at + 12:at + 12 + size]))
        for _, value in fields(event.get(5, b"")):
            value = dict(fields(value))
            if 5 in value:
                found[value[1].decode()] = {
                    number: np.frombuffer(body, np.float64)
                    for number, body in fields(value[5])}
        at += 16 + size
    return found


def test_histograms_of_weights(place):
    """Beside NumPy, of the weights that are saved."""
    folder = place.fresh("histograms")
    place.train("mlp", "--epochs=2", f"--tensorboard={folder / 'board'}",
                f"--save={folder / 'x.onnx'}")
    board, = (folder / "board").iterdir()
    found = histograms(board.read_bytes())
    weights = {one.name: onnx.numpy_helper.to_array(one).astype(float)
               for one in onnx.load(folder / "x.onnx").graph.initializer}
    expect(found.keys() == {f"weights/{name}" for name in weights}, found.keys())
    for name, x in weights.items():
        least, most, count, total, squares, limits, counts = (
            found[f"weights/{name}"][number] for number in range(1, 8))
        np.testing.assert_allclose([least[0], most[0], count[0]],
                                   [x.min(), x.max(), x.size])
        np.testing.assert_allclose([total[0], squares[0]],
                                   [x.sum(), (x * x).sum()], rtol=1e-9)
        expect(len(limits) == len(counts) == 30 and limits[-1] == x.max(), name)
        expected = [(x <= limit).sum() for limit in limits]
        expect(np.cumsum(counts).tolist() == expected, name)


def test_table_of_epochs(place):
    """What the log has, also of a run that was resumed."""
    folder = place.fresh("csv")
    for epochs in (2, 4):
        place.train("mlp", f"--epochs={epochs}", "--resume",
                    f"--checkpoint={folder / 'checkpoint'}",
                    f"--csv={folder / 'x.csv'}", f"--log={folder / 'log'}")
    rows = list(csv.DictReader((folder / "x.csv").read_text().splitlines()))
    found = [e for e in events(folder / "log") if e["event"] == "epoch"]
    expect(len(rows) == len(found) == 4, rows)
    for row, event in zip(rows, found):
        expect(row.keys() == {"epoch", "train_loss", "train_accuracy",
                              "test_loss", "test_accuracy"}, row)
        for key, value in row.items():
            expect(float(value) == event[key], f"{row} {event}")
