"""Graphs that grow: each function makes the model of one family, of a size."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper


def model(nodes, inputs, outputs, weights=(), **options):
    """inputs, outputs: name to shape; weights: name to array."""
    def info(pair):
        return helper.make_tensor_value_info(pair[0], TensorProto.FLOAT, pair[1])

    graph = helper.make_graph(
        nodes, "graph", [info(pair) for pair in inputs.items()],
        [info(pair) for pair in outputs.items()],
        [numpy_helper.from_array(np.asarray(array), name)
         for name, array in dict(weights).items()])
    return helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 17), helper.make_opsetid("local", 1)], **options)


def chain(size, step, shape=(4, 4), weights=(), out=None):
    """x -> step -> step -> ... `step(i, x, y)` gives the nodes from x to y."""
    nodes = []
    for i in range(size):
        nodes += step(i, f"x{i}", f"x{i + 1}" if i + 1 < size else "y")
    return model(nodes, {"x0": shape}, {"y": out or shape}, weights)


def node(kind, inputs, output, **attributes):
    return helper.make_node(kind, inputs, [output], **attributes)


def add_chain(size):
    """x + w + w + w ..."""
    return chain(size, lambda i, x, y: [node("Add", [x, "w"], y)],
                 weights={"w": np.ones((4, 4), np.float32)})


def exp_chain(size):
    """Ops that are rather stored than computed twice."""
    return chain(size, lambda i, x, y: [node("Tanh", [x], y)])


def doubling(size):
    """x + x, of that the same: two reads of each value."""
    return chain(size, lambda i, x, y: [node("Add", [x, x], y)])


def mixing(size, kind="Transpose"):
    """x + f(x) for an f that only renames the index: two places of each."""
    def step(i, x, y):
        return [*renames[kind](x, f"t{i}"), node("Add", [x, f"t{i}"], y)]
    return chain(size, step, weights=constants)


def mixing_of_weights(size, kind):
    """The same of x @ w, which can be trained."""
    made = mixing(size, kind)
    made.graph.node.insert(0, node("MatMul", ["x", "w"], "x0"))
    made.graph.input[0].name = "x"
    made.graph.initializer.append(
        numpy_helper.from_array(np.eye(4, dtype=np.float32), "w"))
    return made


constants = {
    "zeros": np.zeros(2, np.int64), "ones": np.ones(2, np.int64),
    "minus": -np.ones(2, np.int64), "far": np.full(2, -100, np.int64),
    "flat": np.array([16], np.int64), "square": np.array([4, 4], np.int64),
    "one": np.array([1], np.int64), "zero": np.array([0], np.int64),
    "three": np.array([3], np.int64), "five": np.array([5], np.int64),
    "pads": np.array([1, 0, 0, 0], np.int64), "order": np.array([3, 1, 0, 2]),
}

renames = {
    "Transpose": lambda x, y: [node("Transpose", [x], y, perm=[1, 0])],
    "Slice": lambda x, y: [node("Slice", [x, "minus", "far", "zeros2", "minus"],
                                y)],
    "Pad": lambda x, y: [node("Pad", [x, "pads"], y + "p"),
                         node("Slice", [y + "p", "zero", "four", "zero"], y)],
    "Concat": lambda x, y: [node("Slice", [x, "one", "four", "zero"], y + "b"),
                            node("Slice", [x, "zero", "one", "zero"], y + "a"),
                            node("Concat", [y + "b", y + "a"], y, axis=0)],
    "Gather": lambda x, y: [node("Gather", [x, "order"], y, axis=1)],
    "Expand": lambda x, y: [node("Slice", [x, "one", "two", "zero"], y + "a"),
                            node("Expand", [y + "a", "square"], y)],
    "Reshape": lambda x, y: [node("Transpose", [x], y + "t", perm=[1, 0]),
                             node("Reshape", [y + "t", "flat"], y + "f"),
                             node("Reshape", [y + "f", "square"], y)],
}
constants.update({"zeros2": np.array([0, 1]), "four": np.array([4]),
                  "two": np.array([2])})


def concat_doubling(size):
    """Concat(x, x), of that the same: 2^size rows, two reads of each value."""
    return chain(size, lambda i, x, y: [node("Concat", [x, x], y, axis=0)],
                 shape=(1, 2), out=(2 ** size, 2))


def pad_chain(size):
    return chain(size, lambda i, x, y: [node("Pad", [x, "pads"], y)],
                 weights={"pads": np.array([1, 0, 1, 0])}, out=(4 + 2 * size, 4))


def concat_wide(size):
    """One Concat of many inputs, all the same."""
    return model([node("Concat", ["x"] * size, "y", axis=0)], {"x": (2, 2)},
                 {"y": (2 * size, 2)})


def split_wide(size):
    """Split into many rows, of which each is changed, and a Concat."""
    rows = [f"r{i}" for i in range(size)]
    nodes = [helper.make_node("Split", ["x"], rows, axis=0)]
    nodes += [node("Neg", [row], f"n{row}") for row in rows]
    nodes += [node("Concat", [f"n{row}" for row in rows], "y", axis=0)]
    return model(nodes, {"x": (size, 2)}, {"y": (size, 2)})


def sum_wide(size):
    """One Sum of many initializers."""
    weights = {f"w{i}": np.full((4, 4), i, np.float32) for i in range(size)}
    return model([node("Sum", ["x", *weights], "y")], {"x": (4, 4)},
                 {"y": (4, 4)}, weights)


def sum_same(size):
    return model([node("Sum", ["x"] * size, "y")], {"x": (4, 4)},
                 {"y": (4, 4)})


def fan_out(size):
    """Many readers of one value, all outputs."""
    nodes = [node("Tanh", ["x"], "t")]
    nodes += [node("Add", ["t", f"w{i}"], f"y{i}") for i in range(size)]
    weights = {f"w{i}": np.full((4, 4), i, np.float32) for i in range(size)}
    return model(nodes, {"x": (4, 4)},
                 {f"y{i}": (4, 4) for i in range(size)}, weights)


def many_inputs(size):
    nodes = [node("Sum", [f"x{i}" for i in range(size)], "y")]
    return model(nodes, {f"x{i}": (4, 4) for i in range(size)}, {"y": (4, 4)})


def matmul_chain(size):
    return chain(size, lambda i, x, y: [node("MatMul", [x, "w"], y)],
                 weights={"w": np.eye(4, dtype=np.float32)})


def layers(size):
    """Gemm and Relu, each with its own weights, and class scores."""
    nodes, weights = [], {}
    for i in range(size):
        weights[f"w{i}"] = np.eye(4, dtype=np.float32)
        weights[f"b{i}"] = np.zeros(4, np.float32)
        nodes += [node("Gemm", [f"x{i}", f"w{i}", f"b{i}"], f"h{i}"),
                  node("Relu", [f"h{i}"], f"x{i + 1}" if i + 1 < size else "y")]
    return model(nodes, {"x0": ("N", 4)}, {"y": ("N", 4)}, weights)


def long_names(size):
    name = "n" * size
    return model([node("Relu", ["x"], name, name=name),
                  node("Neg", [name], "y")], {"x": (4, 4)}, {"y": (4, 4)})


def shape_chain(size):
    """Arithmetic on shapes, all of it at compile time."""
    nodes = [node("Shape", ["x"], "s0")]
    nodes += [node("Add", [f"s{i}", "zeros"], f"s{i + 1}") for i in range(size)]
    nodes += [node("Reshape", ["x", f"s{size}"], "y")]
    return model(nodes, {"x": (4, 4)}, {"y": (4, 4)},
                 {"zeros": np.zeros(2, np.int64)})


def transposes(size):
    """Transpose and Relu in turn, which cancel if they are pushed."""
    return chain(size, lambda i, x, y: [
        node("Transpose", [x], f"t{i}", perm=[1, 0]), node("Sigmoid", [f"t{i}"], y)])


def functions(size, calls=2):
    """Functions that call the one before `calls` times: calls^size nodes."""
    made = []
    for i in range(size):
        inner = [node("Relu", ["a"], "b")] if i == 0 else []
        if i:
            names = ["a", *[f"t{k}" for k in range(calls - 1)], "b"]
            inner = [node(f"f{i - 1}", [names[k]], names[k + 1], domain="local")
                     for k in range(calls)]
        made.append(helper.make_function(
            "local", f"f{i}", ["a"], ["b"], inner,
            [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]))
    return model([node(f"f{size - 1}", ["x"], "y", domain="local")],
                 {"x": (4, 4)}, {"y": (4, 4)}, functions=made)
