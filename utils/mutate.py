#!/usr/bin/env python3
"""Builds the program with small faults, and says which no test notices.

    utils/mutate.py --check             every mutant still applies
    utils/mutate.py [--only=TEXT] [--folder=DIR] [--report=FILE]

The mutants are in utils/mutants/: rows of a name, a file, what stands there
(once), what stands there instead, and the suites that have to notice, fastest
first: lit/FILTER, unit/FILTER, cuda/FILTER (mn-cuda-tests), or NAME/FILTER for
test/NAME/run.py --only=FILTER. A run copies the tree to a folder (kept, so
that the next run is short), builds it there, checks that the suites pass,
applies one mutant at a time, builds again and runs the suites that have to
notice, until one does. --report adds each outcome to docs/mutation.md's table,
or to FILE. Exit code 1 where a mutant survived.
"""

import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from mutants import (
    chains, compiler, folds, importer, joins, kernels, loops, memory, ranks,
    runtime)

MUTANTS = (chains.MUTANTS + compiler.MUTANTS + folds.MUTANTS +
           importer.MUTANTS + joins.MUTANTS + kernels.MUTANTS + loops.MUTANTS +
           memory.MUTANTS + ranks.MUTANTS + runtime.MUTANTS)
ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = pathlib.Path(os.environ.get("MNISTC_CACHE",
                                    pathlib.Path.home() / ".cache/mnistc"))
VENV = CACHE / "venv/bin"
SUITE_LIMIT_S = 600


def check():
    """A message for each mutant that does not apply to one place."""
    messages, names = [], set()
    for name, file, right, wrong, suites in MUTANTS:
        count = (ROOT / file).read_text().count(right) \
            if (ROOT / file).is_file() else 0
        if count != 1:
            messages.append(f"{file}: expected the text of mutant '{name}' "
                            f"once, got it {count} times")
        if right == wrong or name in names or not suites:
            messages.append(f"utils/mutants: expected '{name}' to be one "
                            "change with a suite")
        names.add(name)
    return messages


def run(command, folder, limit=None):
    """The exit code and what was said; an exit code of None ran too long."""
    process = subprocess.Popen(
        [str(part) for part in command], cwd=folder, text=True, errors="replace",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True)
    try:
        said = process.communicate(timeout=limit)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return None, process.communicate()[0]
    return process.returncode, said


def copy_tree(folder):
    """The files that git has or would take, where they differ; what an earlier
    run copied and is gone is removed, for sources are found by their ending."""
    listed = run(["git", "ls-files", "-co", "--exclude-standard"], ROOT)[1]
    wanted = {path for path in listed.splitlines() if (ROOT / path).is_file()}
    copied = folder / "copied.txt"
    if copied.exists():
        for path in set(copied.read_text().splitlines()) - wanted:
            (folder / path).unlink(missing_ok=True)
    for path in wanted:
        data, to = (ROOT / path).read_bytes(), folder / path
        if not to.is_file() or to.read_bytes() != data:
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(data)
            to.chmod((ROOT / path).stat().st_mode)
    copied.write_text("\n".join(sorted(wanted)))


def build(folder, *targets):
    code, said = run([VENV / "cmake", "--build", folder / "build", "--target",
                      *targets], folder)
    return code == 0, said[-3000:]


def parts_of(suite):
    kind, _, text = suite.partition("/")
    return kind, text


def targets_of(suite):
    kind, _ = parts_of(suite)
    if kind in ("unit", "cuda"):
        return [f"mn-{kind}-tests"]
    more = {"programs": ["fake-cuda"], "emulated": ["fake-cuda",
                                                    "emulated-nvrtc"]}
    return ["mnistc", "mnist-opt", "mnistrt"] + more.get(kind, [])


