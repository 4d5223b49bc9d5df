# SPDX-License-Identifier: Apache-2.0
"""Exceptions that are both Tile's and Triton's: an autotuner passes over configurations that raise its own, and only those."""
from __future__ import annotations

import re
from typing import Any, Optional

from triton.compiler.errors import CompilationError, CompileTimeAssertionFailure
from triton.runtime.errors import OutOfResources

from .. import errors


class KernelError(errors.CompileError, CompilationError):
    """A kernel that does not compile."""

    def __init__(self, error: errors.Error):
        errors.Error.__init__(self, str(error), error.status, error.diagnostics)
        self.message, self.error_message = str(error), str(reason_of(error) or error)
        self.src, self.node = None, None

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> Any:
        return (type(self), (errors.CompileError(self.message, self.status, self.diagnostics),))


class AssertionFailure(KernelError, CompileTimeAssertionFailure):
    """A `static_assert` that does not hold."""


class InvalidOption(errors.InvalidArgument, AssertionError):
    """An option that no launch can have; Triton asserts that."""


class TooLarge(errors.LimitError, OutOfResources):
    """A configuration that the device has not room for."""

    def __init__(self, error: errors.Error):
        errors.Error.__init__(self, str(error), error.status, error.diagnostics)
        numbers = [int(n) for n in re.findall(r"\b(\d+) bytes", str(error))] + [0, 0]
        self.message = str(error)
        self.required, self.limit, self.name = numbers[0], numbers[1], "shared memory"

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> Any:
        return (type(self), (errors.LimitError(self.message, self.status, self.diagnostics),))


# Diagnostics of configurations that the device has not room for, and of assertions of the source.
_LARGE, _ASSERTIONS = {"E0605", "E0608", "E0606"}, {"E0303"}


def reason_of(error: errors.Error) -> Optional[ValueError]:
    """The messages alone, without places and marks of code: the cause, as Triton chains it. None if the error is not of a source."""
    found = [d["message"].replace("`", "") for d in error.diagnostics if d.get("severity") == "error"]
    return ValueError("\n".join(found)) if found else None


def as_triton(error: errors.Error) -> errors.Error:
    """The exception that a caller of Triton expects."""
    if error.code in _LARGE or (isinstance(error, errors.LimitError) and error.code is None):
        return TooLarge(error)
    if error.code in _ASSERTIONS:
        return AssertionFailure(error)
    return KernelError(error) if isinstance(error, errors.CompileError) else error
