"""Programs whose kernels write down when they run: what 'profile --timeline'
says of them, and that they compute what they always do."""

import json
import sys
import xml.etree.ElementTree as xml

from harness import ROOT, expect, ok
from trainings import HERE, trained


def program(place, *flags):
    """A network that is small enough for many graphs of sixteen batches."""
    def make():
        model, path = place.path("timed.onnx"), place.path(f"timed{''.join(flags)}")
        ok(sys.executable, ROOT / "utils/onnx-as.py", HERE / "small.onnxtext", "-o",
           model)
        made = place.run(place.mnistc, model, "--train", "--batch=2",
                         "--libraries=none", "--timestamps", *flags, "-o", path)
        expect(made.code == 0, made)
        return path
    return place.once(("timed", flags), make)


def profile(place, app, *flags, **how):
    """What --json prints, and the trace."""
    path = app.with_name(f"{app.name}{''.join(flags)}.json")
    done = place.run(app, "profile", f"--timeline={path}", "--json", *flags,
                     env=place.environment(**how))
    expect(done.code == 0 and done.err == "", done)
    return json.loads(done.out), json.loads(path.read_text())


def expect_sound(found, trace):
    """Kernels in the order in which they compute, which here is one after the
    other, and the same in the trace, whose events lie in each other or apart."""
    kernels = found["kernels"]
    for kernel in kernels:
        times = [kernel[f"{what}_us"] for what in ("start", "ready", "end")]
        expect(times == sorted(times) and kernel["blocks"] > 0
               and kernel["multiprocessors"] == min(kernel["blocks"], 132), kernel)
        expect(kernel["block_us"] <= kernel["longest_block_us"], kernel)
    expect(found["several_us"] == 0 and found["alone_us"] + found["idle_us"] > 0
           and found["run_us"] > 0, found)
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    spans = [event for event in events if event["cat"] == "kernel"]
    expect(sorted(event["name"] for event in spans) ==
           sorted(kernel["name"] for kernel in kernels), events)
    for track in {event["tid"] for event in spans}:
        mine = sorted((event["ts"], event["dur"]) for event in spans
                      if event["tid"] == track)
        for (begin, took), (following, _) in zip(mine, mine[1:]):
            expect(begin + took <= following + 1e-6, mine)


def steps_of(found):
    return [kernel["step"] for kernel in found["kernels"] if kernel["step"]]


def test_plans(place):
    for flags, copies in ((["--plan=train"], 1), (["--plan=eval"], 1),
                          (["--plan=infer"], 2),
                          (["--plan=train", "--no-graph"], 1),
                          (["--plan=infer", "--no-graph"], 2)):
        found, trace = profile(place, program(place), "--repeat=20", *flags)
        expect_sound(found, trace)
        others = [kernel["kernel"] for kernel in found["kernels"]
                  if kernel["step"] is None]
        name = "mn_transfer" if copies == 2 else "mn_next_batch"
        expect(others == [name] * copies, found)
        steps = steps_of(found)
        expect(steps == list(range(1, len(steps) + 1)), steps)
        graphs = copies == 1 and "--no-graph" not in flags
        # Of a graph of sixteen the first and the last are left out.
        expect(found["runs"] == (28 if graphs else 20), found)


def test_gpus_without_clusters(place):
    found, trace = profile(place, program(place, "--arch=sm_80"), "--plan=train",
                           "--repeat=16", CAPABILITY="80")
    expect_sound(found, trace)


def test_networks(place):
    """All kinds of kernels, some of which pack filters or add up parts."""
    def parts_of(name):
        app = place.path(f"{name}-cuda--libraries=none--timestamps")
        trained(place, name, "cuda", "--libraries=none", "--timestamps")
        found, trace = profile(place, app, "--plan=train", "--repeat=1",
                               "--no-graph")
        expect_sound(found, trace)
        return {kernel["kernel"].rsplit("_", 1)[1] for kernel in found["kernels"]}
    parts = place.side_by_side(parts_of, ("mxnet-simplecnn", "residual", "vit"))
    expect({"filters", "sums"} <= set.union(*parts), parts)


def test_trainings_are_the_same_to_the_bit(place):
    def check(name):
        flags = ("cuda", "--libraries=none")
        expect(trained(place, name, *flags) ==
               trained(place, name, *flags, "--timestamps"), name)
    place.side_by_side(check, ("mxnet-simplecnn", "residual"))


def test_tables_and_pictures(place):
    path, picture = place.path("timeline.json"), place.path("timeline.svg")
    done = place.run(program(place), "profile", "--plan=train", "--repeat=16",
                     f"--timeline={path}")
    lines = done.out.splitlines()
    expect(done.code == 0 and lines[0].startswith("timed (mnistc")
           and lines[0].endswith("medians of 14 runs, in microseconds"), done)
    expect([line.split()[0] for line in lines[-6:]] ==
           ["computing", "one", "several", "none", "the", "62.50"], done)
    ok(sys.executable, ROOT / "benchmarks/timeline.py", path, picture)
    drawn = xml.fromstring(picture.read_text())
    rows = [element for element in drawn.iter() if element.text == "stream 0"]
    expect(1 <= len(rows) <= 20, len(rows))
    titles = " ".join(element.text for element in drawn.iter()
                      if element.tag.endswith("title"))
    for event in json.loads(path.read_text())["traceEvents"]:
        if event.get("cat") == "kernel":
            expect(f'{event["name"]} (' in titles, titles)
    # On standard output the table would be in the way.
    done = place.run(program(place), "profile", "--plan=train", "--repeat=16",
                     "--timeline=-")
    expect(done.code == 0 and "otherData" in json.loads(done.out)
           and "medians of 14 runs" in done.err, done)
