"""How a CPU program starts: again, with threads that spin briefly, then sleep."""

import os
import pathlib
import shutil
import subprocess
import threading

from harness import LIMIT_S, Skip, expect
from place import FLAGS

POLICY, SPINS = "OMP_WAIT_POLICY", "GOMP_SPINCOUNT"
CHOICES = (POLICY, SPINS)
MILLISECONDS = 300_000  # spins that GNU's OpenMP has by itself


def started(place, *flags, program=None, file=None, **chosen):
    """The arguments and the environment of a run that has come to its first
    epoch's end, as the kernel has them. `file`: a descriptor to run instead."""
    if place.target != "cpu":
        raise Skip("only programs for the CPU execute themselves again")
    environment = {key: value for key, value in os.environ.items()
                   if key not in CHOICES}
    process = subprocess.Popen(
        [program or place.program("mlp"), "train", *FLAGS, "--epochs=100000",
         *flags],
        executable=f"/proc/self/fd/{file}" if file else None,
        pass_fds=[file] if file else [], env=environment | chosen,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True)
    watch = threading.Timer(LIMIT_S, process.kill)
    watch.start()
    try:
        said = ""
        for line in process.stdout:
            said += line
            if line.startswith("epoch 1/"):
                break
        else:
            raise AssertionError(f"expected an epoch: {said[-2000:]}")
        about = pathlib.Path(f"/proc/{process.pid}")
        arguments, variables = (
            os.fsdecode((about / name).read_bytes()).split("\0")[:-1]
            for name in ("cmdline", "environ"))
        return arguments, [v for v in variables if v.split("=")[0] in CHOICES]
    finally:
        watch.cancel()
        process.kill()
        process.communicate()


def expect_brief_waits(variables):
    chosen = dict(variable.split("=") for variable in variables)
    expect(set(chosen) == set(CHOICES) and chosen[POLICY] == "passive" and
           100 <= int(chosen[SPINS]) < MILLISECONDS / 10, variables)


def test_it_starts_anew_with_threads_that_wait_briefly(place):
    _, variables = started(place)
    expect_brief_waits(variables)


def test_other_commands_too(place):
    """OpenMP says before main, at each of the two starts, how long threads spin."""
    if place.target != "cpu":
        raise Skip("only programs for the CPU execute themselves again")
    environment = {key: value for key, value in os.environ.items()
                   if key not in CHOICES}
    environment["OMP_DISPLAY_ENV"] = "verbose"
    for command in ("info", "bench", "eval", "infer", "profile", "verify"):
        done = subprocess.run([place.program("mlp"), command, "--help"],
                              env=environment, capture_output=True, text=True)
        spins = [line.split("'")[1] for line in done.stderr.splitlines()
                 if f"{SPINS} =" in line]
        expect(done.returncode == 0 and len(spins) == 2 and
               0 < int(spins[1]) < int(spins[0]), f"{command}: {done.stderr}")


def test_what_the_user_chose_stays(place):
    for name, value in ((POLICY, "active"), (SPINS, "1000")):
        _, variables = started(place, **{name: value})
        expect(variables == [f"{name}={value}"], variables)


def test_arguments_stay_as_they_are(place):
    path = place.path(" two  blanks, a 'quote' and \\.onnx")
    arguments, variables = started(place, f"--save={path}", "--seed=3")
    expect_brief_waits(variables)
    expect(arguments == [str(place.program("mlp")), "train", *FLAGS,
                         "--epochs=100000", f"--save={path}", "--seed=3"],
           arguments)


def test_a_program_that_is_gone_goes_on_as_it_is(place):
    path = place.path("gone")
    shutil.copy2(place.program("mlp"), path)
    file = os.open(path, os.O_RDONLY)
    try:
        path.unlink()
        _, variables = started(place, program=path, file=file)
    finally:
        os.close(file)
    expect(not variables, variables)
