# SPDX-License-Identifier: Apache-2.0
"""Tile from Python: kernels in Triton's language, compiled by libtile, on NumPy and PyTorch arrays, on the CPU and on GPUs.

    kernel = tile.load("add.tile")
    kernel[lambda m: tile.cdiv(m["n"], m["BLOCK"])](x, y, out, n, BLOCK=1024)

`import tile.torch` is a backend of torch.compile, `tile.triton.install()` runs functions of `@triton.jit` by Tile. This module
needs neither PyTorch nor NumPy. Python 3.9 and newer; docs/python.md."""
from .arguments import TensorDescriptor
from .devices import device_count, properties
from .errors import (CheckFailed, CompileError, Error, FileError, InternalError, InvalidArgument, LaunchFailed, LibraryMissing, LimitError,
                     NoDevice, NotFound, OutOfMemory)
from .kernels import Kernel, Prepared, from_source, load

__version__ = "0.2.0"


def cdiv(a: int, b: int) -> int:
    """The number of blocks of `b` that cover `a`."""
    return -(-a // b)


def library_version() -> str:
    """The version of libtile."""
    from . import binding
    return binding.lib().tile_version().decode()


__all__ = ["CheckFailed", "CompileError", "Error", "FileError", "InternalError", "InvalidArgument", "Kernel", "LaunchFailed",
           "LibraryMissing", "LimitError", "NoDevice", "NotFound", "OutOfMemory", "Prepared", "TensorDescriptor", "cdiv", "device_count",
           "from_source", "library_version", "load", "properties"]
