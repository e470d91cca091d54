"""Numbers that no op can take are refused where they come in: bytes of booleans
other than 0 and 1 are made 1, indices and labels out of range end with 14."""

import numpy as np
from harness import expect, fails, ok
from onnx import TensorProto, helper, numpy_helper, save
from program import outputs_of

BAD_DATA = 14


def save_model(path, nodes, inputs, outputs, weights=()):
    """inputs: (name, type, shape)."""
    graph = helper.make_graph(
        nodes, "boundaries",
        [helper.make_tensor_value_info(*parts) for parts in inputs],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in weights])
    save(helper.make_model(graph, ir_version=8,
                           opset_imports=[helper.make_opsetid("", 17)]), str(path))
    return path


def compiled(place, name, nodes, inputs, outputs, weights=(), flags=(), ending=".so"):
    model = save_model(place.path(f"{name}.onnx"), nodes, inputs, outputs, weights)
    program = place.path(name + ending)
    ok(place.mnistc, model, f"--target={place.target}", "-o", program, *flags)
    return program


def test_bytes_of_booleans(place):
    library = compiled(
        place, "booleans",
        [helper.make_node("Not", ["b"], ["no"]),
         helper.make_node("Cast", ["b"], ["number"], to=TensorProto.FLOAT),
         helper.make_node("Where", ["b", "x", "y"], ["chosen"]),
         helper.make_node("Equal", ["b", "yes"], ["same"])],
        [("b", TensorProto.BOOL, [6]), ("x", TensorProto.FLOAT, [6]),
         ("y", TensorProto.FLOAT, [6]), ("yes", TensorProto.BOOL, [6])],
        ["no", "number", "chosen", "same"])
    given = np.array([0, 1, 2, 3, 128, 255], np.uint8)
    no, number, chosen, same = outputs_of(
        library, [given, np.ones(6, np.float32), np.zeros(6, np.float32),
                  np.full(6, 7, np.uint8)],
        [np.zeros(6, np.uint8), np.zeros(6, np.float32), np.zeros(6, np.float32),
         np.zeros(6, np.uint8)])
    true = given != 0
    for found, expected in ((no, ~true), (number, true), (chosen, true), (same, true)):
        expect(found.tolist() == expected.astype(found.dtype).tolist(),
               f"expected {expected}, got {found}")


def refused(place, name, library, inputs, outputs, text):
    try:
        outputs_of(library, inputs, outputs)
    except RuntimeError as error:
        expect(error.args == (BAD_DATA, text), f"expected '{text}', got {error.args}")
        return
    raise AssertionError(f"expected {name} to be refused")


def test_indices(place):
    library = compiled(
        place, "indices", [helper.make_node("Gather", ["x", "wide"], ["y"], axis=0),
                           helper.make_node("Cast", ["i"], ["wide"], to=TensorProto.INT64)
                           ][::-1],
        [("x", TensorProto.FLOAT, [3, 2]), ("i", TensorProto.INT32, [2])], ["y"])
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    for indices in ([0, 2], [-3, -1]):
        y, = outputs_of(library, [x, np.array(indices, np.int32)],
                        [np.zeros((2, 2), np.float32)])
        expect((y == x[indices]).all(), f"expected {x[indices]}, got {y}")
    for indices, at, number in (([3, 0], 0, 3), ([0, -4], 1, -4)):
        refused(place, "indices", library, [x, np.array(indices, np.int32)],
                [np.zeros((2, 2), np.float32)],
                f"expected numbers from -3 to 2 in 'i', got {number} in element {at}")


def loss(ignored):
    """Scores of 4 rows and 3 classes, and the loss of their labels."""
    attributes = {} if ignored is None else {"ignore_index": ignored}
    return [helper.make_node("Gemm", ["x", "w"], ["scores"]),
            helper.make_node("SoftmaxCrossEntropyLoss", ["scores", "labels"], ["loss"],
                             **attributes)]


INPUTS = [("x", TensorProto.FLOAT, [4, 2]), ("labels", TensorProto.INT64, [4])]
WEIGHTS = [("w", np.array([[1, 0, -1], [2, 1, 0]], np.float32))]


def test_labels(place):
    x = np.ones((4, 2), np.float32)
    for name, ignored, good, bad in (("plain", None, 2, 3), ("ignoring", -1, -1, -2),
                                     ("far", 255, 255, 254)):
        library = compiled(place, name, loss(ignored), INPUTS, ["loss"], WEIGHTS)
        for label, text in ((good, None),
                            (bad, f"expected numbers from 0 to 2 in 'labels', got "
                                  f"{bad} in element 2")):
            inputs = [x, np.array([0, 1, label, 2], np.int64)]
            outputs = [np.zeros((), np.float32)]
            if text:
                refused(place, name, library, inputs, outputs, text)
            else:
                found, = outputs_of(library, inputs, outputs)
                expect(found > 0, f"expected a loss, got {found}")


def test_labels_to_train_on(place):
    """Of a model with its own loss, which says what it ignores."""
    program = compiled(place, "trained", loss(-1), INPUTS, ["loss"], WEIGHTS,
                       ["--train", "--batch=4"], ending="")
    np.save(place.path("x.npy"), np.ones((8, 2), np.float32))
    for name, label in (("good", -1), ("bad", 3)):
        np.save(place.path(f"{name}.npy"), np.array([0, 1, 2, 0, 0, label, 1, 2], np.int32))
        command = (program, "train", f"--data={place.path('x.npy')},"
                   f"{place.path(f'{name}.npy')}", "--epochs=1")
        if name == "good":
            ok(*command)
        else:
            fails(BAD_DATA, *command, parts=["expected labels from 0 to 2", "got 3"],
                  lines=None)
