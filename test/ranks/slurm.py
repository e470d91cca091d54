"""Ranks that srun starts, by a Slurm of one node that runs for one test."""

import ctypes.util
import getpass
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

from faults import MISSED
from gpus import free_port
from harness import Skip, expect, fails
from ranks_place import DATA

# Without users' keys (munge) and control groups, which containers lack.
CONFIGURATION = """ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
SlurmctldPort={control}
SlurmdPort={node}
StateSaveLocation={folder}
SlurmdSpoolDir={folder}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/linear
NodeName={host} NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def find(name):
    found = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")
    if not found:
        raise Skip(f"no {name}; slurmctld, slurmd and slurm-client have it")
    return found


class Slurm:
    def __init__(self, place):
        programs = [find(name) for name in ("slurmctld", "slurmd", "srun", "sinfo")]
        self.srun, self.sinfo = programs[2:]
        folder = place.fresh("slurm")
        configuration = folder / "slurm.conf"
        configuration.write_text(CONFIGURATION.format(
            host=socket.gethostname().split(".")[0], user=getpass.getuser(),
            control=free_port(), node=free_port(), folder=folder))
        self.env = {**os.environ, "SLURM_CONF": str(configuration)}
        self.logs = [folder / "control.log", folder / "node.log"]
        self.daemons = [
            subprocess.Popen([program, "-D"], env=self.env, stdout=log.open("w"),
                             stderr=subprocess.STDOUT)
            for program, log in zip(programs, self.logs)]

    def __enter__(self):
        begin = time.monotonic()
        while time.monotonic() < begin + 20:
            state = subprocess.run([self.sinfo, "-h", "-o", "%t"], env=self.env,
                                   capture_output=True, text=True).stdout.strip()
            if state == "idle":
                return self
            time.sleep(0.2)
        self.__exit__()
        raise Skip("Slurm does not start: "
                   + " | ".join(log.read_text()[-300:] for log in self.logs))

    def __exit__(self, *_):
        for daemon in reversed(self.daemons):
            daemon.terminate()
            daemon.wait(timeout=30)

    def start(self, count, *command):
        return subprocess.Popen(
            [self.srun, "--mpi=pmix", f"-n{count}", "--overcommit",
             *(str(part) for part in command)],
            env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True)


def processes_of(program):
    """By rank."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(folder / "exe") == str(program):
                text = (folder / "environ").read_bytes()
                found[int(re.search(rb"SLURM_PROCID=(\d+)", text)[1])] = int(
                    folder.name)
        except OSError:
            continue
    return found


def train(slurm, place, program):
    flags = ("--limit=480", "--epochs=2")
    run = slurm.start(2, program, "train", *DATA, *flags)
    out, err = run.communicate(timeout=60)
    expect(run.returncode == 0, (out, err))
    digests = re.findall(r"digest (\w+)", out)
    expect(len(digests) == 2 and digests == re.findall(
        r"digest (\w+)", place.start(2, program, *flags).out), (out, err))


def lose(slurm, program):
    run = slurm.start(2, program, "train", *DATA, "--epochs=100000",
                      "--timeout=2")
    while len(processes_of(program)) < 2:
        time.sleep(0.02)
    time.sleep(2)
    os.kill(processes_of(program)[1], signal.SIGSTOP)
    out, err = run.communicate(timeout=60)
    said = re.findall("error: (expected .*)", err)
    expect(len(said) == 1 and re.search(MISSED[signal.SIGSTOP], said[0])
           and run.returncode != 0, (out, err))
    expect(not processes_of(program), "expected no rank to live on")


def test_srun(place):
    """The bits are those of ranks of mpirun. One that is stopped is missed."""
    program = place.parallel("mlp", "24").resolve()
    if not ctypes.util.find_library("pmix"):
        raise Skip("no libpmix")
    with Slurm(place) as slurm:
        listed = subprocess.run([slurm.srun, "--mpi=pmix", "true"], text=True,
                                env=slurm.env, capture_output=True)
        if "can not load PMIx" in listed.stderr:
            raise Skip("srun finds no libpmix.so; libpmix-dev has it")
        train(slurm, place, program)
        lose(slurm, program)


def test_srun_without_pmix(place):
    """Open MPI would end the process."""
    place.command(2)
    fails(2, place.parallel("mlp", "24"), "train", *DATA,
          env={**os.environ, "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "2"},
          parts=["expected 'srun --mpi=pmix', which Open MPI needs, got srun "
                 "with another or none"])
