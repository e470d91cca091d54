"""Sweeps of the small networks of test/train."""

import csv
import json
import re

import place
from harness import expect, ok, run

DATA = ("--data=digits", "--limit=600", "--test-limit=300")


class Place(place.Place):
    def sweep(self, *flags, name="mlp", folder=None, env=None):
        """A sweep that succeeds: its folder and what it said."""
        folder = folder or self.fresh("sweep")
        done = ok(self.swept(name), "sweep", *DATA, f"--out={folder}", *flags,
                  env=env)
        return Results(folder, done)

    def swept(self, name="mlp"):
        return self.program(name, batch="16,32",
                            compiled=("--optimizer=adam", "--lr=0.003"))


class Results:
    """What a sweep wrote; the last line of each run, by its number."""

    def __init__(self, folder, done=None):
        self.folder, self.done = folder, done
        self.lines = [json.loads(line) for line in
                      (folder / "results.jsonl").read_text().splitlines()]
        expect(self.lines[0]["event"] == "sweep", self.lines[0])
        self.runs = {line["run"]: line for line in self.lines[1:]}

    @property
    def digests(self):
        """By options."""
        return {json.dumps(run["options"]): run["digest"]
                for run in self.runs.values()}

    def rows(self):
        with open(self.folder / "results.csv", newline="") as file:
            return list(csv.DictReader(file))


def alone(place, line, name="mlp"):
    """The digests of all epochs, and the last losses, of 'train' alone."""
    done = ok(place.swept(name), "train", *line["command"].split())
    return (re.findall(r"digest ([0-9a-f]{16})", done.out),
            json.loads(ok(place.swept(name), "train", "--json",
                          *line["command"].split()).out))


def ends(place, folder, *flags, name="mlp"):
    return run(place.swept(name), "sweep", *DATA, f"--out={folder}", *flags)
