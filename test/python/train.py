"""Training in Python: the bits of `app train`, and the numbers of onnxruntime."""

import json

import mnistc
import numpy as np
from harness import expect, ok, reference

RECIPE = {"optimizer": "adam", "lr": 0.01}
FLAGS = ("--train", "--optimizer=adam", "--lr=0.01")


def trained(place, **options):
    return mnistc.compile(place.model(), target="cpu", batch=16, train=RECIPE, **options)


def test_same_bits_as_the_program(place):
    x, y = place.data()
    out = ok(place.program(*FLAGS), "train", "--json", "--no-shuffle", "--epochs=4",
             f"--data={place.path('x.npy')},{place.path('y.npy')}")
    summary, told = json.loads(out.out), []
    program = trained(place)
    epochs = program.train(x, y, epochs=4, shuffle=False, callback=told.append)
    expect(program.digest == summary["digest"], summary)
    expect(epochs[-1].train.loss == summary["train_loss"], (epochs, summary))
    expect(epochs[-1].train.accuracy == summary["train_accuracy"], (epochs, summary))
    expect(told == epochs and [e.epoch for e in epochs] == [1, 2, 3, 4], told)


def test_saved_weights_are_those_in_use(place):
    x, y = place.data()
    program = trained(place)
    epochs = program.train(x, y.astype(np.int64), epochs=5, test=(x[:30], y[:30]))
    path = place.path("saved.onnx")
    program.save(path)
    scores = program(x)
    np.testing.assert_allclose(scores, reference(path, x), rtol=1e-4, atol=1e-5)
    expect(epochs[-1].test == program.evaluate(x[:30], y[:30]), epochs[-1])
    expect(epochs[-1].train.loss < epochs[0].train.loss / 2, epochs)
    right = (scores.argmax(axis=1) == y).mean()
    expect(program.evaluate(x, y).accuracy == right, right)
    # From the same seed: the same, and another order from another seed.
    digest = program.digest
    for seed, same in ((1, True), (2, False)):
        program.start()
        program.train(x, y, epochs=5, seed=seed)
        expect((program.digest == digest) == same, seed)


def test_steps_numbers_and_checkpoints(place):
    x, y = place.data()
    program, other = trained(place), trained(place)
    expect(list(program.numbers) == ["lr", "weight-decay", "beta1", "beta2", "epsilon"],
           list(program.numbers))
    expect(dict(program.numbers)["lr"] == 0.01 and "momentum" not in program.numbers, "numbers")
    expect((program.train_batch, program.target.dtype) == (16, np.int32), program.target)
    for i in range(3):
        program.numbers["lr"] = 0.02 / (i + 1)
        program.step(x[:16], y[:16])
    program.checkpoint(place.path("state"))
    other.resume(place.path("state"))
    expect(other.numbers["lr"] == 0.02 / 3, other.numbers["lr"])
    expect(program.step(x[16:30], y[16:30]) == other.step(x[16:30], y[16:30]), "a loss")
    expect(program.digest == other.digest, "weights")


def test_callbacks_end_it(place):
    x, y = place.data()
    program = trained(place)
    expect(len(program.train(x, y, epochs=9, callback=lambda e: e.epoch == 2)) == 2, "not ended")


def test_data_of_the_program(place):
    x, y = place.data()
    data = f"{place.path('x.npy')},{place.path('y.npy')}"
    program = trained(place)
    epochs = program.train_on(data, epochs=3, no_shuffle=True, lr=0.02)
    other = trained(place)
    other.start()
    other.numbers["lr"] = 0.02
    wanted = other.train(x, y, epochs=3, shuffle=False)
    expect([e.train for e in epochs] == [e.train for e in wanted], (epochs, wanted))
    expect(program.digest == other.digest and program.numbers["lr"] == 0.02, "weights")
    # It goes on from there, in either way.
    expect(program.step(x[:9], y[:9]) == other.step(x[:9], y[:9]), "a step")
    stopped = program.train_on(data, epochs=100000, callback=lambda e: e.epoch == 3)
    expect(3 <= len(stopped) < 100000, len(stopped))


def test_values_by_regression(place):
    x, y = place.data()
    values = np.eye(4, dtype=np.float32)[y]
    program = mnistc.compile(place.model(), target="cpu", batch=16,
                             train={"loss": "mse", "targets": "values", "lr": 0.05})
    program.start()
    before = program.evaluate(x, values)
    np.testing.assert_allclose(before.loss, np.square(program(x) - values).mean(), rtol=1e-5)
    expect(before.accuracy is None, before)
    program.train(x, values, epochs=10)
    expect(program.evaluate(x, values).loss < before.loss / 2, "not trained")


def test_weighted_classes(place):
    """A class that counts nothing is not learned, wherever its weight is said."""
    x, y = place.data()
    recipe = {**RECIPE, "class_weights": [1, 1, 1, 0]}
    program = mnistc.compile(place.model(), target="cpu", batch=16, train=recipe)
    program.train(x, y, epochs=10, shuffle=False)
    answers = program(x).argmax(axis=1)
    expect(not (answers == 3).any() and (answers == y)[y != 3].mean() > 0.9, answers)
    data = f"{place.path('x.npy')},{place.path('y.npy')}"
    weights = ",".join(map(str, recipe["class_weights"]))
    other = mnistc.compile(place.model(), target="cpu", batch=16,
                           train={**RECIPE, "class_weights": True})
    other.train_on(data, epochs=10, no_shuffle=True, class_weights=weights)
    expect(other.digest == program.digest, (other.digest, program.digest))


def test_several_batches_of_a_step(place):
    """A step takes the rows of all of them, and is one of `app train`."""
    x, y = place.data()
    program = mnistc.compile(place.model(), target="cpu", batch=16,
                             train={**RECIPE, "accumulate": 3})
    expect(program.train_batch == 48 and len(x) % 48, program.train_batch)
    out = ok(place.program(*FLAGS, "--accumulate=3"), "train", "--json", "--no-shuffle",
             "--epochs=2", f"--data={place.path('x.npy')},{place.path('y.npy')}")
    epochs, summary = program.train(x, y, epochs=2, shuffle=False), json.loads(out.out)
    expect(program.digest == summary["digest"], summary)
    expect(epochs[-1].train.loss == summary["train_loss"], (epochs, summary))
    # Fewer rows than a batch has, and than a step.
    other = mnistc.compile(place.model(), target="cpu", batch=48, train=RECIPE)
    other.train(x, y, epochs=2, shuffle=False)
    for rows in (5, 20, 48):
        np.testing.assert_allclose(program.step(x[:rows], y[:rows]),
                                   other.step(x[:rows], y[:rows]), rtol=1e-4)
    try:
        program.step(x[:49], y[:49])
    except mnistc.UsageError as error:
        expect("expected 1 to 48 rows, got 49" in str(error), error)
    else:
        raise AssertionError("expected an error")
