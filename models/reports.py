#!/usr/bin/env python3
"""Makes a report of the training of each network of the five tutorials.

usage: reports.py [NAME...] [--target=cuda] [--mnistc=build/bin/mnistc]
                  [--out=reports]

No GPU is needed: times are the compiler's estimates. Those in docs/reports are
made by --out=docs/reports.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

from recipe import RECIPES, ROOT, python


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--target", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--mnistc", type=pathlib.Path,
                        default=ROOT / "build/bin/mnistc")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("reports"))
    options = parser.parse_args()
    if unknown := sorted(set(options.names) - set(RECIPES)):
        sys.exit(f"reports.py: error: expected names among {', '.join(RECIPES)}, "
                 f"got {unknown[0]}")
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names or RECIPES:
            network, model = RECIPES[name], pathlib.Path(folder) / f"{name}.onnx"
            page = options.out / f"{name}.html"
            subprocess.run([python(), ROOT / "models/make.py", name, model],
                           check=True)
            subprocess.run([options.mnistc, model, "--train",
                            f"--batch={network.batch}", *network.train.split(),
                            f"--target={options.target}", f"--report={page}"],
                           check=True)
            print(f"{page}: {page.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
