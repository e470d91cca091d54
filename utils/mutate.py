#!/usr/bin/env python3
"""Builds the program with small faults, and says which no test notices.

    utils/mutate.py --check             every mutant still applies
    utils/mutate.py [--only=TEXT] [--folder=DIR] [--report=FILE]

The mutants are in utils/mutants.py. A run copies the tree to a folder (kept, so
that the next run is short), builds it there, applies one mutant at a time,
builds again and runs the suites that have to notice. --report adds each outcome
to docs/mutation.md's table, or to FILE. Exit code 1 where a mutant survived.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

from mutants import MUTANTS

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = pathlib.Path(os.environ.get("MNISTC_CACHE",
                                    pathlib.Path.home() / ".cache/mnistc"))
VENV = CACHE / "venv/bin"
LIMIT_S = 1800


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
            messages.append(f"utils/mutants.py: expected '{name}' to be one "
                            "change with a suite")
        names.add(name)
    return messages


def run(command, folder):
    return subprocess.run([str(part) for part in command], cwd=folder,
                          capture_output=True, text=True, errors="replace",
                          timeout=LIMIT_S, stdin=subprocess.DEVNULL)


def copy_tree(folder):
    """The files that git has or would take, where they differ."""
    listed = run(["git", "ls-files", "-co", "--exclude-standard"], ROOT).stdout
    wanted = {path for path in listed.splitlines() if (ROOT / path).is_file()}
    for path in wanted:
        data, to = (ROOT / path).read_bytes(), folder / path
        if not to.is_file() or to.read_bytes() != data:
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(data)
            to.chmod((ROOT / path).stat().st_mode)


def build(folder):
    done = run([VENV / "cmake", "--build", folder / "build", "--target", "all"],
               folder)
    return done.returncode == 0, done.stdout[-3000:]


def suite_command(suite, folder):
    kind, _, text = suite.partition("/")
    if kind == "lit":
        return [VENV / "lit", "-s", folder / "build/test/lit",
                f"--filter={text}"]
    if kind in ("unit", "cuda"):
        return [folder / f"build/bin/mn-{kind}-tests", f"--gtest_filter={text}"]
    return [VENV / "python", folder / f"test/{kind}/run.py", f"--only={text}"]


def ran_something(suite, done):
    """A filter that fits no test notices nothing."""
    if suite.startswith(("unit/", "cuda/")):
        return not re.search(r"Running 0 tests", done.stdout)
    if suite.startswith("lit/"):
        return not re.search(r"did not match any", done.stdout + done.stderr)
    return not re.search(r"^0 passed, 0 failed", done.stdout, re.M)


def killer(suites, folder):
    """The suite that notices, or nothing."""
    for suite in suites:
        done = run(suite_command(suite, folder), folder)
        if not ran_something(suite, done):
            sys.exit(f"error: expected suite {suite} to have tests, got none")
        if done.returncode != 0:
            return suite
    return None


def outcome(mutant, folder):
    name, file, right, wrong, suites = mutant
    path = folder / file
    text = path.read_text()
    path.write_text(text.replace(right, wrong))
    try:
        built, said = build(folder)
        if not built:
            return f"does not build: {said.splitlines()[-1] if said else ''}"
        suite = killer(suites, folder)
        return f"killed by {suite}" if suite else "SURVIVES"
    finally:
        path.write_text(text)


def write_report(path, outcomes):
    """Replaces the rows of the mutants that were run, and keeps the others."""
    text = path.read_text()
    for (name, file, *_), result in outcomes:
        row = f"| {name} | `{file}` | {result} |"
        pattern = re.compile(rf"^\| {re.escape(name)} \|.*$", re.M)
        if pattern.search(text):
            text = pattern.sub(lambda _: row, text)
        else:
            text = text.rstrip("\n") + f"\n{row}\n"
    path.write_text(text)


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
    copy_tree(folder)
    configured = run([VENV / "cmake", "--preset", "release"], folder)
    built, said = build(folder)
    if configured.returncode or not built:
        sys.exit(f"error: expected the program to build without a mutant: "
                 f"{configured.stderr}{said}")
    outcomes = []
    for mutant in MUTANTS:
        if options.only not in f"{mutant[0]} {mutant[1]}":
            continue
        begin = time.monotonic()
        outcomes.append((mutant, outcome(mutant, folder)))
        print(f"{time.monotonic() - begin:6.0f} s  {mutant[0]}: "
              f"{outcomes[-1][1]}", flush=True)
        if options.report:
            write_report(options.report, outcomes[-1:])
    survivors = sum("killed" not in result for _, result in outcomes)
    print(f"{len(outcomes)} mutants, {survivors} survive")
    return survivors > 0


if __name__ == "__main__":
    sys.exit(main())
