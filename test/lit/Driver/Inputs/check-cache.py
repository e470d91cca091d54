"""Compiles with a compiler that counts, and a cache that is damaged.

check-cache.py MNISTC MODEL FOLDER
"""

import os
import pathlib
import shlex
import shutil
import stat
import subprocess
import sys

mnistc, model = sys.argv[1:3]
folder = pathlib.Path(sys.argv[3])
cache = folder / "home" / "mnistc" / "compiled"
log = folder / "compiled.log"

# Of compiler and linker, only compilations are counted.
compiler = folder / "c++"
real = shutil.which("c++") or shutil.which("g++")
compiler.write_text(f"""#!/bin/sh
for argument; do [ "$argument" != -c ] || echo x >> {shlex.quote(str(log))}; done
exec {shlex.quote(real)} "$@"
""")
compiler.chmod(0o755)


def start(*options, home=folder / "home", name="app"):
    return subprocess.Popen(
        [mnistc, model, "--target=cpu", "--batch=4", "--quiet", *options,
         "-o", folder / name],
        env={**os.environ, "CXX": str(compiler), "XDG_CACHE_HOME": str(home)})


def program(*options, **where):
    assert start(*options, **where).wait() == 0
    return (folder / where.get("name", "app")).read_bytes()


def compiled():
    return len(log.read_text().split()) if log.exists() else 0


def entries():
    return sorted(cache.glob("llvmcache-*")) if cache.exists() else []


def expect(what, found, wanted):
    if found != wanted:
        sys.exit(f"expected {what} to be {wanted}, got {found}")


# Off: nothing is kept.
wanted = program("--no-cache")
expect("compilations", compiled(), 1)
expect("entries", entries(), [])

# Made once, found the second time; only its owner may read it.
expect("equal bytes", program() == wanted, True)
expect("compilations", compiled(), 2)
expect("equal bytes", program() == wanted, True)
expect("compilations", compiled(), 2)
(entry,) = entries()
expect("mode of the folder", stat.S_IMODE(cache.stat().st_mode) & 0o022, 0)

# Damaged, cut off, empty: made again.
whole = entry.read_bytes()
for count, damage in enumerate((whole[:-1] + b"?", whole[:100], b""), 3):
    entry.write_bytes(damage)
    expect("equal bytes", program() == wanted, True)
    expect("compilations", compiled(), count)
    expect("mended entry", entry.read_bytes() == whole, True)

# Other options, another compiler: other entries.
program("-O1")
expect("entries", len(entries()), 2)
os.utime(compiler, (1, 1))
expect("equal bytes", program() == wanted, True)
expect("entries", len(entries()), 3)
expect("compilations", compiled(), 7)

# Several at once, in an empty folder: one entry, and no parts of any.
shutil.rmtree(cache)
running = [start(name=f"app{i}") for i in range(3)]
expect("exit codes", [one.wait() for one in running], [0, 0, 0])
for i in range(3):
    expect("equal bytes", (folder / f"app{i}").read_bytes() == wanted, True)
expect("entries", len(entries()), 1)

# A folder that cannot be: compiled all the same.
(folder / "file").write_text("")
expect("equal bytes", program(home=folder / "file") == wanted, True)

# What was not used for long goes when something is added.
old = cache / "llvmcache-old"
old.write_bytes(b"old")
os.utime(old, (1, 1))
(cache / "llvmcache.timestamp").unlink()
program("-O1")
expect("old entry", old.exists(), False)
