# SPDX-License-Identifier: Apache-2.0
"""Tile under `@triton.jit`: after `tile.triton.install()`, launches of Triton's functions compile and run by Tile, on CPU tensors
and on GPUs. Autotuners and heuristics stay Triton's.

`kernel[grid](...)`, `kernel.warmup(...)` and what they return work as before; what Tile refuses runs in Triton on a GPU,
which a line on the logger `tile.triton` says."""
from __future__ import annotations

try:
    import triton as _triton
except ImportError as e:
    raise ImportError("tile.triton needs Triton, whose decorators make the kernels; this Python has none") from e

from .errors import AssertionFailure, KernelError, TooLarge
from .install import install, installed, uninstall

__all__ = ["AssertionFailure", "KernelError", "TooLarge", "install", "installed", "uninstall"]
