# SPDX-License-Identifier: Apache-2.0
"""What a launch returns in place of Triton's CompiledKernel: launchable, with its code and what the driver says of it."""
from __future__ import annotations

import ctypes as C
import hashlib
from collections import namedtuple
from functools import lru_cache
from typing import Any, Callable, Dict, Optional

from .. import binding, devices, kernels


@lru_cache(maxsize=None)
def _metadata_class() -> Any:
    return namedtuple("KernelMetadata", ["name", "num_warps", "num_stages", "num_ctas", "shared", "warp_size", "target", "hash", "maxnreg",
                                         "launch_pdl", "cluster_dims", "debug"])


class Launched:
    """A kernel for arguments of certain types. It keeps no tensor alive."""

    __slots__ = ("_kernel", "_handle", "_packed", "_count", "_constants", "_options", "_device", "name", "src", "_resources", "__weakref__")

    def __init__(self, kernel: kernels.Kernel, handle: Any, packed: Any, count: int, constants: Dict[str, Any], options: Dict[str, int], device: str,
                 src: Any = None, name: Optional[str] = None):
        """`packed`: an array of `count` tile_args, or its bytes. `constants`: values of compile-time parameters. `name`: another than the kernel's."""
        self._kernel, self._handle, self._packed, self._count = kernel, handle, packed, count
        self._constants, self._options, self._device, self.src = constants, options, device, src
        self.name = name or kernel.name
        self._resources: Any = None

    def _init_handles(self) -> None:
        """Loads the kernel; afterwards `n_regs` and `n_spills` are known, as with Triton."""
        if self._resources is None:
            found = binding.tile_kernel_resources()
            binding.call("tile_kernel_get_resources", self._handle.pointer, self._packed, self._count, C.byref(found))
            self._resources = found

    def _asked(self) -> Any:
        self._init_handles()
        return self._resources

    @property
    def n_regs(self) -> int:
        """Registers per thread; 0 on the CPU."""
        return self._asked().registers

    @property
    def n_spills(self) -> int:
        """Words of 4 bytes of local memory per thread, as Triton counts; 0 on the CPU."""
        return self._asked().local_bytes // 4

    @property
    def n_max_threads(self) -> int:
        """Threads of a CTA."""
        return self._asked().threads

    @property
    def _code(self) -> bytes:
        text, size = C.c_void_p(), C.c_size_t()
        binding.call("tile_kernel_get_code", self._handle.pointer, self._packed, self._count, C.byref(text), C.byref(size))
        return C.string_at(text, size.value)

    @property
    def asm(self) -> Dict[str, Any]:
        """{"ptx": text} on a GPU, {"object": bytes} on the CPU, and "source", the text that Tile compiled."""
        code = self._code
        return {"source": self._kernel.text, **({"object": code} if self._device == "cpu" else {"ptx": code.decode()})}

    @property
    def kernel(self) -> Any:
        """The code that was loaded."""
        return self._code

    @property
    def hash(self) -> str:
        """Of the code."""
        return hashlib.sha256(self._code).hexdigest()

    @property
    def function(self) -> int:
        """A number that stands for the kernel; Triton's is a CUfunction."""
        return self._handle.pointer

    @property
    def metadata(self) -> Any:
        """Triton's names: num_warps, num_stages, num_ctas, shared (bytes per CTA), target, name, hash."""
        r = self._asked()
        return _metadata_class()(self.name, r.num_warps, r.num_stages, r.num_ctas, r.shared_bytes, 32, _target(self._device), self.hash,
                                 self._options.get("maxnreg"), bool(self._options.get("launch_pdl")), (1, 1, 1), False)

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        """Launches with arguments for all parameters, or for those that are no compile-time ones at the end."""

        def launch(*args: Any, stream: Optional[int] = None) -> None:
            names = self._kernel._names
            rest = {n: v for n, v in self._constants.items() if n not in names[:len(args)]}
            given = dict(zip(names, args))
            given.update({n: v for n, v in self._constants.items() if n in given})
            more = {} if stream is None else {"stream": stream}
            self._kernel[grid](**given, **rest, **self._options, **more)

        return launch


def _target(device: str) -> Any:
    from triton.backends.compiler import GPUTarget

    if device == "cpu":
        return GPUTarget("cpu", 0, 32)
    text = devices.properties(device).target.decode()
    return GPUTarget("cuda", int("".join(c for c in text if c.isdigit())), 32)
