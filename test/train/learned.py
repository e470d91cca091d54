"""What training takes for learned, in the ways that exporters write it."""

import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from harness import ROOT, Skip, expect, fails, ok, reference
from place import FLAGS

SHARED = ROOT.parent / "shared/models"


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


def save(path, nodes, tensors, as_constants=False):
    graph = helper.make_graph(
        [*(helper.make_node("Constant", [], [name],
                            value=numpy_helper.from_array(tensor))
           for name, tensor in tensors.items() if as_constants), *nodes],
        "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT,
                                            ["N", 784])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 10])],
        [] if as_constants else [numpy_helper.from_array(tensor, name)
                                 for name, tensor in tensors.items()])
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 17)]), path)
    return path


def chosen(place, path, *flags):
    text = ok(place.mnistc, path, "--train", "--target=cpu", "--batch=32",
              "--explain=json", *flags).out
    return {tensor["name"]: tensor["role"]
            for tensor in json.loads(text)["tensors"]}


def learned(place, path, *flags):
    roles = chosen(place, path, *flags)
    return {name for name, role in roles.items() if role == "parameter"}


def test_what_is_learned(place):
    for name, (nodes, tensors, expected) in CASES.items():
        for as_constants in (False, True):
            path = save(place.path("m.onnx"), nodes, tensors, as_constants)
            found = learned(place, path)
            expect(found == set(expected.split()), f"{name}: {sorted(found)}")


def test_options_choose(place):
    nodes, tensors, _ = CASES["tf2onnx's layer norm"]
    path = save(place.path("m.onnx"), nodes, tensors)
    expect(learned(place, path, "--train-only=w*,epsilon") ==
           {"w1", "w2", "epsilon"}, "expected what is named")
    expect(learned(place, path, "--freeze=*1,b*") == {"gamma", "w2"},
           "expected all but what is named")
    for flag in ("--freeze", "--train-only"):
        fails(1, place.mnistc, path, "--train", "--batch=32", "--explain",
              f"{flag}=w3", parts=[f"{flag}=w3", "none matches"])
    fails(1, place.mnistc, path, "--train", "--batch=32", "--explain",
          "--freeze=*", parts=["--train-only=NAMES chooses from 'w1'"])


def test_merged_tensors_are_told(place):
    """Exporters store equal tensors once, and new scales are all ones."""
    nodes = [node("MatMul", "x w1", "h"),
             node("LayerNormalization", "h a c", "n"),
             node("MatMul", "n w2", "m"), node("LayerNormalization", "m b d", "o"),
             node("MatMul", "o w3", "y")]
    tensors = {"w1": weights(784, 16), "w2": weights(16, 16),
               "w3": weights(16, 10), "a": number(16, value=1),
               "c": weights(16)}
    for names, said in ((("a", "c"), ["train 'a' as one tensor"]),
                        (("b", "d"), None)):
        given = dict(tensors, **dict(zip(names, (tensors["a"], tensors["c"]))))
        renamed = [helper.make_node(each.op_type, [
            names["bd".index(name)] if name in ("b", "d") else name
            for name in each.input], each.output) for each in nodes]
        path = save(place.path("m.onnx"), renamed, given)
        error = ok(place.mnistc, path, "--train", "--target=cpu", "--batch=32",
                   "--explain").err
        expect(("'a'" in error) == bool(said) and
               all(part in error for part in said or []), error)


LAYERS = "{0}1.weight {0}1.bias {0}2.weight {0}2.bias"
PYTORCH = LAYERS.format("conv") + " " + LAYERS.format("fc")
CNTK = "Parameter193 Parameter194 Parameter5 Parameter6 Parameter87 Parameter88"
MODELS = {
    "cntk-mnist-8.onnx": CNTK,
    "cntk-mnist-12.onnx": CNTK,
    "keras2onnx-cnn-unsorted.onnx": "W B W1 B1 W2 B2 W3 B3",
    "mxnet-gluon-lenet.onnx": " ".join(
        f"{layer}_{part}" for layer in ("conv0", "conv1", "dense0", "dense1")
        for part in ("weight", "bias")),
    "pytorch-dynamo-external-data/mnist.onnx":
        "conv1.weight conv1.bias fc1.weight fc1.bias",
    "pytorch-mlp-dynamo.onnx": LAYERS.format("fc"),
    "pytorch-mlp-ts17.onnx": LAYERS.format("fc"),
    "pytorch-net-ts17-train.onnx": PYTORCH,
    "pytorch-net-ts17.onnx": PYTORCH,
    "pytorch-simplecnn-dynamo.onnx": PYTORCH,
    "pytorch-simplecnn-ts17.onnx": PYTORCH,
    "tf2onnx-keras-cnn.onnx": " ".join(
        f"StatefulPartitionedCall/sequential/{layer}/{part}/ReadVariableOp:0"
        for layers, product in ((("dense", "dense_1"), "MatMul"),
                                (("conv2d", "conv2d_1", "conv2d_2"), "Conv2D"))
        for layer in layers for part in (product, "BiasAdd")),
}


def test_real_files(place):
    if not SHARED.is_dir():
        raise Skip("no models of exporters")
    for name, expected in MODELS.items():
        found = learned(place, SHARED / name)
        expect(found == set(expected.split()), f"{name}: {sorted(found)}")


def test_constants_train_and_are_saved(place):
    nodes, tensors, expected = CASES["Gelu by Erf and by Tanh"]
    path = save(place.path("constants.onnx"), nodes, tensors, True)
    program, trained = place.path("constants"), place.path("trained.onnx")
    ok(place.mnistc, path, "--train", "--batch=32", "-o", program,
       f"--target={place.target}", "--lr=.1")
    said = ok(program, "train", *FLAGS, "--epochs=1", f"--save={trained}").out
    expect("3 of 8 tensors train, 12720 numbers" in said, said)
    onnx.checker.check_model(onnx.load(trained))
    changed = {each.output[0] for each, before in zip(
        onnx.load(trained).graph.node, onnx.load(path).graph.node)
        if each != before}
    expect(changed == set(expected.split()), changed)
    x = np.random.default_rng(3).random((4, 784), np.float32)
    np.save(place.path("x.npy"), x)
    again, output = place.path("again"), place.path("out.npy")
    ok(place.mnistc, trained, "-o", again, f"--target={place.target}")
    ok(again, "infer", place.path("x.npy"), f"--output={output}")
    np.testing.assert_allclose(np.load(output), reference(trained, x),
                               rtol=1e-4, atol=1e-5)
