"""The compiler as a program: options, files, bad models, hostile names."""

import os
import stat

import numpy as np
from harness import Skip, expect, fails, ok, reference, run, save_model
from onnx import helper

NAMES = [
    'quote"; int main() { abort(); } //', "line\nint evil;\n", "*/ evil /*",
    "// evil \\", "back\\slash\\n", "what??/", '#include "/etc/passwd"',
    "../../etc/passwd", "$(touch evil)", "`touch evil`", "%s%n%x", "long" * 2500,
    "größe 数字 \u202e", "class", "float", "operator new", "main", "mn", "std",
    "__LINE__", "R\"(", "\t\r\x01", "a b c", "1.5", "-o", "", "_", "mn_model",
    "NULL", "EOF", "int", "x;}", "infer", "step_1", "plans", "{0}", "%{var}",
]


def hostile_model(place):
    """Each name is a node's, a weight's and a tensor's, in a chain of Adds."""
    def make():
        nodes, weights, last = [], [], "in\"put\n*/"
        for i, name in enumerate(NAMES):
            tensor = f"{name} t" if name else "t"
            weights.append((f"{name}w{i}" if i % 2 else f"w{i}{name}",
                            np.full((1, 4), i + 1, np.float32)))
            nodes.append(helper.make_node(("Add", "Mul", "Sub")[i % 3],
                                          [last, weights[-1][0]], [tensor],
                                          name=name))
            last = tensor
        nodes.append(helper.make_node("Tanh", [last], ["out\\put\"%s"]))
        folder = place.path("$(touch evil) \"'%s")
        folder.mkdir()
        return save_model(folder / "m%s$(touch evil);'\"*.onnx", nodes,
                          [("in\"put\n*/", ["N", 4])],
                          [("out\\put\"%s", ["N", 4])], weights)
    return place.once("hostile", make)


def test_hostile_names_stay_names(place):
    model, work = hostile_model(place), place.path("work %d")
    work.mkdir()
    temps, app = work / "temps", work / "app"
    before = sorted(os.listdir(model.parent))
    x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    np.save(work / "x.npy", x)
    for fuse in ([], ["--no-fuse", "-O0"]):
        ok(place.mnistc, model, "--target=cpu", "--batch=2", "-o", app,
           f"--save-temps={temps}", *fuse, cwd=work)
        ok(app, "infer", work / "x.npy", f"--output={work / 'y.npy'}", cwd=work)
        np.testing.assert_allclose(np.load(work / "y.npy"), reference(model, x),
                                   rtol=1e-5, atol=1e-6)
        for command in ("info", "profile", "bench"):
            ok(app, command, "--json", *(["--repeat=1"] * (command != "info")))
    expect(sorted(os.listdir(model.parent)) == before, "files next to the model")
    expect(set(os.listdir(temps)) <= {
        "model.cpp", "model.o", "embed.s", "constants.bin", "compile.log",
        "link.log", "exports.map", "model.ii", "report.bin",
        *(f"model.{part}.{kind}" for part in (1, 2)
          for kind in ("ii", "o", "compile.log"))}, os.listdir(temps))
    expect(set(os.listdir(work)) == {"temps", "app", "x.npy", "y.npy"},
           os.listdir(work))


def test_hostile_names_for_the_gpu(place):
    place.needs_nvrtc()
    app = place.path("hostile-cuda")
    for fuse in ([], ["--no-fuse"]):
        ok(place.mnistc, hostile_model(place), "-o", app, *fuse)
        ok(app, "info", "--json")


def test_equal_input_equal_bytes(place):
    targets = [["--target=cpu"]]
    try:
        place.needs_nvrtc()
        targets.append(["--target=cuda"])
    except Skip:
        pass
    for target in targets:
        for ending in ("", ".so"):
            names = [place.path(f"same-{i}{ending}") for i in range(2)]
            for name in names:
                ok(place.mnistc, place.model("mxnet-mlp"), *target, "-o", name,
                   *(["--name=same"] if ending else []))
            expect(names[0].read_bytes() == names[1].read_bytes(),
                   f"{target}{ending}: two compiles differ")


def test_check_lists_all_problems(place):
    node = helper.make_node
    model = save_model(
        place.path("problems.onnx"),
        [node("Frobnicate", ["x"], ["a"], name="n1"),
         node("MatMul", ["x", "w"], ["b"], name="n2"),
         node("Relu", ["nothing"], ["c"], name="n3"),
         node("NonZero", ["x"], ["d"], name="n4"),
         node("Relu", ["x"], ["y"], name="n5")],
        [("x", [2, 3])], [(name, None) for name in "abcdy"], [("w", np.zeros((4, 4), np.float32))])
    for mode in (["--check"], ["--target=cpu", "-o", place.path("bad")]):
        done = run(place.mnistc, model, *mode)
        expect(done.code in (1, 3), done)
        fails(done.code, place.mnistc, model, *mode, lines=None, parts=[
            "'n1' (Frobnicate", "'n2' (MatMul", "'nothing'", "'n4' (NonZero"])


