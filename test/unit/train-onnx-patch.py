#!/usr/bin/env python3
"""Patches models made by the ONNX library, and reads them back with it.

usage: train-onnx-patch.py UNIT_TESTS

Each form in which a file may hold weights is made, patched by the program's
test OnnxPatch.Folder, and compared: the named tensors have the new values, and
everything else is equal.
"""

import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data

RANDOM = np.random.default_rng(1)
DTYPES = {TensorProto.FLOAT: np.float32, TensorProto.DOUBLE: np.float64,
          TensorProto.FLOAT16: np.float16,
          TensorProto.BFLOAT16: ml_dtypes.bfloat16}


def numbers(shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def model_of(initializers, nodes=(), **more):
    """A model whose outputs are the sums of its weights, as floats."""
    names = [i.name for i in initializers] + [n.output[0] for n in nodes]
    sums = []
    for n in names:
        sums += [helper.make_node("Cast", [n], [n + "_f"], to=TensorProto.FLOAT),
                 helper.make_node("ReduceSum", [n + "_f"], [n + "_out"],
                                  keepdims=0)]
    graph = helper.make_graph(
        list(nodes) + sums, "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3])],
        [helper.make_tensor_value_info(n + "_out", TensorProto.FLOAT, [])
         for n in names],
        initializer=list(initializers), doc_string="doc", **more)
    model = helper.make_model(graph, producer_name="test", opset_imports=[
        helper.make_opsetid("", 17), helper.make_opsetid("own", 1)])
    helper.set_model_props(model, {"key": "value \u00e4"})
    return model


def tensor(name, dtype, shape, raw):
    data = numbers(shape).astype(DTYPES[dtype])
    if raw:
        return helper.make_tensor(name, dtype, shape, data.tobytes(), raw=True)
    return helper.make_tensor(name, dtype, shape, data.ravel().astype(np.float32))


def forms():
    """Yields (file name, model, {weight: new values})."""
    for dtype, dtype_name in ((TensorProto.FLOAT, "float"),
                              (TensorProto.DOUBLE, "double"),
                              (TensorProto.FLOAT16, "half"),
                              (TensorProto.BFLOAT16, "bfloat")):
        for raw in (True, False):
            kept = numpy_helper.from_array(np.arange(5), "kept")
            w = tensor("w", dtype, [4, 3], raw)
            w.doc_string = "a weight"
            scalar = tensor("scalar", dtype, [], raw)
            yield (f"{dtype_name}-{'raw' if raw else 'fields'}",
                   model_of([kept, w, scalar]),
                   {"w": numbers((4, 3)), "scalar": numbers(())})
    external = tensor("w", TensorProto.FLOAT, [4, 3], True)
    set_external_data(external, "weights.bin", 0, 48)
    external.ClearField("raw_data")
    yield "external", model_of([external]), {"w": numbers((4, 3))}
    yield ("empty", model_of([tensor("w", TensorProto.FLOAT, [0, 3], True)]),
           {"w": numbers((0, 3))})
    constants = [
        helper.make_node("Constant", [], ["a"],
                         value=tensor("inner", TensorProto.FLOAT, [2, 2], True)),
        helper.make_node("Constant", [], ["b"], value_float=1.0),
        helper.make_node("Constant", [], ["c"], value_floats=[1.0, 2.0, 3.0])]
    yield ("constants", model_of([], constants),
           {"a": numbers((2, 2)), "b": numbers(()), "c": numbers((3,))})
    branch = helper.make_graph(
        [helper.make_node("Identity", ["w"], ["y"])], "branch", [],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 3])],
        initializer=[tensor("w", TensorProto.FLOAT, [4, 3], True)])
    nested = model_of(
        [tensor("w", TensorProto.FLOAT, [4, 3], True),
         numpy_helper.from_array(np.array(True), "cond")],
        [helper.make_node("If", ["cond"], ["z"], then_branch=branch,
                          else_branch=branch)])
    nested.functions.append(helper.make_function(
        "own", "F", ["x"], ["y"],
        [helper.make_node("Constant", [], ["w"], value_float=1.0),
         helper.make_node("Add", ["x", "w"], ["y"])],
        [helper.make_opsetid("", 17)]))
    yield "nested", nested, {"w": numbers((4, 3))}
    large = tensor("w", TensorProto.FLOAT, [1000, 300], True)
    yield "large", model_of([large]), {"w": numbers((1000, 300))}


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, array in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def blank(tensor_proto):
    """Takes the numbers out of a tensor."""
    for field in ("raw_data", "float_data", "int32_data", "double_data",
                  "external_data", "data_location"):
        tensor_proto.ClearField(field)


def take(model, name):
    """The value of a weight, which is taken out of the model."""
    for initializer in model.graph.initializer:
        if initializer.name == name:
            value = numpy_helper.to_array(initializer)
            blank(initializer)
            return value
    node = next(n for n in model.graph.node if n.output[0] == name)
    attribute = node.attribute[0]
    value = helper.get_attribute_value(attribute)
    if attribute.name == "value":
        value = numpy_helper.to_array(value)
        blank(attribute.t)
    attribute.ClearField("f")
    attribute.ClearField("floats")
    return np.asarray(value)


def check(name, before, after, weights):
    for weight, expected in weights.items():
        found = take(after, weight)
        wanted = expected.astype(found.dtype)
        assert found.shape == wanted.shape and \
            found.tobytes() == wanted.tobytes(), (name, weight)
        for initializer in before.graph.initializer:
            # The old data is elsewhere, or not there at all.
            if initializer.name == weight:
                blank(initializer)
                break
        else:
            take(before, weight)
    assert before.SerializeToString(deterministic=True) == \
        after.SerializeToString(deterministic=True), name


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        cases = list(forms())
        for case, model, weights in cases:
            (folder / f"{case}.onnx").write_bytes(model.SerializeToString())
            write_safetensors(folder / f"{case}.safetensors", weights)
        subprocess.run([sys.argv[1], "--gtest_filter=OnnxPatch.Folder"],
                       env={**os.environ, "MN_PATCH_FOLDER": name}, check=True,
                       stdout=subprocess.DEVNULL)
        for case, model, weights in cases:
            patched = (folder / f"{case}.patched").read_bytes()
            if case == "large":
                original = (folder / f"{case}.onnx").read_bytes()
                assert len(original) == len(patched)
            after = onnx.ModelProto.FromString(patched)
            onnx.checker.check_model(after)
            check(case, model, after, weights)
    print(f"{len(cases)} models: each has its new weights, and nothing else")


if __name__ == "__main__":
    main()
