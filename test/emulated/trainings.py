"""Whole trainings beside the CPU's, on networks of several kinds."""

import json
import pathlib
import re
import sys

import numpy as np
import onnx
from harness import ROOT, expect, ok
from onnx import helper

sys.path.insert(0, str(ROOT / "models"))
from make import Graph  # noqa: E402
from networks import (FLATTEN, RELU, SIGMOID, TANH, Network, concat,  # noqa: E402
                      dense)

HERE = pathlib.Path(__file__).resolve().parent

TRAIN = ("train", "--data=digits", "--limit=20", "--test-limit=8", "--epochs=1",
         "--report-every=1")
NETWORKS = ("mxnet-simplecnn", "keras-cnn", "lenet5", "residual", "mobile", "vit",
            "random-41", "branches", "recurrent")


def branches():
    """Products of one matrix, which become one."""
    network = Network([FLATTEN, dense(32), RELU,
                       concat([dense(16), TANH], [dense(8), SIGMOID]), dense(10)],
                      train="")
    return Graph("branches", network, 1).model()


def classifier(name, nodes, tensors):
    """A model of images x whose scores are y."""
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, name, [value("x", onnx.TensorProto.FLOAT, ["n", 1, 28, 28])],
        [value("y", onnx.TensorProto.FLOAT, ["n", 10])], tensors)
    return helper.make_model(graph, ir_version=10,
                             opset_imports=[helper.make_opsetid("", 20)])


def recurrent(width=12, rows=28):
    """A cell that reads the rows of an image one after another: products with the
    same weights, of inputs and of states, whose gradients are sums of as many."""
    random = np.random.default_rng(1)
    names = {"ofInput": (width, 28), "ofState": (width, width),
             "bias": (width,), "ofHead": (10, width)}
    tensors = [onnx.numpy_helper.from_array(
        random.uniform(-0.3, 0.3, shape).astype(np.float32), name)
        for name, shape in names.items()]
    for name, values in (("shape", (-1, rows, 28)), ("dim", (1,))):
        tensors.append(onnx.numpy_helper.from_array(np.array(values), name))
    nodes = [helper.make_node("Reshape", ["x", "shape"], ["image"]),
             helper.make_node("Split", ["image"], [f"row{i}" for i in range(rows)],
                              axis=1, num_outputs=rows)]
    for i in range(rows):
        nodes += [helper.make_node("Squeeze", [f"row{i}", "dim"], [f"x{i}"]),
                  helper.make_node("Gemm", [f"x{i}", "ofInput", "bias"],
                                   [f"input{i}"], transB=1)]
        total = f"input{i}"
        if i > 0:
            nodes += [helper.make_node("Gemm", [f"h{i - 1}", "ofState"],
                                       [f"state{i}"], transB=1),
                      helper.make_node("Add", [total, f"state{i}"], [f"sum{i}"])]
            total = f"sum{i}"
        nodes.append(helper.make_node("Tanh", [total], [f"h{i}"]))
    nodes.append(helper.make_node("Gemm", [f"h{rows - 1}", "ofHead"], ["y"],
                                  transB=1))
    return classifier("recurrent", nodes, tensors)