def test_inputs_that_are_no_models(place):
    mnistc, empty = place.mnistc, place.path("empty.onnx")
    empty.write_bytes(b"")
    fails(1, mnistc, empty, parts=["got an empty file"])
    fails(1, mnistc, place.folder, parts=["'Is a directory'"])
    fails(1, mnistc, place.path("none.onnx"), parts=["No such file"])
    empty.write_bytes(b"\n" * 1000)
    fails(1, mnistc, empty, parts=["expected an ONNX model"])


def test_output_paths(place):
    mnistc, model, cpu = place.mnistc, place.model("mxnet-mlp"), "--target=cpu"
    fails(4, mnistc, model, cpu, "-o", place.path("none/app"),
          parts=["cannot write", "No such file or directory"])
    fails(4, mnistc, model, cpu, "-o", place.folder, parts=["expected a file"])
    fails(4, mnistc, model, cpu, "-o", "/dev/full", parts=["expected a file"])
    fails(4, mnistc, model, "--emit=plan", "-o", "/dev/full",
          parts=["No space left"])
    fails(2, mnistc, model, cpu, "-o", "-", parts=["expected a file"])
    whole = model.read_bytes()
    fails(2, mnistc, model, cpu, "-o", model, parts=["another file"])
    expect(model.read_bytes() == whole, "the model was written over")
    folder = place.path("odd %d's \"folder\" $(x)")
    folder.mkdir()
    for name in ("-app", "a b", "%s%n", "größe", "q\"'\\"):
        ok(mnistc, model, cpu, "-o", folder / name)
        ok(folder / name, "info")
        expect((folder / name).stat().st_mode & stat.S_IXUSR, "executable")
    expect(len(os.listdir(folder)) == 5, os.listdir(folder))


def test_failed_compile_keeps_the_old_program(place):
    app = place.path("old")
    app.write_text("old")
    before = sorted(os.listdir(place.folder))
    model = place.model("mxnet-mlp")
    fails(4, place.mnistc, model, "--target=cpu", "--arch=pentium9", "-o", app,
          parts=["pentium9", "compile.log"])
    expect(app.read_text() == "old", "the old file is gone")
    expect(sorted(os.listdir(place.folder)) == before, os.listdir(place.folder))


