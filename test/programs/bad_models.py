"""What is no model, or one that cannot be compiled: each with its exit code."""

import numpy as np
import onnx
from harness import Skip, expect, fails, ok, run, save_model
from onnx import helper

# The exit code of each, and a part of what is said.
BAD_MODELS = {
    "add_opset_314159.onnx": (1, "expected an opset from 1 to"),
    # Every exporter makes some: names of nodes are only for people.
    "bad_graph_with_duplicate_node_names.onnx": (0, ""),
    "bad_graph_with_no_import_domains.onnx": (1, "to import an opset"),
    "foo_bar_1.onnx": (3, "operator 'FooBar' of the domain 'test'"),
    "missing-external-data-mnist.onnx": (1, "cannot read the external data"),
    "mul_1.noopset.onnx": (1, "to import an opset"),
    "test_arbitrary_external_file.onnx": (1, "expected numbers of int64 in one place"),
    "test_evil_weights.onnx": (1, "cannot read the external data"),
    "winml-corrupt-model.onnx": (1, "expected an ONNX model"),
}


def check_bad_model(place, model, code, part):
    bad = place.path("no-program")
    for mode in (["--check"], ["--target=cpu", "-o", bad]):
        if code == 0:
            ok(place.mnistc, model, *mode)
            continue
        fails(code, place.mnistc, model, *mode, lines=None,
              parts=[str(model), part])
        expect(not bad.exists(), f"expected no program of {model}")
    bad.unlink(missing_ok=True)


def test_bad_models(place):
    folder = place.shared / "bad-models"
    if not folder.is_dir():
        raise Skip("no folder of bad models")
    found = {model.name: model for model in folder.rglob("*.onnx")}
    expect(found.keys() == BAD_MODELS.keys(), sorted(found))
    for name, (code, part) in BAD_MODELS.items():
        check_bad_model(place, found[name], code, part)


def test_bad_models_made_here(place):
    """The same faults in models that need no folder."""
    def make(name, change):
        path = save_model(place.path(name), [
            helper.make_node("Mul", ["x", "w"], ["y"], name="n")],
            [("x", [2])], [("y", [2])], [("w", np.ones(2, np.float32))])
        model = onnx.load(path)
        change(model)
        path.write_bytes(model.SerializeToString())
        return path

    def external(location):
        def change(model):
            weight = model.graph.initializer[0]
            weight.ClearField("raw_data")
            weight.data_location = onnx.TensorProto.EXTERNAL
            weight.external_data.add(key="location", value=location)
        return change

    def own_domain(model):
        model.opset_import.add(domain="test", version=1)
        model.graph.node[0].domain = "test"

    def late_opset(model):
        model.opset_import[0].version = 314159

    for name, change, like in (
            ("opset", late_opset, "add_opset_314159.onnx"),
            ("none", lambda model: model.ClearField("opset_import"),
             "mul_1.noopset.onnx"),
            ("absent", external("none.bin"), "test_evil_weights.onnx")):
        check_bad_model(place, make(f"{name}.onnx", change), *BAD_MODELS[like])
    check_bad_model(place, make("outside.onnx", external("../../etc/passwd")), 1,
                    "inside the model's folder")
    check_bad_model(place, make("domain.onnx", own_domain), 3,
                    "operator 'Mul' of the domain 'test'")


def test_damaged_models(place):
    whole = place.model("mxnet-mlp").read_bytes()
    bad = place.path("damaged.onnx")
    damaged = [whole[:size] for size in (0, 1, 7, 100, 2000, len(whole) - 3)]
    for at in range(0, 400, 13):
        damaged.append(whole[:at] + b"\xff" + whole[at + 1:])
    for data in damaged:
        bad.write_bytes(data)
        done = run(place.mnistc, bad, "--check")
        expect(done.code in (0, 1, 3), done)
        expect(bool(done.err) == bool(done.code), done)
