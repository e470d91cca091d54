"""How ranks find each other, and what is wrong before the first step."""

import json
import os

import numpy as np

from harness import expect, fails, ok, run
from ranks_place import DATA


def test_program_that_is_not_data_parallel(place):
    program = place.program("mlp", "24")
    done = place.start(2, program)
    expect(done.code == 2, done)
    expect(done.err.count("error: ") == 1, done)
    expect("expected a program compiled with '--data-parallel', as Open MPI "
           "says that it is one of 2 ranks, got one without; unset "
           "OMPI_COMM_WORLD_SIZE to run" in done.err, done)


def test_one_rank_needs_no_mpi(place):
    program = place.parallel("mlp", "24")
    ok(program, "train", *DATA, "--limit=48", "--epochs=1",
       env={"PATH": "/nowhere", "LD_LIBRARY_PATH": "/nowhere"})


def test_variables(place):
    program = place.parallel("mlp", "24")
    for variables, said in (
            ({"RANK": "x", "WORLD_SIZE": "2"}, "RANK to be from 0 to 1, got 'x'"),
            ({"RANK": "2", "WORLD_SIZE": "2"}, "RANK to be from 0 to 1, got '2'"),
            ({"PMI_RANK": "0", "PMI_SIZE": "0"}, "PMI_SIZE to be from 1 to"),
            ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1 2"},
             "SLURM_STEP_NUM_TASKS to be from 1 to"),
            ({"MASTER_PORT": "70000"}, "MASTER_PORT to be from 1 to 65535")):
        fails(2, program, "train", *DATA, env={**os.environ, **variables},
              parts=["expected the variable " + said])
    # A batch script of Slurm is one process, whatever its job has.
    ok(program, "train", *DATA, "--limit=48", "--epochs=1",
       env={**os.environ, "SLURM_PROCID": "0", "SLURM_NTASKS": "4"})


def test_launcher_of_another_kind(place):
    """torchrun's variables without its processes."""
    place.command(2)
    program = place.parallel("mlp", "24")
    fails(2, program, "train", *DATA, lines=None,
          env={**os.environ, "RANK": "0", "WORLD_SIZE": "2"},
          parts=["expected rank 0 of 2 from Open MPI, as the launcher says, "
                 "got rank 0 of 1"])


def test_errors_are_said_once(place):
    program = place.parallel("mlp", "12")
    for flags, code, said in (
            (("--batch=5",), 2, "'--batch' to be one of 12"),
            (("--save=/nowhere/x.onnx",), 14, "/nowhere/x.onnx"),
            (("--limit=3", "--drop-last"), 14, "one batch of 24 rows")):
        done = place.start(2, program, *flags)
        expect(done.code == code, done)
        expect(done.err.count("error: ") == 1 and said in done.err, done)


def test_ranks_that_differ(place):
    """Each gets something else under the same name."""
    program = place.parallel("mlp", "12")
    other = place.parallel("mlp", "12", "--lr=0.5")
    command = place.command(1)
    train = ("train", *DATA, "--limit=48")
    for second, said in (
            ((other, *train), "the program"),
            ((program, *train, "--lr=0.3"), "the options"),
            ((program, *train, "--seed=4"), "the options")):
        done = run(*command, program, *train, ":", "-n", "1", *second)
        expect(done.code == 2, done)
        expect(f"expected {said} to be equal on all ranks, got another on rank "
               "1 than on rank 0" in done.err, done)


def test_data_that_differs(place):
    program = place.parallel("mlp", "12")
    folder = place.fresh("own")
    for rank in (0, 1):
        own = folder / str(rank) / "data"
        own.mkdir(parents=True)
        random = np.random.default_rng(rank)
        np.save(own / "train_x.npy", random.random((48, 1, 28, 28), np.float32))
        np.save(own / "train_y.npy", np.arange(48) % 10)
    script = folder / "own.sh"
    script.write_text(f"""#!/bin/sh
cd {folder}/$OMPI_COMM_WORLD_RANK && exec {program} train --data=data
""")
    script.chmod(0o755)
    done = run(*place.command(2), script)
    expect(done.code == 2 and "expected the training data to be equal on all "
           "ranks, got another on rank 1" in done.err, done)


def test_files_are_written_once(place):
    program = place.parallel("mlp", "12")
    folder = place.fresh("files")
    done = place.start(3, program, "--limit=72", "--epochs=2",
                       f"--log={folder}/log", f"--tensorboard={folder}/board",
                       f"--plot={folder}/plot.svg", f"--best={folder}/best.onnx",
                       f"--checkpoint={folder}/ck", f"--save={folder}/m.onnx")
    expect(done.code == 0, done)
    lines = (folder / "log").read_text().splitlines()
    expect(sum('"event":"end"' in line for line in lines) == 1, lines)
    expect(len(list((folder / "board").iterdir())) == 1, "one event file")
    expect(done.out.count("epoch 2/2: ") == 1, done)
    expect("3 ranks, 36 rows per step" in done.out, done)


def test_profile(place):
    """The sums are a step, and what of them is hidden is said."""
    program = place.parallel("mlp", "12")
    done = run(*place.command(2), program, "profile", "--plan=train",
               "--repeat=3")
    expect(done.code == 0 and done.out.count("sum of steps") == 1, done)
    expect("mpi" in done.out and "sums over 2 ranks: " in done.out, done)
    done = run(*place.command(2), program, "profile", "--plan=train",
               "--repeat=3", "--json")
    found = json.loads(done.out)
    expect(found["ranks"] == 2 and 0 <= found["hidden_us"] <= found["sums_us"],
           found)
    done = run(*place.command(2), program, "profile", "--plan=trains")
    expect(done.code == 2 and done.err.count("error: ") == 1, done)


def test_validation(place):
    """All ranks evaluate, stop and test at the same time."""
    folder = place.fresh("validation")
    program = place.parallel("mlp", "12")
    done = place.start(3, program, "--limit=144", "--epochs=30", "--lr=0.8",
                       "--validation=0.25", "--early-stop=2",
                       f"--best={folder}/best.onnx")
    expect(done.code == 0 and "stopped early" in done.out
           and "at the end: test loss" in done.out
           and f"'{folder}/best.onnx': test loss" in done.out, done)
    done = place.start(2, program, "--limit=144", "--epochs=1000000",
                       "--max-time=1")
    expect(done.code == 0 and "stopped after '--max-time=1'" in done.out, done)
