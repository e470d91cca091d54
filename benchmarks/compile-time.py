#!/usr/bin/env python3
"""Times `mnistc --train` on the networks of models/networks.py, part by part.

usage: compile-time.py [--mnistc=build/bin/mnistc] [--only=NAMES]
                       [--targets=cuda,cpu] [--repeat=3] [--out=FILE.md]

Medians over repeated compilations, in milliseconds, as `-v` says them: passes
(import and code generation included), the host's compiler, what NVRTC takes
longer than that, the linker, and the whole command; at last the whole where all
was compiled before. Nothing else should run.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import onnx

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "models"))
from make import Graph  # noqa: E402
from networks import NETWORKS  # noqa: E402

# Column: the parts of `-v` that it adds up.
PARTS = {"passes": ("import", "passes", "code generation"),
         "host compiler": ("host compiler",),
         "NVRTC, beyond that": ("device compiler, beyond that",),
         "linker": ("linker",)}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mnistc", type=pathlib.Path, default=ROOT / "build/bin/mnistc")
    parser.add_argument("--only", default=",".join(NETWORKS))
    parser.add_argument("--targets", default="cuda,cpu")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    for name in options.only.split(","):
        if name not in NETWORKS:
            parser.error(f"expected networks of models/networks.py, got '{name}'")
    return options


def compile_once(options, model, network, target, folder, *flags):
    """Milliseconds of each column but the last."""
    begin = time.perf_counter()
    done = subprocess.run(
        [options.mnistc, model, "--train", f"--batch={network.batch}",
         f"--target={target}", *network.train.split(), *flags, "-v", "-o", folder / "app"],
        env={**os.environ, "XDG_CACHE_HOME": str(folder)},
        capture_output=True, text=True, check=False)
    whole = (time.perf_counter() - begin) * 1e3
    if done.returncode:
        sys.exit(f"compile-time.py: {done.stderr.strip()}")
    laps = {name: float(ms) for name, ms in
            re.findall(r"^time: (.*): ([\d.]+) ms$", done.stderr, re.M)}
    return [*(sum(laps.get(part, 0) for part in parts) for parts in PARTS.values()),
            whole]


def rows(options):
    yield f"| network, target | {' | '.join(PARTS)} | whole | again |"
    yield "|---" * (len(PARTS) + 3) + "|"
    for name in options.only.split(","):
        network = NETWORKS[name]
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / f"{name}.onnx"
            onnx.save(Graph(name, network, 1).model(), str(model))
            for target in options.targets.split(","):
                def times(*flags):
                    return [compile_once(options, model, network, target,
                                         pathlib.Path(folder), *flags)
                            for _ in range(options.repeat)]
                medians = [*map(statistics.median, zip(*times("--no-cache")))]
                compile_once(options, model, network, target,
                             pathlib.Path(folder))
                medians.append(statistics.median(whole for *_, whole in times()))
                yield f"| {name}, {target} | " + " | ".join(
                    f"{median:.0f}" for median in medians) + " |"


def main():
    options = arguments()
    lines = []
    for line in rows(options):
        print(line, flush=True)
        lines.append(line)
    if options.out:
        options.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
