"""Networks whose tensors are written as exporters write them, and which of these
are learned."""

import numpy as np
from onnx import helper


def node(operator, inputs, outputs, **attributes):
    return helper.make_node(operator, inputs.split(), outputs.split(),
                            **attributes)


def number(*shape, value=.5):
    return np.full(shape, value, np.float32)


def weights(*shape):
    random = np.random.default_rng(7)
    return (random.normal(size=shape) / np.sqrt(shape[0])).astype(np.float32)


# LayerNormalization as single nodes, x in h, 16 features after a product.
def layer_norm(square, root):
    return [node("MatMul", "x w1", "h"),
            node("ReduceMean", "h", "m", axes=[-1]), node("Sub", "h m", "c"),
            node(*square), node("ReduceMean", "s", "v", axes=[-1]),
            node("Add", "v epsilon", "e"), *root]


# Name: nodes, tensors, which of them are learned.
CASES = {
    "PyTorch's layer norm": (
        [*layer_norm(("Pow", "c two", "s"), [node("Sqrt", "e", "r"),
                                             node("Div", "c r", "n")]),
         node("Mul", "n gamma", "g"), node("Add", "g beta", "z"),
         node("MatMul", "z w2", "y")],
        {"w1": weights(784, 16), "two": number(value=2), "epsilon": number(),
         "gamma": weights(16), "beta": weights(16), "w2": weights(16, 10)},
        "w1 gamma beta w2"),
    # Constants folded to full rank; beta - mean * scale.
    "tf2onnx's layer norm": (
        [*layer_norm(("Mul", "c c", "s"), [node("Sqrt", "e", "r"),
                                           node("Reciprocal", "r", "i")]),
         node("Mul", "i gamma", "g"), node("Mul", "h g", "a"),
         node("Mul", "m g", "b"), node("Sub", "beta b", "d"),
         node("Add", "a d", "z"), node("MatMul", "z w2", "p"),
         node("Add", "p bias", "y")],
        {"w1": weights(784, 16), "epsilon": number(1, 1, value=.001),
         "gamma": weights(16), "beta": weights(16), "w2": weights(16, 10),
         "bias": weights(10)},
        "w1 gamma beta w2 bias"),
    "Gelu by Erf and by Tanh": (
        [node("MatMul", "x w1", "p"), node("Add", "b1 p", "h"),
         node("Div", "h root2", "d"), node("Erf", "d", "e"),
         node("Add", "e one", "o"), node("Mul", "h o", "m"),
         node("Mul", "m half", "g"), node("Pow", "g three", "q"),
         node("Mul", "q cubic", "u"), node("Add", "g u", "k"),
         node("Tanh", "k", "t"), node("MatMul", "t w2", "y")],
        {"w1": weights(784, 16), "b1": weights(16),
         "root2": number(1, value=1.4142135), "one": number(1, 1, value=1),
         "half": number(1), "three": number(value=3),
         "cubic": number(1, 1, value=.044715), "w2": weights(16, 10)},
        "w1 b1 w2"),
    # Scores over sqrt(d), a mask, a table of positions, a learned token.
    "attention": (
        [node("MatMul", "x w1", "h"), node("Reshape", "h rows", "k0"),
         node("Expand", "token tokens", "t"), node("Concat", "t k0", "k1",
                                                   axis=1),
         node("Add", "k1 positions", "k"), node("Mul", "k cosine", "kr"),
         node("Transpose", "kr", "kt", perm=[0, 2, 1]),
         node("MatMul", "k kt", "s0"), node("Mul", "s0 scale", "s1"),
         node("Add", "s1 mask", "s"), node("Softmax", "s", "p", axis=-1),
         node("MatMul", "p k", "o"), node("Flatten", "o", "f"),
         node("Gemm", "f w2 b2", "y", transB=1)],
        {"w1": weights(784, 32), "rows": np.array([-1, 4, 8]),
         "token": weights(1, 1, 8), "tokens": np.array([32, 1, 8]),
         "positions": weights(1, 5, 8), "cosine": weights(1, 5, 8),
         "scale": number(1, 1, 1), "mask": np.triu(
             np.full((1, 5, 5), -1e9, np.float32), 1),
         "w2": weights(10, 40), "b2": weights(10)},
        "w1 token positions w2 b2"),
    # The input is prepared, by one number and by one for each feature.
    "CNTK's scaled input": (
        [node("Mul", "x inverse", "i"), node("Sub", "i mean", "c"),
         node("Div", "c deviation", "d"), node("Mul", "d gain", "z"),
         node("MatMul", "z w", "p"), node("Add", "p b", "y")],
        {"inverse": number(1, value=1 / 256), "mean": weights(784),
         "deviation": number(784), "gain": weights(784),
         "w": weights(784, 10), "b": weights(1, 10)},
        "w b"),
    # One number is learned where its operator says so.
    "slopes and single features": (
        [node("Gemm", "x w1 b1", "h"), node("PRelu", "h slope", "r"),
         node("MatMul", "r w2", "s"), node("Add", "s b2", "t"),
         node("Mul", "t two", "u"), node("MatMul", "u w3", "y")],
        {"w1": weights(784, 8), "b1": number(1), "slope": number(1),
         "w2": weights(8, 1), "b2": number(1), "two": number(1, value=2),
         "w3": weights(1, 10)},
        "w1 b1 slope w2 b2 w3"),
    # As PyTorch's exporter writes torch.nn.PReLU().
    "a slope in another shape": (
        [node("Gemm", "x w1", "h"), node("Reshape", "slope one", "s"),
         node("PRelu", "h s", "r"), node("MatMul", "r w2", "y")],
        {"w1": weights(784, 8), "slope": number(1), "one": np.array([1, 1]),
         "w2": weights(8, 10)},
        "w1 slope w2"),
    # As PyTorch's exporter writes torch.nn.BatchNorm1d in training mode.
    "batch norm in training mode": (
        [node("MatMul", "x w1", "h"),
         node("BatchNormalization", "h gamma beta mean variance", "n m v",
              training_mode=1),
         node("MatMul", "n w2", "y")],
        {"w1": weights(784, 16), "gamma": number(16, value=1),
         "beta": number(16, value=0), "mean": number(16, value=0),
         "variance": number(16, value=1), "w2": weights(16, 10)},
        "w1 gamma beta w2"),
    # As PyTorch's exporter writes torch.nn.BatchNorm1d(affine=False).
    "batch norm that learns nothing": (
        [node("MatMul", "x w1", "h"), node("Shape", "h", "shape"),
         node("Slice", "shape zero one", "features"),
         node("Expand", "scale features", "s"),
         node("Expand", "bias features", "b"),
         node("BatchNormalization", "h s b mean variance", "n"),
         node("MatMul", "n w2", "y")],
        {"w1": weights(784, 16), "zero": np.array([1]), "one": np.array([2]),
         "scale": number(1, value=1), "bias": number(1, value=0),
         "mean": number(16, value=0), "variance": number(16, value=1),
         "w2": weights(16, 10)},
        "w1 w2"),
    "a scale divided by a deviation": (
        [node("MatMul", "x w1", "h"),
         node("ReduceMean", "h", "m", axes=[0], keepdims=0),
         node("Sub", "h m", "c"), node("Mul", "c c", "s"),
         node("ReduceMean", "s", "v", axes=[0], keepdims=0),
         node("Add", "v epsilon", "e"), node("Sqrt", "e", "r"),
         node("Div", "gamma r", "g"), node("Mul", "c g", "n"),
         node("Add", "n beta", "z"), node("MatMul", "z w2", "y")],
        {"w1": weights(784, 16), "epsilon": number(value=.001),
         "gamma": weights(16), "beta": weights(16), "w2": weights(16, 10)},
        "w1 gamma beta w2"),
    "operators of normalization": (
        [node("MatMul", "x w1", "h"),
         node("LayerNormalization", "h gamma beta", "n"),
         node("Reshape", "n shape", "i"),
         node("InstanceNormalization", "i scale bias", "j"),
         node("Reshape", "j flat", "k"), node("MatMul", "k w2", "y")],
        {"w1": weights(784, 16), "gamma": number(16, value=1),
         "beta": number(16, value=0), "shape": np.array([-1, 4, 4]),
         "scale": number(4, value=1), "bias": number(4, value=0),
         "flat": np.array([-1, 16]), "w2": weights(16, 10)},
        "w1 gamma beta scale bias w2"),
    # As torch.onnx writes torch.nn.GroupNorm(2, 4).
    "PyTorch's group norm": (
        [node("MatMul", "x w1", "h"), node("Reshape", "h groups", "i"),
         node("InstanceNormalization", "i ones zeros", "n"),
         node("Reshape", "n shape", "j"), node("Mul", "j gamma", "g"),
         node("Add", "g beta", "b"), node("Reshape", "b flat", "k"),
         node("MatMul", "k w2", "y")],
        {"w1": weights(784, 16), "groups": np.array([0, 2, -1]),
         "ones": number(2, value=1), "zeros": number(2, value=0),
         "shape": np.array([-1, 4, 2, 2]), "gamma": number(4, 1, 1, value=1),
         "beta": number(4, 1, 1, value=0), "flat": np.array([-1, 16]),
         "w2": weights(16, 10)},
        "w1 gamma beta w2"),
    "weights written as expressions": (
        [node("Transpose", "w1", "t", perm=[1, 0]), node("Mul", "t g", "n"),
         node("Sub", "n drift", "u"), node("MatMul", "x u", "y")],
        {"w1": weights(10, 784), "g": weights(1, 10), "drift": number(1)},
        "w1 g"),
}