def test_full_disk(place):
    folder = place.path("tiny")
    folder.mkdir()
    mount = run("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder)
    if mount.code:
        raise Skip("mounting is not allowed")
    try:
        model = place.model("mxnet-mlp")
        fails(4, place.mnistc, model, "--target=cpu", "-o", folder / "app")
        fails(4, place.mnistc, model, "--emit=mnist", "-o", folder / "m.mlir",
              parts=["No space left"])
        expect(not os.listdir(folder), os.listdir(folder))
    finally:
        run("umount", folder)


def test_command_line(place):
    mnistc, model = place.mnistc, place.model("mxnet-mlp")
    for flag, said in (("--batch=0", "got 0"), ("--batch=-3", "got -3"),
                       ("--batch=x", "got x"), ("--batch=", "got nothing"),
                       ("--batch=1,", "got nothing"), ("-O22", "'-O22'"),
                       ("--batch=99999999999999999999", "got 9999"),
                       ("--arch=sm_80,sm_80", "expected each --arch once"),
                       ("--arch=a b", "'a b'"), ("--libraries=x", "'x'"),
                       ("--libraries=", "''"), ("--no-such", "--no-such"),
                       ("--target=tpu", "'tpu'"), ("--emit=x", "'x'"),
                       ("--batc=1", "did you mean '--batch=1'?"),
                       ("--target=cud", "did you mean 'cuda'?"),
                       ("--emit=plam", "did you mean 'plan'?"),
                       ("--dim=x", "'x'"), ("--dim=x=0", "'x=0'"),
                       ("second.onnx", "positional"), ("--layout=x", "'x'")):
        fails(2, mnistc, model, flag, "--check", parts=[said])
    fails(1, mnistc, model, "--batch=9223372036854775807", "--check",
          parts=["got 9223372036854775807"])
    fails(1, mnistc, model, "--bind=none=1", "--check", parts=["'none'"])
    fails(2, mnistc, "gradchek", model, parts=["did you mean 'gradcheck'?"])
    fails(2, mnistc, model, "--train", "--optimizer=adm", "--check",
          parts=["did you mean 'adam'?"])
    for target, arch in (("cuda", "x86-64-v3"), ("cpu", "sm_90")):
        fails(2, mnistc, model, f"--target={target}", f"--arch={arch}", "-o",
              place.path("none"), parts=["expected --arch such as", arch])
    expect(run(mnistc).code == 2, "no model")


def test_what_is_said_of_success(place):
    mnistc, model = place.mnistc, place.model("mxnet-mlp")
    said = ok(mnistc, model, "--check").out
    expect(said.startswith("ok: ") and "all of them supported" in said, said)
    app = place.path("said")
    said = ok(mnistc, model, "--target=cpu", "--batch=1,4", "-o", app).out
    size = f"{app.stat().st_size / 1e6:.2f} MB"
    expect(said.startswith(f"wrote {app}: {size} for cpu x86-64-v3, batch 1, 4, in ")
           and said.count("\n") == 1, said)
    for flags in (["--check"], ["--target=cpu", "-o", app]):
        expect(ok(mnistc, model, "--quiet", *flags).out == "", flags)


def test_toolchain(place):
    mnistc, model = place.mnistc, place.model("mxnet-mlp")
    app, cpu = place.path("toolchain"), "--target=cpu"

    def environment(**changes):
        return {**os.environ, **changes}
    fails(4, mnistc, model, cpu, "-o", app, env=environment(CXX="nope"),
          parts=["got no 'nope'"])
    fails(4, mnistc, model, cpu, "-o", app, env=environment(CXX="", PATH="/none"),
          parts=["install g++ or set CXX"])
    fails(4, mnistc, model, cpu, "-o", app, f"--runtime={app}", parts=["--runtime"])
    fails(4, mnistc, model, cpu, "-o", app, env=environment(TMPDIR="/proc/none"),
          parts=["cannot make a temporary folder"])
    fails(4, mnistc, model, cpu, "-o", app, "--save-temps=/proc/none",
          parts=["cannot make folder /proc/none"])
    # A Python that must not be started.
    shims = place.path("pyenv/shims")
    shims.mkdir(parents=True)
    shim = shims / "python3"
    shim.write_text(f"#!/bin/sh\ntouch {place.path('started')}\n")
    shim.chmod(0o755)
    place.needs_nvrtc()
    ok(mnistc, model, "-o", app, env=environment(
        MNISTC_CUDA_PATH="/nowhere", PATH=f"{shims}:{os.environ['PATH']}"))
    expect(not place.path("started").exists(), "a shim was started")
    fails(4, mnistc, model, "--arch=sm_12", "-o", app,
          parts=["sm_12", "--gpu-architecture"])


def test_stages_and_switches(place):
    mnistc, stages = place.mnistc, place.path("stages")
    model = place.model("keras-cnn")
    ok(mnistc, model, "--target=cpu", "--emit=source", "-o", place.path("s.cpp"),
       f"--save-stages={stages}")
    names = sorted(os.listdir(stages))
    expect(names[0] == "01-import.mlir" and names[-1].endswith("-source.cpp"),
           names)
    expect([int(name[:2]) for name in names] == list(range(1, len(names) + 1)),
           names)
    help_text = ok(mnistc, "--help").out
    switches = [word for word in help_text.split() if word.startswith("--no-")]
    expect(len(switches) >= 7, switches)
    rows = np.linspace(0, 1, 3 * 784, dtype=np.float32).reshape(3, 28, 28, 1)
    x, y, app = place.path("x.npy"), place.path("y.npy"), place.path("switched")
    np.save(x, rows)
    wanted = reference(model, rows)
    for flags in [[flag] for flag in switches] + [switches] + [["-O0"], ["-O1"]]:
        ok(mnistc, model, "--target=cpu", "--batch=2", "-o", app, *flags)
        ok(app, "infer", x, f"--output={y}")
        np.testing.assert_allclose(np.load(y), wanted, rtol=1e-4, atol=1e-5,
                                   err_msg=str(flags))


def test_a_plan_names_its_own_target(place):
    plan, app = place.path("plan.mlir"), place.path("from-plan")
    ok(place.mnistc, place.model("mxnet-mlp"), "--target=cpu", "--emit=plan",
       "-o", plan)
    text = ok(place.mnistc, plan, "--emit=source").out
    expect("mnistc --target=cpu" in text and "--target=cuda" not in text,
           text[:500])
    ok(place.mnistc, plan, "-o", app)
    expect("--target=cpu" in ok(app, "info").out, "info")
    fails(2, place.mnistc, plan, "--target=cuda", "-o", app,
          parts=["--target=cpu, as the plan says"])
