# SPDX-License-Identifier: Apache-2.0
"""Devices and streams of the library, opened once per process and kept."""
from __future__ import annotations

import ctypes as C
import sys
import threading
from typing import Any, Callable, Dict, Optional, Tuple

from . import binding, errors

_devices: Dict[str, int] = {}
_streams: Dict[Tuple[int, int], int] = {}
_lock = threading.Lock()
_ask: Optional[Callable[[int], int]] = None  # PyTorch's function for the current stream


def handle(name: str) -> int:
    """The device called "cpu", "cuda:1", "simulate:sm_90a", ... A GPU is used through its primary context, as PyTorch does."""
    found = _devices.get(name)
    if found is None:
        with _lock:
            found = _devices.get(name) or _devices.setdefault(name, binding.create("tile_device_open", name.encode()))
    return found


def properties(name: str) -> binding.tile_device_properties:
    """Name, target, multiprocessors, memory, ... of a device."""
    p = binding.tile_device_properties()
    binding.call("tile_device_get_properties", handle(name), C.byref(p))
    return p


def device_count() -> int:
    """The number of GPUs; 0 without a driver."""
    return binding.lib().tile_device_count()


def stream_handle(device: str, raw: int) -> Optional[int]:
    """The library's stream for a CUstream of that device; None for the default stream."""
    if not raw or device == "cpu":
        return None
    key = (handle(device), raw)
    found = _streams.get(key)
    if found is None:
        with _lock:
            found = _streams.get(key) or _streams.setdefault(key, binding.create("tile_stream_from_handle", key[0], raw))
    return found


def current_stream(device: str) -> int:
    """PyTorch's current stream on a CUDA device as a CUstream; 0, the default stream, if PyTorch is not loaded."""
    return current_stream_of(int(device[5:] or 0)) if device.startswith("cuda") else 0


def current_stream_of(index: int) -> int:
    """PyTorch's current stream on CUDA device `index` as a CUstream; 0 without PyTorch."""
    global _ask
    if _ask is None:
        torch = sys.modules.get("torch")
        if torch is None:
            return 0
        _ask = getattr(torch._C, "_cuda_getCurrentRawStream", None) or (lambda i: torch.cuda.current_stream(i).cuda_stream)
    return _ask(index)


def raw_stream(stream: Any) -> int:
    """A CUstream from a number or an object of PyTorch (`cuda_stream`) or CuPy (`ptr`)."""
    for name in ("cuda_stream", "ptr"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    if isinstance(stream, int):
        return stream
    raise errors.InvalidArgument(f"a stream is a number or a stream of PyTorch or CuPy, not {type(stream).__name__}")
