"""The tests of test/gpu and test/gradcheck, for what is not too large."""

import pathlib
import re
import sys

from harness import ROOT, expect

# How kernels are run, and how many operations a case may have: the large ones,
# which take most of the time, run once.
WAYS = (({"ORDER": "forward", "ASYNC": "late"}, "4e7"),
        ({"ORDER": "backward", "ASYNC": "early"}, "1e7"))
# Of the table, in which each takes about as long. No multiple of three: that
# would part convolutions from their gradients, which take longer.
PARTS = 4


def counts(done):
    found = re.findall(r"(\d+) passed, (\d+) failed, (\d+) skipped", done.out)
    expect(found, done)
    return [int(n) for n in found[-1]]


def run_part(place, way, most, part):
    """How many passed."""
    done = place.run(place.build / "bin/mn-gpu-tests",
                     place.build / "test/emulated/kernels.so", "sm_90",
                     f"--part={part}/{PARTS}", f"--emulated={most}",
                     env=place.environment(**way))
    passed, failed, _ = counts(done)
    expect(done.code == 0 and failed == 0, done)
    return passed


def test_table_of_kernels(place):
    """Every kernel of test/gpu beside its reference."""
    cmake = pathlib.Path(sys.executable).parent / "cmake"
    done = place.run(cmake, "--build", place.build, "--target", "emulated-kernels",
                     "-j", place.jobs, limit_s=3000)
    expect(done.code == 0, done)
    runs = [(*way, part) for way in WAYS for part in range(PARTS)]
    passed = place.side_by_side(lambda run: run_part(place, *run), runs)
    for begin in range(0, len(runs), PARTS):
        expect(sum(passed[begin:begin + PARTS]) > 500, passed)


def test_gradients_as_on_the_cpu(place):
    """Of all operators."""
    script, folder = ROOT / "test/gradcheck/targets.py", place.path("gradients")
    made = place.run(sys.executable, script, "make", place.mnistc, folder)
    expect(made.code == 0, made)
    done = place.run(sys.executable, script, "check", place.mnistc, folder)
    passed, failed, _ = counts(done)
    expect(done.code == 0 and failed == 0 and passed > 500, done)
