#!/usr/bin/env python3
"""Runs every op on edge values in each way that it can be computed: folded by
the compiler, inlined into what reads it, and as a separate kernel.

usage: run.py [--mnistc=build/bin/mnistc] [--target=cpu] [--only=TEXT]

table.py has the values, and what must come out: the same bits, but for
functions such as exp, which get some units in the last place. The same numbers
go through onnxruntime where ONNX says what comes out. boundaries.py has what is
refused or made right where it comes in. The last line: N passed, N failed, N
skipped.
"""

import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1]))

import harness  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import table  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from program import outputs_of  # noqa: E402

REDUCTIONS = r"(mnist\.(?:reduce_\w+|arg_max|softmax|log_softmax) .*?)( : )"


def arguments():
    parser = harness.parser(__doc__)
    parser.add_argument("--target", default="cpu", choices=["cpu", "cuda"])
    return parser.parse_args()


def save(path, cases, known):
    """A model of all cases; with `known` their inputs are constants."""
    nodes, inputs, outputs, constants = [], [], [], []
    for case in cases:
        nodes.append(table.node(case))
        outputs.append(helper.make_empty_tensor_value_info(case.name))
        for i, x in enumerate(case.inputs):
            name = f"{case.name}_x{i}"
            if known and case.folds:
                constants.append(numpy_helper.from_array(x, name))
            else:
                inputs.append(helper.make_tensor_value_info(
                    name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape))
        for i, x in enumerate(case.constants):
            constants.append(numpy_helper.from_array(x, f"{case.name}_c{i}"))
    if not inputs:  # every program has one
        inputs.append(helper.make_tensor_value_info("unused", TensorProto.FLOAT, [1]))
    graph = helper.make_graph(nodes, "edges", inputs, outputs, constants)
    model = helper.make_model(graph, ir_version=8,
                              opset_imports=[helper.make_opsetid("", 17)])
    onnx.save(model, str(path))
    return path


def inputs_of(cases, known):
    values = [x for case in cases if not (known and case.folds) for x in case.inputs]
    return values or [np.zeros(1, np.float32)]


def computed(library, cases, known):
    return outputs_of(library, inputs_of(cases, known),
                      [np.zeros_like(case.expected, order="C") for case in cases])


def different(found, case, tiny=0):
    """Where a result is wrong, in words; empty if it is right."""
    expected = case.expected
    if found.dtype.kind != "f":
        wrong = found != expected
    else:
        nan = np.isnan(found) & np.isnan(expected)
        with np.errstate(all="ignore"):
            if case.ulps:
                near = np.abs(found.astype(np.float64) - expected) <= (
                    case.ulps * np.spacing(np.abs(expected)).astype(np.float64) + tiny)
                wrong = ~(nan | near | (found == expected))
            elif case.op in ("Max", "Min", "ReduceMax", "ReduceMin"):
                wrong = ~(nan | (found == expected))  # of 0 and -0 either
            else:
                wrong = ~(nan | (found.view(np.uint32) == expected.view(np.uint32)))
    if not wrong.any():
        return ""
    at = tuple(np.argwhere(wrong)[0])
    of = [x[at] if x.shape == expected.shape else x[at[:x.ndim - 1]]
          for x in case.inputs if x.ndim != 4]
    return (f"{wrong.sum()} of {wrong.size} differ: expected {expected[at]!r}, got "
            f"{found[at]!r} for {of!r}")


def compile_library(options, model, library):
    harness.ok(options.mnistc, model, f"--target={options.target}", "-o", library)
    return library


def folded(options, folder, cases):
    """Computed by the compiler; the plan must have no such op left."""
    cases = [case for case in cases if case.folds]
    model = save(folder / "folded.onnx", cases, known=True)
    plan = harness.ok(options.mnistc, model, f"--target={options.target}",
                      "--emit=plan", "-o", "-").out
    left = set(re.findall(r"mnist\.(\w+)", plan)) - {"constant", "broadcast", "name", "reshape"}
    harness.expect(not left, f"expected only constants in the plan, got {left}")
    library = compile_library(options, model, folder / "folded.so")
    return cases, computed(library, cases, known=True)


def kernels(options, folder, cases):
    """As compiled: for CUDA, reductions of few elements are inlined here, too."""
    model = save(folder / "kernels.onnx", cases, known=False)
    library = compile_library(options, model, folder / "kernels.so")
    return cases, computed(library, cases, known=False)


def inlined(options, folder, cases):
    """Reductions as loops in what reads them; the pass takes them for CUDA."""
    cases = [case for case in cases
             if re.match("Reduce|Arg|.*[Ss]oftmax", case.name) and
             not re.search("wide|long", case.name)]
    model = save(folder / "inlined.onnx", cases, known=False)
    text = harness.ok(options.mnistc, model, "--emit=mnist", "-o", "-").out
    marked = folder / "inlined.mlir"
    text, count = re.subn(REDUCTIONS, r"\1 {plan.inline}\2", text)
    harness.expect(count > 0, f"expected reductions, got none in {text[:2000]}")
    marked.write_text(text)
    source = harness.ok(options.mnistc, marked, f"--target={options.target}",
                        "--emit=source", "-o", "-").out
    harness.expect("_REDUCE_KERNEL" not in source and "_SOFTMAX_KERNEL" not in source,
                   "expected no kernels of reductions")
    library = compile_library(options, marked, folder / "inlined.so")
    return cases, computed(library, cases, known=False)


def onnx_runtime(options, folder, cases):
    """The table itself, where ONNX defines it."""
    try:
        import onnxruntime
    except ImportError as error:
        raise harness.Skip("no onnxruntime") from error
    cases = [case for case in cases if not case.ours]
    outputs = []
    for case in cases:
        model = save(folder / "one.onnx", [case], known=False)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        try:
            session = onnxruntime.InferenceSession(
                str(model), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # no kernel for that type
            if "NOT_IMPLEMENTED" not in str(error):
                raise
            outputs.append(case.expected)
            continue
        outputs += session.run(None, {f"{case.name}_x{i}": x
                                      for i, x in enumerate(case.inputs)})
    return cases, outputs


def main():
    options = arguments()
    options.mnistc = options.mnistc.resolve()
    cases = [case for case in table.cases() if options.only in case.name]
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for way in (onnx_runtime, kernels, inlined, folded):
        with tempfile.TemporaryDirectory(prefix="mnistc-edges") as folder:
            try:
                tested, outputs = way(options, pathlib.Path(folder), cases)
            except harness.Skip as skip:
                counts["skipped"] += 1
                print(f"skipped {way.__name__}: {skip}")
                continue
            except (AssertionError, RuntimeError, OSError) as error:
                counts["failed"] += 1
                print(f"failed  {way.__name__}: {error}")
                continue
        for case, found in zip(tested, outputs, strict=True):
            # onnxruntime's functions are 0 where results are denormal.
            why = different(found, case, 2e-38 if way is onnx_runtime else 0)
            counts["failed" if why else "passed"] += 1
            if why:
                print(f"failed  {way.__name__} {case.name}: {why}", flush=True)
    with tempfile.TemporaryDirectory(prefix="mnistc-edges") as folder:
        place = harness.Place(pathlib.Path(folder), options)
        place.target = options.target
        for name, function in harness.tests(["boundaries"], options.only):
            state, why = harness.outcome(function, place)
            counts[state] += 1
            if state != "passed":
                print(f"{state}  {name}{why}", flush=True)
    print(", ".join(f"{count} {state}" for state, count in counts.items()))
    return counts["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
