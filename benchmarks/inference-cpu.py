#!/usr/bin/env python3
"""Our CPU programs against onnxruntime: the ratio of medians, in one run.

usage: inference-cpu.py [--models=DIR] [--batch=1,64,1000] [--threads=N]

Both get the same threads and the same input, after a check that their outputs
agree; they take turns, so that a busy moment hits both.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
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
        from onnx import numpy_helper
        for weight in graph.initializer:
            value = numpy_helper.to_array(weight)
            if value.dtype == np.int64 and value.ndim == 1 and value[:1] == 1 and len(value) == 2:
                weight.CopyFrom(numpy_helper.from_array(
                    np.array([batch, value[1]], np.int64), weight.name))
    return info.name, [batch] + [d.dim_value for d in info.type.tensor_type.shape.dim][1:]


def main():
    import onnx
    import onnxruntime
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mnistc", default=str(ROOT / "build/bin/mnistc"))
    parser.add_argument("--models", default=str(ROOT.parent / "shared/models"))
    parser.add_argument("--batch", default="1,64,1000")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=0.4)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    print(f"{'model':32} {'batch':>6} {'mnistc us':>11} {'onnxruntime us':>15} {'ratio':>6}")
    for file in MODELS:
        for batch in map(int, options.batch.split(",")):
            with tempfile.TemporaryDirectory() as folder:
                model = onnx.load(str(pathlib.Path(options.models) / file))
                name, shape = rebatch(model, batch)
                x = np.random.default_rng(1).random(shape, np.float32)
                settings = onnxruntime.SessionOptions()
                settings.intra_op_num_threads = options.threads
                settings.log_severity_level = 3
                try:
                    session = onnxruntime.InferenceSession(
                        model.SerializeToString(), settings, ["CPUExecutionProvider"])
                    expected = session.run(None, {name: x})[0]
                except Exception as error:
                    print(f"{file[:-5]:32} {batch:6} onnxruntime: {str(error)[:60]}")
                    continue
                app = f"{folder}/app"
                subprocess.run([options.mnistc, f"{options.models}/{file}", "-o", app,
                                "--target=cpu", f"--batch={batch}"], check=True)
                np.save(f"{folder}/x.npy", x)
                subprocess.run([app, "infer", f"{folder}/x.npy",
                                f"--output={folder}/y.npy"], check=True,
                               stdout=subprocess.DEVNULL)
                found = np.load(f"{folder}/y.npy")
                worst = np.max(np.abs(found - expected)) / max(1, np.max(np.abs(expected)))
                if worst > 1e-4:
                    print(f"{file[:-5]:32} {batch:6} outputs differ by {worst:.1e}")
                    continue
                ours, theirs = [], []
                for _ in range(ROUNDS):
                    theirs.append(onnxruntime_time(session, name, x, options.seconds))
                    report = subprocess.run(
                        [app, "bench", "--json", f"--seconds={options.seconds}"],
                        check=True, capture_output=True, text=True).stdout
                    ours.append(json.loads(report)["plans"][0]["latency_us"]["median"])
                a, b = statistics.median(ours), statistics.median(theirs)
                print(f"{file[:-5]:32} {batch:6} {a:11.1f} {b:15.1f} {a / b:6.2f}", flush=True)


if __name__ == "__main__":
    main()
