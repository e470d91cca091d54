"""A tarball, a Debian package and a wheel of the build: the same bytes each time,
and complete."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import numpy
from harness import ROOT, Skip, expect, ok, run

MAX_WHEEL_BYTES = 20_000_000


def made(place, name="packages"):
    """The folder of the packages."""
    def make():
        done = run(ROOT / "scripts/package", f"--build={place.build}",
                   f"--out={place.path(name)}", env=clean())
        if "INSTALL cannot find" in done.err:
            raise Skip("the build folder is not whole")
        expect(done.code == 0, done)
        return place.path(name)
    return place.once(name, make)


def only(folder, pattern):
    found = list(folder.glob(pattern))
    expect(len(found) == 1, f"expected one {pattern}, got {found}")
    return found[0]


def clean(**more):
    """An environment in which only what is installed is found."""
    kept = {key: os.environ[key] for key in ("HOME", "LANG", "MNISTC_CACHE")
            if key in os.environ}
    return {"PATH": "/usr/bin:/bin", "SOURCE_DATE_EPOCH": "1700000000", **kept, **more}


def use(place, mnistc, name):
    """Compiles and trains a small model."""
    app, saved = place.path(f"app-{name}"), place.path(f"{name}.onnx")
    place.data()
    ok(mnistc, place.model(), "--target=cpu", "--train", "--batch=16", "-o", app, env=clean())
    out = ok(app, "train", "--json", "--epochs=2", f"--save={saved}",
             f"--data={place.path('x.npy')},{place.path('y.npy')}", env=clean())
    expect(json.loads(out.out)["reason"] == "complete" and saved.exists(), out)
    return app


def test_the_same_bytes_each_time(place):
    first, second = made(place), made(place, "again")
    names = sorted(os.listdir(first))
    expect(len(names) == 3 and names == sorted(os.listdir(second)), names)
    for name in names:
        expect((first / name).read_bytes() == (second / name).read_bytes(), name)


SYSTEM = pathlib.Path("/var/lib/dpkg")


def system(place):
    """A folder in which dpkg knows of the packages of this machine and of their files,
    and so which it may rely on and which files it may not replace."""
    if not shutil.which("dpkg") or not (SYSTEM / "status").exists():
        raise Skip("no dpkg")
    root = place.path("root")
    known = root / "var/lib/dpkg"
    for name in ("info", "updates"):
        (known / name).mkdir(parents=True)
    shutil.copy(SYSTEM / "status", known)
    for file in (SYSTEM / "info").glob("*.list"):
        shutil.copy(file, known / "info")
    if (SYSTEM / "info/format").exists():
        shutil.copy(SYSTEM / "info/format", known / "info")
    return root


def dpkg(root, *words, code=0):
    flags = [f"--root={root}", f"--log={root}/var/lib/dpkg/log", "--force-unsafe-io"]
    flags += ["--force-not-root"] if os.getuid() else []
    done = run("dpkg", *flags, *words,
               env=clean(PATH="/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL="C"))
    expect(done.code == code and "warning" not in done.err, done)
    return done.out + done.err


def files(root):
    """All but what dpkg itself writes down."""
    return {path for path in root.rglob("*")
            if not path.is_relative_to(root / "var/lib/dpkg")} - {root / "var/lib"}


def test_debian_package(place):
    """Installs it with what it depends on, uses it, and removes it."""
    package, root = only(made(place), "*.deb"), system(place)
    before = files(root)
    dpkg(root, "--install", package)
    expect(not dpkg(root, "--verify", "mnistc"), "expected the sums of the files")
    listed = dpkg(root, "--listfiles", "mnistc").split()
    expect(files(root) - before == {root / path[1:] for path in listed} - {root / "."},
           "expected the files of the package and no others")
    use(place, root / "usr/bin/mnistc", "deb")
    status = dpkg(root, "--status", "mnistc")
    version = ok(root / "usr/bin/mnistc", "--version").out.split()[1]
    for line in ("Package: mnistc", "Status: install ok installed", f"Version: {version}"):
        expect(f"{line}\n" in status, f"expected '{line}' in {status}")
    share = root / "usr/share"
    for path in ("doc/mnistc/copyright", "doc/mnistc/README.md", "doc/mnistc/docs/embedding.md",
                 "doc/mnistc/examples/embed/learn.cpp", "man/man1/mnistc.1"):
        expect((share / path).exists(), path)
    dpkg(root, "--remove", "mnistc")
    expect(files(root) == before, f"expected nothing to remain, got {files(root) ^ before}")

    (root / "var/lib/dpkg/status").write_text("")
    refused = dpkg(root, "--install", package, code=1)
    for name in ("libc6", "c++-compiler", "binutils"):
        expect(name in refused, f"expected it to need {name}: {refused}")


def unpacked(place):
    """What the tarball holds."""
    def make():
        archive, folder = only(made(place), "*.tar.gz"), place.path("unpacked")
        folder.mkdir()
        ok("tar", "-xf", archive, "-C", folder)
        return only(folder, "*")
    return place.once("unpacked", make)


def compiled(place):
    """A program of the compiler in the tarball."""
    return place.once("compiled", lambda: use(place, unpacked(place) / "bin/mnistc", "tar"))


def test_no_paths_of_this_machine(place):
    """Nor where it was built is in what is installed, nor where that is in programs."""
    prefix, app = unpacked(place), compiled(place)
    cache = pathlib.Path(os.environ.get("MNISTC_CACHE", "~/.cache/mnistc")).expanduser()
    built = [path for path in prefix.rglob("*") if path.is_file()]
    expect(prefix / "bin/mnistc" in built and prefix / "lib/libmnistrt_core.a" in built, built)
    for path in [*built, app]:
        text = path.read_bytes()
        for folder in (ROOT, place.build, cache, place.folder):
            expect(f"{folder}/".encode() not in text, f"{path}: expected no '{folder}/'")


def test_tarball(place):
    prefix, app = unpacked(place), compiled(place)
    needs = json.loads(ok(app, "info", "--json").out)["needs"]
    listed = re.findall(r"NEEDED.*\[(.*)\]", ok("readelf", "-d", app, env=clean(LC_ALL="C")).out)
    listed = [name for name in listed if not name.startswith("ld-")]
    expect(needs == sorted(listed) and "libc.so.6" in needs, (needs, listed))
    if shutil.which("pkg-config"):
        environment = clean(PKG_CONFIG_PATH=str(prefix / "lib/pkgconfig"))
        found = ok("pkg-config", "--variable=mnistc", "mnistc", env=environment).out.strip()
        expect(pathlib.Path(found).samefile(prefix / "bin/mnistc"), found)
        flag = ok("pkg-config", "--cflags", "mnistc", env=environment).out.strip()
        expect((pathlib.Path(flag[2:]) / "mnist.hpp").exists(), flag)


def test_options_in_manual_and_shells(place):
    """Each option of --help, once, in what is made of them."""
    help_text = ok(place.mnistc, "--help").out
    options = set(re.findall(r"^  (--?[A-Za-z][\w-]*)", help_text, re.M)) - {"--help-list"}
    expect(len(options) > 40, options)
    page = ok(place.mnistc, "--describe-options=man").out.replace("\\-", "-")
    found = re.findall(r"^\.TP\n\\fB(--?[A-Za-z][\w-]*)", page, re.M)
    expect(sorted(found) == sorted(options), set(found) ^ options)
    if shutil.which("groff"):
        checked = subprocess.run(["groff", "-man", "-ww", "-z"], capture_output=True, text=True,
                                 input=ok(place.mnistc, "--describe-options=man").out)
        expect(checked.returncode == 0 and not checked.stderr, checked.stderr)
    script = place.path("completion.bash")
    script.write_text(ok(place.mnistc, "--describe-options=bash").out)
    done = subprocess.run(
        ["bash", "-euc", f"source {script}; COMP_WORDS=(mnistc --clip) COMP_CWORD=1;"
         "compopt() { :; }; _mnistc; echo ${COMPREPLY[*]}"], capture_output=True, text=True)
    expect(done.stdout == "--clip-norm= --clip-value=\n", done)
    for shell, start in (("zsh", r"^  '(--?[A-Za-z][\w-]*)"), ("fish", r" -[ls] ([\w-]+)")):
        text = ok(place.mnistc, f"--describe-options={shell}").out
        named = {name if name.startswith("-") else ("--" if len(name) > 1 else "-") + name
                 for name in re.findall(start, text, re.M)}
        expect(named == options, (shell, named ^ options))
    expect(run(place.mnistc, "--describe-options=csh").code == 2, "csh")


SCRIPT = """
import sys
import mnistc, numpy as np
x, y = np.load(sys.argv[2]), np.load(sys.argv[3])
program = mnistc.compile(sys.argv[1], target="cpu", batch=16, train=True)
before = program.evaluate(x, y)
program.train(x, y, epochs=5)
assert program.evaluate(x, y).loss < before.loss
print(mnistc.__file__)
"""


def test_wheel(place):
    wheel = only(made(place), "*.whl")
    tag = re.fullmatch(r"mnistc-[\d.]+-py3-none-manylinux_2_(\d+)_\w+", wheel.stem)
    expect(tag and wheel.stat().st_size < MAX_WHEEL_BYTES, wheel)
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
        binary = file.read("mnistc_tree/tree/bin/mnistc")
    expect(all(re.match(r"mnistc(_tree|-[\d.]+\.dist-info)?/", name) for name in names), names)
    expect("mnistc/py.typed" in names and any("licenses/LICENSE" in n for n in names), names)
    versions = [int(v) for v in re.findall(rb"GLIBC_2\.(\d+)", binary)]
    expect(max(versions) <= int(tag[1]), (max(versions), tag[1]))

    venv = place.path("venv")
    ok(sys.executable, "-m", "venv", venv)
    ok(venv / "bin/pip", "install", "--disable-pip-version-check", "--no-index", "--no-deps",
       "--no-compile", wheel)
    use(place, venv / "bin/mnistc", "wheel")
    place.path("use.py").write_text(SCRIPT)
    numpy_is_in = str(pathlib.Path(numpy.__file__).parents[1])
    done = ok(venv / "bin/python", place.path("use.py"), place.model(), place.path("x.npy"),
              place.path("y.npy"), env=clean(PYTHONPATH=numpy_is_in))
    expect(str(venv) in done.out, done.out)
    lonely = run(venv / "bin/mnistc", place.model(), "--target=cpu", "--batch=16", "-o",
                 place.path("none"), env=clean(PATH=str(venv / "bin")))
    expect(lonely.code == 4 and "expected a C++ compiler" in lonely.err, lonely)
