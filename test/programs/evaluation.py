"""What 'eval' says of a classifier, beside NumPy."""

import gzip
import json

import numpy as np

from harness import expect, fails, ok


def labels_of(folder):
    packed = (folder / "t10k-labels-idx1-ubyte.gz").read_bytes()
    return np.frombuffer(gzip.decompress(packed)[8:], np.uint8).astype(int)


def test_eval_in_detail(place):
    """Against NumPy, of the probabilities that 'infer' gives."""
    app, folder = place.program("pytorch-simplecnn"), place.data()
    found = json.loads(ok(app, "eval", f"--data={folder}", "--json",
                          "--top=2").out)
    ok(app, "infer", folder, f"--output={place.path('scores.npy')}")
    scores = np.load(place.path("scores.npy")).astype(float)
    scores = np.exp(scores - scores.max(1, keepdims=True))
    scores /= scores.sum(1, keepdims=True)
    labels = labels_of(folder)
    guesses = scores.argmax(1)
    matrix = np.zeros((10, 10), int)
    np.add.at(matrix, (labels, guesses), 1)
    expect(found["confusion"] == matrix.tolist(), found)
    for one in found["by_class"]:
        right = matrix[one["class"], one["class"]]
        for key, axis in (("recall", 1), ("precision", 0)):
            rows = matrix.sum(axis)[one["class"]]
            expect(one[key] == (right / rows if rows else None), one)
    order = np.argsort(-scores, 1, kind="stable")[:, :2]
    expect(found["top"]["correct"] == (order == labels[:, None]).any(1).sum(),
           found)
    most = scores.max(1)
    ranges = np.clip(np.ceil(most * 15) - 1, 0, 14)
    error = sum(abs((most - (guesses == labels))[ranges == i].sum())
                for i in range(15)) / len(labels)
    np.testing.assert_allclose(found["calibration_error"], error, rtol=1e-4)
    said = ok(app, "eval", f"--data={folder}", "--details").out
    expect("confusion" not in said and "rows by class" in said
           and "calibration error" in said and "most frequent" in said, said)


def test_wrong_pictures(place):
    """The rows that are most wrong, as they were read."""
    app, folder = place.program("pytorch-simplecnn"), place.data()
    target = place.path("wrong")
    ok(app, "eval", f"--data={folder}", f"--wrong={target}", "--wrong-limit=2")
    pictures = sorted(target.iterdir())
    ok(app, "infer", folder, f"--output={place.path('scores.npy')}")
    scores = np.load(place.path("scores.npy")).astype(float)
    labels = labels_of(folder)
    rows = np.arange(len(labels))
    losses = np.log(np.exp(scores).sum(1)) - scores[rows, labels]
    losses[scores.argmax(1) == labels] = -1
    for i, row in enumerate(np.argsort(-losses)[:2]):
        expect(pictures[i].name == f"{i + 1:04}-row-{row}-is-{labels[row]}-"
               f"taken-for-{scores[row].argmax()}.png", pictures)
        ok(app, "infer", pictures[i], f"--output={place.path('one.npy')}")
        np.testing.assert_allclose(np.load(place.path("one.npy"))[0],
                                   scores[row], rtol=1e-4, atol=1e-5)
    fails(14, app, "eval", f"--data={folder}", f"--wrong={target}",
          parts=["an empty or a new folder", "with files"])
    fails(14, app, "eval", f"--data={folder}", "--wrong=/proc/x",
          parts=["cannot make the folder '/proc/x'"])
