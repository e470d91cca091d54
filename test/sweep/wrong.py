"""What is wrong is said in a line, before anything is trained."""

from harness import expect, fails
from sweeps import DATA

CASES = [
    (2, ["--lr=x"], ["'--lr' to be a number, got 'x'"]),
    (2, ["--lr=0.1,"], ["'--lr' to be a number, got ''"]),
    (2, ["--lr=nan"], ["got 'nan'"]),
    (2, ["--lr=1e-3..1e-1"], ["the range '1e-3..1e-1'", "--random=N"]),
    (2, ["--lr=0..1", "--random=3"], ["above 0", "'0..1'"]),
    (2, ["--lr=1..0.1", "--random=3"], ["to a greater one", "'1..0.1'"]),
    (2, ["--lr=0.1..x", "--random=3"], ["got 'x'"]),
    (2, ["--seed=5..1"], ["not less, got '5..1'"]),
    (2, ["--seed=1.5"], ["an integer", "'1.5'"]),
    (2, ["--seed=1..2000000"], ["at most 1000000 values", "'--seed'"]),
    (2, ["--seed=0..9223372036854775807"], ["at most 1000000 values"]),
    (2, ["--seed=1..1000", "--lr=0.1,0.2", "--epochs=1..1000"],
     ["at most 1000000 runs"]),
    (2, ["--random=2000000"], ["'--random' to be at most 1000000"]),
    (2, ["--epochs=0,1"], ["'--epochs' to be 1 or more, got '0'"]),
    (2, ["--batch=32,7"], ["'--batch' to be one of 16, 32, got 7"]),
    (2, ["--momentum=0.9"], ["'--momentum'", "adam"]),
    (2, ["--class-weights=balanced"], ["compiled with '--class-weights'"]),
    (2, ["--schedule=cosine,steps=3"], ["steps"]),
    (2, ["--schedule=linear"], ["constant, step, cosine", "'linear'"]),
    (2, ["--init=zero"], ["'--init'", "'zero'"]),
    (2, ["--halving=1"], ["'--halving' to be 2 or more"]),
    (2, ["--halving=2", "--epochs=1,2"], ["one '--epochs' with '--halving'"]),
    (2, ["--jobs=0"], ["'--jobs' to be 1 or more"]),
    (2, ["--list=nowhere", "--random=2"], ["'--list' and '--random'"]),
    (2, ["--checkpoint=x"], ["unknown option '--checkpoint' of 'sweep'"]),
    (14, ["--list=nowhere"], ["cannot read 'nowhere'"]),
    (14, ["--data=nowhere"], ["'nowhere'"]),
]

LISTS = [
    ("", "a run in each line, got none"),
    ("{}\n[1]\n", "line 2: expected an object"),
    ("{\"lr\": 0.1}\n{\"lr\": 0.1", "line 2: expected JSON"),
    ("{\"momentums\": 0.1}", "line 1: expected an option that may differ between "
     "runs, got 'momentums'; did you mean 'momentum'?"),
    ("{\"data\": \"digits\"}", "got 'data'"),
    ("{\"lr\": \"fast\"}", "'--lr' to be a number, got 'fast'"),
    ("{\"lr\": [0.1]}", "expected a value of 'lr', got '[0.1]'"),
    ("{\"lr\": null}", "expected a value of 'lr'"),
    ("{\"seed\": 1.5}", "'--seed' to be an integer, got '1.5'"),
    ("{\"epochs\": -1}", "'--epochs' to be 1 or more, got '-1'"),
]


def test_options(place):
    folder = place.fresh("wrong")
    out = folder / "out"
    for code, flags, parts in CASES:
        given = [flag.split("=")[0] for flag in flags]
        data = [flag for flag in DATA if flag.split("=")[0] not in given]
        fails(code, place.swept(), "sweep", *data, *flags, f"--out={out}",
              parts=parts)
        expect(not out.exists(), flags)


def test_what_is_missing(place):
    fails(2, place.swept(), "sweep", "--data=digits", parts=["'--out=DIR'"])
    fails(2, place.swept(), "sweep", "--out=x", parts=["'--data=DIR'"])
    fails(14, place.swept(), "sweep", *DATA, "--out=/proc/nowhere",
          parts=["cannot make the folder"])


def test_lists(place):
    path, out = place.path("wrong.jsonl"), place.path("never")
    for text, part in LISTS:
        path.write_text(text)
        fails(14, place.swept(), "sweep", *DATA, f"--list={path}", f"--out={out}",
              parts=[f"'{path}'", part])
    path.write_text('{"lr": 0.1}\n')
    fails(2, place.swept(), "sweep", *DATA, f"--list={path}", f"--out={out}",
          "--seed=1,2", parts=["one value of '--seed'", "got 2"])
    expect(not out.exists(), "something was written")


def test_folders_of_others(place):
    found = place.sweep("--seed=1,2", "--epochs=1")
    file = found.folder / "results.jsonl"
    text = file.read_text()
    command = [place.swept(), "sweep", f"--out={found.folder}", "--seed=1,2",
               "--epochs=1"]
    fails(14, *command, "--data=digits", "--limit=500", "--test-limit=300",
          parts=["'data_digest'", "another '--out'"])
    fails(14, *command, *DATA, "--mean=0.5", parts=["'data_digest'"])
    fails(14, place.swept("cnn"), *command[1:], *DATA, parts=["'model'"])
    for damaged, part in ((text.replace('"state"', '"stat"'), "line 2"),
                          ("hello\n" + text, "line 1"),
                          (text + "{}\n", "line 4"),
                          (text.replace('"epoch":1', '"epoch":2'), "line 2")):
        file.write_text(damaged)
        fails(14, *command, *DATA, parts=[f"'{file}', {part}"])
        expect(file.read_text() == damaged, "it was changed")


def test_all_runs_fail(place):
    out = place.fresh("failed")
    fails(15, place.swept(), "sweep", *DATA, "--lr=1e30", "--seed=1,2",
          f"--out={out}", parts=["expected a finite loss"])
