"""Models, programs and data for the tests of programs, each made once."""

import sys

import harness
from harness import ROOT, Skip, expect, ok, run


class Place(harness.Place):
    def __init__(self, folder, options):
        super().__init__(folder, options)
        self.shared, self.build = options.shared, options.build
        self.python = sys.executable

    def model(self, name):
        def make():
            path = self.path(f"{name}.onnx")
            ok(self.python, ROOT / "models/make.py", name, path)
            return path
        return self.once(("model", name), make)

    def program(self, name, *options):
        options = options or ("--target=cpu", "--batch=1,8")

        def make():
            path = self.path(f"program-{len(self.made)}")
            ok(self.mnistc, self.model(name), "-o", path, *options)
            return path
        return self.once(("program", name, options), make)

    def needs_nvrtc(self):
        def make():
            return run(self.mnistc, self.model("mxnet-mlp"), "-o",
                       self.path("mlp-cuda"))
        done = self.once("nvrtc", make)
        if "expected NVRTC" in done.err:
            raise Skip("no NVRTC")
        expect(done.code == 0, done)

    def data(self):
        """Forty images in MNIST's files, and as an array."""
        def make():
            folder = self.path("digits")
            ok(self.python, ROOT / "models/digits.py", folder, "--train=20",
               "--test=40")
            return folder
        return self.once("data", make)
