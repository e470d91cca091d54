"""What ranks have in memory of their data, and files that change."""

import gzip
import os
import pathlib
import re
import signal
import subprocess
import time

import numpy as np

from faults import ranks_of
from harness import expect

ROWS = 80000  # 63 MB of images


def idx(path, array):
    sizes = b"".join(size.to_bytes(4, "big") for size in array.shape)
    path.write_bytes(bytes([0, 0, 8, array.ndim]) + sizes + array.tobytes())


def make_set(place):
    def make():
        folder = place.fresh("set")
        random = np.random.default_rng(1)
        idx(folder / "train-images-idx3-ubyte",
            random.integers(0, 256, (ROWS, 28, 28), dtype=np.uint8))
        idx(folder / "train-labels-idx1-ubyte",
            random.integers(0, 10, ROWS, dtype=np.uint8))
        return folder
    return place.once("set", make)


def packed_set(place):
    folder = place.fresh("packed")
    for file in make_set(place).iterdir():
        (folder / f"{file.name}.gz").write_bytes(
            gzip.compress(file.read_bytes(), 1))
    return folder


def start(place, folder, *flags):
    program = place.parallel("mlp", "256").resolve()
    checkpoint = place.fresh("checkpoint") / "checkpoint.safetensors"
    run = subprocess.Popen(
        [str(part) for part in
         (*place.command(2), program, "train", f"--data={folder}",
          f"--checkpoint={checkpoint.parent}", *flags)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    begin = time.monotonic()
    while not checkpoint.exists() and time.monotonic() < begin + 60:
        time.sleep(0.02)
    return program, run


def own_memory(program):
    """MB that each rank has to itself."""
    texts = [pathlib.Path(f"/proc/{number}/status").read_text()
             for number in ranks_of(program).values()]
    return [int(re.search(r"RssAnon:\s+(\d+)", text)[1]) / 1e3 for text in texts]


def train(place, folder):
    """The digests of some epochs, and what ranks have after the first one."""
    program, run = start(place, folder, "--epochs=100000")
    own = own_memory(program)
    os.kill(ranks_of(program)[0], signal.SIGTERM)
    out, err = run.communicate(timeout=60)
    digests = re.findall(r"digest (\w+)", out)
    expect(run.returncode == 143 and len(own) == 2 and digests, (own, out, err))
    return digests, own


def test_plain_files_are_shared(place):
    """Bits are those of a packed file, which each rank unpacks."""
    shared, little = train(place, make_set(place))
    unpacked, much = train(place, packed_set(place))
    same = min(len(shared), len(unpacked))
    expect(shared[:same] == unpacked[:same], (shared, unpacked))
    expect(max(little) < 32 and 63 < min(much) <= max(much) < 2 * 63,
           (little, much))


def change(place, how):
    """Does something to the images after the first epoch; what is said."""
    folder = place.fresh("changed")
    for file in make_set(place).iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    images = folder / "train-images-idx3-ubyte"
    program, run = start(place, folder, "--epochs=100000")
    how(images)
    err = run.communicate(timeout=60)[1]
    expect(run.returncode == 14 and not ranks_of(program), (run.returncode, err))
    return images, re.findall("error: .*", err)


def test_files_that_change(place):
    images, said = change(place, lambda path: os.utime(path, (1, 1)))
    expect(said == [f"error: expected '{images}' to stay as it is while it is "
                    "in use, got it changed"], said)


def test_files_that_are_cut_short(place):
    """Any rank may be the first to read what is not there any more; another
    one may still say that it misses that one."""
    images, said = change(place, lambda path: os.truncate(path, 4096))
    wanted = (f"error: cannot read '{images}': it was cut short while it was in "
              "use, or its disk fails")
    expect(wanted in said and all(line == wanted or "got no rank" in line
                                  for line in said), said)
