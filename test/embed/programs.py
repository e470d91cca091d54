"""mnist.hpp, and the programs of examples/embed, built by CMake on the installed
tree."""

import pathlib
import re
import shutil
import socket
import subprocess
import sys

import harness
import numpy as np
from harness import ROOT, Skip, expect, ok, reference, run

HERE = pathlib.Path(__file__).parent


def test_cpp_interface(place):
    """Owners, exceptions and spans, and all of it without a warning."""
    place.data()
    for compiler, ending in (("g++", ".so"), ("clang++-19", ".a")):
        if not shutil.which(compiler):
            raise Skip(f"no {compiler}")
        library = place.output(ending, place.model(),
                               ("--target=cpu", "--train", "--optimizer=sgd"))
        line = re.search("Link what uses it with: (.*)", library.with_suffix(".h").read_text())
        flags = line[1].split() if line else [f"-Wl,-rpath,{library.parent}"]
        program = place.path(f"cpp-{compiler}")
        ok(compiler, "-std=c++20", "-Wall", "-Wextra", "-pedantic", "-Werror",
           f"-I{ROOT / 'runtime/include'}", HERE / "interface.cpp", library, *flags,
           "-o", program)
        out = ok(program, place.path("cpp.onnx"), place.path("cpp-state")).out
        expect(out == "fine\n", out)


def examples(place):
    """The folder of the built examples, and their model."""
    def make():
        cmake = pathlib.Path(sys.executable).parent / "cmake"
        tool = str(cmake) if cmake.exists() else shutil.which("cmake")
        if not tool:
            raise Skip("no cmake")
        prefix, build = place.path("prefix"), place.path("examples")
        done = run(tool, "--install", place.build, "--prefix", prefix)
        if done.code and "file INSTALL cannot find" in done.err:
            raise Skip("the build folder is not whole")
        expect(done.code == 0, done)
        model = place.path("digits.onnx")
        ok(sys.executable, ROOT / "models/make.py", "pytorch-simplecnn", model)
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        ok(tool, *generator, "-S", ROOT / "examples/embed", "-B", build,
           f"-DCMAKE_PREFIX_PATH={prefix}", f"-DMODEL={model}",
           "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")
        ok(tool, "--build", build)
        return build, model
    return place.once("examples", make)


def test_learns_and_recognizes(place):
    build, _ = examples(place)
    saved = place.path("learned.onnx")
    before, steps, after = ok(build / "learn", 30, saved).out.splitlines()
    right = int(after.split()[1])
    expect(before.startswith("before: ") and right > 190, (before, steps, after))
    # Again: the same bits.
    again = place.path("again.onnx")
    ok(build / "learn", 30, again)
    expect(saved.read_bytes() == again.read_bytes(), "another file")
    # The bars that it learned, as onnxruntime sees them in the file it saved.
    x = np.zeros((10, 1, 28, 28), np.float32)
    for i in range(10):
        x[i].reshape(-1)[i * 78:i * 78 + 78] = 0.75
    expect((reference(saved, x).argmax(axis=1) == np.arange(10)).sum() >= 9, "not learned")
    expect("error: " in run(build / "learn", 1, "/nowhere/x.onnx").err, "written")


def save_png(path, gray):
    """Eight bits of gray, by the format's own rules."""
    import struct
    import zlib

    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))
    rows = b"".join(b"\0" + row.tobytes() for row in gray)
    header = struct.pack(">IIBBBBB", gray.shape[1], gray.shape[0], 8, 0, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) +
                     chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def test_recognizes_a_picture(place):
    build, model = examples(place)
    if not (build / "recognize").exists():
        raise Skip("no libpng")
    random = np.random.default_rng(2)
    pictures = random.integers(0, 256, (6, 28, 28)).astype(np.uint8)
    pictures[:, 0, 0] = 0  # light on dark
    pictures[3:, 0, 0] = 255
    names = [place.path(f"{i}.png") for i in range(6)]
    for name, picture in zip(names, pictures):
        save_png(name, picture)
    # Twice as large: the same picture.
    names.append(place.path("large.png"))
    save_png(names[-1], pictures[0].repeat(2, axis=0).repeat(2, axis=1))
    x = pictures.astype(np.float32) / 255
    x[3:] = 1 - x[3:]
    classes = reference(model, x[:, None]).argmax(axis=1)
    wanted = [*classes, classes[0]]
    out = ok(build / "recognize", *names).out
    expect(out == "".join(f"{name}: {c}\n" for name, c in zip(names, wanted)), out)
    expect("error: " in run(build / "recognize", "/nowhere.png").err, "no error")


def test_service_of_several_threads(place):
    build, model = examples(place)
    x = np.random.default_rng(5).random((40, 1, 28, 28), np.float32)
    classes = reference(model, x).argmax(axis=1)
    service = subprocess.Popen([build / "service", "3"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    try:
        port = int(service.stdout.readline().split()[1])
        clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
        for i in range(0, 39, 3):  # three at a time
            for client, row in zip(clients, x[i:i + 3]):
                client.sendall(row.tobytes())
            answers = [client.recv(1)[0] for client in clients]
            expect(answers == classes[i:i + 3].tolist(), (answers, classes[i:i + 3]))
        for client in clients:
            client.close()
    finally:
        service.communicate(timeout=harness.LIMIT_S)
    expect(service.returncode == 0, service.returncode)
