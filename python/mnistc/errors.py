"""What can go wrong, with the exit codes of README.md."""

from __future__ import annotations

from typing import Dict, Type


class Error(Exception):
    """The message is mnistc's, `code` its exit code or the library's status."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class ModelError(Error):
    """1: a file that is no valid model."""


class UsageError(Error, ValueError):
    """2: an argument that is wrong."""


class UnsupportedError(Error):
    """3: operators that mnistc does not know; all are listed."""


class ToolchainError(Error):
    """4: a compiler that is missing or fails, or output that cannot be written."""


class DeviceError(Error):
    """10, 11: no usable GPU or driver, or a model compiled for another one."""


class LibraryError(Error):
    """12: a library that is missing or of a wrong version."""


class OutOfMemoryError(Error, MemoryError):
    """13: no memory, on the host or the device."""


class DataError(Error):
    """14: data that the model cannot take, or files that cannot be read or written."""


class NumericError(Error, ArithmeticError):
    """15: NaN or infinity."""


class BusyError(Error):
    """20: another thread is using the program."""


_BY_CODE: Dict[int, Type[Error]] = {
    1: ModelError,
    2: UsageError,
    3: UnsupportedError,
    4: ToolchainError,
    10: DeviceError,
    11: DeviceError,
    12: LibraryError,
    13: OutOfMemoryError,
    14: DataError,
    15: NumericError,
    20: BusyError,
}


def error_of(code: int, message: str) -> Error:
    return _BY_CODE.get(code, Error)(message, code)
