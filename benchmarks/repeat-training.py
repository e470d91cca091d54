#!/usr/bin/env python3
"""Trains the same several times: do all runs end with the same bits?

usage: repeat-training.py PREFIX MNIST [--only=NAMES] [--precision=fp32]
                          [--target=cuda] [--times=20] [--epochs=10]
                          [--flags="--no-fuse ..."]

PREFIX is an installed mnistc, the flags are for it; --only=lenet5,random-12 names
networks of models/ instead of those of networks.py. What a GPU does in another order
in one of a million steps shows in long runs only: a row has the runs of a network, how
many differ from most, and the first epoch that does. Exit code 1 where one differs.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from peer_case import Case
from networks import NETWORKS  # in the folder that peer_case has found

ROOT = pathlib.Path(__file__).resolve().parents[1]


def compile_one(options, case):
    subprocess.run([sys.executable, "-B", ROOT / "models/make.py", case.name, case.path],
                   check=True, stdout=subprocess.DEVNULL)
    program = case.path.with_suffix("")
    subprocess.run([options.prefix / "bin/mnistc", case.path, "--train", "--quiet",
                    f"--batch={case.batch}", f"--precision={case.precision}",
                    f"--target={options.target}", *case.network.train.split(),
                    *options.flags.split(), "-o", program], check=True)
    return program


def train(options, program):
    """What each epoch says but its time, and the digest of the weights."""
    said = subprocess.run(
        [program, "train", f"--data={options.mnist}", f"--epochs={options.epochs}",
         "--test-limit=64"], check=True, capture_output=True, text=True).stdout
    epochs = tuple(re.findall(r"train loss ([^,]+),.*digest (\w+)", said))
    if len(epochs) != options.epochs:
        sys.exit(f"repeat-training.py: expected {options.epochs} epochs with a digest "
                 f"from '{program.name} train', got {len(epochs)}")
    return epochs


def first_difference(run, usual):
    return next(i + 1 for i, both in enumerate(zip(run, usual)) if both[0] != both[1])


def compare(case, runs):
    """Whether all runs are the same; prints how many are."""
    (usual, count), *others = collections.Counter(runs).most_common()
    first = min((first_difference(run, usual) for run, _ in others), default="")
    print(case.label, len(runs), len(runs) - count, first, sep="\t", flush=True)
    return not others


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("prefix", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("mnist")
    parser.add_argument("--only", default=",".join(NETWORKS))
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--target", default="cuda")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--flags", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cases = [Case(name, 0, options.precision, pathlib.Path(folder))
                 for name in options.only.split(",")]
        for case in cases:
            if not case.network:
                sys.exit("repeat-training.py: expected a network of models/networks.py, "
                         f"or one such as random-12, got '{case.name}'")
            case.batch = case.network.batch
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            programs = list(pool.map(lambda case: compile_one(options, case), cases))
        print("network", "runs", "different", "from epoch", sep="\t")
        same = [compare(case, [train(options, program) for _ in range(options.times)])
                for case, program in zip(cases, programs)]
    sys.exit(0 if all(same) else 1)


if __name__ == "__main__":
    main()
