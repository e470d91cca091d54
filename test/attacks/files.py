"""Files that are none, texts without end, names that command terminals."""

import os
import subprocess

import graphs
import numpy as np
import onnx
from harness import ROOT, expect, fails, run, save_model
from onnx import helper


def small(place, name="small.onnx"):
    path = place.path(name)
    onnx.save(graphs.add_chain(3), str(path))
    return path


def test_what_is_no_file(place):
    pipe = place.path("pipe.onnx")
    os.mkfifo(pipe)
    for what in (pipe, "/dev/zero", "/dev/tty"):
        fails(1, place.mnistc, what, "--check", parts=["expected a file"])
    with open("/dev/zero", "rb") as zeros:
        fails(1, place.mnistc, "-", "--check", stdin=zeros,
              parts=["<stdin>: expected at most 2147483647 bytes, got more"])
    tensor = place.path("pipe.pb")
    os.mkfifo(tensor)
    fails(1, place.mnistc, small(place), "--check", f"--bind=x0={tensor}",
          parts=["expected a file"])


def test_external_data(place):
    folder = place.path("external")
    folder.mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "short").write_bytes(bytes(60))
    (folder / "folder").mkdir()
    model = graphs.add_chain(1)
    weight = model.graph.initializer[0]
    cases = [("pipe", {}, "expected a file"), ("folder", {}, "expected a file"),
             ("short", {}, "got a file of 60"), ("/dev/zero", {}, "inside"),
             ("../small.onnx", {}, "inside"), ("none", {}, "No such file"),
             ("short", {"offset": "-4"}, "number of bytes"),
             ("short", {"offset": str(2 ** 63 - 1)}, "got a file of 60"),
             ("short", {"length": "4"}, "got a length of 4")]
    for location, more, part in cases:
        weight.ClearField("raw_data")
        del weight.external_data[:]
        weight.data_location = onnx.TensorProto.EXTERNAL
        for key, value in {"location": location, **more}.items():
            weight.external_data.add(key=key, value=value)
        path = folder / "model.onnx"
        path.write_bytes(model.SerializeToString())
        fails(1, place.mnistc, path, "--check", parts=[part])


def test_fields_of_tensors(place):
    path = place.path("fields.onnx")

    def tensor(**fields):
        return onnx.TensorProto(name="w", data_type=1, dims=[4, 4], **fields)

    cases = [
        (tensor(int32_data=range(16)), "got some in int32_data"),
        (onnx.TensorProto(name="w", data_type=2, dims=[1], int32_data=[300]),
         "from 0 to 255"),
        (onnx.TensorProto(name="w", data_type=10, dims=[1], int32_data=[-1]),
         "from 0 to 65535"),
        (tensor(raw_data=bytes(64), float_data=range(16)), "in one place"),
        (tensor(raw_data=bytes(63)), "63"),
        (tensor(float_data=range(15)), "15"),
        (onnx.TensorProto(name="w", data_type=1, dims=[-4, -4],
                          raw_data=bytes(64)), "at least 0"),
        (onnx.TensorProto(name="w", data_type=1, dims=[2 ** 62, 4],
                          raw_data=bytes(64)), "elements"),
        (onnx.TensorProto(name="w", data_type=9, dims=[16],
                          int32_data=[2] * 15), "15"),
        (onnx.TensorProto(name="w", data_type=99, dims=[16]), "element type"),
    ]
    for weight, part in cases:
        model = graphs.add_chain(1)
        del model.graph.initializer[:]
        model.graph.initializer.append(weight)
        path.write_bytes(model.SerializeToString())
        done = run(place.mnistc, path, "--check")
        expect(done.code in (1, 3) and part in done.err, f"{part}: {done}")


