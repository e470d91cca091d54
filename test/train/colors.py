"""Pictures in colors: CIFAR's files, arrays and PNG files train alike."""

import struct
import zlib

import numpy as np
from onnx import helper

from harness import expect, fails, ok, save_model
from place import Trained, uniform


def make_model(place, interleaved):
    """One dense layer, whose weights belong to the same pixels either way."""
    weight = uniform(np.random.default_rng(1), 10, 3 * 32 * 32)
    shape = ["N", 3, 32, 32]
    if interleaved:
        weight = weight.reshape(10, 3, 1024).transpose(0, 2, 1).reshape(10, -1)
        shape = ["N", 32, 32, 3]
    nodes = [helper.make_node("Flatten", ["image"], ["flat"]),
             helper.make_node("Gemm", ["flat", "w"], ["logits"], transB=1)]
    path = place.path(f"colors-{int(interleaved)}.onnx")
    return save_model(path, nodes, [("image", shape)], [("logits", ["N", 10])],
                      [("w", np.ascontiguousarray(weight))])


def program(place, interleaved):
    def make():
        path = place.path(f"colors-{int(interleaved)}")
        ok(place.mnistc, make_model(place, interleaved), "--train",
           "--batch=16", f"--target={place.target}", "-o", path)
        return path
    return place.once(("colors", interleaved), make)


def images(count, seed):
    """Sorted by class, as folders are read; planes of red, green and blue."""
    random = np.random.default_rng(seed)
    labels = np.sort(np.arange(count) % 10).astype(np.uint8)
    pixels = random.integers(0, 90, (count, 3, 32, 32)).astype(np.uint8)
    for image, label in zip(pixels, labels):
        image[label % 3, 3 * label:3 * label + 4] += 150
    return pixels, labels


def save_png(path, planes):
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))
    rows = b"".join(b"\0" + row.tobytes() for row in planes.transpose(1, 2, 0))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(
        b"IHDR", struct.pack(">IIBBBBB", 32, 32, 8, 2, 0, 0, 0)) +
        chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


NAMES = ["plane", "car", "bird", "cat", "deer", "dog", "frog", "horse", "ship",
         "truck"]


def write_all(place):
    """The same rows as CIFAR-10's files, as CIFAR-100's, and as pictures."""
    ten, hundred, pictures = (place.fresh(name) for name in
                              ("cifar10", "cifar100", "rgb"))
    (ten / "cifar-10-batches-bin").mkdir()
    for split, files, count in (
            ("train", [f"data_batch_{i}.bin" for i in range(1, 6)], 100),
            ("test", ["test_batch.bin"], 50)):
        pixels, labels = images(count, count)
        rows = [bytes([label]) + image.tobytes()
                for image, label in zip(pixels, labels)]
        part = count // len(files)
        for i, file in enumerate(files):
            (ten / "cifar-10-batches-bin" / file).write_bytes(
                b"".join(rows[i * part:(i + 1) * part]))
        (hundred / f"{split}.bin").write_bytes(b"".join(b"\x07" + r for r in rows))
        for number, (image, label) in enumerate(zip(pixels, labels)):
            where = pictures / split / f"{label}-{NAMES[label]}"
            where.mkdir(parents=True, exist_ok=True)
            save_png(where / f"{number:03}.png", image)
    (ten / "cifar-10-batches-bin/batches.meta.txt").write_text(
        "\n".join(NAMES) + "\n\n")
    return ten, hundred, pictures


def test_all_files_train_alike(place):
    ten, hundred, pictures = write_all(place)
    flags = ("--epochs=2", "--lr=0.05", "--no-shuffle")
    for interleaved in (False, True):
        app = program(place, interleaved)
        runs = [Trained(ok(app, "train", f"--data={data}", *flags))
                for data in (ten, hundred, pictures)]
        expect(len({run.digest for run in runs}) == 1, [r.out for r in runs])
        expect(runs[0].accuracies[-1] > 50, runs[0].out)
        expect("classes 0 'plane', 1 'car'" in runs[0].out, runs[0].out)
        found = ok(app, "eval", f"--data={ten}").out
        expect("of 50)" in found and "9 'truck'" in found, found)


def test_what_is_refused(place):
    ten, hundred, _ = write_all(place)
    fails(14, place.program("mlp"), "train", f"--data={hundred}",
          parts=["expected a model of an input with 3 colors"])
    file = ten / "cifar-10-batches-bin/data_batch_3.bin"
    file.write_bytes(file.read_bytes()[:-1])
    fails(14, program(place, False), "train", f"--data={ten}",
          parts=["data_batch_3.bin': expected rows of 3073 bytes, got 61459"])
    file.unlink()
    fails(14, program(place, False), "train", f"--data={ten}",
          parts=["data_batch_3.bin"])
