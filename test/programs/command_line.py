"""The command line of a compiled program, and its exit codes by number."""

import os
import pathlib
import re
import resource
import struct
import subprocess

import numpy as np
from commands import as_input, images
from harness import Skip, expect, fails, ok, save_model
from onnx import helper


def test_command_line(place):
    app, npy = place.program("pytorch-simplecnn"), place.path("x.npy")
    np.save(npy, as_input("", images(place, 1)))
    for words, *parts in (
            ([], "expected a command (infer, eval, verify, bench, profile, info or"),
            (["train-me"], "unknown command 'train-me'; see '--help'"),
            (["ifner"], "did you mean 'infer'?"),
            (["help", "benhc"], "did you mean 'bench'?"),
            (["--verson"], "did you mean '--version'?"),
            (["--batch=1", "bench"], "a command before '--batch=1', got none"),
            (["infer"], "expected INPUT, got none; see 'infer --help'"),
            (["info", "more"], "expected no argument, got 'more'"),
            (["info", "--no-such"], "unknown option '--no-such' of 'info'"),
            (["eval", "--spilt=test"], "did you mean '--split'?"),
            (["eval", "--json=3"], "'--json' without a value"),
            (["bench", "--batch=1", "--batch=8"], "expected one '--batch'"),
            (["bench", "--batch"], "expected a value of '--batch', got none"),
            (["bench", "--batch=1.5"], "to be an integer, got '1.5'"),
            (["bench", "--batch=99999999999999999999"], "at most 64 bits"),
            (["eval", "--scores=logit"], "did you mean 'logits'?"),
            (["profile", "--plan=inver"], "did you mean 'infer'?"),
            (["profile", "--timeline=-", "--trace=x"],
             "expected '--timeline' or '--trace', got both"),
            (["profile", "--timeline=x"], "whose steps run one after another")):
        fails(2, app, *words, parts=parts)
    fails(2, app, "bench", "--batch=7", parts=["1, 8", "got 7"])
    fails(2, app, "infer", npy, "--scores=x", parts=["got 'x'"])
    for flag in ("--batch=0", "--batch=-1", "--batch=x", "--batch=", "--top=0",
                 "--top=-1", "--std=0", "--scale=nan", "--device=-1",
                 "--batch=99999999999999999999"):
        fails(2, app, "infer", npy, flag, parts=[flag.split("=")[0]])
    for flag in ("--repeat=-1", "--warmup=-1", "--seconds=-1", "--seconds=nan"):
        fails(2, app, "bench", flag, parts=[flag.split("=")[0]])
    expect("Exit codes" in ok(app, "--help").out, "help")
    expect(ok(app, "help").out == ok(app, "--help").out, "help")
    for command in ("infer", "eval", "verify", "bench", "profile", "info"):
        text = ok(app, command, "--help").out
        expect(text == ok(app, "help", command).out, command)
        expect(not re.search("GPU|CUDA|--device|--no-graph", text), text)
        expect("--json" in text, text)
        expect(max(map(len, text.splitlines())) <= 80, text)
    expect(re.fullmatch(r".* \(mnistc [0-9.]+, cpu x86-64-v3\)\n",
                        ok(app, "--version").out), "version")


def test_exit_code_11_another_cpu(place):
    """A CPU of a better level than this one, or of one that there is not."""
    if "avx512vl" not in pathlib.Path("/proc/cpuinfo").read_text():
        app = place.program("mxnet-mlp", "--target=cpu", "--arch=x86-64-v4")
        fails(11, app, "bench", "--repeat=1",
              parts=["expected a CPU of level 'x86-64-v4'", "--arch="])
        return
    app = place.program("mxnet-mlp", "--target=cpu")
    # The level's name is in the program once, as text, which the name of this
    # CPU's level would share.
    other, name = place.path("other-cpu"), b"x86-64-v3\0"
    whole = app.read_bytes()
    expect(whole.count(name) >= 1, "the name of the level")
    other.write_bytes(whole.replace(name, b"x86-64-v9\0"))
    other.chmod(0o755)
    fails(11, other, "bench", "--repeat=1",
          parts=["expected a CPU of level 'x86-64-v9'", "--arch="])


def patched(program, path, symbol, data):
    """A copy of `program` with other bytes at a symbol."""
    lines = ok("nm", program).out.splitlines()
    at, = (int(line.split()[0], 16) for line in lines
           if line.split()[-1] == symbol)
    whole = bytearray(program.read_bytes())
    table, = struct.unpack_from("<Q", whole, 32)
    size, count = struct.unpack_from("<HH", whole, 54)
    for header in range(table, table + size * count, size):
        kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", whole,
                                                                 header)
        if kind == 1 and address <= at < address + length:  # PT_LOAD
            place = offset + at - address
            whole[place:place + len(data)] = data
    path.write_bytes(whole)
    path.chmod(0o755)
    return path


def test_exit_code_12_another_version(place):
    """Tables of another version than the runtime's: their first number."""
    program = place.program("mxnet-mlp", "--target=cpu")
    app = patched(program, place.path("other-version"), "mn_model",
                  struct.pack("<I", 999))
    fails(12, app, "bench", "--repeat=1", parts=["version", "999"])


def test_exit_code_13_out_of_memory(place):
    """An arena that is larger than what the process may have."""
    model = save_model(place.path("huge.onnx"),
                       [helper.make_node("Exp", ["x"], ["y"])],
                       [("x", ["N", 1024])], [("y", ["N", 1024])])
    app = place.path("huge")
    ok(place.mnistc, model, "--target=cpu", "--batch=1000000", "-o", app)
    done = subprocess.run(
        [app, "bench", "--repeat=1"], capture_output=True, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS,
                                              (2 << 30, 2 << 30)))
    expect(done.returncode == 13 and "memory" in done.stderr and
           done.stderr.count("\n") == 1, done)


def test_gpu_program_without_gpu(place):
    if os.path.exists("/dev/nvidiactl"):
        raise Skip("there is a GPU")
    place.needs_nvrtc()
    app = place.program("pytorch-simplecnn", "--target=cuda", "--batch=1,8")
    ok(app, "info")
    npy = place.path("x.npy")
    np.save(npy, as_input("", images(place, 1)))
    for command in (["infer", npy], ["eval", f"--data={place.data()}"],
                    ["bench"], ["profile"]):
        fails(10, app, *command, parts=["--target=cpu"])
