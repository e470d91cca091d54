#!/usr/bin/env python3
"""Checks the derivative of every operator against finite differences.

usage: run.py [--mnistc=build/bin/mnistc] [--only=TEXT] [--keep=DIR]

The cases of cases.py and losses.py become a few models: each holds many cases
side by side, for `mnistc gradcheck` takes longer to compile than to check. A
case fails where the derivative of one of its ops is wrong, and where none of its
parameters was checked. The last line: N passed, N failed, N skipped.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import cases
import losses
import model

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT_S = 300


class Results:
    def __init__(self):
        self.counts = {"passed": 0, "failed": 0, "skipped": 0}

    def add(self, name, state, why=""):
        self.counts[state] += 1
        print(f"{state:7} {name}{': ' + why if why else ''}", flush=True)


def gradcheck(mnistc, path, *options):
    return subprocess.run([str(mnistc), "gradcheck", str(path), *options],
                          capture_output=True, text=True, timeout=LIMIT_S,
                          stdin=subprocess.DEVNULL)


def judge(group, done, results):
    """One verdict for each case of a model."""
    if done.returncode not in (0, 15):
        why = done.stderr.strip()[-500:] or f"exit code {done.returncode}"
        for case in group:
            results.add(case.name, "failed", why)
        return
    rows = done.stdout.splitlines()[1:]
    if (done.returncode == 0) != all(row.endswith("ok") for row in rows):
        results.add("exit code", "failed", f"{done.returncode} of\n{done.stdout}")
    for case in group:
        # A dot ends a name: those of cases hold none.
        mine = [row for row in rows
                if re.search(rf"\b{re.escape(case.name)}\.", row)]
        wrong = [row for row in mine if not row.endswith("ok")]
        said = [line for line in done.stderr.splitlines()
                if f"{case.name}." in line]
        unchecked = [name for name in case.parameters
                     if not any(row.startswith(name) for row in mine)]
        if wrong:
            results.add(case.name, "failed", "\n  ".join(said + wrong))
        elif unchecked:
            results.add(case.name, "failed", f"nothing checked of {unchecked}")
        else:
            results.add(case.name, "passed")


def check_operators(mnistc, folder, only, results):
    for key, group in cases.groups().items():
        group = [case for case in group if only in case.name or only in key]
        if not group:
            continue
        begin = time.monotonic()
        path = folder / f"{key}.onnx"
        model.save_many(path, group)
        judge(group, gradcheck(mnistc, path, "--loss=mse", "--targets=values"),
              results)
        print(f"        {time.monotonic() - begin:.1f} s for '{key}'")


def check_losses(mnistc, folder, only, results):
    for case in losses.CASES:
        if only not in case.name:
            continue
        why = losses.check(mnistc, folder / f"{case.name}.onnx", case, folder)
        results.add(case.name, "failed" if why else "passed", why)


def check_failures(mnistc, folder, only, results):
    """What has no derivative, and what is no model to train."""
    for case, frozen, code, parts in cases.failures():
        if only not in case.name:
            continue
        path = folder / f"{case.name}.onnx"
        model.save_many(path, [case])
        done = gradcheck(mnistc, path, "--loss=mse", "--targets=values",
                         f"--freeze={frozen}")
        good = done.returncode == code and all(p in done.stderr for p in parts)
        results.add(case.name, "passed" if good else "failed", "" if good else
                    f"expected {code} and {parts}, got {done.returncode}: "
                    f"{done.stderr}")


# They have no parameter to feed them, or make the updates themselves.
UNFED = {"Constant", "ConstantOfShape", "Mod", "Range",
         "ai.onnx.preview.training.Adagrad", "ai.onnx.preview.training.Adam",
         "ai.onnx.preview.training.Momentum"}


def check_list(mnistc, folder, only, results):
    """What is listed as differentiable is checked here, what is not fails here."""
    name = "--list-operators"
    if only not in name:
        return
    done = subprocess.run([str(mnistc), name], capture_output=True, text=True,
                          timeout=LIMIT_S, check=True)
    rows = [row.split() for row in done.stdout.split("\n\n")[0].splitlines()[1:]]
    checked = {node.op_type for group in cases.groups().values()
               for case in group for node in case.nodes}
    failing = {row[0] for row in cases.WITHOUT_GRADIENT} | UNFED
    for answer, known in (("yes", checked), ("no", failing)):
        missing = sorted({row[0] for row in rows if row[-1] == answer} - known)
        results.add(f"{name}: {answer}", "failed" if missing else "passed",
                    f"no case has {missing}" if missing else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mnistc", type=pathlib.Path,
                        default=ROOT / "build/bin/mnistc")
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    mnistc = options.mnistc.resolve()
    if not mnistc.exists():
        sys.exit(f"run.py: error: no '{mnistc}'")
    results = Results()
    with tempfile.TemporaryDirectory(prefix="mnistc-gradcheck") as temporary:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for check in (check_list, check_operators, check_losses, check_failures):
            check(mnistc, folder, options.only, results)
    print(", ".join(f"{n} {state}" for state, n in results.counts.items()))
    return results.counts["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
