"""Programs for a GPU where there is none, on test/cuda's driver: every exit code
that the driver, the GPU, libraries and memory lead to, by number."""

import json
import os

from harness import Skip, expect, fails, ok


def fake_gpu(place, **settings):
    """The environment of a program that finds the fake driver."""
    folder = place.build / "lib/fake-cuda"
    if not (folder / "libcuda.so.1").exists():
        raise Skip("no fake driver: CUDA's headers are missing")
    place.needs_nvrtc()
    return os.environ | {"LD_LIBRARY_PATH": str(folder)} | {
        f"FAKE_CUDA_{key}": str(value) for key, value in settings.items()}


def program(place, *flags):
    return place.program("mxnet-mlp", "--target=cuda", "--batch=64",
                         "--arch=sm_90", *(flags or ["--libraries=none"]))


def test_exit_codes_by_number(place):
    for code, settings, flags, part in (
            (10, {"FAILS": "cuInit:100"}, [], "driver does not start"),
            (10, {"GPUS": 0}, [], "expected an NVIDIA GPU, got none"),
            (10, {"GPUS": 2}, ["--device=2"], "expected a GPU from 0 to 1, got 2"),
            (10, {"FAILS": "cuLaunchKernelEx:701"}, [], "cannot be started"),
            (11, {"CAPABILITY": 80}, [], "compile with --arch=sm_80"),
            (11, {"FAILS": "cuModuleLoadData:209"}, [], "expected kernels for GPU 0"),
            (13, {"FREE": 1000}, [], "1000 of"),
            (13, {"FAILS": "cuMemHostAlloc:2"}, [], "OUT_OF_MEMORY")):
        environment = fake_gpu(place, **settings)
        fails(code, program(place), "bench", *flags, parts=[part],
              env=environment)
    done = ok(program(place), "bench", env=fake_gpu(place))
    expect("Fake GPU" in done.out, done)


def test_a_library_that_is_none(place):
    environment = fake_gpu(place)
    folder = place.path("libraries")
    folder.mkdir()
    ok("g++", "-shared", "-x", "c", "/dev/null", "-o",
       folder / "libcublasLt.so.13")
    environment["MNISTC_CUDA_PATH"] = str(folder)
    app = program(place, "--libraries=cublas", "--prefer=libraries")
    fails(12, app, "bench", env=environment,
          parts=["'libcublasLt.so.13' is too old: it lacks"])
    (folder / "libcublasLt.so.13").write_text("no library")
    done = fails(12, app, "bench", env=environment)
    expect("libcublasLt.so.13" in done.err, done)


def test_only_plans_that_call_a_library_open_it(place):
    environment = fake_gpu(place)
    folder = place.path("none")
    folder.mkdir()
    (folder / "libcublasLt.so.13").write_text("no library")
    environment["MNISTC_CUDA_PATH"] = str(folder)
    app = place.program("mxnet-mlp", "--target=cuda", "--arch=sm_90",
                        "--batch=1,256", "--libraries=cublas",
                        "--precision=strict")  # on tensor cores none does
    plans = {plan["batch"]: {step["implementation"] for step in plan["steps"]}
             for plan in json.loads(ok(app, "info", "--json").out)["plans"]}
    expect("cublas" not in plans[1] and "cublas" in plans[256], plans)
    ok(app, "infer", "digits", "--limit=1", "--batch=1", env=environment)
    ok(app, "bench", "--batch=1", "--seconds=0", env=environment)
    fails(12, app, "infer", "digits", "--limit=1", "--batch=256",
          env=environment, parts=["libcublasLt.so.13"])


def test_the_device_opens_while_data_is_read(place):
    """What is wrong is said as if one came after the other."""
    app = program(place, "--libraries=none", "--train")
    no_gpu = fake_gpu(place, GPUS=0)
    for command, data in (("train", "--data=digits"), ("eval", "--data=digits"),
                          ("infer", "digits")):
        flags = ["--limit=64"] + ["--epochs=1"] * (command == "train")
        ok(app, command, data, *flags, env=fake_gpu(place))
        fails(10, app, command, data, *flags, env=no_gpu,
              parts=["expected an NVIDIA GPU, got none"])
        missing = data.replace("digits", "nowhere.npy")
        fails(14, app, command, missing, *flags, env=fake_gpu(place),
              parts=["nowhere.npy"])
        # infer says first that there is no GPU, the others that there is no
        # data.
        fails(10 if command == "infer" else 14, app, command, missing, *flags,
              env=no_gpu)


def test_timelines(place):
    """Without times, and where kernels do not run."""
    environment, file = fake_gpu(place), place.path("timeline.json")
    fails(2, program(place), "profile", f"--timeline={file}", env=environment,
          parts=["expected a program compiled with mnistc --timestamps for "
                 "'--timeline', got one without"])
    app = program(place, "--libraries=none", "--timestamps")
    ok(app, "profile", env=environment)
    fails(2, app, "profile", "--timeline=-", "--json", env=environment,
          parts=["one output", "'--json' and '--timeline=-'"])
    fails(10, app, "profile", f"--timeline={file}", env=environment,
          parts=["blocks of kernel 'mn_transfer', got those of 0"])
    expect(not file.exists(), "a file")
