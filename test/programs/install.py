"""The installed tree, moved elsewhere; libraries, and models in CMake."""

import ctypes
import os
import shutil
import subprocess
import sys

import numpy as np
from harness import ROOT, Skip, expect, fails, ok, reference, run


def cmake(place):
    next_to_python = os.path.join(os.path.dirname(sys.executable), "cmake")
    found = next_to_python if os.path.exists(next_to_python) else shutil.which("cmake")
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


def infer_by_library(library, model, x, classes=10):
    """What the C API of a library gives, called as dlopen finds it."""
    class Buffer(ctypes.Structure):
        _fields_ = [("name", ctypes.c_char_p), ("data", ctypes.c_void_p),
                    ("bytes", ctypes.c_size_t)]
    library.mn_error.restype = ctypes.c_char_p
    model.restype, session = ctypes.c_void_p, ctypes.c_void_p()
    expect(library.mn_open(ctypes.c_void_p(model()), None,
                           ctypes.byref(session)) == 0, library.mn_error())
    y = np.zeros((len(x), classes), np.float32)
    inputs = Buffer(None, x.ctypes.data, x.nbytes)
    outputs = Buffer(None, y.ctypes.data, y.nbytes)
    status = library.mn_infer(session, ctypes.c_int64(len(x)),
                              ctypes.byref(inputs), 1, ctypes.byref(outputs), 1)
    expect(status == 0, library.mn_error())
    expect(library.mn_close(session) == 0, "mn_close")
    return y


def test_library_with_header(place):
    folder = place.path("library")
    folder.mkdir()
    model = place.model("pytorch-simplecnn")
    for name, header, function, flags in (
            ("libnet.so", "libnet.h", "net_model", []),
            ("my net.bin", "my net.h", "my_net_model", ["--emit=library"]),
            ("9.so", "9.h", "digits_model", ["--name=digits"])):
        ok(place.mnistc, model, "--target=cpu", "--batch=1,8", "-o",
           folder / name, *flags)
        expect(f"{function}(void)" in (folder / header).read_text(), header)
        library = ctypes.CDLL(str(folder / name))
        x = np.random.default_rng(1).random((11, 1, 28, 28), np.float32)
        np.testing.assert_allclose(
            infer_by_library(library, getattr(library, function), x),
            reference(model, x), rtol=1e-4, atol=1e-5)
    names = ok("nm", "-D", "--defined-only", folder / "libnet.so").out.split("\n")
    shown = [line.split()[-1] for line in names if line]
    expect(all(name.startswith("mn_") or name == "net_model" for name in shown)
           and "net_model" in shown, shown)


def test_library_options(place):
    folder, model = place.path("refused"), place.model("mxnet-mlp")
    folder.mkdir()
    (folder / "libnet.h").write_text("// mine\n")
    cpu = "--target=cpu"
    for code, flags, said in (
            (4, ["-o", "libnet.so"], "expected no such file or one written by"),
            (4, ["-o", "net.h", "--emit=library"], "expected another name"),
            (2, ["-o", "app", "--name=x"], "expected -o x.so"),
            (2, ["-o", "x.so", "--name=1x"], "'1x'"),
            (2, ["-o", "x.so", "--name=mn_x"], "'mn_x'"),
            (2, ["-o", "x.so", "--name="], "''"),
            (2, ["-o", "libmn.so"], "expected --name=NAME"),
            (2, ["-o", "---.so"], "expected --name=NAME")):
        fails(code, place.mnistc, model, cpu, *flags, parts=[said], cwd=folder)
    expect(os.listdir(folder) == ["libnet.h"], os.listdir(folder))
    expect((folder / "libnet.h").read_text() == "// mine\n", "written over")


def test_archive_with_a_plain_compiler(place):
    """What the header says is all that a C compiler needs."""
    if not shutil.which("gcc"):
        raise Skip("no gcc")
    folder = place.path("archive")
    folder.mkdir()
    (folder / "main.c").write_text(
        '#include "libnet.h"\n#include <stdio.h>\nint main(void) {\n'
        "  mn_session *s;\n  if (mn_open(net_model(), NULL, &s) != MN_OK)\n"
        "    return 1;\n  puts(mn_model_name(s));\n  return mn_close(s); }\n")
    for name in ("mxnet-mlp", "pytorch-simplecnn"):
        ok(place.mnistc, place.model(name), "--target=cpu", "-o", folder / "libnet.a")
        line = next(line for line in (folder / "libnet.h").read_text().split("\n")
                    if "Link what uses it with: " in line)
        ok("gcc", "-Wall", "-Werror", "main.c", "libnet.a",
           *line.split(": ")[1].split(), "-o", "main", cwd=folder)
        expect(ok(folder / "main").out == f"{name}\n", "model")


def test_two_models_in_one_program(place):
    prefix, tool = installed(place), cmake(place)
    models = [place.model("pytorch-simplecnn"), place.model("mxnet-mlp")]
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    rows, words = 5, []
    shapes = ((rows, 1, 28, 28), (rows, 1, 28, 28))
    inputs = [np.random.default_rng(i).random(shape, np.float32)
              for i, shape in enumerate(shapes)]
    for i, x in enumerate(inputs):
        x.tofile(place.path(f"two-{i}.in"))
        words += [place.path(f"two-{i}.in"), place.path(f"two-{i}.out")]
    for kind in ("SHARED", "STATIC"):
        build = place.path(f"two-{kind}")
        ok(tool, *generator, "-S", ROOT / "test/programs/two-models", "-B", build,
           f"-DCMAKE_PREFIX_PATH={prefix}", f"-DKIND={kind}",
           f"-DFIRST={models[0]}", f"-DSECOND={models[1]}")
        ok(tool, "--build", build)
        out = ok(build / "two-models", rows, *words).out
        expect(out == "pytorch-simplecnn, mxnet-mlp\n", out)
        for i, (model, x) in enumerate(zip(models, inputs)):
            found = np.fromfile(words[2 * i + 1], np.float32).reshape(rows, -1)
            np.testing.assert_allclose(found, reference(model, x),
                                       rtol=1e-4, atol=1e-5, err_msg=kind)
            os.remove(words[2 * i + 1])


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
    before = (build / "digits_model/libdigits.so").stat().st_mtime_ns
    ok(tool, "--build", build)
    expect((build / "digits_model/libdigits.so").stat().st_mtime_ns == before, "built again")
    os.utime(model)
    ok(tool, "--build", build)
    expect((build / "digits_model/libdigits.so").stat().st_mtime_ns > before, "not built again")


def test_header_is_c(place):
    header = ROOT / "runtime/include/mnist.h"
    for compiler, standard in (("gcc", "c99"), ("g++", "c++11")):
        if not shutil.which(compiler):
            raise Skip(f"no {compiler}")
        language = "c" if compiler == "gcc" else "c++"
        subprocess.run([compiler, "-x", language, f"-std={standard}", "-Wall",
                        "-Wextra", "-pedantic", "-Werror", "-fsyntax-only",
                        str(header)], check=True, capture_output=True)
