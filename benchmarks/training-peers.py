#!/usr/bin/env python3
"""Times training steps of the networks in models/networks.py beside PyTorch and JAX.

usage: training-peers.py PREFIX DATA [--only=NAMES] [--batches=own,1024]
                         [--precisions=fp32] [--peers=torch,jax] [--out=FILE.md]
                         [--budget=SECONDS] [--jobs=N] [--device=cuda] [--rows=N]
                         [--ways=compile,scan]

PREFIX is an installed mnistc, DATA has MNIST's IDX files; the packages onnx and
numpy and those of the peers are needed. NAMES are networks of models/networks.py
(all of them where there is no --only), or random-7 of models/random_networks.py, or
blocks-7 of models/random_blocks.py, or large-7, or random-0:24 for many, or
written-gpt of models/written.py, which PyTorch exports. All of them get the same weights, data
and optimizer, and the whole data set is on the device. First each network is
trained for a few steps without dropout on the same rows everywhere, and our
losses must be as close to those in double precision as the peers' are. Then a
step is timed: the median over repeated runs, shuffle and gather included, in each
way that a peer can run it, or in those whose names begin as --ways says: to time
PyTorch's eager steps can take longer than all else.
Compilers run side by side, timed runs never. What does not fit into the budget
is not run, and listed. Results are JSON lines on standard output; the table of
--out is rewritten after each group of --jobs cases. Exit code 1 where losses are
too far off or something failed.
"""

import argparse
import concurrent.futures
import dataclasses
import importlib
import json
import math
import os
import pathlib
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from peer_case import Case

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "models"))
from make import Graph, read_idx  # noqa: E402
from networks import NETWORKS, TUTORIALS  # noqa: E402
from named import FAMILIES, NAMES, named  # noqa: E402

LOSSES = 8      # training steps whose losses are compared
TOLERANCE = {"fp32": 1e-3, "tf32": 1e-2, "bf16": 5e-2}  # of a loss, relative
REPEATS, SECONDS = 7, 0.15  # of a timed run
EPOCHS = 6      # of our program; the first is not counted


BEGIN = time.monotonic()


def report(event, case, **values):
    print(json.dumps({"at": round(time.monotonic() - BEGIN, 1), "event": event,
                      "case": case.label, **values}), flush=True)


def median_time(trainer, wait):
    """Microseconds of a step: median, least, most."""
    def timed(count):
        wait()
        begin = time.perf_counter()
        done = trainer.run(count)
        wait()
        return (time.perf_counter() - begin) / done * 1e6

    timed(8)
    count = max(8, int(SECONDS * 1e6 / timed(24)))
    times = sorted(timed(count) for _ in range(REPEATS))
    return [statistics.median(times), times[0], times[-1]]


def work(options):
    """A peer's process: one case; what it finds as lines of JSON. It compiles
    beside others, and runs alone when it is told to."""
    case = Case(options.case[0], int(options.case[1]), options.case[2],
                pathlib.Path(options.case[3]))
    images = read_idx(options.data, "train-images-idx3-ubyte")[:options.rows]
    labels = read_idx(options.data, "train-labels-idx1-ubyte")[:options.rows]
    shape = (len(images), *case.network.input)
    module = importlib.import_module(f"{options.worker}_peer")
    peer = module.Peer(case, (images.reshape(shape).astype(np.float32) / 255,
                              labels), options.device)
    ways = [way for way in peer.ways()
            if way.startswith(tuple(options.ways.split(",")))]
    if not ways and peer.ways():
        sys.exit(f"error: expected --ways that {', '.join(peer.ways())} begin with, "
                 f"got '{options.ways}'")
    result = {"losses": peer.losses(LOSSES), "versions": peer.versions()}
    if hasattr(peer, "exact_losses"):
        result["exact"] = peer.exact_losses(LOSSES)
    print(json.dumps(result), flush=True)
    compiled = {way: attempt(way, trainer_of, peer, way) for way in ways}
    print(json.dumps({"ready": ways}), flush=True)
    sys.stdin.readline()
    for way in ways:
        result = compiled.pop(way)
        if "trainer" in result:
            result = attempt(way, time_of, peer, result.pop("trainer"))
        print(json.dumps(result), flush=True)
    return 0


def attempt(way, function, *args):
    """One way must not end the others."""
    try:
        return {"way": way, **function(*args)}
    except Exception as error:
        return {"way": way, "error": f"{type(error).__name__}: {error}"}