def test_names_do_not_reach_a_terminal(place):
    name = "a\x1b[2J\n\r\x07\u009b31m größe 数"
    path = place.path("\x1b]0;x\x07.onnx")
    save_model(path, [helper.make_node("Relu", ["x"], ["y"], name=name),
                      helper.make_node("NoSuch", ["x"], ["z"], name=name)],
               [("x", [1, 4])], [("y", [1, 4]), ("z", [1, 4])])
    good = place.path("name\x1b.onnx")
    save_model(good, [helper.make_node("Relu", ["x"], ["y"], name=name)],
               [("x", [1, 4])], [("y", [1, 4])])
    plan = place.path("x\x1b.mlir")
    plan.write_text('func.func @f() { "a.\\1b"() : () -> () return }')
    for command in ([path], [good, "--explain", "--target=cpu"],
                    [good, "--target=\x1b[2J"], [plan], [good, "--\x1b"],
                    [good, "-o", "/none/\x1b", "--emit=plan"],
                    [good, "--bind=\x1b=1"]):
        done = subprocess.run([place.mnistc, *command], capture_output=True,
                              timeout=60, check=False)
        text = (done.stdout + done.stderr).decode()
        bad = [c for c in text if (ord(c) < 32 and c != "\n") or
               0x7f <= ord(c) < 0xa0]
        expect(not bad, f"{command}: {text!r}")
    done = run(place.mnistc, path)
    expect(r"a\x1b[2J\n\r\x07\xc2\x9b31m größe 数" in done.err, done)


def test_brackets(place):
    path = place.path("deep.mlir")
    texts = ["func.func @f() { " + "(" * 20000, "[" * 1000000, "{" * 20000,
             "func.func @f(" + "tuple<" * 20000,
             "func.func private @f() -> (" + "() -> " * 20000 + "()) ",
             "func.func @f() attributes {a = affine_map<()[] -> (" +
             "-" * 200000 + "1)>} { return }"]
    for text in texts:
        path.write_text(text)
        done = run(place.mnistc, path, "--emit=source")
        expect(done.code == 1 and done.err.startswith("error: "), done)
        expect(len(done.err.splitlines()) == 1, done)
    arguments = ", ".join(f"%a{i}: tensor<4xf32>" for i in range(70000))
    path.write_text(f"func.func @f({arguments}) {{ return }}")
    fails(1, place.mnistc, path, parts=["expected at most 4096 arguments of 'f'"])
    path.write_text("// " + "(" * 1000 + "\nmodule {}")
    fails(1, place.mnistc, path, parts=["expected a function"])


def test_two_outputs_of_one_path(place):
    temps = place.path("temps")
    for option in ("--save-temps", "--save-stages"):
        fails(2, place.mnistc, small(place), "--target=cpu", f"{option}={temps}",
              "-o", temps / "model.cpp", parts=["outside of the folder"])


def test_no_paths_of_the_builder(place):
    """What would make two builds in two folders differ."""
    build = place.mnistc.parents[1]
    files = [place.mnistc, *(build / "lib").glob("libmnistrt*.a")]
    expect(len(files) > 3, files)
    for file in files:
        for folder in {str(ROOT), str(build)}:
            expect(folder.encode() not in file.read_bytes(),
                   f"'{folder}' in {file}")


WORDS = ["-o", "--emit", "--emit=plan", "--target=cpu", "--batch", "--batch=1,2",
         "--train", "--loss", "--optimizer=adam", "--lr=nan", "--bind=x0=1",
         "--explain=json", "--check", "--list-operators", "--", "-", "--help",
         "-O3", "-O1", "--save-temps=", "--save-stages", "gradcheck", "=", "--=",
         "--arch=sm_90", "--layout=nchw", "--workspace=-1", "--no-fuse", "\x1b",
         "\xff\xfe".encode("latin1"), "a" * 70000, "--batch=" + "9" * 400,
         "@/dev/null", "--runtime=/none", "--libraries=,", "-v", "--version"]


def test_random_command_lines(place):
    """Each ends in time, with a documented code, and says why on one line."""
    model, work = small(place), place.path("random")
    work.mkdir()
    random = np.random.default_rng(1)
    for _ in range(int(os.environ.get("MNISTC_FUZZ_RUNS", "60"))):
        words = [WORDS[i] for i in random.integers(len(WORDS), size=4)]
        words.insert(random.integers(5), str(model))
        done = subprocess.run([place.mnistc, *words, "--emit=source"], cwd=work,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=60, check=False)
        said = done.stderr.decode()
        expect(done.returncode in (0, 1, 2, 3, 4, 15), (words, said))
        if done.returncode == 2:
            expect(said.startswith("error: ") and said.count("\n") == 1,
                   (words, said))
