"""W ranks of batch B do what one rank of batch W B does."""

import json

import numpy as np

from harness import expect, ok
from ranks_place import DATA, weights_of

ROWS, STEPS = 100, 20  # The last of five batches of 24 has 4 rows.
# model, options of mnistc, options of both, options of 'train'
CASES = {
    "adamw, uneven last batch": (
        "mlp", (), ("--optimizer=adamw", "--lr=0.003"), ("--epochs=4",)),
    "last batches dropped": (
        "mlp", (), ("--momentum=0.9", "--lr=0.05"),
        ("--epochs=5", "--drop-last")),
    "clipped by norm, smoothed labels": (
        "deep", (), ("--clip-norm=0.5", "--label-smoothing=0.1", "--lr=0.1"),
        ("--epochs=4", "--no-shuffle")),
    "clipped by value, keras": (
        "mlp", (), ("--clip-value=0.01", "--convention=keras",
                    "--optimizer=adam"), ("--epochs=4",)),
    "dropout, changed pictures": (
        "dropout", (), ("--lr=0.1",),
        ("--epochs=4", "--seed=7", "--augment=shift:2,rotate:10")),
    "batch norm of all ranks": (
        "cnn", ("--sync-batch-norm",), ("--lr=0.05",), ("--epochs=5",)),
    "weighted classes": (
        "mlp", (), ("--class-weights=1,2,3,0.5,1,0,1,4,1,0.1", "--lr=0.1",
                    "--label-smoothing=0.1"), ("--epochs=4",)),
    "values": ("mlp", (), ("--loss=mse", "--targets=class", "--lr=0.05"),
               ("--epochs=4",)),
}


def losses(log):
    found = [json.loads(line) for line in log.read_text().splitlines()]
    reports = [one["loss"] for one in found if one["event"] == "report"]
    tests = [(one["test_loss"], one["test_accuracy"]) for one in found
             if one["event"] == "epoch"]
    expect(len(reports) == STEPS, f"expected {STEPS} losses: {reports}")
    return np.array(reports), np.array(tests)


def run(command, folder, *flags):
    done = ok(*command, "train", *DATA, f"--limit={ROWS}", "--report-every=1",
              f"--log={folder / 'log'}", f"--save={folder / 'model.onnx'}",
              *flags)
    return done, *losses(folder / "log"), weights_of(folder / "model.onnx")


def check(place, name):
    model, parallel, both, flags = CASES[name]
    one = place.program(model, "24", *both)
    several = place.parallel(model, "24,12,8,6", *both, *parallel)
    _, wanted, tests, weights = run([one], place.fresh("one"), *flags)
    for count in (1, 2, 3, 4):
        command = [*place.command(count), several] if count > 1 else [several]
        done, found, tested, trained = run(
            command, place.fresh("several"), f"--batch={24 // count}", *flags)
        said = f"{name}, {count} ranks: {done}"
        np.testing.assert_allclose(found, wanted, rtol=1e-6, err_msg=said)
        np.testing.assert_allclose(tested, tests, rtol=1e-5, err_msg=said)
        for key, value in weights.items():
            np.testing.assert_allclose(trained[key], value, rtol=1e-4,
                                       atol=2e-6, err_msg=f"{key}; {said}")


def test_optimizers_and_partial_batches(place):
    for name in list(CASES)[:4]:
        check(place, name)


def test_dropout_masks(place):
    check(place, "dropout, changed pictures")


def test_batch_norm_of_all_ranks(place):
    check(place, "batch norm of all ranks")


def test_values(place):
    check(place, "values")


def test_several_batches_of_each_rank(place):
    """Of four batches of an update, of 100 rows in updates of 24."""
    one = place.program("dropout", "24", "--momentum=0.9", "--lr=0.1")
    flags = ("--epochs=4", "--seed=7")
    _, wanted, _, weights = run([one], place.fresh("one"), *flags)
    several = place.parallel("dropout", "6,3", "--accumulate=4", "--momentum=0.9",
                             "--lr=0.1")
    for count in (1, 2):
        command = [*place.command(count), several] if count > 1 else [several]
        done, found, _, trained = run(command, place.fresh("several"), *flags,
                                      f"--batch={6 // count}")
        np.testing.assert_allclose(found, wanted, rtol=1e-6, err_msg=str(done))
        for key, value in weights.items():
            np.testing.assert_allclose(trained[key], value, rtol=1e-4, atol=2e-6)


def test_weighted_classes(place):
    """The weights of all ranks' rows are what the mean is over."""
    check(place, "weighted classes")


def test_batch_norm_of_each_rank(place):
    """Running statistics are the mean of the ranks', and so equal on all: else
    the run would end with exit code 15."""
    program = place.parallel("cnn", "12")
    folder = place.fresh("each")
    done = ok(*place.command(2), program, "train", *DATA, "--limit=96",
              "--epochs=2", f"--save={folder / 'model.onnx'}")
    again = ok(*place.command(2), program, "train", *DATA, "--limit=96",
               "--epochs=2")
    digests = [one.out.split("digest ")[-1][:16] for one in (done, again)]
    expect(digests[0] == digests[1], f"the same bits twice: {digests}")
    variance = weights_of(folder / "model.onnx")["norm.variance"]
    expect(np.all(variance != 1), variance)


def test_streamed_data(place):
    program = place.parallel("mlp", "12")
    flags = ("--limit=100", "--epochs=2")
    digests = [ok(*place.command(2), program, "train", *DATA, *flags, *more
                  ).out.split("digest ")[-1][:16]
               for more in ((), ("--device-data=0",), ("--check-nan",))]
    expect(len(set(digests)) == 1, digests)


def test_resume_with_other_ranks(place):
    program = place.parallel("mlp", "24,12,8")
    folder = place.fresh("resume")
    flags = ("--limit=100", f"--checkpoint={folder}")
    ok(*place.command(2), program, "train", *DATA, *flags, "--epochs=2",
       "--batch=12")
    whole = ok(*place.command(2), program, "train", *DATA, "--limit=100",
               "--epochs=3", "--batch=12")
    same = ok(*place.command(2), program, "train", *flags, "--resume",
              "--epochs=3", "--batch=12")
    expect(same.out.split("digest ")[-1][:16]
           == whole.out.split("digest ")[-1][:16], (same, whole))
    other = ok(*place.command(3), program, "train", *flags, "--resume",
               "--epochs=4", "--batch=12")
    expect("resumed at step" in other.out, other)
    expect("epoch 4/4" in other.out, other)
