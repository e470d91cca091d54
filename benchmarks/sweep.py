#!/usr/bin/env python3
"""Times a sweep of many trainings beside the same trainings one by one.

usage: sweep.py PREFIX MODELS DATA [--models=mxnet-mlp,pytorch-simplecnn]
                [--runs=64] [--epochs=5] [--alone=8] [--jobs=1,4,8,16,32]
                [--target=cuda] [--out=FILE.md]

PREFIX is an installed mnistc, MODELS has what models/make.py makes, DATA has
MNIST's IDX files (or is 'digits'). Nothing else than Python is needed. The
learning rate and the seed differ between runs. They are trained by `app train`,
a process each (as many as --alone says, and the others are taken to last as
long), by a sweep with each number of --jobs, and by one that finds that number
itself. All times are those of a whole process, with opening the GPU and reading
the data. Every run must have the same digest however it is trained: exit code 1
where one has not. Each measurement is a JSON line on standard output; --out is a
table of them.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models"))
from networks import TUTORIALS  # noqa: E402

RATES = "0.1,0.03,0.01,0.003"


def timed(*command):
    """Seconds, and what was printed."""
    begin = time.perf_counter()
    done = subprocess.run([str(part) for part in command], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    seconds = time.perf_counter() - begin
    if done.returncode:
        sys.exit(f"sweep.py: error: {' '.join(map(str, command))} ended with "
                 f"{done.returncode}: {done.stderr[-500:]}")
    return seconds, done.stdout


class Sweep:
    def __init__(self, options, folder, model):
        self.options, self.folder, self.model = options, folder, model
        self.app = folder / model
        network = TUTORIALS[model]
        timed(options.prefix / "bin/mnistc", options.models / f"{model}.onnx",
              "--train", f"--batch={network.batch}", *network.train.split(),
              f"--target={options.target}", "-o", self.app)
        self.digests = {}
        self.wrong = 0

    def compare(self, run, digest, how):
        known = self.digests.setdefault(run, digest)
        if known != digest:
            self.wrong += 1
            print(f"sweep.py: {self.model}, run {run}: digest {known}, but {digest} "
                  f"{how}", file=sys.stderr)

    def swept(self, jobs):
        """A row: seconds of all, with so many at a time; 0: as many as pay."""
        out = self.folder / f"{self.model}-{jobs}"
        flags = [f"--jobs={jobs}"] if jobs else []
        seconds, said = timed(
            self.app, "sweep", f"--data={self.options.data}", f"--lr={RATES}",
            f"--seed=1..{self.options.runs // 4}", "--keep=0", "--json",
            f"--epochs={self.options.epochs}", f"--out={out}", *flags)
        summary = json.loads(said)
        self.lines = [json.loads(line) for line in
                      (out / "results.jsonl").read_text().splitlines()[1:]]
        for line in self.lines:
            # One that fails has none; it fails in each way.
            self.compare(line["run"], line["digest"] or line["message"],
                         f"with --jobs={jobs or 'auto'}")
        return {"way": f"sweep, {summary['jobs']} at a time" +
                ("" if jobs else ", found by itself"),
                "seconds": seconds, "inside_s": summary["seconds"],
                "runs": summary["runs"], "failed": summary["failed"]}

    def alone(self):
        """A row: the first runs, a process each."""
        good = [line for line in self.lines if line["state"] == "finished"]
        total = 0
        for line in good[:self.options.alone]:
            seconds, said = timed(self.app, "train", "--json",
                                  *line["command"].split())
            total += seconds
            self.compare(line["run"], json.loads(said)["digest"], "alone")
        count = min(len(good), self.options.alone)
        return {"way": "train, one process after another",
                "seconds": total / count * self.options.runs, "measured": count,
                "runs": self.options.runs}

    def rows(self):
        ways = [lambda jobs=jobs: self.swept(jobs)
                for jobs in (0, *map(int, self.options.jobs.split(",")))]
        ways.append(self.alone)
        for way in ways:
            row = {"model": self.model, **way()}
            row["runs_per_second"] = row["runs"] / row["seconds"]
            print(json.dumps(row), flush=True)
            yield row


def table(rows, options):
    yield f"{options.runs} trainings of {options.epochs} epochs\n"
    yield "| model | trained by | seconds | trainings a second | of one by one |"
    yield "|---|---|---|---|---|"
    for row in rows:
        alone = next((other for other in rows if other["model"] == row["model"]
                      and "process" in other["way"]), row)
        yield (f"| {row['model']} | {row['way']} | {row['seconds']:.2f} | "
               f"{row['runs_per_second']:.2f} | "
               f"{row['runs_per_second'] / alone['runs_per_second']:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("prefix", type=pathlib.Path)
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("data")
    parser.add_argument("--models", dest="names",
                        default="mxnet-mlp,pytorch-simplecnn")
    parser.add_argument("--runs", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--alone", type=int, default=8)
    parser.add_argument("--jobs", default="1,4,8,16,32")
    parser.add_argument("--target", default="cuda")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    if options.runs % 4 or options.runs < 4:
        parser.error(f"expected --runs to be a multiple of 4, got {options.runs}")
    rows, wrong = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for model in options.names.split(","):
            sweep = Sweep(options, pathlib.Path(folder), model)
            for row in sweep.rows():
                rows.append(row)
                if options.out:
                    options.out.write_text("\n".join(table(rows, options)) + "\n")
            wrong += sweep.wrong
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
