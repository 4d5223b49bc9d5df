# SPDX-License-Identifier: Apache-2.0
"""Compiled graphs of libtile from Python, for benchmarks."""
import ctypes as C
import time

import tile_ctypes  # noqa: F401 (finds the package)
from tile.binding import tile_likely_size, tile_program_properties, tile_tensor, tile_tensor_info

TOLD = C.CFUNCTYPE(None, C.c_void_p, C.c_void_p)


class Tuning(C.Structure):
    _fields_ = [("file", C.c_char_p), ("measures_nothing", C.c_int), ("seconds", C.c_double), ("candidates", C.c_uint),
                ("told", TOLD), ("user", C.c_void_p)]


class Choice(C.Structure):
    _fields_ = [("kernel", C.c_char_p), ("config", C.c_char_p), ("ms", C.c_double), ("default_ms", C.c_double),
                ("is_measured", C.c_int), ("is_from_file", C.c_int), ("why", C.c_char_p)]


class CompiledGraph:
    """A graph compiled by libtile, its kernels optimized. `sizes`: what symbols will likely be. Tensors are tuples of
    (address, type, shape, strides); the caller keeps their memory."""

    def __init__(self, tile, text, sizes=()):
        self.tile, self.handle, self.keep = tile, C.c_void_p(), []
        data, sizes = text.encode(), dict(sizes)
        start = time.perf_counter()
        likely = (tile_likely_size * max(1, len(sizes)))(*[tile_likely_size(name.encode(), size) for name, size in sizes.items()])
        tile.call("tile_program_from_text_likely", tile.device, b"graph.py", data, C.c_size_t(len(data)), likely, C.c_size_t(len(sizes)),
                  C.byref(self.handle))
        self.compile_s = time.perf_counter() - start
        tile.call("tile_program_wait_optimized", self.handle)
        self.counts = tile_program_properties()
        tile.call("tile_program_get_properties", self.handle, C.byref(self.counts))

    def output_infos(self):
        for i in range(self.tile.lib.tile_program_output_count(self.handle)):
            info = tile_tensor_info()
            self.tile.call("tile_program_output", self.handle, C.c_size_t(i), C.byref(info))
            yield info

    def pack(self, tensors):
        packed = (tile_tensor * max(1, len(tensors)))()
        for slot, (address, kind, sizes, distances) in zip(packed, tensors):
            shape, strides = (C.c_int64 * 16)(*sizes), (C.c_int64 * 16)(*distances)
            self.keep += [shape, strides]
            slot.data, slot.type, slot.rank = address, kind, len(sizes)
            slot.shape, slot.strides = C.cast(shape, C.POINTER(C.c_int64)), C.cast(strides, C.POINTER(C.c_int64))
        return packed

    def bind_to(self, inputs, outputs):
        """A run with everything but the call itself done: a function without arguments."""
        given, taken, run = self.pack(inputs), self.pack(outputs), self.tile.lib.tile_program_run
        n, m = len(inputs), len(outputs)

        def call():
            if run(self.handle, None, 0, given, n, taken, m) != 0:
                raise RuntimeError(self.tile.lib.tile_error_message().decode())

        return call

    def tune_for(self, inputs, outputs, seconds):
        """Chooses block sizes by measuring; what was chosen for each kernel."""
        given, taken, choices = self.pack(inputs), self.pack(outputs), []

        def hear(_, at):
            c = C.cast(at, C.POINTER(Choice)).contents
            choices.append(dict(kernel=c.kernel.decode(), config=(c.config or b"").decode(), ms=c.ms, default_ms=c.default_ms,
                                why=c.why.decode() if c.why else None))

        tuning = Tuning(seconds=seconds, told=TOLD(hear))
        self.tile.lib.tile_program_tune.argtypes = [C.c_void_p, C.c_void_p, C.c_uint64, C.c_void_p, C.c_size_t, C.c_void_p,
                                                    C.c_size_t, C.c_void_p]
        self.tile.call("tile_program_tune", self.handle, None, 0, given, len(inputs), taken, len(outputs), C.byref(tuning))
        return choices

    def close(self):
        self.tile.lib.tile_program_close(self.handle)
