"""The networks of models/networks.py: what trains of them, and that it learns."""

import json
import math
import sys

import numpy as np
import onnx

from harness import ROOT, expect, ok, reference
from place import FLAGS

sys.path.insert(0, str(ROOT / "models"))
import make  # noqa: E402
import networks  # noqa: E402

# Trained numbers, as torch.nn.Module.parameters() has them.
PARAMETERS = {
    "lenet5": 61706, "residual": 21146, "seven-convolutions": 326410,
    "mobile": 31370, "mlp5": 575050, "mixer": 39786, "vit": 72074,
    "wide": 1331914,
}


def save(place, name, network):
    path = place.path(f"{name}.onnx")
    onnx.save(make.Graph(name, network, 1).model(), str(path))
    return path


def test_every_parameter_trains(place):
    expect(PARAMETERS.keys() == networks.OTHERS.keys(), "expected all networks")
    for name, network in networks.OTHERS.items():
        text = ok(place.mnistc, save(place, name, network), "--train",
                  "--target=cpu", "--batch=32", "--explain=json").out
        count = sum(math.prod(map(int, tensor["type"].split("x")[:-1]))
                    for tensor in json.loads(text)["tensors"]
                    if tensor["role"] == "parameter")
        expect(count == PARAMETERS[name], f"{name}: {count}")


def test_small_transformers_learn(place):
    for name, layers in (
            ("vit", networks.vision_transformer(1, 16, 2, 16)),
            ("mixer", networks.mixer(1, 16, 16, 8, 16))):
        path = save(place, name, networks.Network(layers, networks.ADAMW))
        program, trained = place.path(name), place.path(f"{name}-new.onnx")
        ok(place.mnistc, path, "--train", "--batch=32", "--optimizer=adamw",
           "--lr=0.01", f"--target={place.target}", "-o", program)
        log = place.path(f"{name}.jsonl")
        ok(program, "train", *FLAGS, "--epochs=8", f"--log={log}",
           f"--save={trained}")
        losses = [json.loads(line)["train_loss"]
                  for line in log.read_text().splitlines()
                  if '"event":"epoch"' in line]
        expect(losses[-1] < 0.6 * losses[0], f"{name}: {losses}")
        x = np.random.default_rng(3).random((4, 1, 28, 28), np.float32)
        np.save(place.path("x.npy"), x)
        again, output = place.path("again"), place.path("out.npy")
        ok(place.mnistc, trained, "-o", again, "--batch=4",
           f"--target={place.target}")
        ok(again, "infer", place.path("x.npy"), f"--output={output}")
        np.testing.assert_allclose(np.load(output), reference(trained, x),
                                   rtol=1e-4, atol=1e-4)
