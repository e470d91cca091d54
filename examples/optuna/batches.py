#!/usr/bin/env python3
"""Searches for a program's options with Optuna, many trials at a time.

usage: batches.py APP --data=DIR --out=DIR [--rounds=4] [--batch=16] [--epochs=5]
                  [--seed=1] [SWEEP-OPTION...]

Where a network is small, a process for each trial wastes the GPU. Here Optuna is
asked for some trials, `APP sweep --list` trains them together, and Optuna is told
their results; and so on. The last line is the best trial, as options of `train`.
"""

import argparse
import json
import pathlib
import subprocess
import sys

import optuna
from study import flags, sample


def trained(options, others, number, trials):
    """The results of some trials, by Optuna's numbers."""
    folder = pathlib.Path(options.out) / f"round-{number}"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "runs.jsonl"
    chosen = [{name.replace("-", "_"): value
               for name, value in sample(trial).items()} for trial in trials]
    file.write_text("".join(json.dumps(run) + "\n" for run in chosen))
    subprocess.run([options.app, "sweep", f"--list={file}", f"--out={folder}",
                    f"--data={options.data}", f"--epochs={options.epochs}",
                    *others], check=True, stdout=subprocess.DEVNULL)
    lines = (folder / "results.jsonl").read_text().splitlines()[1:]
    results = [json.loads(line) for line in lines]
    for run, trial in zip(chosen, trials):
        # Trials that are the same are one run.
        yield trial, next(result for result in results
                          if run.items() <= result["options"].items())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("app")
    parser.add_argument("--data", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    options, others = parser.parse_known_args()
    study = optuna.create_study(
        direction="maximize",
        sampler=optuna.samplers.TPESampler(seed=options.seed,
                                           constant_liar=True))
    for number in range(options.rounds):
        trials = [study.ask() for _ in range(options.batch)]
        for trial, result in trained(options, others, number, trials):
            if result["state"] == "failed":
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
                continue
            trial.set_user_attr("digest", result["digest"])
            study.tell(trial, result["epochs"][-1]["test_accuracy"])
    best = study.best_trial
    print(f"best of {len(study.trials)}: {best.value:.4f}, digest "
          f"{best.user_attrs['digest']}")
    named = {name.replace("_", "-"): value for name, value in best.params.items()}
    print(*flags(named))
    return 0


if __name__ == "__main__":
    sys.exit(main())