def trainer_of(peer, way):
    return {"trainer": peer.compile(way)}


def time_of(peer, trainer):
    trainer.prepare()
    return {"us": median_time(trainer, peer.wait)}


class Worker:
    """A child process that speaks JSON lines; killed with its children."""

    def __init__(self, options, peer, case):
        self.name, self.case = peer, case
        self.log = tempfile.TemporaryFile("w+")
        cache = case.folder / "cache"
        environment = dict(
            os.environ, PYTHONUNBUFFERED="1", TORCHINDUCTOR_CACHE_DIR=str(cache),
            TORCHINDUCTOR_FX_GRAPH_CACHE="1", TORCHINDUCTOR_COMPILE_THREADS="4",
            XLA_PYTHON_CLIENT_PREALLOCATE="false")
        self.process = subprocess.Popen(
            [sys.executable, __file__, str(options.prefix), str(options.data),
             f"--worker={peer}", f"--rows={options.rows}",
             f"--device={options.device}", f"--ways={options.ways}", "--case",
             case.name, str(case.batch), case.precision, str(case.folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
            text=True, env=environment, start_new_session=True)

    def lines(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                yield json.loads(line)

    def go(self):
        try:
            self.process.stdin.write("go\n")
            self.process.stdin.close()
        except BrokenPipeError:
            pass

    def end(self):
        """What it said last, where it failed."""
        code = self.process.wait()
        self.log.seek(0)
        said = self.log.read().strip().splitlines()
        return "" if code == 0 else f"exit code {code}: {' '.join(said[-3:])}"

    def is_alive(self):
        return self.process.poll() is None

    def kill(self):
        if self.is_alive():
            os.killpg(self.process.pid, signal.SIGKILL)


class Ours:
    def __init__(self, options, case):
        self.options, self.case = options, case
        stem = f"{case.name}-{case.batch}-{case.precision}"
        self.app, self.plain = (case.folder / f"{stem}{end}"
                                for end in ("", "-plain"))

    def compile(self):
        case = self.case
        flags = [f"--precision={case.precision}"] \
            if self.options.has_precisions else []
        for path, app in ((case.path, self.app), (case.plain_path, self.plain)):
            run([self.options.prefix / "bin/mnistc", path, "--train",
                 f"--batch={case.batch}", f"--target={self.options.device}",
                 *case.train.split(), *flags, "-o", app], self.options.end)

    def train(self, app, *flags):
        log = app.with_suffix(".jsonl")
        log.unlink(missing_ok=True)
        run([app, "train", f"--data={self.options.data}", f"--log={log}",
             "--test-limit=64", *flags], self.options.end)
        return [json.loads(line) for line in log.read_text().splitlines()]

    def losses(self):
        rows = LOSSES * self.case.batch
        events = self.train(self.plain, "--no-shuffle", "--epochs=1",
                            f"--limit={rows}", "--report-every=1")
        return [e["loss"] for e in events if e["event"] == "report"]

    def time(self):
        events = self.train(self.app, f"--epochs={EPOCHS}", "--drop-last",
                            f"--limit={self.options.rows}")
        times = sorted(e["us_per_step"] for e in events
                       if e["event"] == "epoch")[:-1]
        return [statistics.median(times), times[0], times[-1]]


def run(command, end=math.inf):
    """Its output; it is ended at the time `end`."""
    left = max(0.1, end - time.monotonic()) if math.isfinite(end) else None
    try:
        done = subprocess.run([str(part) for part in command], text=True,
                              capture_output=True, check=False, timeout=left)
    except subprocess.TimeoutExpired:
        raise TimeoutError from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip()[-300:]
        raise RuntimeError(f"'{pathlib.Path(command[0]).name}' ended with "
                           f"{done.returncode}: {said}")
    return done.stdout


@dataclasses.dataclass
class Result:
    case: Case
    us: dict = dataclasses.field(default_factory=dict)      # way: median, ...
    losses: dict = dataclasses.field(default_factory=dict)  # who: losses
    exact: list = dataclasses.field(default_factory=list)
    problems: list = dataclasses.field(default_factory=list)
    is_done: bool = False

    def problem(self, text):
        self.problems.append(text)
        report("problem", self.case, text=text)

    def distances(self):
        """How far each one's losses are from the exact ones, at most, relative;
        exact is double precision, or else the first peer."""
        exact = self.exact or next(
            (losses for who, losses in self.losses.items() if who != "mnistc"),
            [])
        return {who: max((abs(a - b) / max(abs(b), 1e-2)
                          for a, b in zip(losses, exact)), default=math.inf)
                if len(losses) == len(exact) else math.inf
                for who, losses in self.losses.items()}

    def limit(self):
        """Where rounding decides, as with few features and Adam, a peer's own
        distance counts."""
        peers = [distance for who, distance in self.distances().items()
                 if who != "mnistc" and math.isfinite(distance)]
        return max([TOLERANCE[self.case.precision],
                    *(4 * distance for distance in peers)])


class Group:
    """Some cases whose compilers run side by side."""

    def __init__(self, options, cases, versions):
        self.options, self.versions = options, versions
        self.results = [Result(case) for case in cases]
        self.workers, self.streams = [], []

    def peers(self, case):
        for peer in self.options.peers:
            if peer != "jax" or case.name in TUTORIALS:
                yield peer

    def start(self, result, peer):
        worker = Worker(self.options, peer, result.case)
        self.workers.append(worker)
        return result, worker, worker.lines()

    def compile(self):
        """Everything is compiled, and the losses are collected."""
        self.streams = [self.start(result, peer) for result in self.results
                        for peer in self.peers(result.case)]
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            list(pool.map(self.compile_ours, self.results))
        for result, worker, lines in self.streams:
            for line in lines:
                if "ready" in line:
                    break
                result.losses[worker.name] = line["losses"]
                result.exact = line.get("exact") or result.exact
                self.versions.update(line["versions"])
            else:
                result.problem(f"{worker.name}: {worker.end()}")

    def compile_ours(self, result):
        ours = Ours(self.options, result.case)
        try:
            begin = time.monotonic()
            ours.compile()
            report("compiled", result.case,
                   seconds=round(time.monotonic() - begin, 1))
            result.losses["mnistc"] = ours.losses()
        except RuntimeError as error:
            result.problem(str(error))

    def check(self, result):
        """Whether ours are as close to the exact losses as they have to be."""
        report("losses", result.case, distances={
            who: float(f"{far:.2g}") for who, far in result.distances().items()})
        if "mnistc" not in result.losses:
            return False
        found, limit = result.distances()["mnistc"], result.limit()
        if found > limit:
            result.problem(f"expected losses within {limit:.2g}, got {found:.2g}")
        return found <= limit

    def measure(self):
        good = [result for result in self.results if self.check(result)]
        for result in good:
            try:
                result.us["mnistc"] = Ours(self.options, result.case).time()
            except RuntimeError as error:
                result.problem(str(error))
            for owner, worker, lines in self.streams:
                if owner is result and worker.is_alive():
                    self.time(result, worker, lines)
            result.is_done = True
            report("times", result.case, us={way: [round(t, 2) for t in times]
                                             for way, times in result.us.items()})

    @staticmethod
    def time(result, worker, lines):
        worker.go()
        for line in lines:
            way = f"{worker.name}, {line['way']}"
            if "us" in line:
                result.us[way] = line["us"]
            else:
                result.problem(f"{way}: {line['error'][:300]}")
        if said := worker.end():
            result.problem(f"{worker.name}: {said}")

    def run(self):
        left = int(self.options.end - time.monotonic())
        if left < 1:
            return self.end_of_budget()
        signal.signal(signal.SIGALRM, self.out_of_time)
        signal.alarm(left)
        try:
            self.compile()
            self.measure()
        except TimeoutError:
            self.end_of_budget()
        finally:
            signal.alarm(0)
            for worker in self.workers:
                worker.kill()

    def end_of_budget(self):
        for result in self.results:
            if not result.is_done:
                result.problem("the time budget ended")

    @staticmethod
    def out_of_time(*_):
        raise TimeoutError


def machine(options):
    if options.device == "cpu":
        return platform.processor() or platform.machine()
    return run(["nvidia-smi", "--query-gpu=name,driver_version",
                "--format=csv,noheader"]).splitlines()[0]


def best_peer(result):
    peers = {way: times[0] for way, times in result.us.items()
             if way != "mnistc"}
    return min(peers.items(), key=lambda item: item[1], default=None)


def table(results, versions, options):
    yield "# Training steps beside peers\n"
    yield ("Written by `benchmarks/training-peers.py`: microseconds a step, the "
           "median (least to most of the repeated runs); the ratio is ours to the "
           "best peer's. Distances are those of the losses of the first "
           f"{LOSSES} steps without dropout from PyTorch's in double precision, "
           "at most, relative.\n")
    yield f"Machine: {machine(options)}. " + ", ".join(
        f"{name} {version}" for name, version in sorted(versions.items())) + ".\n"
    ways = sorted({way for result in results for way in result.us} - {"mnistc"})
    yield f"| network, batch, precision | mnistc | {' | '.join(ways)} | ratio | distance, ours | distance, peers |"
    yield f"|---|---|{'---|' * len(ways)}---|---|---|"

    def cell(result, way):
        if way not in result.us:
            return "–"
        median, least, most = result.us[way]
        return f"{median:.1f} ({least:.1f} to {most:.1f})"

    for result in results:
        best = best_peer(result)
        ratio = f"{result.us['mnistc'][0] / best[1]:.2f}" \
            if best and "mnistc" in result.us else "–"
        far = {who: f"{distance:.1e}"
               for who, distance in result.distances().items()}
        ours = far.pop("mnistc", "–")
        yield (f"| {result.case.label} | {cell(result, 'mnistc')} | "
               f"{' | '.join(cell(result, way) for way in ways)} | {ratio} | "
               f"{ours} | {', '.join(far.values()) or '–'} |")
    problems = [f"- {result.case.label}: {text}" for result in results
                for text in result.problems]
    if problems:
        yield "\nNot measured, and why:\n"
        yield from problems


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("prefix", type=lambda t: pathlib.Path(t).resolve())
    parser.add_argument("data", type=lambda t: pathlib.Path(t).resolve())
    parser.add_argument("--only", default=",".join(NETWORKS))
    parser.add_argument("--batches", default="own")
    parser.add_argument("--precisions", default="fp32")
    parser.add_argument("--peers", default="torch,jax")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--budget", type=float, default=540)
    parser.add_argument("--jobs", type=int, default=max(1, os.cpu_count() // 2))
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--rows", type=int, default=60000)
    parser.add_argument("--ways", default="")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--case", nargs=4, help=argparse.SUPPRESS)
    return parser.parse_args()


def names_of(only):
    for name in only.split(","):
        kind, _, seeds = name.partition("-")
        first, _, last = seeds.partition(":")
        if kind in FAMILIES and first.isdecimal() and last.isdecimal():
            yield from (f"{kind}-{i}" for i in range(int(first), int(last)))
        else:
            yield name


def cases_of(options, folder):
    for name in names_of(options.only):
        if not named(name):
            sys.exit(f"training-peers.py: error: expected one of {NAMES}, got '{name}'")
        for batch in options.batches.split(","):
            size = named(name).batch if batch == "own" else int(batch)
            for precision in options.precisions.split(","):
                if precision not in TOLERANCE:
                    sys.exit("training-peers.py: error: expected a precision of "
                             f"{', '.join(TOLERANCE)}, got '{precision}'")
                if options.rows < LOSSES * size:
                    sys.exit("training-peers.py: error: expected --rows of at least "
                             f"{LOSSES * size} for batch {size}, got {options.rows}")
                yield Case(name, size, precision, folder)


def make_models(cases):
    for case in {case.name: case for case in cases}.values():
        for path, with_dropout in ((case.path, True), (case.plain_path, False)):
            if hasattr(case.network, "export"):
                case.network.export(path, with_dropout)
                continue
            onnx.save(Graph(case.name, case.network, 1, with_dropout).model(),
                      str(path))


def main():
    options = arguments()
    options.end = time.monotonic() + options.budget
    if options.worker:
        return work(options)
    options.peers = [peer for peer in options.peers.split(",") if peer]
    mnistc = options.prefix / "bin/mnistc"
    options.has_precisions = "--precision=" in run([mnistc, "--help"])
    versions = {"mnistc": run([mnistc, "--version"]).split()[-1]}
    results = []
    with tempfile.TemporaryDirectory(prefix="peers") as folder:
        cases = list(cases_of(options, pathlib.Path(folder)))
        make_models(cases)
        for i in range(0, len(cases), options.jobs):
            group = Group(options, cases[i:i + options.jobs], versions)
            results += group.results
            group.run()
            if options.out:
                options.out.write_text(
                    "\n".join(table(results, versions, options)) + "\n")
    return 1 if any(result.problems for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