def suite_command(suite, folder):
    kind, text = parts_of(suite)
    if kind == "lit":
        return [VENV / "lit", "-sv", "--max-failures=1",
                folder / "build/test/lit", f"--filter={text}"]
    if kind in ("unit", "cuda"):
        return [folder / f"build/bin/mn-{kind}-tests", "--gtest_fail_fast",
                f"--gtest_filter={text}"]
    return [VENV / "python", folder / f"test/{kind}/run.py", f"--only={text}"]


def passed_something(suite, said):
    """A filter that fits no test, or only tests that are skipped, notices
    nothing."""
    kind, _ = parts_of(suite)
    if kind == "lit":
        return re.search(r"^  Passed *: *[1-9]", said, re.M)
    if kind in ("unit", "cuda"):
        return re.search(r"^\[  PASSED  \] [1-9]", said, re.M)
    return re.search(r"^[1-9][0-9]* passed, 0 failed", said, re.M)


def check_suites(suites, folder):
    """A suite that fails without a mutant notices nothing, either."""
    for suite in sorted(suites):
        begin = time.monotonic()
        code, said = run(suite_command(suite, folder), folder, SUITE_LIMIT_S)
        if code != 0 or not passed_something(suite, said):
            sys.exit(f"error: expected suite {suite} to pass without a mutant: "
                     f"{said[-3000:]}")
        print(f"{time.monotonic() - begin:6.1f} s  {suite} passes", flush=True)


def killer(suites, folder):
    """How the suites end: by the first that notices."""
    for suite in suites:
        built, said = build(folder, *targets_of(suite))
        if not built:
            errors = re.findall(r"^.*error:.*$", said, re.M) or [said[-200:]]
            return f"does not build: {errors[0]}"
        code, said = run(suite_command(suite, folder), folder, SUITE_LIMIT_S)
        if code != 0:
            return f"killed by {suite}" + " (no end)" * (code is None)
    return "SURVIVES"


def outcome(mutant, folder):
    name, file, right, wrong, suites = mutant
    path = folder / file
    text = path.read_text()
    path.write_text(text.replace(right, wrong))
    try:
        return killer(suites, folder)
    finally:
        path.write_text(text)


def write_report(path, mutant, result):
    """Replaces the row of a mutant, and keeps the others, in the order of
    the list."""
    head, line, rows = path.read_text().partition("|---|---|---|\n")
    known = dict(re.findall(r"^\| (.*?) (\|.*)$", rows, re.M))
    known[mutant[0]] = f"| `{mutant[1]}` | {result} |"
    path.write_text(head + line + "".join(
        f"| {name} {known[name]}\n" for name, *_ in MUTANTS if name in known))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--folder", type=pathlib.Path,
                        default=CACHE / "mutants")
    parser.add_argument("--report", type=pathlib.Path, nargs="?",
                        const=ROOT / "docs/mutation.md")
    options = parser.parse_args()
    messages = check()
    for message in messages:
        print(f"error: {message}")
    if messages or options.check:
        print(f"{len(MUTANTS)} mutants, {len(messages)} errors")
        return bool(messages)
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    copy_tree(folder)
    code, said = run([VENV / "cmake", "--preset", "release"], folder)
    built = code == 0
    if built:
        built, said = build(folder, "all")
    if not built:
        sys.exit(f"error: expected the program to build without a mutant: {said}")
    chosen = [mutant for mutant in MUTANTS
              if options.only in f"{mutant[0]} {mutant[1]}"]
    check_suites({suite for mutant in chosen for suite in mutant[-1]}, folder)
    outcomes = []
    for mutant in chosen:
        begin = time.monotonic()
        outcomes.append(outcome(mutant, folder))
        print(f"{time.monotonic() - begin:6.1f} s  {mutant[0]}: {outcomes[-1]}",
              flush=True)
        if options.report:
            write_report(options.report, mutant, outcomes[-1])
    survivors = sum("killed" not in result for result in outcomes)
    print(f"{len(outcomes)} mutants, {survivors} survive")
    return survivors > 0


if __name__ == "__main__":
    sys.exit(main())
