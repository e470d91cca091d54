"""Graphs that are large, deep, wide, or read every value twice."""

import resource
import subprocess

import graphs
import onnx
from harness import expect

LIMIT_S, LIMIT_BYTES = 30, 2 << 30

# family, its arguments, the options; all of them compile
FAMILIES = [
    ("add_chain", (5000,), ()),
    ("exp_chain", (3000,), ()),
    ("doubling", (3000,), ()),
    ("concat_doubling", (14,), ()),
    ("pad_chain", (90,), ()),
    ("concat_wide", (5000,), ()),
    ("split_wide", (1000,), ()),
    ("sum_wide", (10000,), ()),
    ("sum_same", (10000,), ()),
    ("fan_out", (1000,), ()),
    ("many_inputs", (2000,), ()),
    ("matmul_chain", (2000,), ()),
    ("layers", (500,), ()),
    ("layers", (50,), ("--train", "--batch=4")),
    ("long_names", (1000000,), ()),
    ("shape_chain", (5000,), ()),
    ("transposes", (1000,), ()),
    ("functions", (12,), ()),
    *(("mixing", (60, kind), ()) for kind in graphs.renames),
    *(("mixing_of_weights", (12, kind), ("--train", "--loss=mse", "--targets=values"))
      for kind in ("Transpose", "Concat")),
]


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))


def compiled(place, model, *options):
    path = place.path("growth.onnx")
    onnx.save(model, str(path))
    try:
        return subprocess.run(
            [place.mnistc, path, "--emit=source", "-o", place.path("growth.cpp"),
             *options], capture_output=True, text=True, timeout=LIMIT_S,
            preexec_fn=limited, check=False)
    except subprocess.TimeoutExpired as late:
        raise AssertionError(f"more than {LIMIT_S} s") from late


def test_graphs_that_grow(place):
    wrong = []
    for family, arguments, options in FAMILIES:
        model = getattr(graphs, family)(*arguments)
        for target in ("cpu", "cuda"):
            try:
                done = compiled(place, model, f"--target={target}", *options)
                if done.returncode != 0:
                    wrong.append(f"{family}{arguments} {target} {options}: "
                                 f"{done.returncode}, {done.stderr[-300:]}")
            except AssertionError as late:
                wrong.append(f"{family}{arguments} {target} {options}: {late}")
    expect(not wrong, "\n".join(wrong))


# What is refused, with its exit code and a part of the message.
REFUSED = [
    ("functions", (24,), 3, "nodes"),
    ("functions", (150, 1), 3, "deep"),
    ("concat_doubling", (45,), 1, "elements"),
    ("many_inputs", (70000,), 3, "expected at most 4096 inputs, got 70000"),
    ("fan_out", (5000,), 3, "expected at most 4096 outputs, got 5000"),
    ("pad_chain", (300,), 3, "nested at most 100 deep"),
]


def test_graphs_that_are_refused(place):
    for family, arguments, code, part in REFUSED:
        done = compiled(place, getattr(graphs, family)(*arguments))
        expect(done.returncode == code and part in done.stderr,
               f"{family}{arguments}: {done.returncode} {done.stderr[-300:]}")
