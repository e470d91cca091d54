"""The same bits, whatever OpenMP grants: by environment, and by a host."""

import os

import numpy as np

from harness import Skip, expect, ok
from place import HOST

ENVIRONMENTS = [
    *({"OMP_NUM_THREADS": str(count)} for count in (1, 2, 3, 4)),
    {"OMP_NUM_THREADS": "4,2"},
    {"OMP_THREAD_LIMIT": "1"},
    {"OMP_NUM_THREADS": "4", "OMP_THREAD_LIMIT": "1"},
    {"OMP_NUM_THREADS": "4", "OMP_THREAD_LIMIT": "3"},
    {"OMP_NUM_THREADS": "4", "OMP_DYNAMIC": "true"},
    {"OMP_NUM_THREADS": "4", "OMP_MAX_ACTIVE_LEVELS": "0"},
    {"OMP_NUM_THREADS": "4", "OMP_SCHEDULE": "dynamic", "OMP_NESTED": "true"},
]
# What test/train/host.cpp does to OpenMP, before and after it opens a session.
HOSTS = ["plain", "dynamic", "fewer", "more", "limit", "inside", "nested",
         "thread"]


def only_cpu(place):
    if place.target != "cpu":
        raise Skip("threads are of the CPU")


def test_training(place):
    only_cpu(place)
    for name in ("mlp", "cnn"):
        for environment in ENVIRONMENTS:
            found = place.train(name, "--epochs=2",
                                env=os.environ | environment).digest
            expect(found == place.plain(name).digest, f"{name} {environment}")


def test_resumed_on_other_threads(place):
    only_cpu(place)
    for name in ("mlp", "cnn"):
        folder = place.fresh(f"resumed-{name}")
        flags = (f"--checkpoint={folder}", "--resume")
        place.train(name, "--epochs=1", *flags,
                    env=os.environ | {"OMP_NUM_THREADS": "1"})
        rest = place.train(name, "--epochs=2", *flags,
                           env=os.environ | {"OMP_NUM_THREADS": "4"})
        expect(rest.digest == place.plain(name).digest, f"{name}: {rest.out}")


def said(place, name, environment):
    """What 'infer' and 'eval' give: bytes, and loss and accuracy."""
    program, y = place.inference(name), place.path("y.npy")
    np.save(place.path("x.npy"), images())
    ok(program, "infer", place.path("x.npy"), f"--output={y}",
       env=os.environ | environment)
    line = ok(program, "eval", "--data=digits", "--limit=300",
              env=os.environ | environment)
    return y.read_bytes(), line.out.split("images/s")[0].split("   ")[:2]


def images():
    return np.random.default_rng(3).random((64, 1, 28, 28), np.float32)


def test_inference(place):
    only_cpu(place)
    for name in ("mlp", "cnn"):
        plain = said(place, name, {})
        for environment in ENVIRONMENTS:
            expect(said(place, name, environment) == plain,
                   f"{name} {environment}")


def test_hosts(place):
    """Calls of the C API, by a program that uses OpenMP itself."""
    only_cpu(place)
    host = place.path("host")
    ok("g++", "-O1", "-fopenmp", HOST, "-o", host, "-ldl")
    x = place.path("x.bin")
    images().tofile(x)
    for name in ("mlp", "cnn"):
        library = place.inference(name, "lib.so", "--batch=1,32", "--name=tested")
        found = {}
        for how in HOSTS:
            y = place.path(f"y-{how}.bin")
            ok(host, library, x, y, "64", how,
               env=os.environ | {"OMP_NUM_THREADS": "4"})
            found[how] = y.read_bytes()
        for how in HOSTS:
            expect(found[how] == found["plain"], f"{name} {how}")
