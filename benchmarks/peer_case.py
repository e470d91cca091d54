"""One network of models/, at a batch size and in a precision."""

import dataclasses
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models"))
from named import named  # noqa: E402


@dataclasses.dataclass
class Case:
    name: str
    batch: int
    precision: str
    folder: pathlib.Path

    @property
    def network(self):
        return named(self.name)

    @property
    def path(self):
        return self.folder / f"{self.name}.onnx"

    @property
    def plain_path(self):
        """Without dropout."""
        return self.folder / f"{self.name}-plain.onnx"

    @property
    def train(self):
        """PyTorch has no Adam in Keras's convention, which costs the same."""
        return self.network.train.replace("--convention=keras", "")

    @property
    def label(self):
        return f"{self.name}, {self.batch}, {self.precision}"
