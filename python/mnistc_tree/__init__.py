"""The compiler, as it is installed beside this file; without it, that on PATH.

Apart from `mnistc`, so that the command need not load NumPy.
"""

from __future__ import annotations

import os
import shutil
import sys
from typing import NoReturn, Optional


_OWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tree", "bin", "mnistc")


def binary() -> Optional[str]:
    return _OWN if os.path.exists(_OWN) else shutil.which("mnistc")


def main() -> NoReturn:
    """The command `mnistc` of the wheel."""
    os.execv(_OWN, ["mnistc", *sys.argv[1:]])
