"""Machine code of tensor cores: no kernel uses sums that are not there yet."""

import sys

import numpy as np
from harness import ROOT, Skip, expect, run, save_model, ok
from onnx import helper

# Batch, channels of the input, its pixels, channels of the output, window and
# padding; taps whose sums are moved in several groups, and one.
CONVOLUTIONS = (
    (50, 20, (12, 11), 50, (5, 4), (2, 1, 2, 2)),
    (16, 32, (20, 21), 6, (7, 7), (3, 3, 3, 3)),
    (64, 32, (14, 14), 64, (3, 3), (1, 1, 1, 1)),
)


def model(place, number):
    batch, channels, pixels, results, window, pads = CONVOLUTIONS[number]
    path = place.path(f"convolution-{number}.onnx")
    filters = np.zeros((results, channels, *window), np.float32)
    save_model(path, [helper.make_node("Conv", ["x", "w"], ["y"], pads=pads)],
               [("x", (batch, channels, *pixels))],
               [("y", (batch, results, *pixels))], [("w", filters)])
    return path


def test_sums_are_not_touched_early(place):
    place.needs_nvrtc()
    programs = []
    for number in range(len(CONVOLUTIONS)):
        for precision in ("tf32", "bf16", "fp32"):
            programs.append(place.path(f"convolution-{number}-{precision}"))
            ok(place.mnistc, model(place, number), "--target=cuda", "--arch=sm_90",
               "--prefer=tensor-cores", f"--precision={precision}",
               f"--batch={CONVOLUTIONS[number][0]}", "-o", programs[-1])
    done = run(sys.executable, ROOT / "utils/check-wgmma.py", *programs)
    if "expected nvdisasm" in done.err:
        raise Skip("no nvdisasm")
    expect(done.code == 0 and "touch sums early" in done.out, done)
    expect(" 0 wgmma" not in done.out, done)
