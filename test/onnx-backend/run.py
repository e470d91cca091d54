#!/usr/bin/env python3
"""Runs ONNX's own backend tests through mnistc and the programs it makes.

The tests come from the `onnx` package, which generates models and data; the
names to run are in lists next to this file: tier1.txt (networks of convolutions and
dense layers), operators.txt (the other operators that mnistc takes) and tier2.txt
(training). A graph input that
has to be known at compile time (a shape, axes) is bound to the test's value, as
a user would with --bind. Writes a JSON report for report.py.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BIND = re.compile(r"--bind=([^=\s]+)=")
LIMIT_S = 120


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mnistc", default=str(HERE.parents[1] / "build/bin/mnistc"))
    parser.add_argument("--target", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--tiers", default="tier1,operators,tier2",
                        help="lists next to this file, separated by commas")
    parser.add_argument("--only", default="", help="a regular expression")
    parser.add_argument("-j", "--jobs", type=int,
                        default=int(os.environ.get("MNISTC_JOBS") or os.cpu_count()))
    parser.add_argument("--report", help="where to write the results as JSON")
    parser.add_argument("--keep", help="a folder to leave models and programs in")
    parser.add_argument("mnistc_options", nargs="*", help="after --: for mnistc")
    return parser.parse_args()


def expected_failures(target):
    """Test name to reason; such a test must fail, or the list is out of date."""
    lines = (HERE / "expected-failures.txt").read_text().splitlines()
    failures = {}
    for line in lines:
        if line.strip() and not line.startswith("#"):
            targets, name, reason = line.split(None, 2)
            if target in targets.split(","):
                failures[name] = reason
    return failures


def write_case(case, folder):
    """Lays a test out as ONNX does: model.onnx and test_data_set_N/*.pb."""
    from onnx import numpy_helper, save
    folder.mkdir(parents=True, exist_ok=True)
    save(case.model, str(folder / "model.onnx"))
    for n, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{n}"
        data.mkdir(exist_ok=True)
        for kind, values, infos in (("input", inputs, case.model.graph.input),
                                    ("output", outputs, case.model.graph.output)):
            for i, (value, info) in enumerate(zip(values, infos)):
                if not hasattr(value, "SerializeToString"):
                    value = numpy_helper.from_array(value, info.name)
                (data / f"{kind}_{i}.pb").write_bytes(value.SerializeToString())


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                          timeout=LIMIT_S)
    return done.returncode, (done.stdout + done.stderr).strip()


def compile_case(case, folder, options):
    """Compiles, binding what the compiler asks to have bound."""
    names = [info.name for info in case.model.graph.input]
    bound = []
    while True:
        command = [options.mnistc, str(folder / "model.onnx"), "-o",
                   str(folder / "app"), f"--target={options.target}",
                   *options.mnistc_options]
        command += [f"--bind={name}={folder}/test_data_set_0/input_{names.index(name)}.pb"
                    for name in bound]
        code, text = run(command)
        asked = [name for name in BIND.findall(text)
                 if name in names and name not in bound]
        if code == 0 or not asked:
            return code, text
        bound += sorted(set(asked), key=names.index)


def run_case(case, root, options):
    folder = root / case.name
    try:
        write_case(case, folder)
        code, text = compile_case(case, folder, options)
        stage = "compile"
        if code == 0:
            stage = "run"
            code, text = run([str(folder / "app"), "verify", str(folder),
                              f"--rtol={case.rtol}", f"--atol={case.atol}"])
    except subprocess.TimeoutExpired:
        code, text, stage = 124, f"took longer than {LIMIT_S} s", "time"
    if code == 0 and not options.keep:
        (folder / "app").unlink()
    return {"name": case.name, "state": "passed" if code == 0 else "failed",
            "stage": stage, "code": code,
            "message": "" if code == 0 else text.replace(str(root), "")[-400:]}


def main():
    options = arguments()
    try:
        from onnx.backend.test.loader import load_model_tests
    except ImportError:
        print("skipped: no onnx package; run scripts/setup")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    names = []
    for tier in options.tiers.split(","):
        names += (HERE / f"{tier}.txt").read_text().split()
    # Some names are in two lists.
    names = [name for name in dict.fromkeys(names) if re.search(options.only, name)]
    known = expected_failures(options.target)
    cases = {case.name: case for case in load_model_tests(kind="node")}
    missing = [name for name in names if name not in cases]
    with tempfile.TemporaryDirectory() as temporary, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        root = pathlib.Path(options.keep or temporary)
        results = list(pool.map(lambda name: run_case(cases[name], root, options),
                                [name for name in names if name in cases]))
    failed = 0
    for result in results:
        passed = result["state"] == "passed"
        if result["name"] in known:
            result["state"] = "unexpected pass" if passed else "expected failure"
            result["reason"] = known[result["name"]]
            failed += passed
        else:
            failed += not passed
        if result["state"] in ("failed", "unexpected pass"):
            print(f"{result['name']}: {result['state']} ({result['stage']}, exit "
                  f"{result['code']}) {result['message']}")
    for name in missing:
        print(f"{name}: not in this version of the onnx package")
    build = HERE.parents[1] / "build"
    if not options.report and build.is_dir():
        options.report = build / f"onnx-backend-{options.target}.json"
    if options.report:
        pathlib.Path(options.report).write_text(json.dumps(
            {"target": options.target, "results": results}, indent=1) + "\n")
    passed = sum(result["state"] == "passed" for result in results)
    print(f"{passed} passed, {failed + len(missing)} failed, "
          f"{len(results) - passed - failed} skipped")
    return 1 if failed or missing else 0


if __name__ == "__main__":
    sys.exit(main())
