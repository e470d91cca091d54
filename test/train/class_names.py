"""The names of classes: from folders into the saved model, and from there to
what programs say."""

import json

import numpy as np
import onnx

from data import digits, save_png
from harness import expect, ok

# Two that are numbers, one that is no English, one that has a quote.
NAMES = ["10", "2", "a\"b\\", "\u00e4"]


def pictures(place):
    """Stripes, sorted into folders."""
    def make():
        folder = place.fresh("named")
        for part, count in (("train", 160), ("test", 40)):
            images, labels = digits(place, count, count)
            for number, (image, label) in enumerate(zip(images, labels % 4)):
                where = folder / part / NAMES[label]
                where.mkdir(parents=True, exist_ok=True)
                save_png(where / f"{number:03}.png", image)
        return folder
    return place.once("named", make)


def trained(place):
    """A program of a saved model."""
    def make():
        saved = place.path("named.onnx")
        ok(place.program("mlp"), "train", f"--data={pictures(place)}",
           "--epochs=8", "--lr=0.1", f"--save={saved}")
        path = place.path("named-program")
        ok(place.mnistc, saved, "--train", "--batch=8", "-o", path,
           f"--target={place.target}")
        return saved, path
    return place.once("named program", make)


def test_names_travel(place):
    saved, program = trained(place)
    onnx.checker.check_model(onnx.load(saved))
    metadata, = onnx.load(saved).metadata_props
    expect(metadata.key == "class_names" and json.loads(metadata.value) == NAMES,
           metadata)
    expect("classes   0 '10', 1 '2'" in ok(program, "info").out, "info")
    # Trained on other data, the model keeps its names; and has them once.
    again = place.path("again.onnx")
    for data in ("digits", pictures(place)):
        ok(program, "train", f"--data={data}", "--limit=64", "--test-limit=8",
           "--epochs=1", f"--save={again}")
        expect(list(onnx.load(again).metadata_props) == [metadata], again)


def test_rows_are_called_after_their_files(place):
    _, program = trained(place)
    folder = pictures(place) / "test" / "2"
    files = sorted(map(str, folder.iterdir()))
    found = ok(program, "infer", folder, "--top=1").out.splitlines()
    expect([line.split(": ")[0] for line in found] == files, found)
    right = sum("1 '2' (" in line for line in found)
    expect(right > len(files) / 2, found)
    # The same from files and from a data set.
    expect(ok(program, "infer", *files, "--top=1").out.splitlines() == found,
           "files")
    whole = ok(program, "infer", folder.parent, "--top=1").out.splitlines()
    expect(set(found) < set(whole) and len(whole) == 40, whole)
    said = json.loads(ok(program, "infer", files[0], "--json").out)
    expect(said["files"] == files[:1] and
           said["classes"][0][0]["name"] in NAMES, said)
    # Rows of an array have numbers.
    np.save(place.path("rows.npy"), np.zeros((2, 28, 28), np.uint8))
    rows = ok(program, "infer", place.path("rows.npy"), "--top=1").out
    expect([line[:3] for line in rows.splitlines()] == ["0: ", "1: "], rows)
    table = ok(program, "eval", f"--data={pictures(place)}", "--details").out
    for name in ("10", "2", "\u00e4"):
        expect(f"\n{name} " in table, table)
