# SPDX-License-Identifier: Apache-2.0
"""libtile from Python, for benchmarks that measure it beside PyTorch and Triton in one process."""
import ctypes as C
import os

I32, F16, BF16, F32 = 3, 11, 12, 13


class Arg(C.Structure):
    class Value(C.Union):
        _fields_ = [("pointer", C.c_void_p), ("integer", C.c_int64), ("real", C.c_double)]

    _fields_ = [("is_pointer", C.c_int), ("type", C.c_int), ("value", Value)]


class Grid(C.Structure):
    _fields_ = [("x", C.c_uint), ("y", C.c_uint), ("z", C.c_uint)]


class Tile:
    """One device of libtile. Errors are exceptions with the library's message."""

    def __init__(self, library=None, device=b"cuda"):
        self.lib = C.CDLL(library or os.environ["TILE_LIBRARY"])
        self.lib.tile_error_message.restype = C.c_char_p
        self.device = C.c_void_p()
        self.call("tile_device_open", device, C.byref(self.device))

    def call(self, name, *args):
        if getattr(self.lib, name)(*args) != 0:
            raise RuntimeError(name + ": " + self.lib.tile_error_message().decode())

    def kernel(self, path, name, warps=4, registers=0, **constants):
        kernel = C.c_void_p()
        self.call("tile_kernel_open", self.device, path.encode(), name.encode(), C.byref(kernel))
        self.call("tile_kernel_set_warps", kernel, C.c_uint(warps))
        self.call("tile_kernel_set_max_registers", kernel, C.c_uint(registers))
        for key, value in constants.items():
            self.call("tile_kernel_set_constant", kernel, key.encode(), str(value).encode())
        return kernel

    def bind(self, kernel, grid, *args):
        """A launch with everything but the call itself done: returns a function without arguments."""
        packed = (Arg * len(args))()
        for slot, arg in zip(packed, args):
            if isinstance(arg, int):
                slot.is_pointer, slot.type, slot.value.integer = 0, I32, arg
            elif isinstance(arg, float):
                slot.is_pointer, slot.type, slot.value.real = 0, F32, arg
            else:
                import torch
                kinds = {torch.float16: F16, torch.float32: F32, torch.bfloat16: BF16}
                slot.is_pointer, slot.type, slot.value.pointer = 1, kinds[arg.dtype], arg.data_ptr()
        g = Grid(*grid)
        launch = self.lib.tile_launch
        launch.argtypes = [C.c_void_p, C.c_void_p, Grid, C.c_void_p, C.c_size_t]
        at, n = C.addressof(packed), len(args)

        def call():
            if launch(kernel, None, g, at, n) != 0:
                raise RuntimeError(self.lib.tile_error_message().decode())

        call.keep = packed
        return call
