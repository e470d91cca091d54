"""The compiler's binary: that of the package, or else the one on PATH."""

from __future__ import annotations

import os
import shutil
import sys
from typing import NoReturn

from .errors import ToolchainError


def binary() -> str:
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tree", "bin", "mnistc")
    found = own if os.path.exists(own) else shutil.which("mnistc")
    if not found:
        raise ToolchainError("expected mnistc in the package or on PATH, got none", 4)
    return found


def main() -> NoReturn:
    """The command `mnistc`."""
    os.execv(binary(), ["mnistc", *sys.argv[1:]])
