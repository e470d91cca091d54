"""A learning rate to begin with."""

import json
import re

from harness import expect, fails, ok
from place import FLAGS


def test_the_rate_that_is_found_trains(place):
    program = place.program("mlp")
    said = ok(program, "train", *FLAGS, "--lr-find").out
    again = ok(program, "train", *FLAGS, "--lr-find", "--device-data=0").out
    expect(said == again, f"{said} {again}")
    rate = float(re.search(r"smallest at [-.0-9e]+: try --lr=([-.0-9e]+)\n$", said)[1])
    found = json.loads(ok(program, "train", *FLAGS, "--lr-find", "--json").out)
    expect(f"{found['lr']:.2g}" == f"{rate:.2g}" and found["steps"] <= 100
           and len(found["points"]) == found["steps"], found)
    rates = [point["lr"] for point in found["points"]]
    expect(abs(rates[0] - 1e-7) < 1e-12 and rates == sorted(rates), rates)
    good, tiny = (place.train("mlp", "--epochs=3", f"--lr={lr}").accuracies[-1]
                  for lr in (rate, rate / 1000))
    expect(good > 60 and good > tiny + 30, f"{rate}: {good} {tiny}")


def test_what_is_refused(place):
    program = place.program("mlp")
    for flag in ("--save=x.onnx", "--checkpoint=x", "--log=x"):
        fails(2, program, "train", *FLAGS, "--lr-find", flag,
              parts=["expected '--lr-find' without '--"])
    fails(2, program, "train", "--lr-find", parts=["expected '--data=DIR'"])
    fails(15, program, "train", *FLAGS, "--lr-find", "--scale=1e-30",
          parts=["expected a loss that falls at some rate"], lines=None)