def long_filters(channels=4, taps=41):
    """Filters with more taps than a number has bits, and the largest of what they
    find."""
    random = np.random.default_rng(2)
    tensors = [onnx.numpy_helper.from_array(
        random.uniform(-0.3, 0.3, shape).astype(np.float32), name)
        for name, shape in (("filters", (channels, 1, taps)), ("shifts", (channels,)),
                            ("ofHead", (10, channels)))]
    for name, values in (("shape", (-1, channels, 784 // channels)), ("dims", (2,))):
        tensors.append(onnx.numpy_helper.from_array(np.array(values), name))
    nodes = [helper.make_node("Reshape", ["x", "shape"], ["signal"]),
             helper.make_node("Conv", ["signal", "filters", "shifts"], ["found"],
                              group=channels, pads=[taps // 2] * 2),
             helper.make_node("Tanh", ["found"], ["bounded"]),
             helper.make_node("ReduceMax", ["bounded", "dims"], ["most"], keepdims=0),
             helper.make_node("Gemm", ["most", "ofHead"], ["y"], transB=1)]
    return classifier("long-filters", nodes, tensors)


# What no network of models/ has.
OWN = {"branches": branches, "recurrent": recurrent, "long-filters": long_filters}

# Of a loss in f32, relative: some units in its last place. Of the change of a
# parameter in a step, relative to its norm: where batches are normalized 1e-4, and
# 1 if it stays as it was. Of those that change so little
# it may be nothing but rounding.
ROUNDING, OF_UPDATES, NOTHING = 5e-7, 1e-3, 1e-5


def model(place, name):
    def make():
        path = place.path(f"{name}.onnx")
        if name in OWN:
            onnx.save(OWN[name](), str(path))
        else:
            ok(sys.executable, ROOT / "models/make.py", name, path,
               "--no-dropout")
        return path
    return place.once(name, make)


def losses(log):
    events = [json.loads(line) for line in log.read_text().splitlines()]
    found = [event[key] for event in events
             for key in ("loss", "train_loss", "test_loss") if key in event]
    expect(len(found) >= 3, events)
    return found, events[-1]["digest"]


def compiled(place, name, target, *flags):
    program = place.path(f"{name}-{target}{''.join(flags)}")
    if not program.exists():
        made = place.run(place.mnistc, model(place, name), "--train", "--batch=8",
                         f"--target={target}", *flags, "-o", program)
        expect(made.code == 0, made)
    return program


def trained(place, name, target, *flags, **how):
    """What a training reports, and the weights' digest."""
    program = compiled(place, name, target, *flags)
    log = program.with_name(f"{program.name}{''.join(how.values())}.jsonl")
    done = place.run(program, *TRAIN, f"--log={log}", env=place.environment(**how))
    expect(done.code == 0, done)
    return losses(log)


def expect_near(found, expected, tolerance, what):
    expect(len(found) == len(expected) and all(
        abs(a - b) <= tolerance * abs(b) for a, b in zip(found, expected)),
        f"{what}: {found}, {expected}")


def expect_as_on_the_cpu(place, names, *flags, **how):
    def check(name):
        expected, _ = trained(place, name, "cpu")
        found, _ = trained(place, name, "cuda", "--libraries=none", *flags, **how)
        expect_near(found, expected, ROUNDING, name)
    place.side_by_side(check, names)


def weights(path):
    return {tensor.name: onnx.numpy_helper.to_array(tensor).astype(np.float64)
            for tensor in onnx.load(path).graph.initializer}


def updates(place, name, target, *flags):
    """By how much the first step changes each parameter."""
    program = compiled(place, name, target, *flags)
    saved = program.with_name(f"{program.name}-step.onnx")
    done = place.run(program, "train", "--data=digits", "--limit=8", "--test-limit=8",
                     "--epochs=1", "--lr=1", f"--save={saved}",
                     env=place.environment())
    expect(done.code == 0, done)
    before, after = weights(model(place, name)), weights(saved)
    return {key: after[key] - before[key] for key in after if key in before}


def test_updates_as_on_the_cpu(place):
    """Of each parameter: losses hardly show that a small one stays as it was."""
    def check(name):
        expected = updates(place, name, "cpu")
        found = updates(place, name, "cuda", "--libraries=none")
        norms = {key: np.linalg.norm(step) for key, step in expected.items()}
        least = NOTHING * max(norms.values())
        seen = [key for key in norms if norms[key] > least]
        expect(len(seen) >= 3, (name, norms))
        for key in seen:
            off = np.linalg.norm(found[key] - expected[key]) / norms[key]
            expect(off < OF_UPDATES, f"{name}: {key} is off by {off:.1e}")
    place.side_by_side(check, (*NETWORKS, "long-filters"))


def test_losses_as_on_the_cpu(place):
    expect_as_on_the_cpu(place, NETWORKS)


def test_gpus_without_clusters(place):
    expect_as_on_the_cpu(place, ("mxnet-simplecnn", "residual", "random-41"),
                         "--arch=sm_80", CAPABILITY="80")


def test_a_recurrence_is_one_chain(place):
    """Of all states and their gradients; products of inputs are one step, and so
    are those of the gradients of weights."""
    program = place.path("recurrent-plan")
    made = place.run(place.mnistc, model(place, "recurrent"), "--train",
                     "--batch=8", "--libraries=none", "-o", program)
    expect(made.code == 0, made)
    plans = json.loads(place.run(program, "info", "--json").out)["plans"]
    steps = next(plan["steps"] for plan in plans if plan["name"] == "train_8")
    chains = [step for step in steps if step["schedule"].startswith("a chain")]
    expect(len(chains) == 1 and "sum1.grad" in chains[0]["schedule"] and
           len(steps) <= 12, [(step["name"], step["schedule"]) for step in steps])


def test_precisions(place):
    expected, _ = trained(place, "mxnet-simplecnn", "cpu")

    def check(case):
        precision, tolerance = case
        found, _ = trained(place, "mxnet-simplecnn", "cuda", "--libraries=none",
                           f"--precision={precision}")
        expect_near(found, expected, tolerance, precision)
    # So few steps change little: losses are off by 1e-6 and 5e-6.
    place.side_by_side(check, (("tf32", 1e-5), ("bf16", 5e-5),
                               ("strict", ROUNDING)))


def test_operands_in_bf16(place):
    """What large results are rounded to, here in plans of small ones, trained
    fast enough for gradients to be seen in the losses."""
    def check(case):
        name, rate, ops = case
        plan = place.path(f"{name}.plan")
        rounded = plan.with_suffix(".mlir")
        programs = [place.path(f"{name}-exact"), place.path(f"{name}-rounded")]
        flags = (model(place, name), "--train", "--batch=8")
        for command in (
                (place.mnistc, *flags, "--target=cpu", "-o", programs[0]),
                (place.mnistc, *flags, "--libraries=none", "--precision=bf16",
                 "--no-reuse-memory", "--emit=plan", "-o", plan),
                (place.mnistc.with_name("mnist-opt"), plan,
                 "--pass-pipeline=builtin.module(func.func("
                 "plan-round-results{from=256}))", "-o", rounded),
                (place.mnistc, rounded, "-o", programs[1])):
            made = place.run(*command)
            expect(made.code == 0, made)
        for op in ops:
            expect(re.search(rf"mnist\.{op} .*: \(tensor<[^>]*xbf16>",
                             rounded.read_text()), f"{name}: no {op} of bf16")
        found = []
        for program in programs:
            log = program.with_suffix(".jsonl")
            done = place.run(program, "train", "--data=digits", "--limit=64",
                             "--test-limit=8", "--epochs=2", "--report-every=1",
                             f"--lr={rate}", f"--log={log}",
                             env=place.environment())
            expect(done.code == 0, done)
            found.append(losses(log)[0])
        # Off by 1e-5 to 3e-4.
        expect_near(found[1], found[0], 1e-3, name)
    images = ("conv", "conv_filter_grad")
    place.side_by_side(check, (("mxnet-simplecnn", 0.1, images),
                               ("lenet5", 0.1, images),
                               ("residual", 0.003, images),
                               ("mobile", 0.003, images),
                               ("mixer", 0.03, ["matmul"]),
                               ("vit", 0.03, ["matmul"])))


def test_any_order_of_threads_gives_the_same_bits(place):
    def check(name):
        digests = {trained(place, name, "cuda", "--libraries=none", ORDER=order,
                           ASYNC=when)[1]
                   for order in ("forward", "backward")
                   for when in ("late", "early")}
        expect(len(digests) == 1, f"{name}: {digests}")
    place.side_by_side(check, ("mxnet-simplecnn", "residual", "random-41"))


def test_batches_of_a_graph_as_one_by_one(place):
    """Steps that are short enough for graphs of sixteen batches."""
    model = place.path("small.onnx")
    ok(sys.executable, ROOT / "utils/onnx-as.py", HERE / "small.onnxtext", "-o",
       model)
    program = place.path("small")
    made = place.run(place.mnistc, model, "--train", "--batch=2",
                     "--libraries=none", "-o", program)
    expect(made.code == 0, made)
    digests = set()
    for flags in ((), ("--no-graph",)):
        for order in ("forward", "backward"):
            done = place.run(program, "train", "--data=digits", "--limit=121",
                             "--test-limit=9", "--epochs=3", "--log=-", *flags,
                             env=place.environment(ORDER=order))
            expect(done.code == 0, done)
            digests.add(json.loads(done.out.splitlines()[-1])["digest"])
    expect(len(digests) == 1, digests)
