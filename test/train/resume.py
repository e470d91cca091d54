"""Checkpoints and what a resumed run takes from them; standard output."""

import json
import subprocess
import xml.dom.minidom

from harness import expect, fails, ok
from place import FLAGS, Trained, events


def test_more_epochs(place):
    folder = place.fresh("more")
    place.train("mlp", "--epochs=1", f"--checkpoint={folder}")
    run = place.train("mlp", "--epochs=2", f"--checkpoint={folder}", "--resume")
    expect(run.digest == place.plain("mlp").digest, run.out)


def test_resume_takes_options_from_the_checkpoint(place):
    folder = place.fresh("options")
    checkpoint = f"--checkpoint={folder}"
    program = place.program("mlp")
    place.train("mlp", "--epochs=1", "--lr=0.02", "--seed=3", checkpoint)
    whole = place.train("mlp", "--epochs=2", "--lr=0.02", "--seed=3")
    done = Trained(ok(program, "train", checkpoint, "--resume", "--epochs=2"))
    expect(done.digest == whole.digest, done.out)
    for said in ("--data=digits", "--lr=0.02", "--seed=3",
                 "overridden: --epochs=2 (1 in the checkpoint)"):
        expect(said in done.out, done.out)
    done = ok(program, "train", checkpoint, "--resume", "--epochs=3",
              "--schedule=cosine", "--lr=0.03").out
    for said in ("--schedule=cosine,lr-min=0 (constant in the checkpoint)",
                 "overridden: --lr=0.03 (0.02 in the checkpoint)"):
        expect(said in done, done)
    done = ok(program, "train", checkpoint, "--resume", "--lr=3e-2",
              "--schedule=cosine").out
    expect("overridden" not in done, done)
    expect("nothing is left to train" in done, done)
    fails(2, program, "train", checkpoint, "--resume", "--epochs=1",
          parts=["'--epochs' of 3 or more", "got 1"])


def test_more_epochs_of_a_schedule(place):
    """The rest of the run has the rates of a longer one."""
    folder = place.fresh("longer")
    flags = ("--schedule=cosine", "--lr=0.05", "--report-every=19")
    place.train("mlp", "--epochs=2", f"--checkpoint={folder}", *flags)
    log = [folder / "rest", folder / "whole"]
    rest = ok(place.program("mlp"), "train", f"--checkpoint={folder}",
              "--resume", "--epochs=4", "--report-every=19", f"--log={log[0]}")
    expect("schedule is now that of a run of 4 epochs" in rest.out, rest.out)
    place.train("mlp", "--epochs=4", f"--log={log[1]}", *flags)
    rates = [{e["step"]: e["lr"] for e in events(path)
              if e["event"] == "report"} for path in log]
    expect(sorted(rates[0]) == [57, 76], rates)
    expect(all(rates[1][step] == rate for step, rate in rates[0].items()),
           rates)


def test_checkpoint_of_another_run(place):
    folder = place.fresh("other")
    common = [f"--checkpoint={folder}", "--resume"]
    first = place.train("mlp", "--epochs=1", *common)
    expect("training from scratch" in first.out, first.out)
    program = place.program("mlp")
    fails(14, place.program("cnn"), "train", *FLAGS, *common,
          parts=["checkpoint of model 'cnn', got one of 'mlp'"])
    fails(14, program, "train", *FLAGS[:-1], "--limit=500", *common,
          parts=["training rows of 600", "got 500"])
    other = place.program("mlp", 16)
    fails(14, other, "train", *FLAGS, *common, "--batch=16",
          parts=["'--batch' 32", "got 16"])
    file = folder / "checkpoint.safetensors"
    file.write_bytes(file.read_bytes()[:-8])
    fails(14, program, "train", *FLAGS, *common, parts=[str(file)])


def test_standard_output(place):
    """Only a log, a plot or a summary; progress goes to standard error."""
    program = place.program("mlp")
    flags = ("train", *FLAGS, "--epochs=2")
    done = ok(program, *flags, "--log=-")
    kinds = [json.loads(line)["event"] for line in done.out.splitlines()]
    expect(kinds[0] == "start" and kinds[-1] == "end", kinds)
    expect("epoch 2/2: train loss" in done.err, done.err)
    done = ok(program, *flags, "--plot=-")
    picture = xml.dom.minidom.parseString(done.out)
    expect(picture.documentElement.tagName == "svg", "svg")
    expect("epoch 2/2: train loss" in done.err, done.err)
    done = ok(program, *flags, "--json", f"--save={place.path('json.onnx')}")
    summary = json.loads(done.out)
    expect(summary["reason"] == "complete" and summary["step"] == 38 and
           summary["digest"] == Trained(Said(done)).digest, summary)
    fails(2, program, *flags, "--log=-", "--plot=-",
          parts=["expected one output on standard output"])
    with open("/dev/full", "w") as full:
        done = subprocess.run([program, *flags, "--log=-"], stdout=full,
                              stderr=subprocess.PIPE, text=True)
    expect(done.returncode == 14 and "No space left" in done.stderr, done)


class Said:
    """A run whose progress went to standard error."""

    def __init__(self, done):
        self.code, self.out, self.err = done.code, done.err, ""
