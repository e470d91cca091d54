"""Models of many independent cases.

A case is a few nodes on parameters. Its results, multiplied by fixed random
numbers and summed up, are one element of the model's output.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 24


class Case:
    """Nodes are added with `node`; `out` names what is summed up."""

    def __init__(self, name, opset=OPSET):
        self.name, self.opset = name, opset
        self.nodes, self.initializers, self.outputs = [], [], []
        self.parameters, self.shapes = [], {}
        self.random = np.random.default_rng(sum(name.encode()))

    def full(self, name):
        return f"{self.name}.{name}"

    def uniform(self, shape, low=-1.0, high=1.0):
        return self.random.uniform(low, high, shape).astype(np.float32)

    def parameter(self, name, values):
        """A tensor that is trained."""
        values = np.asarray(values, np.float32)
        self.initializers.append(
            numpy_helper.from_array(values, self.full(name)))
        self.parameters.append(self.full(name))
        return self.full(name)

    def constant(self, name, values):
        tensor = numpy_helper.from_array(np.asarray(values))
        self.nodes.append(helper.make_node(
            "Constant", [], [self.full(name)], value=tensor,
            name=self.full(name)))
        return self.full(name)

    def node(self, operator, inputs, outputs=("y",), **attributes):
        names = [self.full(name) if name else "" for name in outputs]
        self.nodes.append(helper.make_node(
            operator, list(inputs), names, **attributes,
            name=self.full(f"{operator}{len(self.nodes)}")))
        return names[0] if len(names) == 1 else names

    def out(self, *names, shape=None):
        """`shape` where ONNX's inference finds none."""
        self.outputs += names
        self.shapes |= {name: shape for name in names if shape}


def shapes(case):
    """The shape of each output of a case."""
    graph = helper.make_graph(
        case.nodes, "case", [],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT,
                                       case.shapes.get(name))
         for name in case.outputs], case.initializers)
    made = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", case.opset)])
    inferred = onnx.shape_inference.infer_shapes(made, strict_mode=True,
                                                 data_prop=True)
    return {value.name: [d.dim_value for d in value.type.tensor_type.shape.dim]
            for value in inferred.graph.output}


def weighted_sum(case):
    """Adds nodes that make one [1, 1] of a case's outputs."""
    sums = []
    for name, shape in shapes(case).items():
        stem = f"sum{len(sums)}"
        weights = case.constant(f"{stem}_weights", case.uniform(shape, 0.5, 1.5))
        product = case.node("Mul", [name, weights], [f"{stem}_product"])
        flat = case.node(
            "Reshape",
            [product, case.constant(f"{stem}_shape", np.array([1, -1]))],
            [f"{stem}_flat"])
        ones = case.constant(f"{stem}_ones", np.ones(
            (int(np.prod(shape)), 1), np.float32))
        sums.append(case.node("MatMul", [flat, ones], [stem]))
    return sums[0] if len(sums) == 1 else case.node("Sum", sums, ["sum"])


def save_many(path, cases):
    """A model of [1, n] -> [1, n]: its input, plus one element for each case."""
    nodes, initializers, sums = [], [], []
    for case in cases:
        sums.append(weighted_sum(case))
        nodes += case.nodes
        initializers += case.initializers
    nodes.append(helper.make_node("Concat", sums, ["sums"], axis=1,
                                  name="concat_sums"))
    nodes.append(helper.make_node("Add", ["sums", "x"], ["output"],
                                  name="add_input"))
    size = [1, len(cases)]
    graph = helper.make_graph(
        nodes, "cases",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, size)],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, size)],
        initializers)
    opsets = {case.opset for case in cases}
    assert len(opsets) == 1, opsets
    onnx.save(helper.make_model(
        graph, ir_version=8,
        opset_imports=[helper.make_opsetid("", opsets.pop())]), str(path))
