"""The installed tree, moved elsewhere; libraries, and models in CMake."""

import ctypes
import os
import shutil
import subprocess
import sys

import numpy as np
from harness import ROOT, Skip, expect, fails, ok, reference, run


def cmake(place):
    beside = os.path.join(os.path.dirname(sys.executable), "cmake")
    found = beside if os.path.exists(beside) else shutil.which("cmake")
    if not found:
        raise Skip("no cmake")
    return found


def installed(place):
    """PREFIX of an installation that was moved after it was made."""
    def make():
        first, second = place.path("first"), place.path("second place")
        done = run(cmake(place), "--install", place.build, "--prefix", first)
        if done.code and "file INSTALL cannot find" in done.err:
            raise Skip("the build folder is not whole")
        expect(done.code == 0, done)
        first.rename(second)
        return second
    return place.once("installed", make)


def test_moved_tree_compiles(place):
    prefix, app = installed(place), place.path("moved")
    done = ok(prefix / "bin/mnistc", place.model("pytorch-simplecnn"),
              "--target=cpu", "-o", app, "-v", f"--save-temps={app}-temps")
    ok(app, "bench", "--repeat=1")
    link = place.path("link")
    link.symlink_to(prefix / "bin/mnistc")
    ok(link, place.model("mxnet-mlp"), "--target=cpu", "-o", app)
    os.remove(prefix / "lib/libmnistrt_core.a")
    try:
        fails(4, link, place.model("mxnet-mlp"), "--target=cpu", "-o", app,
              parts=[str(prefix), "libmnistrt_core.a, got none"])
    finally:
        place.made.pop("installed")
        shutil.rmtree(prefix)


def test_library_with_header(place):
    folder = place.path("library")
    folder.mkdir()
    model = place.model("pytorch-simplecnn")
    for flags in ([], ["--emit=library"]):
        path = folder / ("libnet.so" if not flags else "net.bin")
        ok(place.mnistc, model, "--target=cpu", "--batch=1,8", "-o", path, *flags)
        expect((folder / "mnist.h").exists(), "no header")
        library = ctypes.CDLL(str(path))
        library.mn_error.restype = ctypes.c_char_p
        session = ctypes.c_void_p()
        expect(library.mn_open(None, ctypes.byref(session)) == 0, "mn_open")
        x = np.random.default_rng(1).random((11, 1, 28, 28), np.float32)
        y = np.zeros((11, 10), np.float32)
        status = library.mn_infer(
            session, ctypes.c_int64(11),
            (ctypes.c_void_p * 1)(x.ctypes.data),
            (ctypes.c_void_p * 1)(y.ctypes.data))
        expect(status == 0, library.mn_error(session))
        np.testing.assert_allclose(y, reference(model, x), rtol=1e-4, atol=1e-5)
        library.mn_close(session)
    names = ok("nm", "-D", "--defined-only", folder / "libnet.so").out.split("\n")
    shown = [line.split()[-1] for line in names if line]
    expect(all(name.startswith("mn_") for name in shown), shown)


def test_example_with_cmake(place):
    build, prefix = place.path("embed-build"), installed(place)
    model = place.model("pytorch-simplecnn")
    tool = cmake(place)
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    ok(tool, *generator, "-S", ROOT / "examples/embed", "-B", build,
       f"-DCMAKE_PREFIX_PATH={prefix}", f"-DMODEL={model}")
    ok(tool, "--build", build)
    out = ok(build / "embed").out
    expect("pytorch-simplecnn on" in out and "output 'logsoftmax_10'" in out, out)
    # Nothing is compiled again unless something changed.
    before = (build / "libdigits.so").stat().st_mtime_ns
    ok(tool, "--build", build)
    expect((build / "libdigits.so").stat().st_mtime_ns == before, "built again")
    os.utime(model)
    ok(tool, "--build", build)
    expect((build / "libdigits.so").stat().st_mtime_ns > before, "not built again")


def test_header_is_c(place):
    header = ROOT / "runtime/include/mnist.h"
    for compiler, standard in (("gcc", "c99"), ("g++", "c++11")):
        if not shutil.which(compiler):
            raise Skip(f"no {compiler}")
        language = "c" if compiler == "gcc" else "c++"
        subprocess.run([compiler, "-x", language, f"-std={standard}", "-Wall",
                        "-Wextra", "-pedantic", "-Werror", "-fsyntax-only",
                        str(header)], check=True, capture_output=True)
