# SPDX-License-Identifier: Apache-2.0
"""libtile from Python, for benchmarks that compare it with PyTorch and Triton in one process."""
import ctypes as C
import os
import struct

I32, I64, F16, BF16, F32 = 3, 4, 11, 12, 13


class Arg(C.Structure):
    class Value(C.Union):
        _fields_ = [("pointer", C.c_void_p), ("integer", C.c_int64), ("real", C.c_double)]

    _fields_ = [("is_pointer", C.c_int), ("type", C.c_int), ("value", Value)]


class Grid(C.Structure):
    _fields_ = [("x", C.c_uint), ("y", C.c_uint), ("z", C.c_uint)]


class Properties(C.Structure):
    _fields_ = [("name", C.c_char * 128), ("target", C.c_char * 16), ("is_cpu", C.c_int), ("multiprocessors", C.c_int),
                ("driver_version", C.c_int), ("memory", C.c_size_t), ("l2_bytes", C.c_size_t), ("shared_limit", C.c_size_t),
                ("memory_gbs", C.c_double)]


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
        self.lib = C.CDLL(library or os.environ["TILE_LIBRARY"])
        self.lib.tile_error_message.restype = C.c_char_p
        self.device = C.c_void_p()
        self.call("tile_device_open", device, C.byref(self.device))

    def call(self, name, *args):
        if getattr(self.lib, name)(*args) != 0:
            raise RuntimeError(name + ": " + self.lib.tile_error_message().decode())

    def properties(self):
        p = Properties()
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
        packed = (Arg * len(args))()
        for slot, arg in zip(packed, args):
            if isinstance(arg, int):
                slot.is_pointer, slot.type, slot.value.integer = 0, I32, arg
            elif isinstance(arg, float):
                slot.is_pointer, slot.type, slot.value.real = 0, F32, arg
            elif isinstance(arg, Halves):
                slot.is_pointer, slot.type, slot.value.pointer = 1, F16, arg.data_ptr()
            else:
                import torch
                kinds = {torch.float16: F16, torch.float32: F32, torch.bfloat16: BF16, torch.int32: I32, torch.int64: I64}
                slot.is_pointer, slot.type, slot.value.pointer = 1, kinds[arg.dtype], arg.data_ptr()
        g = Grid(*grid)
        launch = self.lib.tile_launch
        launch.argtypes = [C.c_void_p, C.c_void_p, Grid, C.c_void_p, C.c_size_t]
        at, n = C.addressof(packed), len(args)

        def call():
            if launch(kernel, None, g, at, n) != 0:
                raise RuntimeError(self.lib.tile_error_message().decode())

        call.keep, call.kernel, call.count = packed, kernel, n
        return call

    def code(self, call):
        """The PTX (on the CPU: the object) that a bound launch runs."""
        text, size = C.c_char_p(), C.c_size_t()
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
