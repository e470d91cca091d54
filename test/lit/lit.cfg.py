"""The lit tests.

    %mnistc     the compiler            %onnx-as FILE   ONNX text to ONNX (stdout or -o)
    %root       the source tree         %t, %s, ...     as in every lit suite
    %llvm-include  LLVM's and MLIR's headers and .td files
    %exits N COMMAND: the command ends with exit code N

Features: onnx (ONNX's Python package), cuda-toolkit (NVRTC and headers),
asan. MNIST_OPT_ROUNDTRIP=1 has mnist-opt print and reparse whatever it reads.
"""

import glob
import os

import lit.formats

config.name = "mnistc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".onnxtext", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.join(config.source_root, "test/lit")
config.test_exec_root = config.build_tests

tools = os.path.join(config.build_root, "bin")
python = os.path.join(config.cache, "venv/bin/python")
cuda_roots = [
    os.environ.get("MNISTC_CUDA_ROOT", "/usr/local/cuda"),
    os.path.join(config.cache, "cuda"),
]

config.environment["PATH"] = os.pathsep.join(
    [tools, config.llvm_tools, config.environment["PATH"]]
)
for name in ("HOME", "MNISTC_CACHE", "MNISTC_CUDA_ROOT", "CUDA_HOME"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

if glob.glob(
    os.path.join(config.cache, "venv/lib/python*/site-packages/onnx/*.so")
):
    config.available_features.add("onnx")
if any(glob.glob(root + "/lib64/libnvrtc.so*") for root in cuda_roots):
    config.available_features.add("cuda-toolkit")
if config.sanitized:
    config.available_features.add("asan")

config.substitutions += [
    ("%mnistc", os.path.join(tools, "mnistc")),
    ("%onnx-as", f"{python} {config.source_root}/utils/onnx-as.py"),
    ("%exits", f"{python} {config.source_root}/test/lit/exits.py"),
    ("%python", python),
    ("%root", config.source_root),
    ("%llvm-include", os.path.join(config.llvm_tools, "../include")),
]
if os.environ.get("MNIST_OPT_ROUNDTRIP") == "1":
    # The command, not a path or a word that ends in it.
    config.substitutions.append(
        (r"(?<![\w/.-])mnist-opt(?![\w/.-])", "mnist-opt --verify-roundtrip")
    )
