#!/usr/bin/env python3
"""Checks that what the documents show is what the programs print.

usage: check-docs.py [--fix] [--bin=build/bin] FILE.md...

A block of code after a comment is the output of that comment's command:

    <!-- run: mnistc mlp.onnx --emit=mnist -o - -->
    ```mlir
    ...
    ```

`run` compares to the letter, `run~` takes any number for any other (times).
`show: FILE` is the content of a file that a command made, `show: FILE /FROM/ /TO/`
the lines from the one that matches FROM up to and with the one that matches TO.
`session` and `session~` are the same as `run`, with the command above its output.
`setup` runs a command and shows nothing. All commands of a file run in order in
one empty folder, with mnistc on the path and $ROOT as the project. --fix writes
what was printed into the document.
"""

import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"<!-- (run~?|session~?|show|setup): (.*?) -->\n(?:```(\w*)\n(.*?)```\n)?", re.S)
# With a digest, and with the unit of a rate.
# A digest may follow a number of a CSV's row, and begin with a digit.
NUMBER = re.compile(r"\b[0-9a-f]{16}\b|"
                    r"\d(?:[\d.]|,(?![0-9a-f]{16}\b))*(?:e[+-]?\d+)?[kM]?")


def output_of(kind, command, folder, environment):
    if kind == "show":
        words = re.findall(r"/(?:[^/\\]|\\.)*/|\S+", command)
        lines = (folder / words[0]).read_text().splitlines(True)
        if len(words) == 3:
            first, last = (re.compile(word[1:-1]) for word in words[1:])
            start = next(i for i, line in enumerate(lines) if first.search(line))
            end = next(i for i in range(start, len(lines)) if last.search(lines[i]))
            lines = lines[start:end + 1]
        return "".join(lines)
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=folder,
                          env=environment, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"check-docs: error: '{command}' ended with {done.returncode}: "
                 f"{done.stderr.strip()[-300:]}")
    return done.stdout + (done.stderr if kind != "setup" else "")


def tidy(text, loose):
    text = "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n"
    return re.sub(r"[ ]+", " ", NUMBER.sub("#", text)) if loose else text


def check(path, binaries, fix):
    text = path.read_text()
    environment = dict(os.environ, ROOT=str(ROOT),
                       PATH=f"{binaries}:{os.environ['PATH']}")
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        def replace(match):
            kind, command, language, shown = match.groups()
            found = output_of(kind, command, pathlib.Path(folder), environment)
            if kind == "setup":
                return match[0]
            if kind.startswith("session"):
                found = f"$ {command}\n{found}"
            loose = kind.endswith("~")
            if tidy(shown or "", loose) == tidy(found, loose):
                return match[0]
            problems.append(f"{path}: '{command}' prints something else:\n" + "".join(
                difflib.unified_diff(tidy(shown or "", loose).splitlines(True),
                                     tidy(found, loose).splitlines(True),
                                     "shown", "printed", n=1)))
            return (f"<!-- {kind}: {command} -->\n```{language or ''}\n"
                    f"{tidy(found, False)}```\n")
        fixed = BLOCK.sub(replace, text)
    if fix and fixed != text:
        path.write_text(fixed)
        return []
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    problems = sum((check(path, options.bin.resolve(), options.fix)
                    for path in options.files), [])
    print("\n".join(problems) or f"{len(options.files)} documents, all true")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
