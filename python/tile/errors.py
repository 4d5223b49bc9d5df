# SPDX-License-Identifier: Apache-2.0
"""Exceptions. Every status of the C library is a class; a compilation's errors carry file, line and column."""
from __future__ import annotations

import json
import re
from typing import Any, Dict, List, Optional, Type

_PLACE = re.compile(r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?P<column>\d+): ", re.M)


class Error(Exception):
    """A call of libtile failed.

    `status` is the status's name ("compile error"), `diagnostics` the records of a compilation (code, message, file,
    line, column, notes, help). `file`, `line` and `column` are those of the first error; None if it has no place."""

    def __init__(self, message: str, status: str = "", diagnostics: Optional[List[Dict[str, Any]]] = None):
        Exception.__init__(self, message)  # the classes of other libraries that subclasses derive from take other arguments
        self.status = status
        self.diagnostics = diagnostics or []
        first = next((d for d in self.diagnostics if d.get("severity") == "error"), None)
        found = None if first else _PLACE.search(message)
        self.file: Optional[str] = first["file"] if first else found["file"] if found else None
        self.line: Optional[int] = first["line"] if first else int(found["line"]) if found else None
        self.column: Optional[int] = first["column"] if first else int(found["column"]) if found else None
        self.code: Optional[str] = first["code"] if first else None


class InvalidArgument(Error, ValueError):
    """An argument that the library cannot take: its type, size, device or name."""


class IntegerTooLarge(InvalidArgument, OverflowError):
    """An integer that no type of the library holds."""


class CompileError(Error):
    """The source or the graph is wrong. The message has the diagnostics with source lines."""


class NoDevice(Error):
    """No GPU, no driver, or a driver that is too old."""


class OutOfMemory(Error, MemoryError):
    """Memory of the host or of the device is out."""


class LaunchFailed(Error):
    """The device refused a launch or stopped it."""


class CheckFailed(Error):
    """A checked launch found an invalid access, a race or a failed assertion."""


class NotFound(Error, LookupError):
    """No such file, kernel or parameter."""


class FileError(Error):
    """A file could not be read or written."""


class LimitError(Error):
    """A documented limit was exceeded."""


class InternalError(Error):
    """A bug in the library: please report the message."""


class LibraryMissing(ImportError):
    """libtile was not found, or is from another version than this package."""


# By the number of enum tile_status.
_CLASSES: List[Type[Error]] = [Error, InvalidArgument, CompileError, NoDevice, NoDevice, OutOfMemory, OutOfMemory, LaunchFailed,
                               CheckFailed, NotFound, FileError, LimitError, InternalError]


def from_status(status: int, message: str, document: str) -> Error:
    """The exception for a status, from tile_error_message() and tile_error_json()."""
    try:
        parsed = json.loads(document)
    except ValueError:
        parsed = {}
    kind = _CLASSES[status] if 0 < status < len(_CLASSES) else InternalError
    return kind(message or parsed.get("status", f"status {status}"), parsed.get("status", ""), parsed.get("diagnostics"))
