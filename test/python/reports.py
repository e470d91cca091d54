"""Explanations and profiles as objects, and the types of the package."""

import dataclasses
import json
import os
import sys

import mnistc
from harness import ROOT, expect, ok, run
from mnistc.reports import element_of


def unknown_keys(kind, found, where=""):
    """What JSON has and the dataclass has not."""
    import typing
    hints = typing.get_type_hints(kind)
    missing = [f"{where}{key}" for key in found if key not in hints]
    for key, hint in hints.items():
        inner = element_of(hint)
        for each in found.get(key, []) if inner else []:
            missing += unknown_keys(inner, each, f"{where}{key}.")
    return missing


def test_explanations(place):
    for target, train in (("cpu", False), ("cpu", True), ("cuda", True)):
        flags = ["--train"] if train else []
        found = json.loads(ok(place.mnistc, place.model(), "--explain=json", "--batch=16",
                              f"--target={target}", *flags).out)
        expect(not unknown_keys(mnistc.Explanation, found), unknown_keys(mnistc.Explanation, found))
        explained = mnistc.explain(place.model(), target=target, batch=16, train=train)
        again = {key: value for key, value in dataclasses.asdict(explained).items()
                 if key in found}
        expect(again.keys() == found.keys(), found.keys())
        expect([plan.name for plan in explained.plans] == [p["name"] for p in found["plans"]],
               explained)
        step = explained.plans[0].steps[0]
        expect(step.runs_as == found["plans"][0]["steps"][0]["runs_as"], step)
        expect(explained.plans[0].nodes[0].operator == "Gemm", explained.plans[0].nodes[0])
        expect(all(w.why for w in explained.tensors) and bool(explained.tensors) == train,
               explained.tensors)


def test_profiles(place):
    program = mnistc.compile(place.model(), target="cpu", batch=[4, 16], train=True)
    found = json.loads(ok(place.program("--train"), "profile", "--json").out)
    expect(not unknown_keys(mnistc.Profile, found), unknown_keys(mnistc.Profile, found))
    for plan, batch in (("infer", 4), ("train", 16)):
        profile = program.profile(plan, batch=batch)
        expect(profile.plan == f"{plan}_{batch}" and profile.plan_us > 0, profile)
        total = sum(step.us for step in profile.steps)
        expect(abs(total - profile.steps_us) < 1e-6 * total, (total, profile.steps_us))


def test_types(place):
    done = run(sys.executable, "-m", "mypy", "--strict", "--cache-dir", place.path("mypy"),
               ROOT / "python/mnistc", ROOT / "python/mnistc_tree",
               env=dict(os.environ, MYPYPATH=str(ROOT / "python")))
    expect(done.code == 0, done)
