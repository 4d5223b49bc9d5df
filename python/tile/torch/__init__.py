# SPDX-License-Identifier: Apache-2.0
"""A backend of torch.compile: `torch.compile(model, backend="tile")`.

Importing this module registers it; an installed package is also found by its entry point. `explain(model, *args)` says what
would run where. Graphs of ATen operators go to the C library as text; what it does not take runs in PyTorch."""
from .. import errors as _errors

try:
    import torch as _torch
except ImportError as e:
    raise ImportError("tile.torch needs PyTorch 2.6 or newer; this Python has none") from e


def _version(text: str):
    return tuple(int(n) for n in text.split("+")[0].split(".")[:2])


if _version(_torch.__version__) < (2, 6):
    raise ImportError(f"tile.torch needs PyTorch 2.6 or newer; this is {_torch.__version__}")

from ..dynamo import backend  # noqa: E402
from .explain import Explanation, explain  # noqa: E402


def _register() -> None:
    """Once; another import, or the entry point, may have done it."""
    try:
        _torch._dynamo.register_backend(backend, name="tile")
    except AssertionError:
        pass


import torch._dynamo  # noqa: E402,F401

_register()

__all__ = ["Explanation", "backend", "explain"]
