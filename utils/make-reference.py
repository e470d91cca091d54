#!/usr/bin/env python3
"""Writes docs/reference from the .td files: the ops and passes as they are.

    utils/make-reference.py [--check]

--check writes nothing and fails where a file is not what it would write.
"""

import json
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
LLVM = pathlib.Path("/usr/lib/llvm-19")
HEAD = "<!-- written by utils/make-reference.py; do not edit -->\n"


def records(path):
    text = subprocess.run(
        [LLVM / "bin/llvm-tblgen", "--dump-json", f"-I{LLVM / 'include'}", f"-I{ROOT}",
         ROOT / path], check=True, capture_output=True, text=True, cwd=ROOT).stdout
    return json.loads(text)


def defined(path):
    """The names that a file and its neighbours define, in their order."""
    text = (ROOT / path).read_text()
    names = []
    for line in text.splitlines():
        if include := re.match(r'include "(lib/.*\.td)"', line):
            names += [name for name in defined(include[1]) if name not in names]
        if definition := re.match(r"def (\w+)", line):
            names.append(definition[1])
    return names


def prose(text):
    return textwrap.dedent((text or "").strip("\n")).strip() + "\n"


def kind(record, all_records):
    """What an operand, a result or an attribute may be."""
    name = record["def"]
    summary = all_records[name].get("summary") or name
    return summary.replace("statically shaped ", "").replace("signless ", "")


def table(op, field, wanted, all_records):
    rows = []
    for value, name in op[field]["args"]:
        superclasses = all_records[value["def"]]["!superclasses"]
        if name and ("Attr" in superclasses) == wanted:
            rows.append(f"- `{name}`: {kind(value, all_records)}")
    return "\n".join(rows) + "\n" if rows else ""


def traits(op, all_records):
    """What the op declares that is ours: words that code asks it for."""
    found = []
    for trait in op["traits"]:
        record = all_records[trait["def"]]
        for key in ("cppInterfaceName", "trait"):
            if isinstance(record.get(key), str):
                name = record[key].split("::")[-1].removeprefix("Is")
                found.append(name.removesuffix("Trait").removesuffix("OpInterface"))
                break
    ours = [name for name in dict.fromkeys(found)
            if name in ("Elementwise", "Indexing", "Differentiable", "Layout",
                        "Commutative", "Idempotent", "ConstantLike")]
    return f"Is: {', '.join(ours)}.\n" if ours else ""


def dialect_page(name, path):
    all_records = records(path)
    dialect = next(all_records[d] for d in all_records["!instanceof"]["Dialect"]
                   if all_records[d]["name"] == name)
    ops = [all_records[d] for d in all_records["!instanceof"]["Op"]
           if all_records[all_records[d]["opDialect"]["def"]]["name"] == name]
    ops.sort(key=lambda op: op["opName"])
    page = [HEAD, f"# The `{name}` dialect\n", dialect["summary"] + "\n",
            prose(dialect["description"])]
    for op in ops:
        page.append(f"## `{name}.{op['opName']}`\n")
        page.append(op["summary"] + "\n")
        page.append(prose(op["description"]))
        page.append(table(op, "arguments", True, all_records))
        page.append(traits(op, all_records))
    schedules = [d for d in all_records["!instanceof"].get("AttrDef", [])
                 if all_records[all_records[d]["dialect"]["def"]]["name"] == name
                 and all_records[d].get("mnemonic")]
    for attribute in sorted(schedules, key=lambda d: all_records[d]["mnemonic"]):
        record = all_records[attribute]
        page.append(f"## `#{name}.{record['mnemonic']}`\n")
        page.append(record["summary"] + "\n")
        page.append(prose(record["description"]))
    return "\n".join(part for part in page if part.strip())


def passes_page(path):
    all_records = records(path)
    page = [HEAD, "# Passes\n",
            "In the order of the `.td` files; `mnist-opt --NAME` runs one of them, "
            "`lib/Passes/Pipelines.cpp` says in which\norder and why.\n"]
    for name in defined(path):
        one = all_records.get(name)
        if not one or "PassBase" not in one["!superclasses"]:
            continue
        page.append(f"## `{one['argument']}`\n")
        page.append(one["summary"] + "\n")
        page.append(prose(one["description"]))
        rows = []
        for option in one["options"]:
            o = all_records[option["def"]]
            default = f" (default `{o['defaultValue']}`)" if o["defaultValue"] else ""
            rows.append(f"- `{o['argument']}`: {o['description']}{default}")
        page.append("\n".join(rows) + "\n" if rows else "")
    return "\n".join(part for part in page if part.strip())


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    pages = {"mnist.md": dialect_page("mnist", "lib/IR/Mnist/MnistOps.td"),
             "plan.md": dialect_page("plan", "lib/IR/Plan/PlanOps.td"),
             "passes.md": passes_page("lib/Passes/Passes.td")}
    folder = ROOT / "docs/reference"
    stale = 0
    for name, text in pages.items():
        text = re.sub(r"[ \t]+$", "", text, flags=re.M)
        path = folder / name
        if check and (not path.exists() or path.read_text() != text):
            print(f"docs/reference/{name}: error: is stale; run utils/make-reference.py")
            stale = 1
        elif not check:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return stale


if __name__ == "__main__":
    sys.exit(main())
