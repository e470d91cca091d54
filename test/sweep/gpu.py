"""Sweeps of GPU programs where there is none, on test/cuda's driver, which runs
no kernels: which threads, GPUs and graphs there are, not what is trained."""

import json
import os

from harness import ROOT, Skip, expect, fails, run
from sweeps import DATA, Results

FLAGS = (*DATA, "--seed=1..40", "--epochs=3", "--keep=0")


def fake_gpu(**settings):
    folder = ROOT / "build/lib/fake-cuda"
    if not (folder / "libcuda.so.1").exists():
        raise Skip("no fake driver: CUDA's headers are missing")
    return os.environ | {"LD_LIBRARY_PATH": str(folder)} | {
        f"FAKE_CUDA_{key}": str(value) for key, value in settings.items()}


def program(place):
    def make():
        path = place.path("cuda-mlp")
        done = run(place.mnistc, place.model("mlp"), "--train", "--batch=32", "-o",
                   path, "--target=cuda", "--arch=sm_90", "--libraries=none")
        if done.code == 4:
            raise Skip("no NVRTC")
        expect(done.code == 0, done)
        return path
    return place.once("cuda-mlp", make)


def swept(place, *flags, **settings):
    folder = place.fresh("gpu")
    done = run(program(place), "sweep", *FLAGS, f"--out={folder}", "--json", *flags,
               env=fake_gpu(**settings))
    expect(done.code == 0, done)
    found = Results(folder, done)
    expect(len(found.runs) == 40 and all(
        line["state"] == "finished" and len(line["epochs"]) == 3
        for line in found.runs.values()), found.runs)
    return json.loads(done.out), found


def test_as_many_as_are_asked_for(place):
    for jobs in (1, 5, 40):
        summary, _ = swept(place, f"--jobs={jobs}")
        expect(summary["jobs"] == jobs, summary)


def test_the_number_is_looked_for(place):
    summary, _ = swept(place)
    expect(1 <= summary["jobs"] <= 40, summary)
    # Half a gigabyte stays free.
    summary, _ = swept(place, FREE=(512 << 20) + 1000000)
    expect(summary["jobs"] == 1, summary)


def test_gpus_share_the_runs(place):
    for devices in ("0,2", "all"):
        swept(place, f"--devices={devices}", "--jobs=2", GPUS=3)


def test_wrong_gpus(place):
    folder = place.fresh("wrong-gpu")
    command = [program(place), "sweep", *FLAGS, f"--out={folder}"]
    for code, flags, settings, part in (
            (2, ["--devices=0,3"], {"GPUS": 2}, "got '0,3'"),
            (2, ["--devices=0,0"], {"GPUS": 2}, "got '0,0'"),
            (2, ["--devices=x"], {}, "got 'x'"),
            (10, [], {"GPUS": 0}, "expected an NVIDIA GPU, got none"),
            (10, ["--devices=all"], {"GPUS": 0}, "expected an NVIDIA GPU, got none"),
            (10, [], {"FAILS": "cuGraphLaunch:719"}, "launching a graph"),
            (11, [], {"CAPABILITY": 80}, "compile with --arch=sm_80"),
            (13, [], {"FREE": 1000}, "1000 of")):
        fails(code, *command, *flags, parts=[part],
              env=fake_gpu(**settings))
