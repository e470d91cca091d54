"""What training takes for learned, in the ways that exporters write it."""

import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from harness import ROOT, Skip, expect, fails, ok, reference
from learned_cases import CASES, node, number, weights
from place import FLAGS

SHARED = ROOT.parent / "shared/models"


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


def test_constant_ones_and_zeros(place):
    """No weights, unless all weights are Constant nodes."""
    ones, zeros = (numpy_helper.from_array(number(16, value=value))
                   for value in (1, 0))
    nodes = [node("MatMul", "x w1", "h"), node("Constant", "", "s", value=ones),
             node("Constant", "", "b", value=zeros),
             node("BatchNormalization", "h s b mean variance", "n"),
             node("MatMul", "n w2", "y")]
    tensors = {"w1": weights(784, 16), "mean": number(16, value=0),
               "variance": number(16, value=1), "w2": weights(16, 10)}
    for as_constants, expected in ((False, {"w1", "w2"}),
                                   (True, {"w1", "s", "b", "w2"})):
        found = learned(place, save(place.path("m.onnx"), nodes, tensors,
                                    as_constants))
        expect(found == expected, sorted(found))


def test_constants_beside_weights(place):
    """What PyTorch computes with, and does not learn, is in Constant nodes."""
    table = numpy_helper.from_array(weights(16))
    nodes = [node("MatMul", "x w1", "h"), node("Constant", "", "t", value=table),
             node("Add", "h t", "s"), node("MatMul", "s w2", "y")]
    tensors = {"w1": weights(784, 16), "w2": weights(16, 10)}
    for as_constants, expected in ((False, {"w1", "w2"}),
                                   (True, {"w1", "t", "w2"})):
        path = save(place.path("m.onnx"), nodes, tensors, as_constants)
        found = learned(place, path)
        expect(found == expected, sorted(found))
        found = learned(place, path, "--train-only=t")
        expect(found == {"t"}, "expected what is named")


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


def test_statistics_of_their_own(place):
    """Where the scale is the running variance too, as PyTorch's exporter without
    dynamo writes a new batch normalization in evaluation mode."""
    nodes = [node("Identity", "scale", "variance"), node("MatMul", "x w1", "h"),
             node("BatchNormalization", "h scale bias mean variance", "n"),
             node("MatMul", "n w2", "y")]
    tensors = {"w1": weights(784, 16), "scale": number(16, value=1),
               "bias": weights(16), "mean": number(16, value=0),
               "w2": weights(16, 10)}
    path = save(place.path("m.onnx"), nodes, tensors)
    fails(1, place.mnistc, path, "--train", "--batch=32", "--explain",
          parts=["running statistic", "'scale'", "export again"])
    expect(learned(place, path, "--freeze=scale,mean") == {"w1", "bias", "w2"},
           "expected a frozen normalization")


def test_folded_norms_are_told(place):
    """Of both of PyTorch's exporters; a program that only infers needs none."""
    product = node("Gemm", "x w1", "h")
    entry = product.metadata_props.add()
    entry.key = "pkg.onnxscript.rewriter.rule_name"
    entry.value = "RemoveOptionalBias, FuseBatchNormIntoGemm"
    image = [node("Reshape", "x square", "i"), node("Conv", "i onnx::Conv_7", "c"),
             node("Reshape", "c flat", "h")]
    tensors = {"w1": weights(784, 16), "w2": weights(16, 10),
               "square": np.array([-1, 1, 28, 28]),
               "onnx::Conv_7": weights(16, 1, 28, 28), "flat": np.array([-1, 16])}
    for nodes in [product], image:
        path = save(place.path("m.onnx"),
                    [*nodes, node("MatMul", "h w2", "y")],
                    {name: tensor for name, tensor in tensors.items()
                     if any(name in each.input for each in nodes) or name == "w2"})
        for flags, told in ((["--train"], True), ([], False)):
            error = ok(place.mnistc, path, "--batch=32", "--explain", *flags).err
            expect(("folded a batch normalization" in error) == told, error)


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
