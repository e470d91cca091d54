#!/usr/bin/env python3
"""Our CPU programs against onnxruntime: the ratio of medians, in one run.

usage: inference-cpu.py [--models=DIR | --only=NAMES] [--batch=1,64,1000] [--threads=N]

NAMES are networks of models/networks.py, or random-7 and others of models/named.py;
without them, files of exporters in DIR. Both programs get the same threads and the
same input, after a check that their outputs agree; they take turns, so that a busy
moment hits both.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "models"))
from make import Graph  # noqa: E402
from named import named  # noqa: E402

MODELS = ["pytorch-simplecnn-ts17.onnx", "pytorch-net-ts17.onnx", "pytorch-mlp-ts17.onnx",
          "mxnet-gluon-lenet.onnx", "cntk-mnist-12.onnx", "tf2onnx-keras-cnn.onnx",
          "keras2onnx-cnn-unsorted.onnx"]
ROUNDS = 5


def onnxruntime_time(session, name, x, seconds):
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        session.run(None, {name: x})
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def rebatch(model, batch):
    """onnxruntime binds a frozen batch of 1 as we do: by another input shape."""
    graph = model.graph
    weights = {w.name for w in graph.initializer}
    info = [i for i in graph.input if i.name not in weights][0]
    dim = info.type.tensor_type.shape.dim[0]
    frozen = dim.dim_value == 1
    dim.dim_value = batch
    del graph.value_info[:]
    for output in graph.output:
        output.type.tensor_type.shape.dim[0].dim_value = batch
    if frozen:
        for weight in graph.initializer:
            value = onnx.numpy_helper.to_array(weight)
            if value.dtype == np.int64 and value.ndim == 1 and value[:1] == 1 and len(value) == 2:
                weight.CopyFrom(onnx.numpy_helper.from_array(
                    np.array([batch, value[1]], np.int64), weight.name))
    return info.name, [batch] + [d.dim_value for d in info.type.tensor_type.shape.dim][1:]


def export(name, path):
    network = named(name)
    if network is None:
        raise SystemExit(f"error: expected a network, got '{name}'")
    if hasattr(network, "export"):
        network.export(path, with_dropout=False, trains=False)
    else:
        onnx.save(Graph(name, network, 1, with_dropout=False).model(), str(path))


def compare(options, name, path, batch, folder):
    """A row of the table, or why there is none."""
    model = onnx.load(path)
    input_name, shape = rebatch(model, batch)
    x = np.random.default_rng(1).random(shape, np.float32)
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = options.threads
    settings.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), settings, ["CPUExecutionProvider"])
        expected = session.run(None, {input_name: x})[0]
    except Exception as error:
        return f"onnxruntime: {str(error)[:60]}"
    app = f"{folder}/app"
    subprocess.run([options.mnistc, path, "-o", app, "--target=cpu", "--quiet",
                    f"--batch={batch}"], check=True)
    np.save(f"{folder}/x.npy", x)
    subprocess.run([app, "infer", f"{folder}/x.npy", f"--output={folder}/y.npy"],
                   check=True, stdout=subprocess.DEVNULL)
    found = np.load(f"{folder}/y.npy")
    worst = np.max(np.abs(found - expected)) / max(1, np.max(np.abs(expected)))
    if worst > 1e-4:
        return f"outputs differ by {worst:.1e}"
    ours, theirs = [], []
    for _ in range(ROUNDS):
        theirs.append(onnxruntime_time(session, input_name, x, options.seconds))
        report = subprocess.run(
            [app, "bench", "--json", f"--seconds={options.seconds}"],
            check=True, capture_output=True, text=True).stdout
        ours.append(json.loads(report)["plans"][0]["latency_us"]["median"])
    a, b = statistics.median(ours), statistics.median(theirs)
    return f"{a:11.1f} {b:15.1f} {a / b:6.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mnistc", default=str(ROOT / "build/bin/mnistc"))
    parser.add_argument("--models", default=str(ROOT.parent / "shared/models"))
    parser.add_argument("--only")
    parser.add_argument("--batch", default="1,64,1000")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=0.4)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    print(f"{'model':32} {'batch':>6} {'mnistc us':>11} {'onnxruntime us':>15} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only.split(",") if options.only else MODELS:
            path = f"{folder}/{name}.onnx" if options.only else f"{options.models}/{name}"
            if options.only:
                export(name, path)
            for batch in map(int, options.batch.split(",")):
                row = compare(options, name, path, batch, folder)
                print(f"{name.removesuffix('.onnx'):32} {batch:6} {row}", flush=True)


if __name__ == "__main__":
    main()
