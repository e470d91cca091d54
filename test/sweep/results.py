"""What a sweep writes."""

import json

import onnx

from harness import expect, ok
from sweeps import DATA, Results


def score(line):
    last = line["epochs"][-1]
    return -last["test_accuracy"], last["test_loss"], line["run"]


def test_lines_and_rows(place):
    found = place.sweep("--lr=0.01,0.001", "--schedule=constant,step,every=1",
                        "--epochs=2")
    expect(found.lines[0]["rows"] == 600 and found.lines[0]["test_rows"] == 300,
           found.lines[0])
    expect(sorted(found.runs) == [1, 2, 3, 4], found.runs)
    expect([found.runs[i]["options"]["lr"] for i in range(1, 5)] ==
           [0.01, 0.01, 0.001, 0.001], found.runs)
    for line in found.runs.values():
        expect(list(line) == ["event", "run", "id", "options", "command", "state",
                              "epochs", "digest", "seconds", "device"], line)
        expect([epoch["epoch"] for epoch in line["epochs"]] == [1, 2], line)
    rows = found.rows()
    expect(len(rows) == 8, rows)
    for row in rows:
        line = found.runs[int(row["run"])]
        epoch = line["epochs"][int(row["epoch"]) - 1]
        expect(row["schedule"] == line["options"]["schedule"], row)
        expect(row["digest"] == line["digest"] and row["state"] == "finished", row)
        for key in ("train_loss", "train_accuracy", "test_loss", "test_accuracy"):
            expect(float(row[key]) == epoch[key], row)


def test_the_best_are_kept(place):
    found = place.sweep("--lr=0.03,0.01,0.001", "--seed=1,2", "--epochs=2",
                        "--keep=2", "--jobs=2")
    best = sorted(found.runs.values(), key=score)[:2]
    models = found.folder / "models"
    expect({path.stem for path in models.iterdir()} ==
           {line["digest"] for line in best}, f"{list(models.iterdir())} {best}")
    for line in best:
        path = models / f"{line['digest']}.onnx"
        onnx.checker.check_model(onnx.load(path))
        expect(f"saved '{path}', run {line['run']}" in found.done.out, found.done)
        # The very file that 'train' saves.
        saved = place.path("alone.onnx")
        ok(place.swept(), "train", *line["command"].split(), f"--save={saved}")
        expect(path.read_bytes() == saved.read_bytes(), line)
    table = found.done.out.splitlines()
    head = next(i for i, row in enumerate(table) if row.startswith("run  lr"))
    expect([int(row.split()[0]) for row in table[head + 1:head + 7]] ==
           [line["run"] for line in sorted(found.runs.values(), key=score)], table)


def test_none_is_kept(place):
    found = place.sweep("--seed=1,2", "--epochs=1", "--keep=0")
    expect({path.name for path in found.folder.iterdir()} ==
           {"results.jsonl", "results.csv"}, list(found.folder.iterdir()))


def test_summary(place):
    found = place.sweep("--json", "--lr=0.01,1e30", "--seed=1,2", "--epochs=2",
                        "--keep=5")
    summary = json.loads(found.done.out)
    expect(summary["runs"] == 4 and summary["finished"] == 2 and
           summary["failed"] == 2, summary)
    expect([line["run"] for line in summary["best"]] ==
           [line["run"] for line in sorted(
               (line for line in found.runs.values()
                if line["state"] == "finished"), key=score)], summary)
    expect("run 1/4" in found.done.err, found.done)


def test_failed_runs_do_not_end_a_sweep(place):
    found = place.sweep("--lr=1e30,0.01", "--epochs=2")
    failed, good = found.runs[1], found.runs[2]
    expect(failed["state"] == "failed" and good["state"] == "finished", found.runs)
    expect("expected a finite loss" in failed["message"], failed)
    expect("failed: expected a finite loss" in found.done.out, found.done)
    # Both are done.
    again = place.sweep("--lr=1e30,0.01", "--epochs=2", folder=found.folder)
    expect(len(again.lines) == len(found.lines), again.lines)
    expect([row["state"] for row in again.rows() if row["run"] == "1"] ==
           ["failed"], again.rows())


def test_more_runs_continue_a_sweep(place):
    found = place.sweep("--lr=0.01", "--seed=1,2", "--epochs=2")
    more = place.sweep("--lr=0.03,0.01", "--seed=1..3", "--epochs=2",
                       folder=found.folder)
    expect(len(more.lines) == 1 + 2 + 4, more.lines)
    whole = place.sweep("--lr=0.03,0.01", "--seed=1..3", "--epochs=2")
    expect(more.rows() == whole.rows(), f"{more.rows()} {whole.rows()}")
    models = [{path.name: path.read_bytes()
               for path in (each.folder / "models").iterdir()}
              for each in (more, whole)]
    expect(models[0] == models[1], models[0].keys())
    # The same data, elsewhere.
    same = place.sweep("--lr=0.03,0.01", "--seed=1..3", "--epochs=2",
                       folder=found.folder)
    expect(len(same.lines) == len(more.lines), same.lines)


def test_a_model_that_is_gone_is_trained_again(place):
    flags = ("--seed=1..4", "--epochs=2")
    found = place.sweep(*flags)
    best, = (found.folder / "models").iterdir()
    before = best.read_bytes()
    best.unlink()
    again = place.sweep(*flags, folder=found.folder)
    expect(best.read_bytes() == before, best)
    expect(len(again.lines) == len(found.lines) + 1, again.lines)
    # And so are those that a larger --keep asks for.
    place.sweep(*flags, "--keep=3", folder=found.folder)
    expect(len(list((found.folder / "models").iterdir())) == 3, "models")
    place.sweep(*flags, "--keep=1", folder=found.folder)
    expect(list((found.folder / "models").iterdir()) == [best], "models")


def test_repetitions_are_trained_once(place):
    found = place.sweep("--lr=0.01,0.010", "--seed=1,1,2", "--epochs=1")
    expect(len(found.runs) == 2, found.runs)
    expect("note: 4 runs are the same as others" in found.done.out, found.done)


def test_without_a_test_set(place):
    import numpy as np
    folder = place.fresh("one-set")
    random = np.random.default_rng(1)
    np.save(folder / "train_x.npy", random.random((64, 1, 28, 28), np.float32))
    np.save(folder / "train_y.npy", np.arange(64) % 10)
    out = place.fresh("sweep")
    done = ok(place.swept(), "sweep", f"--data={folder}", f"--out={out}",
              "--lr=0.01,0.001", "--epochs=3")
    found = Results(out, done)
    expect("train loss" in done.out and "test" not in done.out.split("\n")[1],
           done)
    for line in found.runs.values():
        expect("test_loss" not in line["epochs"][0], line)
    expect(DATA and len(found.rows()) == 6, found.rows())
