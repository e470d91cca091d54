"""Training through the C interface: the numbers of `app train`, of NumPy and of
onnxruntime."""

import json
import os

import harness
import numpy as np
from harness import expect, ok
from libraries import Session, batches

RECIPES = {
    "sgd": ("--optimizer=sgd", "--lr=0.1"),
    "adam": ("--optimizer=adam", "--lr=0.01", "--clip-norm=1"),
    "nesterov": ("--optimizer=nesterov", "--lr=0.05", "--weight-decay=0.01"),
}


def test_same_bits_as_the_program(place):
    x, y = place.data()
    for recipe in RECIPES.values():
        out = ok(place.program("--train", *recipe), "train", "--json", "--no-shuffle",
                 f"--data={place.path('x.npy')},{place.path('y.npy')}", "--epochs=3",
                 f"--log={place.path('log')}", "--report-every=1",
                 f"--save={place.path('app.onnx')}")
        summary = json.loads(out.out)
        events = [json.loads(line) for line in place.path("log").read_text().splitlines()]
        place.path("log").unlink()
        wanted = [event["loss"] for event in events if event["event"] == "report"]
        with place.session(place.library("--train", *recipe)) as session:
            session.start(seed=1)
            losses = []
            for _ in range(3):
                losses += [session.train(*batch) for batch in batches(x, y, 16)]
                metrics = session.metrics()
            expect(session.digest() == summary["digest"], recipe)
            np.testing.assert_allclose(losses, wanted, rtol=1e-12)
            expect(metrics.loss == summary["train_loss"], (metrics.loss, summary))
            expect((metrics.rows, metrics.labels) == (100, 100), metrics.rows)
            expect(metrics.correct / 100 == summary["train_accuracy"], summary)
            session.save(os.fsencode(place.path("own.onnx")))
            expect(place.path("own.onnx").read_bytes() == place.path("app.onnx").read_bytes(),
                   "another file")


def reference_losses(x, y, weight, bias, rates):
    """Softmax regression in double precision."""
    losses = []
    for (rows, classes), rate in zip(batches(x, y, 16), rates):
        z = rows.astype(np.float64) @ weight + bias
        z -= z.max(axis=1, keepdims=True)
        p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        losses.append(-np.log(p[np.arange(len(rows)), classes]).mean())
        p[np.arange(len(rows)), classes] -= 1
        weight -= rate * rows.T.astype(np.float64) @ p / len(rows)
        bias -= rate * p.mean(axis=0)
    return losses


def test_rates_of_each_step_as_numpy(place):
    import onnx
    from onnx import numpy_helper
    x, y = place.data()
    tensors = {t.name: numpy_helper.to_array(t).astype(np.float64)
               for t in onnx.load(str(place.model(0))).graph.initializer}
    rates = [0.5, 0.4, 0.3, 0.0, 0.2, 0.1, 1.0]
    with place.session(place.library("--train", "--optimizer=sgd", hidden=0)) as session:
        session.start()
        found = []
        for batch, rate in zip(batches(x, y, 16), rates):
            session.train_set(b"lr", rate)
            found.append(session.train(*batch))
    np.testing.assert_allclose(
        found, reference_losses(x, y, tensors["w0"].copy(), tensors["b0"].copy(), rates),
        rtol=2e-6)


def test_infers_and_saves_trained_weights(place):
    x, y = place.data()
    path = place.path("saved.onnx")
    with place.session(place.library("--train", *RECIPES["adam"])) as session:
        session.start()
        before = session.scores(x)
        for batch in batches(x, y, 16) * 5:
            session.train(*batch)
        after = session.scores(x)
        expect(np.abs(after - before).max() > 0.1, "not trained")
        session.save(os.fsencode(path))
        np.testing.assert_allclose(after, harness.reference(path, x), rtol=1e-4, atol=1e-5)
        # What it makes of the rows, by NumPy; and nothing changed.
        digest, found = session.digest(), session.evaluate_on(x, y)
        p = after - after.max(axis=1, keepdims=True)
        p = p - np.log(np.exp(p).sum(axis=1, keepdims=True))
        np.testing.assert_allclose(found.loss, -p[np.arange(100), y].mean(), rtol=1e-5)
        expect(found.correct == (after.argmax(axis=1) == y).sum(), found.correct)
        expect(session.digest() == digest and found.rows == 100, "changed")


def test_looking_changes_nothing(place):
    x, y = place.data()
    library, digests, sums = place.library("--train", *RECIPES["adam"]), set(), set()
    for looks in (False, True):
        with place.session(library) as session:
            session.start(seed=5, init=b"he")
            for rows, classes in batches(x, y, 16):
                if looks:
                    session.train(rows, classes)
                    session.scores(x[:3])
                    session.evaluate_on(x[:20], y[:20])
                else:
                    session.train_step(len(rows), *step_arguments(rows, classes), None)
            digests.add(session.digest())
            metrics = session.metrics()
            sums.add((metrics.loss, metrics.rows, metrics.correct))
            expect(session.metrics().rows == 0, "metrics begin again")
            # From the same seed again, in the same session.
            session.start(seed=5, init=b"he")
            for batch in batches(x, y, 16):
                session.train(*batch)
            digests.add(session.digest())
    expect(len(digests) == 1 and len(sums) == 1, (digests, sums))


def test_a_loss_is_of_its_step(place):
    x, y = place.data()
    library, losses = place.library("--train", *RECIPES["adam"]), []
    for asked in (range(7), (2, 3, 6)):
        with place.session(library) as session:
            session.start()
            found = {}
            for i, (rows, classes) in enumerate(batches(x, y, 16)):
                if i in asked:
                    found[i] = session.train(rows, classes)
                else:
                    session.train_step(len(rows), *step_arguments(rows, classes), None)
            losses.append(found)
    expect(all(losses[0][i] == losses[1][i] for i in losses[1]), losses)


def step_arguments(x, y):
    from libraries import buffer
    return buffer(x), 1, buffer(y)


def test_resumes_with_the_same_bits(place):
    x, y = place.data()
    library, folder = place.library("--train", *RECIPES["adam"]), os.fsencode(place.path("state"))
    first, second = Session(library).start(), Session(library)
    all_batches = batches(x, y, 16)
    for batch in all_batches[:3]:
        first.train(*batch)
    first.train_set(b"lr", 0.003)
    first.train_checkpoint(folder)
    second.train_resume(None, folder)
    for batch in all_batches[3:]:
        expect(first.train(*batch) == second.train(*batch), "another loss")
    expect(first.digest() == second.digest(), "other weights")
    expect(first.metrics().loss == second.metrics().loss, "other sums")
    first.close(), second.close()


def test_resumes_what_the_program_wrote(place):
    x, y = place.data()
    recipe = ("--train", *RECIPES["adam"])
    base = (place.program(*recipe), "train", "--json", "--no-shuffle",
            f"--data={place.path('x.npy')},{place.path('y.npy')}",
            f"--checkpoint={place.path('app-state')}")
    ok(*base, "--epochs=1")
    with place.session(place.library(*recipe)) as session:
        session.train_resume(None, os.fsencode(place.path("app-state")))
        for batch in batches(x, y, 16):
            session.train(*batch)
        digest = session.digest()
    out = ok(*base, "--epochs=2", "--resume")
    expect(json.loads(out.out)["digest"] == digest, digest)
