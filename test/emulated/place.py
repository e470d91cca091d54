"""The emulated GPU for tests, and what several of them need."""

import concurrent.futures
import os
import subprocess

import harness
from harness import Skip


class Place(harness.Place):
    def __init__(self, folder, options):
        super().__init__(folder, options)
        self.build, self.jobs = options.build.resolve(), options.jobs
        self.nvrtc = self.build / "lib/emulated"

    def environment(self, **how):
        """Of compilers and programs; `how` kernels are run, such as ORDER."""
        if not (self.nvrtc / "libnvrtc.so.13").exists():
            raise Skip("no emulated GPU: CUDA's headers or Boost are missing")
        return os.environ | {
            "MNISTC_CUDA_PATH": str(self.nvrtc),
            "LD_LIBRARY_PATH": str(self.build / "lib/fake-cuda"),
        } | {f"FAKE_CUDA_{key}": value for key, value in how.items()}

    def run(self, *command, limit_s=900, env=None):
        """Of commands that take longer than most."""
        return harness.Done(command, subprocess.run(
            [str(part) for part in command], capture_output=True, text=True,
            errors="replace", timeout=limit_s, stdin=subprocess.DEVNULL,
            env=env or self.environment()))

    def side_by_side(self, function, items):
        """What `function` answers to each; a program has one core."""
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(function, items))
