"""Ranks with a GPU each, as far as that goes without one: the driver and NCCL
only write down what they are told, and numbers are zeros."""

import os
import socket
import subprocess
import time

import faults
from harness import Skip, expect, fails, run
from ranks_place import DATA

FLAGS = (*DATA, "--limit=640", "--epochs=2")


def environment(place, **settings):
    folder = place.mnistc.resolve().parents[1] / "lib/fake-cuda"
    if not (folder / "libnccl.so.2").exists():
        raise Skip("no fake driver: CUDA's headers are missing")
    named = {f"FAKE_CUDA_{key}": str(value) for key, value in settings.items()}
    return {**os.environ, "LD_LIBRARY_PATH": str(folder),
            "MNISTC_CUDA_PATH": str(folder), "FAKE_CUDA_GPUS": "2", **named}


def program(place, *flags):
    def make():
        path = place.path(f"gpu-{len(place.made)}")
        done = run(place.mnistc, place.model("mlp"), "--train", "--target=cuda",
                   "--batch=32", *flags, "-o", path)
        if done.code == 4 and "NVRTC" in done.err:
            raise Skip("no NVRTC")
        expect(done.code == 0, done)
        return path
    return place.once(("gpu", flags), make)


def test_threads_of_a_process(place):
    several = program(place, "--data-parallel")
    for devices in ("all", "1,0"):
        done = run(several, "train", *FLAGS, f"--devices={devices}",
                   env=environment(place))
        expect(done.code == 0 and "2 ranks, 64 rows per step" in done.out
               and done.out.count("epoch 2/2: ") == 1, done)
    done = run(several, "train", *FLAGS, "--devices=1", env=environment(place))
    expect(done.code == 0 and "ranks" not in done.out, done)
    fails(2, program(place), "train", *FLAGS, "--devices=all",
          env=environment(place), parts=["compiled with '--data-parallel' to "
                                         "train on 2 GPUs, got one without"])


def test_sums_of_graphs_are_not_kept_apart(place):
    """They follow each other anyway; unless the user chose otherwise."""
    app = program(place, "--data-parallel")
    for chosen, mixes in ({}, 0), ({"NCCL_GRAPH_MIXING_SUPPORT": "1"}, 1):
        said = {**environment(place, MIXES=mixes), **chosen}
        done = run(app, "train", *FLAGS, "--devices=all", env=said)
        expect(done.code == 0, done)
        done = run(*place.command(2), app, "train", *FLAGS, env=said)
        expect(done.code == 0, done)


def test_devices_and_a_launcher(place):
    fails(2, program(place, "--data-parallel"), "train", *FLAGS,
          "--devices=all",
          env={**environment(place), "RANK": "0", "WORLD_SIZE": "2"},
          parts=["expected '--devices' or a launcher, since torchrun gives "
                 "each of its 2 processes a GPU, got both"])


def test_processes_of_mpirun(place):
    done = run(*place.command(2), program(place, "--data-parallel"), "train",
               *FLAGS, env=environment(place))
    expect(done.code == 0 and "2 ranks, 64 rows per step" in done.out, done)


def test_profile_without_a_rank(place):
    """While the GPU waits, as it seems, in a sum: for longer than it takes to
    get there, and not as long as it may wait."""
    app = program(place, "--data-parallel").resolve()
    begin = time.monotonic()
    said = faults.profile(place, app, 1, environment(place)).communicate(
        timeout=60)[0]
    expect("sums over 2 ranks" in said, said)
    start = time.monotonic() - begin
    for number in faults.MISSED:
        faults.lose(place, app, number, 1, start + 0.8,
                    environment(place, FAILS="cuStreamQuery:600"))


def free_port():
    with socket.socket() as one:
        one.bind(("", 0))
        return one.getsockname()[1]


def test_processes_of_torchrun(place):
    """As torchrun starts them, with its own store at the port."""
    app = program(place, "--data-parallel")
    port = free_port()
    with socket.socket() as store:
        store.bind(("", port))
        store.listen()
        ranks = [subprocess.Popen(
            [str(app), "train", *FLAGS], text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**environment(place), "RANK": str(rank), "WORLD_SIZE": "2",
                 "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": "2",
                 "MASTER_ADDR": "localhost", "MASTER_PORT": str(port)})
            for rank in (0, 1)]
        ends = [one.communicate(timeout=120) for one in ranks]
    expect([one.returncode for one in ranks] == [0, 0], ends)
    expect("2 ranks, 64 rows per step" in ends[0][0] and ends[1] == ("", ""),
           ends)
