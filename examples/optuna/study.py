#!/usr/bin/env python3
"""Searches for a program's options with Optuna, and prunes what goes badly.

usage: study.py APP --data=DIR [--trials=20] [--epochs=5] [--seed=1]
                [--storage=URL] [--name=NAME] [TRAIN-OPTION...]

APP is compiled with `mnistc --train`. Each trial is a process, `APP train`, whose
log is read while it trains: after an epoch Optuna is told the test accuracy
(for values, the loss), and may end the trial. With --storage, for example
sqlite:///study.db, a study can be continued, and several of these processes, also
on several machines, work on one. Other options are those of `train`. The last line
is the best trial, as options of `train`.
"""

import argparse
import json
import subprocess
import sys

import optuna


def sample(trial):
    """What is searched: the options of a trial."""
    return {
        "lr": trial.suggest_float("lr", 1e-4, 1e-1, log=True),
        "weight-decay": trial.suggest_float("weight_decay", 1e-6, 1e-2, log=True),
        "schedule": trial.suggest_categorical("schedule", ["constant", "cosine"]),
    }


def flags(options):
    return [f"--{name}={value!r}" if isinstance(value, float) else
            f"--{name}={value}" for name, value in options.items()]


class Objective:
    def __init__(self, options, others):
        self.options = options
        self.command = [options.app, "train", f"--data={options.data}",
                        f"--epochs={options.epochs}", "--log=-", *others]

    def __call__(self, trial):
        command = [*self.command, *flags(sample(trial))]
        value = None
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL) as process:
            for line in process.stdout:
                event = json.loads(line)
                if event["event"] == "end" and "message" in event:
                    trial.set_user_attr("message", event["message"])
                if event["event"] != "epoch":
                    continue
                value = event.get("test_accuracy", event.get("test_loss"))
                trial.set_user_attr("digest", event["digest"])
                trial.report(value, event["epoch"])
                if trial.should_prune():
                    process.terminate()
                    process.wait()
                    raise optuna.TrialPruned
        if process.returncode == 15:  # a loss that is not finite
            raise optuna.TrialPruned
        if process.returncode:
            raise RuntimeError(f"{' '.join(command)} ended with "
                               f"{process.returncode}")
        return value


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("app")
    parser.add_argument("--data", required=True)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--storage")
    parser.add_argument("--name", default="mnistc")
    parser.add_argument("--direction", choices=("maximize", "minimize"),
                        default="maximize", help="minimize: a loss of values")
    options, others = parser.parse_known_args()
    study = optuna.create_study(
        study_name=options.name, storage=options.storage, load_if_exists=True,
        direction=options.direction,
        sampler=optuna.samplers.TPESampler(seed=options.seed),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=4))
    study.optimize(Objective(options, others), n_trials=options.trials)
    best = study.best_trial
    print(f"best of {len(study.trials)}: {best.value:.4f}, digest "
          f"{best.user_attrs['digest']}")
    named = {name.replace("_", "-"): value for name, value in best.params.items()}
    print(*flags(named))
    return 0


if __name__ == "__main__":
    sys.exit(main())
