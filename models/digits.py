#!/usr/bin/env python3
"""Draws digits: a data set in MNIST's format that needs no download.

usage: digits.py OUT_DIR [--train=10000] [--test=2000] [--seed=1]

Each image is a digit's strokes under a random affine map, with a random pen and
noise. The same seed gives the same bytes.
"""

import argparse
import gzip
import pathlib

import numpy as np

# Strokes as polylines in a box of width 2 and height 4, y downwards.
STROKES = [
    [[(1, 0), (2, 1), (2, 3), (1, 4), (0, 3), (0, 1), (1, 0)]],
    [[(0.4, 0.8), (1.1, 0), (1.1, 4)]],
    [[(0, 1), (0.6, 0), (1.5, 0), (2, 1), (1.6, 2), (0, 4), (2, 4)]],
    [[(0, 0.4), (1, 0), (2, 0.9), (1, 1.9), (2, 3), (1, 4), (0, 3.5)]],
    [[(1.5, 4), (1.5, 0), (0, 2.7), (2, 2.7)]],
    [[(2, 0), (0.3, 0), (0.1, 1.8), (1.2, 1.6), (2, 2.7), (1.2, 4), (0, 3.6)]],
    [[(1.7, 0), (0.5, 1.4), (0, 3), (1, 4), (2, 3), (1, 2), (0.1, 2.7)]],
    [[(0, 0), (2, 0), (0.7, 4)]],
    [[(1, 1.9), (0.1, 1), (1, 0), (1.9, 1), (1, 1.9), (0, 3), (1, 4), (2, 3),
      (1, 1.9)]],
    [[(1.9, 1.2), (1, 2), (0, 1), (1, 0), (1.9, 1), (1.7, 2.6), (1, 4)]],
]


def segments(digit):
    lines = [(a, b) for stroke in STROKES[digit] for a, b in zip(stroke, stroke[1:])]
    return np.array(lines, np.float64) - (1, 2)


def affine(random, count):
    """Maps of the box's centre and size to 28 x 28 pixels."""
    turn = random.normal(0, 0.13, count)
    shear = random.normal(0, 0.15, count)
    width, height = random.uniform(3.6, 5.4, count), random.uniform(4.0, 5.0, count)
    c, s = np.cos(turn), np.sin(turn)
    maps = np.empty((count, 2, 2))
    maps[:, 0, 0], maps[:, 0, 1] = c * width, (shear * c - s) * height
    maps[:, 1, 0], maps[:, 1, 1] = s * width, (shear * s + c) * height
    return maps, 13.5 + random.normal(0, 1.2, (count, 2))


def draw(random, labels):
    images = np.empty((len(labels), 28, 28), np.uint8)
    y, x = np.mgrid[0:28, 0:28]
    pixels = np.stack([x, y], -1).reshape(1, 784, 2)
    maps, shifts = affine(random, len(labels))
    pens = random.uniform(1.0, 1.9, (len(labels), 1))
    noise = random.normal(0, 12, (len(labels), 784))
    for digit in range(10):
        chosen = np.flatnonzero(labels == digit)
        ends = np.einsum("nij,sej->nsei", maps[chosen], segments(digit))
        ends += shifts[chosen][:, None, None, :]
        nearest = np.full((len(chosen), 784), np.inf)
        for s in range(ends.shape[1]):
            a, b = ends[:, s, 0, None], ends[:, s, 1, None]
            along = np.sum((pixels - a) * (b - a), -1) / np.sum((b - a) ** 2, -1)
            foot = a + np.clip(along, 0, 1)[..., None] * (b - a)
            nearest = np.minimum(nearest, np.sum((pixels - foot) ** 2, -1))
        ink = 255 * np.clip(pens[chosen] + 0.5 - np.sqrt(nearest), 0, 1)
        ink = np.where(ink > 0, ink + noise[chosen], 0)
        images[chosen] = np.clip(ink, 0, 255).astype(np.uint8).reshape(-1, 28, 28)
    return images


def write_idx(path, array):
    header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    path.write_bytes(gzip.compress(header + array.tobytes(), 1, mtime=0))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--train", type=int, default=10000)
    parser.add_argument("--test", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for number, (part, count) in enumerate((("train", options.train),
                                            ("t10k", options.test))):
        random = np.random.Generator(np.random.Philox([options.seed, number]))
        labels = random.integers(0, 10, count).astype(np.uint8)
        write_idx(options.out / f"{part}-images-idx3-ubyte.gz", draw(random, labels))
        write_idx(options.out / f"{part}-labels-idx1-ubyte.gz", labels)


if __name__ == "__main__":
    main()
