#!/usr/bin/env python3
"""Compiles real models of five exporters and checks what the programs answer.

Needs a folder of models and real MNIST (--models, --mnist), which are not part
of the project: without them every case is skipped. Outputs are compared with
onnxruntime's, accuracies with what the models are known to reach.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SHARED = HERE.parents[2] / "shared"
LIMIT_S = 300

# Model, t10k accuracy in percent (None: untrained), tolerance (absolute,
# relative) against onnxruntime, options of `eval`.
MODELS = [
    ("cntk-mnist-8.onnx", 98.9, (1e-2, 1e-4), ["--scale=1"]),
    ("cntk-mnist-12.onnx", 98.9, (1e-2, 1e-4), ["--scale=1"]),
    ("mxnet-gluon-lenet.onnx", 99.0, (1e-4, 1e-4), []),
    ("tf2onnx-keras-cnn.onnx", 89.7, (1e-5, 1e-5), []),
    ("keras2onnx-cnn-unsorted.onnx", 83.2, (1e-5, 1e-5), []),
    ("pytorch-simplecnn-ts17.onnx", None, (1e-5, 1e-5), []),
    ("pytorch-simplecnn-dynamo.onnx", None, (1e-5, 1e-5), []),
    ("pytorch-mlp-ts17.onnx", None, (1e-5, 1e-5), []),
    ("pytorch-mlp-dynamo.onnx", None, (1e-5, 1e-5), []),
    ("pytorch-net-ts17.onnx", None, (1e-5, 1e-5), []),
    ("pytorch-net-ts17-train.onnx", None, (1e-5, 1e-5), []),
    ("pytorch-dynamo-external-data/mnist.onnx", None, (1e-5, 1e-5), []),
]
# Every variant must answer the same.
VARIANTS = [["--layout=nchw"], ["--layout=nhwc"], ["--no-fuse"],
            ["--no-fold-batch-norm"], ["--no-fold-constants"],
            ["--no-push-transposes"], ["--no-cse"], ["--no-reuse-memory"],
            ["--libraries=none"]]
# The CPU has one stream.
CUDA_VARIANTS = [["--no-assign-streams"]]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mnistc", default=str(HERE.parents[1] / "build/bin/mnistc"))
    parser.add_argument("--models", default=str(SHARED / "models"))
    parser.add_argument("--mnist", default=str(SHARED / "mnist"))
    parser.add_argument("--target", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--batches", default="1,64,1000")
    parser.add_argument("--variants", default="all", choices=["all", "none"])
    parser.add_argument("--only", default="")
    parser.add_argument("-j", "--jobs", type=int,
                        default=int(os.environ.get("MNISTC_JOBS") or os.cpu_count()))
    parser.add_argument("--report")
    return parser.parse_args()


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                          timeout=LIMIT_S)
    return done.returncode, (done.stdout + done.stderr).strip()


def images(mnist, count):
    import gzip
    import numpy as np
    with gzip.open(pathlib.Path(mnist) / "t10k-images-idx3-ubyte.gz") as file:
        return np.frombuffer(file.read(), np.uint8, offset=16)[:count * 784]


class Reference:
    """onnxruntime's answers, one test_data_set for each batch size."""

    def __init__(self, path, mnist, folder, batches, scale):
        import numpy as np
        import onnx
        import onnxruntime
        from onnx import numpy_helper
        model = onnx.load(str(path))
        weights = {w.name for w in model.graph.initializer}
        # Without training-mode dropout, as a program that infers runs it.
        for node in model.graph.node:
            if node.op_type == "Dropout":
                del node.input[1:]
        info = [i for i in model.graph.input if i.name not in weights][0]
        dims = [d.dim_value for d in info.type.tensor_type.shape.dim]
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                               ["CPUExecutionProvider"])
        self.folders = {}
        for batch in batches:
            x = images(mnist, batch).astype(np.float32).reshape(batch, *dims[1:])
            x = x * np.float32(scale)
            rows = [x] if dims[0] != 1 else [x[i:i + 1] for i in range(batch)]
            y = np.concatenate([session.run(None, {info.name: row})[0]
                                for row in rows])
            data = folder / f"batch_{batch}" / "test_data_set_0"
            data.mkdir(parents=True)
            for name, value in (("input_0", x), ("output_0", y)):
                (data / f"{name}.pb").write_bytes(
                    numpy_helper.from_array(value).SerializeToString())
            self.folders[batch] = data.parent


def check_model(case, root, options):
    """All variants of one model; returns [(what, passed, message)]."""
    name, accuracy, (atol, rtol), eval_options = case
    path = pathlib.Path(options.models) / name
    folder = root / name.replace("/", "-")
    folder.mkdir()
    batches = [int(b) for b in options.batches.split(",")]
    scale = 1 if "--scale=1" in eval_options else 1 / 255
    reference = Reference(path, options.mnist, folder, batches, scale)
    outcomes = []

    def check(what, command, judge=None):
        code, text = run(command)
        passed = code == 0 and (judge is None or judge(text))
        outcomes.append((f"{name} {what}", passed,
                         text[-300:] if not passed else ""))
        return code == 0

    app = folder / "app"
    variants = [[]]
    if options.variants == "all":
        variants += VARIANTS + (CUDA_VARIANTS if options.target == "cuda" else [])
    for variant in variants:
        label = " ".join(variant) or "default"
        build = [options.mnistc, str(path), "-o", str(app),
                 f"--target={options.target}", f"--batch={options.batches}"]
        if not check(f"{label}: compile", build + variant):
            continue
        for batch in batches:
            check(f"{label}: batch {batch}",
                  [str(app), "verify", str(reference.folders[batch]),
                   f"--atol={atol}", f"--rtol={rtol}"])
        if accuracy and variant in ([], ["--layout=nhwc"], ["--no-fuse"]):
            check(f"{label}: accuracy {accuracy}",
                  [str(app), "eval", f"--data={options.mnist}", *eval_options],
                  lambda text: abs(float(re.search(
                      r"accuracy\s+([\d.]+)", text)[1]) - accuracy) < 0.15)
    if name == "cntk-mnist-8.onnx":
        data = pathlib.Path(options.models) / "cntk-mnist-8-data"
        build = [options.mnistc, str(path), "-o", str(app),
                 f"--target={options.target}"]
        if check("its own data: compile", build):
            check("its own data: verify", [str(app), "verify", str(data),
                                           "--rtol=1e-4", "--atol=1e-3"])
    return outcomes


def main():
    options = arguments()
    cases = [case for case in MODELS if re.search(options.only, case[0])]
    try:
        import onnxruntime  # noqa: F401
    except ImportError:
        reason = "no onnxruntime; run scripts/setup"
    else:
        reason = None if pathlib.Path(options.models).is_dir() and pathlib.Path(
            options.mnist).is_dir() else f"no models in {pathlib.Path(options.models).name}"
    if reason:
        print(f"skipped: {reason}")
        print(f"0 passed, 0 failed, {len(cases)} skipped")
        return 0
    with tempfile.TemporaryDirectory() as temporary, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        outcomes = sum(pool.map(lambda case: check_model(
            case, pathlib.Path(temporary), options), cases), [])
    for what, passed, message in outcomes:
        if not passed:
            print(f"{what}: failed: {message}")
    if options.report:
        pathlib.Path(options.report).write_text(json.dumps(outcomes, indent=1) + "\n")
    failed = sum(not passed for _, passed, _ in outcomes)
    print(f"{len(outcomes) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
