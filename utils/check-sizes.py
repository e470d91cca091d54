#!/usr/bin/env python3
"""Checks that no file grows past what can be read at a sitting: 500 lines, a
test 300. A file that must be longer is listed here, with its reason."""

import pathlib
import subprocess
import sys

LIMIT, TEST_LIMIT = 500, 300

# path: (limit, reason)
ALLOWED = {
    # One case for each command and input format: a table, not a mechanism.
}

SUFFIXES = {
    ".cpp", ".h", ".td", ".cuh", ".cu", ".py", ".cmake", ".sh", "",
    ".mlir", ".onnxtext", ".test",
}

root = pathlib.Path(__file__).resolve().parent.parent
listed = subprocess.run(
    ["git", "ls-files", "-co", "--exclude-standard"],
    cwd=root, capture_output=True, text=True, check=True,
).stdout.splitlines()

errors = []
checked = 0
for name in sorted(listed):
    path = root / name
    if not path.is_file() or path.suffix not in SUFFIXES or name == "LICENSE":
        continue
    try:
        lines = path.read_text().count("\n")
    except UnicodeDecodeError:
        continue
    checked += 1
    limit = TEST_LIMIT if name.startswith("test/") else LIMIT
    if name in ALLOWED:
        if lines <= limit:
            errors.append(f"{name}: {lines} lines need no exception; strike it from the list")
        limit = ALLOWED[name][0]
    if lines > limit:
        errors.append(f"{name}: expected at most {limit} lines, got {lines}; split it")
for name in sorted(set(ALLOWED) - set(listed)):
    errors.append(f"{name}: in the list of exceptions, but no such file")

print("\n".join(errors) or f"{checked} files, none too long")
sys.exit(bool(errors))
