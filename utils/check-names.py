#!/usr/bin/env python3
"""Checks the naming law.

The pass `FooBar` has the flag mnist-foo-bar or plan-foo-bar, lives in
lib/Passes/FooBar.cpp and is tested by test/lit/Passes/foo-bar.mlir; no other
file of lib/Passes but Pipelines.cpp is a .cpp. Files of tests are kebab-case.
The compiler includes of the runtime the definitions of the ops and nothing else,
the runtime of the compiler nothing.
Nothing in the tree names the machine or the people it was written on and by.
"""

import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
errors = []


def kebab(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()


def tree():
    """The files that git has or would take."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=root, capture_output=True, text=True,
    )
    if listed.returncode == 0:
        paths = listed.stdout.splitlines()
    else:  # not a checkout
        paths = [
            str(p.relative_to(root)) for p in root.rglob("*")
            if not re.match(r"build|out|\.", str(p.relative_to(root)))
        ]
    return [root / p for p in sorted(paths) if (root / p).is_file()]


# Passes.
passes = {}  # name: (flag, where)
for path in sorted((root / "lib/Passes").glob("*.td")):
    for name, flag in re.findall(r'^def (\w+)\s*:\s*Pass<\s*"([\w-]+)"', path.read_text(), re.M):
        passes[name] = (flag, path.relative_to(root))
for name, (flag, where) in passes.items():
    if flag not in (f"mnist-{kebab(name)}", f"plan-{kebab(name)}"):
        errors.append(
            f"{where}: pass {name}: expected the flag "
            f"mnist-{kebab(name)} or plan-{kebab(name)}, got {flag}"
        )
    for path in (f"lib/Passes/{name}.cpp", f"test/lit/Passes/{kebab(name)}.mlir"):
        if not (root / path).exists():
            errors.append(f"{where}: pass {name}: expected a file {path}")
for path in sorted((root / "lib/Passes").glob("*.cpp")):
    if path.stem != "Pipelines" and path.stem not in passes:
        errors.append(
            f"lib/Passes/{path.name}: expected a pass {path.stem} in a .td file; "
            "what is not a pass lives elsewhere"
        )

# Names of tests. Headers that stand for others have their names.
for path in tree():
    name = path.relative_to(root)
    if name.parts[0] != "test" or {"Inputs", "include"} & set(name.parts):
        continue
    if name.name in ("CMakeLists.txt", "README.md") or name.name.startswith("lit."):
        continue
    ok = r"[a-z0-9]+([-_][a-z0-9]+)*" if path.suffix == ".py" else r"[a-z0-9]+(-[a-z0-9]+)*"
    if not re.fullmatch(ok, path.stem):
        errors.append(f"{name}: expected the name of a test in kebab-case")

# Includes.
definitions = {"mnistrt/cuda/kernels/chain_shape.cuh",
               "mnistrt/cuda/kernels/schedule_choice.cuh", "mnistrt/math.h",
               "mnistrt/printable.h", "mnistrt/reductions.h", "mnistrt/report_page.h", "mnistrt/shapes.h",
               "mnistrt/training.h"}
for path in tree():
    name = path.relative_to(root)
    if name.parts[0] not in ("lib", "tools", "runtime") or name.name == "CMakeLists.txt":
        continue
    for include in re.findall(r'^#include "([^"]+)"', path.read_text(errors="replace"), re.M):
        if name.parts[0] == "runtime":
            foreign = include.startswith(("lib/", "tools/", "mlir/", "llvm/"))
        else:
            foreign = include.startswith(("mnistrt/", "runtime/")) and include not in definitions
        if foreign:
            errors.append(f"{name}: expected the compiler and the runtime to share only "
                          f"{' and '.join(sorted(definitions))}, got {include}")

# Words.
forbidden = re.compile(r"(?<![\w.$}])/(work|root|tmp/setup)/|\bCEO\b")
for path in tree():
    if path == pathlib.Path(__file__).resolve():
        continue
    try:
        text = path.read_text()
    except UnicodeDecodeError:
        continue
    for number, line in enumerate(text.splitlines(), 1):
        if word := forbidden.search(line):
            errors.append(f"{path.relative_to(root)}:{number}: '{word[0]}' does not belong here")

print("\n".join(errors) or f"{len(passes)} passes, all names by the law")
sys.exit(bool(errors))
