#!/usr/bin/env python3
"""Times training steps of random networks, compiled in several ways.

usage: random-networks.py WAY... [--mnistc=build/bin/mnistc] [--target=cuda]
                          [--seeds=0:24] [--repeat=15] [--keep=DIR]

WAY is options of mnistc, joined by commas: "", --libraries=none, or
--libraries=none,--layout=nhwc. Network number N is the same on every machine
(models/random_networks.py). A row has the
microseconds of one training step for each way, the last row their geometric mean
relative to the first way. An option that is not listed here is a way.
"""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "models"))
from make import Graph  # noqa: E402
from random_networks import random_network  # noqa: E402


def compile_one(options, folder, seed, way):
    network = random_network(seed)
    stem = folder / f"{seed}-{options.way.index(way)}"
    path = stem.with_suffix(".onnx")
    onnx.save(Graph("random", network, 1).model(), str(path))
    subprocess.run([options.mnistc, path, "--train", f"--batch={network.batch}",
                    f"--target={options.target}", "--quiet", "-o", stem,
                    *network.train.split(), *filter(None, way.split(","))], check=True)
    return stem


def time_one(options, program):
    said = subprocess.run(
        [program, "profile", "--plan=train", f"--repeat={options.repeat}",
         "--json"], check=True, capture_output=True, text=True).stdout
    return json.loads(said)["plan_us"]


def run(options, folder):
    first, last = map(int, options.seeds.split(":"))
    jobs = [(seed, way) for seed in range(first, last) for way in options.way]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        programs = list(pool.map(
            lambda job: compile_one(options, folder, *job), jobs))
    times = {job: time_one(options, program)
             for job, program in zip(jobs, programs)}
    print("network", *(repr(way) for way in options.way), sep="\t")
    for seed in range(first, last):
        print(seed, *(f"{times[seed, way]:.1f}" for way in options.way), sep="\t")
    means = [math.exp(np.mean([math.log(times[seed, way] /
                                        times[seed, options.way[0]])
                               for seed in range(first, last)]))
             for way in options.way]
    print("mean", *(f"{mean:.3f}" for mean in means), sep="\t")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("way", nargs="+")
    parser.add_argument("--mnistc", default="build/bin/mnistc")
    parser.add_argument("--target", default="cuda")
    parser.add_argument("--seeds", default="0:24")
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--keep", type=pathlib.Path)
    options, ways = parser.parse_known_args()
    options.way += ways
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        run(options, options.keep)
        return
    with tempfile.TemporaryDirectory() as folder:
        run(options, pathlib.Path(folder))


if __name__ == "__main__":
    main()
