# SPDX-License-Identifier: Apache-2.0
"""libtile from Python, for benchmarks that compare it with PyTorch and Triton in one process: the package's binding (python/tile/binding.py)
with launches whose arguments are packed beforehand."""
import ctypes as C
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
from tile import binding, tensors
from tile.binding import BF16, F16, F32, I32  # noqa: F401 (for the benchmarks)


class Halves:
    """An array of f16 on a device of libtile, where there is no PyTorch to make tensors."""
    dtype = F16

    def __init__(self, tile, count):
        self.tile, self.count, self.pointer = tile, count, C.c_void_p()
        tile.call("tile_malloc", tile.device, C.c_size_t(2 * count), C.byref(self.pointer))

    def data_ptr(self):
        return self.pointer.value

    def write(self, data):
        """As many bytes as the array has."""
        self.tile.call("tile_copy_to_device", self.tile.device, None, self.pointer, data, C.c_size_t(2 * self.count))

    def read(self, first, count):
        data = C.create_string_buffer(2 * count)
        at = C.c_void_p(self.pointer.value + 2 * first)
        self.tile.call("tile_copy_to_host", self.tile.device, None, data, at, C.c_size_t(2 * count))
        return struct.unpack(f"<{count}e", data.raw)

    def free(self):
        self.tile.call("tile_free", self.tile.device, self.pointer)


class Tile:
    """One device of libtile. Errors are exceptions with the library's message."""

    def __init__(self, library=None, device=b"cuda"):
        if library:
            os.environ["TILE_LIBRARY"] = library
        self.lib, self.call = binding.lib(), binding.call
        self.device = C.c_void_p()
        self.call("tile_device_open", device, C.byref(self.device))

    def properties(self):
        p = binding.tile_device_properties()
        self.call("tile_device_get_properties", self.device, C.byref(p))
        return p

    def kernel(self, path, name, warps=4, registers=0, stages=0, target=None, ctas=1, **constants):
        """0 stages: the compiler's choice; no target: the device's own."""
        kernel = C.c_void_p()
        self.call("tile_kernel_open", self.device, path.encode(), name.encode(), C.byref(kernel))
        self.call("tile_kernel_set_warps", kernel, C.c_uint(warps))
        self.call("tile_kernel_set_max_registers", kernel, C.c_uint(registers))
        if stages:
            self.call("tile_kernel_set_stages", kernel, C.c_uint(stages))
        if ctas > 1:
            self.call("tile_kernel_set_num_ctas", kernel, C.c_uint(ctas))
        if target:
            self.call("tile_kernel_set_target", kernel, target.encode())
        for key, value in constants.items():
            self.call("tile_kernel_set_constant", kernel, key.encode(), str(value).encode())
        return kernel

    def bind(self, kernel, grid, *args):
        """A launch with everything but the call itself done: returns a function without arguments."""
        packed = (binding.tile_arg * max(1, len(args)))()
        for slot, arg in zip(packed, args):
            if isinstance(arg, int):
                binding.arg_int(slot, arg, I32)
            elif isinstance(arg, float):
                binding.arg_real(slot, arg, F32)
            elif isinstance(arg, Halves):
                binding.arg_pointer(slot, arg.data_ptr(), F16)
            else:
                binding.arg_pointer(slot, arg.data_ptr(), tensors.torch_types()[arg.dtype])
        g, launch = binding.tile_grid(*grid), self.lib.tile_launch
        at, n = C.addressof(packed), len(args)

        def call():
            status = launch(kernel, None, g, at, n)
            if status:
                raise binding.last_error(status)

        call.keep, call.kernel, call.count = packed, kernel, n
        return call

    def code(self, call):
        """The PTX (on the CPU: the object) that a bound launch runs."""
        text, size = C.c_void_p(), C.c_size_t()
        self.call("tile_kernel_get_code", call.kernel, call.keep, C.c_size_t(call.count), C.byref(text), C.byref(size))
        return C.string_at(text, size.value)

    def event(self):
        event = C.c_void_p()
        self.call("tile_event_create", self.device, C.byref(event))
        return event

    def record(self, event):
        self.call("tile_event_record", self.device, event, None)

    def milliseconds(self, start, stop):
        ms = C.c_float()
        self.call("tile_event_elapsed", start, stop, C.byref(ms))
        return ms.value
