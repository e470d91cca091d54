"""Pictures that are changed at random before each step."""

import gzip
import re
import sys

import numpy as np

from harness import ROOT, expect, fails, ok
from place import FLAGS

CHANGES = "--augment=shift:2,rotate:15,scale:0.1,flip"


def test_same_bits_wherever_data_is(place):
    runs = [place.train("mlp", "--epochs=3", CHANGES, *flags)
            for flags in ((), ("--device-data=0",), ("--seed=2",))]
    plain = place.train("mlp", "--epochs=3")
    expect(runs[0].digests == runs[1].digests, [run.out for run in runs])
    expect(len({run.digest for run in (runs[0], runs[2], plain)}) == 3, "digests")
    nothing = place.train("mlp", "--epochs=3", "--augment=shift:0,rotate:0")
    expect(nothing.digests == plain.digests, nothing.out)


def test_a_resumed_run_goes_on_alike(place):
    folder = place.fresh("augment")
    whole = place.train("mlp", "--epochs=4", CHANGES)
    place.train("mlp", "--epochs=2", CHANGES, f"--checkpoint={folder}")
    done = place.train("mlp", "--epochs=4", "--resume", f"--checkpoint={folder}")
    expect(f"{CHANGES} " in done.out and done.digest == whole.digest, done.out)


def test_shifted_pictures_are_learned(place):
    """A network that has seen digits anywhere knows those that are shifted."""
    found = []
    for changes in ((), ("--augment=shift:4",)):
        path = place.path(f"shifted-{len(changes)}.onnx")
        place.train("cnn", "--epochs=6", "--lr=0.05", f"--save={path}", *changes)
        found.append(path)
    scores = [shifted_accuracy(place, path) for path in found]
    expect(scores[1] > scores[0] + 5, scores)


def shifted_accuracy(place, path):
    """Of the test digits, each shifted by four pixels, in percent."""
    program = place.path(f"{path.stem}-program")
    ok(place.mnistc, path, "-o", program, f"--target={place.target}",
       "--batch=50")
    folder = place.once("shifted", lambda: shifted_digits(place))
    return float(re.search(r"accuracy ([0-9.]+) %",
                           ok(program, "eval", f"--data={folder}").out)[1])


def shifted_digits(place):
    folder, shifted = place.path("drawn"), place.fresh("shifted")
    ok(sys.executable, ROOT / "models/digits.py", folder, "--train=20",
       "--test=400")
    packed = (folder / "t10k-images-idx3-ubyte.gz").read_bytes()
    images = np.frombuffer(gzip.decompress(packed)[16:], np.uint8)
    images = images.reshape(-1, 28, 28)
    moved = [np.roll(image, shift, (0, 1)) for image, shift in
             zip(images, [(4, 4), (-4, 4), (4, -4), (-4, -4)] * 100)]
    np.save(shifted / "test_x.npy", np.array(moved, np.float32) / 255)
    labels = gzip.decompress((folder / "t10k-labels-idx1-ubyte.gz").read_bytes())
    np.save(shifted / "test_y.npy", np.frombuffer(labels[8:], np.uint8))
    return shifted


def test_what_is_refused(place):
    program = place.program("mlp")
    for given in ("flop", "shift:1.5", "rotate:200", "scale:1", "flip,"):
        fails(2, program, "train", *FLAGS, f"--augment={given}",
              parts=["expected '--augment' to be some of shift:PIXELS"])
