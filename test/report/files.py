"""Which files are written, and which mistakes are said."""

from harness import expect, fails, ok, run
from pages import TRAIN, data_of

MOST_BYTES = 1_000_000


def test_same_bytes(place):
    first = place.report()
    again = place.path("again.html")
    ok(place.mnistc, place.model(), *TRAIN, f"--report={again}")
    expect(first.read_bytes() == again.read_bytes(), "expected the same bytes")


def test_small_and_alone(place):
    paths = [place.report(), place.report("--batch=64"), place.trained[0]]
    for path in paths:
        text = path.read_text()
        expect(len(text) < MOST_BYTES, f"expected less than 1 MB, got {len(text)}")
        expect("default-src 'none'" in text, "expected a policy")
        for word in (" src=", "@import", "<link", "url("):
            head = text.split("<script", 1)[0]
            expect(word not in head, f"expected no '{word}' in the page")


def test_with_program(place):
    """-o writes both; an option alone only the report."""
    for flags, program in (((), False), (("-o", place.path("both")), True)):
        path = place.path(f"with-{program}.html")
        done = ok(place.mnistc, place.model(), "--target=cpu", f"--report={path}",
                  *flags)
        expect(path.exists(), f"expected a report: {done}")
        expect(place.path("both").exists() == program, done)
        expect(("wrote" in done.out) == program, done)


def test_standard_output(place):
    done = ok(place.mnistc, place.model(), "--report=-")
    expect(done.out.startswith("<!doctype html>"), done.out[:100])
    done = ok(place.program, "profile", "--repeat=1", "--report=-")
    expect(done.out.startswith("<!doctype html>"), done.out[:100])
    expect("us" in done.err, "expected the table on standard error")


def test_program_knows_what_compiler_knew(place):
    told = data_of(place.profiled[0])["compiled"]
    page = place.path("cpu.html")
    ok(place.mnistc, place.model(), *TRAIN, "--target=cpu", f"--report={page}")
    expect(told == data_of(page)["compiled"],
           "expected the data of the compiler in the program")


def test_wrong_usage(place):
    model, page = place.model(), place.path("wrong.html")
    library = place.path("lib.so")
    for parts, flags in (
            (("alone or with a program", "--check"), ("--check",)),
            (("alone or with a program", "--emit=plan"), ("--emit=plan",)),
            (("alone or with a program", "--emit=source"), ("--emit=source",)),
            (("another file",), ("-o", page))):
        fails(2, place.mnistc, model, f"--report={page}", *flags, parts=parts)
        expect(not page.exists(), f"expected no file with {flags}")
    fails(2, place.mnistc, model, f"--report={model}", parts=("another file",))
    fails(2, place.mnistc, model, "--report=", parts=("file for --report",))
    fails(4, place.mnistc, model, "--report=/nowhere/x.html",
          parts=("cannot write",))
    app = place.program
    fails(2, app, "profile", "--report=-", "--json", parts=("one output",))
    fails(2, app, "train", "--data=digits", "--report=-", "--json",
          parts=("one output",))
    fails(2, app, "train", "--data=digits", f"--report={page}", f"--plot={page}",
          parts=("different files",))
    for command in (("profile",), ("train", "--data=digits", "--limit=64")):
        fails(14, app, *command, "--report=/nowhere/x.html", parts=("/nowhere",))
    # A library has no commands, and carries nothing for them.
    done = run(place.mnistc, model, "--target=cpu", "-o", library,
               f"--report={page}")
    expect(done.code == 0 and page.exists(), done)
    expect(b"estimated_us" not in library.read_bytes(), "expected no data")
