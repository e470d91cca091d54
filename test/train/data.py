"""Data sets: where they come from, and what may be wrong with them."""

import gzip
import json
import struct
import zlib

import numpy as np

from harness import expect, fails, ok, save_idx
from place import Trained


def digits(place, count, seed):
    random = np.random.default_rng(seed)
    labels = random.integers(0, 10, count).astype(np.uint8)
    images = random.integers(0, 60, (count, 28, 28)).astype(np.uint8)
    for image, label in zip(images, labels):
        image[2 * label + 2:2 * label + 6, 4:24] += 180
    return images, labels


def idx_folder(place):
    """Stripes whose height is their class, in MNIST's files."""
    def make():
        folder = place.fresh("idx")
        for name, count in (("train", 400), ("t10k", 100)):
            images, labels = digits(place, count, count)
            save_idx(folder / f"{name}-images-idx3-ubyte", images)
            save_idx(folder / f"{name}-labels-idx1-ubyte", labels)
        return folder
    return place.once("idx", make)


def save_png(path, pixels):
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))
    height, width = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(
        b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
        chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def train(place, data, *flags):
    return Trained(ok(place.program("mlp"), "train", f"--data={data}",
                      "--no-shuffle", "--epochs=4", "--lr=0.1", *flags))


def test_all_kinds_of_files_train_alike(place):
    folder = idx_folder(place)
    plain = train(place, folder)
    expect(plain.accuracies[-1] > 90, plain.out)
    packed, arrays = place.fresh("packed"), place.fresh("npy")
    for file in folder.iterdir():
        (packed / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
    for name, count in (("train", 400), ("test", 100)):
        images, labels = digits(place, count, count)
        np.save(arrays / f"{name}_x.npy", images)
        np.save(arrays / f"{name}_y.npy", labels.astype(np.int64))
    names = [arrays / f"{part}_{kind}.npy" for part in ("train", "test")
             for kind in "xy"]
    for data in (packed, arrays, ",".join(map(str, names))):
        expect(train(place, data).digest == plain.digest, data)
    alone = train(place, ",".join(map(str, names[:2])))
    expect(alone.digest == plain.digest and not alone.accuracies, alone.out)


def test_pixels_become_numbers_up_to_one(place):
    """As if they were divided by 255 before."""
    folder, floats = idx_folder(place), place.fresh("scaled")
    images, labels = digits(place, 400, 400)
    expect(images.dtype == np.uint8, images.dtype)
    np.save(floats / "train_x.npy", images.astype(np.float32) * np.float32(1 / 255))
    np.save(floats / "train_y.npy", labels)
    expect(train(place, folder).digest == train(place, floats).digest, "digests")


def test_floats_are_taken_as_they_are(place):
    folder, floats = idx_folder(place), place.fresh("floats")
    images, labels = digits(place, 400, 400)
    plain = train(place, folder, "--scale=1", "--mean=33", "--std=80")
    for kind in (np.float32, np.float64):
        np.save(floats / "train_x.npy", images.astype(kind))
        np.save(floats / "train_y.npy", labels)
        run = train(place, floats, "--mean=33", "--std=80")
        expect(run.digest == plain.digest, f"{kind}: {run.out}")


def test_folders_of_pictures(place):
    folder = place.fresh("pictures")
    for name, count in (("train", 60), ("test", 30)):
        images, _ = digits(place, count, 5)
        for number, image in enumerate(images):
            where = folder / name / f"class{number % 3}"
            where.mkdir(parents=True, exist_ok=True)
            save_png(where / f"{number:03}.png", image)
    expect(train(place, folder).accuracies, "expected a test set")
    expect(not train(place, folder / "train").accuracies, "expected none")
    found = ok(place.program("mlp"), "eval", f"--data={folder}").out
    expect("of 30)" in found, found)


def test_classes_of_pictures_are_numbered_by_training(place):
    program, folder = place.program("mlp"), place.fresh("classes")
    images, kinds = digits(place, 40, 7)[0], ["\u00e4", "10", "2", "cat"]
    names = sorted(kinds, key=str.encode)
    labels = np.arange(40) % 4
    for part, first in (("train", 0), ("test", 1)):  # test lacks the first
        for number, (image, label) in enumerate(zip(images, labels)):
            if label >= first:
                where = folder / part / names[label]
                where.mkdir(parents=True, exist_ok=True)
                save_png(where / f"{number:03}.png", image)
    order = [i for k in range(1, 4) for i in range(40) if labels[i] == k]
    pair = [place.path("kx.npy"), place.path("ky.npy")]
    np.save(pair[0], images[order])
    np.save(pair[1], labels[order])
    expected = json.loads(ok(program, "eval", "--json",
                             f"--data={pair[0]},{pair[1]}").out)
    got = json.loads(ok(program, "eval", "--json", f"--data={folder}").out)
    expect(got["classes"] == names and got["loss"] == expected["loss"], got)
    shown = ", ".join(f"{i} '{name}'" for i, name in enumerate(names))
    expect(f"classes {shown}\n" in ok(program, "eval", f"--data={folder}").out, shown)
    expect(f"classes {shown}\n" in train(place, folder).out, shown)
    (folder / "test" / "cats").mkdir()
    for command in (["eval"], ["train", "--epochs=1"]):
        fails(14, program, *command, f"--data={folder}",
              parts=["only classes to train on", "got 'cats'"])
    # By itself, a folder numbers its classes only if it has all of them.
    fails(14, program, "eval", f"--data={folder / 'train'}",
          parts=["a folder for each of the 10 classes", "got 4 folders"])


def test_eval_and_infer_take_the_same_data(place):
    program, folder = place.program("mlp"), idx_folder(place)
    expect("of 300)" in ok(program, "eval", "--data=digits",
                           "--limit=300").out, "digits")
    images, labels = digits(place, 100, 100)
    pair = [place.path("x.npy"), place.path("y.npy")]
    np.save(pair[0], images)
    np.save(pair[1], labels)
    from_idx = ok(program, "eval", f"--data={folder}").out
    from_npy = ok(program, "eval", f"--data={pair[0]},{pair[1]}").out
    expect(from_idx.split("images/s")[0].rsplit(" ", 2)[0] ==
           from_npy.split("images/s")[0].rsplit(" ", 2)[0], from_npy)
    found = ok(program, "infer", "digits", "--limit=5").out
    expect(len(found.splitlines()) == 5, found)


def test_what_is_wrong_is_found_first(place):
    program, images = place.program("mlp"), digits(place, 40, 1)[0]
    labels = np.arange(40) % 10

    def pair(x, y):
        folder = place.fresh("wrong")
        np.save(folder / "train_x.npy", x)
        np.save(folder / "train_y.npy", y)
        return folder

    truncated = pair(images, labels)
    file = truncated / "train_x.npy"
    file.write_bytes(file.read_bytes()[:-1])
    cases = [(pair(images, labels + 1), "labels from 0 to 9", "got 10"),
             (pair(images, labels - 1), "labels from 0 to 9", "got -1"),
             (pair(images, labels[:9]), "(40), got 9"),
             (pair(images[:, 1:], labels), "got [40, 27, 28]"),
             (pair(images[:0], labels[:0]), "got none"),
             (pair(images, labels.astype(np.float32)), "expected classes"),
             (pair(images, np.stack([labels, labels], 1)), "got 2"),
             (truncated, "expected 31360 bytes"),
             (place.fresh("empty"), "got none of them"),
             ("nowhere", "'nowhere'"), (file, "got the file")]
    for data, *parts in cases:
        fails(14, program, "train", f"--data={data}", "--epochs=1", parts=parts)
