# SPDX-License-Identifier: Apache-2.0
"""The short way of a run: all sizes are numbers, so that only addresses change from run to run. The library reads those of all
arguments and results from one list, in one pass."""
from __future__ import annotations

import ctypes as C
from functools import lru_cache
from typing import Any, Callable, Collection, List, Optional, Sequence

import torch

from .. import binding, devices
from ..binding import OBJECT_FITS, OBJECT_STAYS, OBJECT_VARIES, tile_object_place, tile_object_reader

_fast = torch._C._dynamo.guards


@lru_cache(maxsize=None)
def reader() -> Optional[tile_object_reader]:
    """How the library reads a list of tensors: by DLPack's table of functions, which PyTorch 2.10 and later have, and the function by
    which TorchInductor's programs read addresses. None: this PyTorch has not both."""
    table = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
    address = getattr(_fast, "_torchinductor_pyobject_tensor_data_ptr", None)
    if table is None or address is None:
        return None
    pointer = C.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = C.c_void_p, [C.py_object, C.c_char_p]
    at = pointer(table, b"dlpack_exchange_api")
    view = (C.c_void_p * 6).from_address(at)[5]  # dltensor_from_py_object_no_sync
    if C.c_uint32.from_address(at).value != 1 or not view:
        return None
    return tile_object_reader(item=C.cast(C.pythonapi.PyList_GetItem, C.c_void_p), address=address, view=view)


class Fixed:
    """Runs a program. None in place of its results: an input has other strides than it was compiled for, and the long way copies it."""

    def __init__(self, program: Any, count: int, guarded: Collection[int]):
        """`count` inputs; of those in `guarded` Dynamo's guards have seen the strides."""
        self.program, self.count = program, count
        self.makers = [(s.shape({}), s.strides({}), s.dtype) for s in program.output_specs]
        self.is_gpu, self.index = program.device.type != "cpu", program.device.index or 0
        library = binding.lib()
        self.run = library["tile_program_run"]  # an object of its own, which takes addresses of arrays
        self.run.argtypes = [C.c_void_p, C.c_void_p, C.c_uint64, C.c_void_p, C.c_size_t, C.c_void_p, C.c_size_t]
        self.slots = (C.addressof(program.in_slots), len(program.input_specs), C.addressof(program.out_slots), len(program.output_specs))
        self.places = self._places(guarded)
        self.reader = reader()
        self.take = binding.keeping_gil("tile_tensors_from_objects")

    def _places(self, guarded: Collection[int]) -> Any:
        """For a list of the inputs and, behind them, the results. Constants of the graph get their addresses here."""
        program, places = self.program, []
        for slot, (i, value) in zip(program.in_slots, program.input_of):
            if i is None:
                slot.data = value.data_ptr()
            else:
                places.append((slot, i, OBJECT_STAYS if i in guarded else OBJECT_VARIES))
        places += [(slot, self.count + i, OBJECT_FITS) for i, slot in enumerate(program.out_slots[:len(self.makers)])]
        array = (tile_object_place * max(len(places), 1))()
        for at, (slot, index, kind) in zip(array, places):
            at.slot, at.index, at.kind = C.pointer(slot), index, kind
        self.place_count = len(places)
        return array

    def __call__(self, args: Sequence[Any]) -> Optional[List[torch.Tensor]]:
        program = self.program
        with program._lock:
            outs = self._allocate()
            if not self._read([*args, *outs]):
                return None
            seed = program.seed() if program.is_random else 0
            stream = program._enter(devices.current_stream_of(self.index)) if self.is_gpu else None
            status = self.run(program.pointer, stream, seed, *self.slots)
            if status:
                raise binding.last_error(status)
        return outs

    def _allocate(self) -> List[torch.Tensor]:
        make = self._maker()
        if make is not None:
            return [make(*m) for m in self.makers]
        device = self.program.device
        return [torch.empty_strided(shape, strides, dtype=dtype, device=device) for shape, strides, dtype in self.makers]

    def _maker(self) -> Optional[Callable[..., torch.Tensor]]:
        """PyTorch's short form of empty_strided, which allocates on the current device."""
        if not self.is_gpu:
            return getattr(_fast, "_empty_strided_cpu", None)
        return getattr(_fast, "_empty_strided_cuda", None) if torch._C._cuda_getDevice() == self.index else None

    def _read(self, objects: List[Any]) -> bool:
        """Writes the addresses of inputs and results into the program's arrays. False: an input does not fit."""
        if self.reader is None:
            return self._read_one_by_one(objects)
        try:
            return self.take(C.byref(self.reader), objects, self.places, self.place_count) == 0
        except Exception:  # of PyTorch: a tensor that DLPack does not give
            return False

    def _read_one_by_one(self, objects: List[Any]) -> bool:
        for at in self.places[:self.place_count]:
            t, slot = objects[at.index], at.slot[0]
            if at.kind != OBJECT_FITS and t.stride() != tuple(slot.strides[:slot.rank]):
                return False
            slot.data = t.data_ptr()
        return True
