# SPDX-License-Identifier: Apache-2.0
"""The C API by ctypes: finds the library, declares structures and functions, turns statuses into exceptions.

`call("tile_launch", ...)` calls a function and raises an errors.Error unless it returns TILE_OK; `lib().tile_version()` calls one
without a status. Structures have the names of include/tile/."""
from __future__ import annotations

import ctypes as C
import os
import threading
from ctypes import POINTER, c_char_p, c_double, c_float, c_int, c_int64, c_size_t, c_uint, c_uint64, c_void_p
from typing import Any, Dict, List, Optional, Tuple

from . import errors

VERSION = "0.2.0"  # of the library that this package is written for

# enum tile_type
(I1, I8, I16, I32, I64, U8, U16, U32, U64, F8E5, F8E4NV, F16, BF16, F32, F64, F8E4B15, NONE, DESCRIPTOR) = range(18)
TYPE_NAMES = ("i1 i8 i16 i32 i64 u8 u16 u32 u64 f8e5 f8e4nv f16 bf16 f32 f64 f8e4b15 None descriptor").split()
TYPE_BYTES = (1, 1, 2, 4, 8, 1, 2, 4, 8, 1, 1, 2, 2, 4, 8, 1)


# ---- structures ----


class tile_descriptor(C.Structure):
    _fields_ = [("base", c_void_p), ("element", c_int), ("rank", c_uint), ("shape", c_int64 * 5), ("strides", c_int64 * 5),
                ("block", c_uint * 5), ("pads_nan", c_int)]


class _Value(C.Union):
    _fields_ = [("pointer", c_void_p), ("integer", c_int64), ("real", c_double), ("descriptor", POINTER(tile_descriptor))]


class tile_arg(C.Structure):
    _fields_ = [("is_pointer", c_int), ("type", c_int), ("value", _Value)]


class tile_grid(C.Structure):
    _fields_ = [("x", c_uint), ("y", c_uint), ("z", c_uint)]


class tile_device_properties(C.Structure):
    _fields_ = [("name", C.c_char * 128), ("target", C.c_char * 16), ("is_cpu", c_int), ("multiprocessors", c_int),
                ("driver_version", c_int), ("memory", c_size_t), ("l2_bytes", c_size_t), ("shared_limit", c_size_t),
                ("memory_gbs", c_double)]


class tile_tensor(C.Structure):
    _fields_ = [("data", c_void_p), ("type", c_int), ("rank", c_int), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64))]


# enum tile_object_kind
(OBJECT_VARIES, OBJECT_STAYS, OBJECT_FITS) = range(3)


class tile_object_reader(C.Structure):
    _fields_ = [("item", c_void_p), ("address", c_void_p), ("view", c_void_p)]


class tile_object_place(C.Structure):
    _fields_ = [("slot", POINTER(tile_tensor)), ("index", c_size_t), ("kind", c_int)]


class tile_tensor_info(C.Structure):
    _fields_ = [("name", c_char_p), ("type", c_int), ("rank", c_int), ("shape", c_int64 * 16), ("strides", c_int64 * 16)]


class tile_parameter(C.Structure):
    _fields_ = [("name", c_char_p), ("default_text", c_char_p), ("is_constexpr", c_int), ("has_default", c_int), ("is_typed", c_int),
                ("is_pointer", c_int), ("is_const", c_int), ("is_descriptor", c_int), ("type", c_int)]


class tile_kernel_resources(C.Structure):
    _fields_ = [("registers", c_int), ("local_bytes", c_int), ("shared_bytes", c_uint), ("threads", c_uint), ("num_warps", c_uint),
                ("num_stages", c_uint), ("num_ctas", c_uint)]


class tile_likely_size(C.Structure):
    _fields_ = [("name", c_char_p), ("size", c_int64)]


class tile_program_properties(C.Structure):
    _fields_ = [("kernels", c_size_t), ("launches", c_size_t), ("arena_bytes", c_int64), ("eager_bytes", c_int64), ("saved_bytes", c_int64)]


class tile_launch_options(C.Structure):
    _fields_ = [("in_order", c_int)]


# ---- functions: name -> parameters, for those that return a status ----

_OUT = POINTER(c_void_p)
_STATUS: Dict[str, List[Any]] = {
    "tile_device_open": [c_char_p, _OUT],
    "tile_device_from_context": [c_void_p, _OUT],
    "tile_device_get_properties": [c_void_p, POINTER(tile_device_properties)],
    "tile_malloc": [c_void_p, c_size_t, _OUT],
    "tile_free": [c_void_p, c_void_p],
    "tile_memory_register": [c_void_p, c_void_p, c_size_t],
    "tile_memory_unregister": [c_void_p, c_void_p],
    "tile_stream_create": [c_void_p, _OUT],
    "tile_stream_from_handle": [c_void_p, c_void_p, _OUT],
    "tile_stream_synchronize": [c_void_p, c_void_p],
    "tile_event_create": [c_void_p, _OUT],
    "tile_event_record": [c_void_p, c_void_p, c_void_p],
    "tile_event_elapsed": [c_void_p, c_void_p, POINTER(c_float)],
    "tile_copy_to_device": [c_void_p, c_void_p, c_void_p, c_void_p, c_size_t],
    "tile_copy_to_host": [c_void_p, c_void_p, c_void_p, c_void_p, c_size_t],
    "tile_copy_on_device": [c_void_p, c_void_p, c_void_p, c_void_p, c_size_t],
    "tile_memset": [c_void_p, c_void_p, c_void_p, c_int, c_size_t],
    "tile_replay_run": [c_void_p, c_void_p],
    "tile_kernel_open": [c_void_p, c_char_p, c_char_p, _OUT],
    "tile_kernel_from_source": [c_void_p, c_char_p, c_char_p, c_size_t, c_char_p, _OUT],
    "tile_kernel_set_constant": [c_void_p, c_char_p, c_char_p],
    "tile_kernel_set_warps": [c_void_p, c_uint],
    "tile_kernel_set_stages": [c_void_p, c_uint],
    "tile_kernel_set_tuple": [c_void_p, c_char_p, c_size_t],
    "tile_kernel_set_max_registers": [c_void_p, c_uint],
    "tile_kernel_set_num_ctas": [c_void_p, c_uint],
    "tile_kernel_set_warp_specialize": [c_void_p, c_char_p],
    "tile_kernel_set_launch_pdl": [c_void_p, c_int],
    "tile_kernel_set_target": [c_void_p, c_char_p],
    "tile_kernel_add_folder": [c_void_p, c_char_p],
    "tile_kernel_set_check": [c_void_p, c_int],
    "tile_kernel_prepare": [c_void_p, c_void_p, c_size_t],
    "tile_kernel_get_code": [c_void_p, c_void_p, c_size_t, POINTER(c_void_p), POINTER(c_size_t)],
    "tile_kernel_get_resources": [c_void_p, c_void_p, c_size_t, POINTER(tile_kernel_resources)],
    "tile_kernel_get_parameter": [c_void_p, c_size_t, POINTER(tile_parameter)],
    "tile_launch": [c_void_p, c_void_p, tile_grid, c_void_p, c_size_t],
    "tile_launch_with": [c_void_p, c_void_p, tile_grid, c_void_p, c_size_t, POINTER(tile_launch_options)],
    "tile_prepared_create": [c_void_p, c_void_p, c_size_t, _OUT],
    "tile_prepared_set": [c_void_p, c_size_t, tile_arg],
    "tile_prepared_launch": [c_void_p, c_void_p, tile_grid],
    "tile_arg_from_dlpack": [c_void_p, c_void_p, POINTER(tile_arg)],
    "tile_tensor_from_dlpack": [c_void_p, c_void_p, POINTER(tile_tensor)],
    "tile_tensors_from_objects": [POINTER(tile_object_reader), C.py_object, POINTER(tile_object_place), c_size_t],
    "tile_graph_from_text": [c_char_p, c_char_p, c_size_t, _OUT],
    "tile_program_open": [c_void_p, c_char_p, _OUT],
    "tile_program_from_text": [c_void_p, c_char_p, c_char_p, c_size_t, _OUT],
    "tile_program_from_text_likely": [c_void_p, c_char_p, c_char_p, c_size_t, POINTER(tile_likely_size), c_size_t, _OUT],
    "tile_program_wait_optimized": [c_void_p],
    "tile_program_input": [c_void_p, c_size_t, POINTER(tile_tensor_info)],
    "tile_program_output": [c_void_p, c_size_t, POINTER(tile_tensor_info)],
    "tile_program_get_properties": [c_void_p, POINTER(tile_program_properties)],
    "tile_program_run": [c_void_p, c_void_p, c_uint64, POINTER(tile_tensor), c_size_t, POINTER(tile_tensor), c_size_t],
    "tile_program_set_size": [c_void_p, c_char_p, c_int64],
    "tile_program_record": [c_void_p, c_void_p, c_uint64, POINTER(tile_tensor), c_size_t, POINTER(tile_tensor), c_size_t, _OUT],
    "tile_program_set_pdl": [c_void_p, c_int],
}
# name -> (result, parameters), for the others
_OTHER: Dict[str, Tuple[Any, List[Any]]] = {
    "tile_status_name": (c_char_p, [c_int]),
    "tile_error_message": (c_char_p, []),
    "tile_error_json": (c_char_p, []),
    "tile_version": (c_char_p, []),
    "tile_device_close": (None, [c_void_p]),
    "tile_device_count": (c_int, []),
    "tile_stream_destroy": (None, [c_void_p]),
    "tile_event_destroy": (None, [c_void_p]),
    "tile_replay_destroy": (None, [c_void_p]),
    "tile_kernel_close": (None, [c_void_p]),
    "tile_kernel_name": (c_char_p, [c_void_p]),
    "tile_kernel_parameter_count": (c_size_t, [c_void_p]),
    "tile_prepared_destroy": (None, [c_void_p]),
    "tile_graph_has_operator": (c_int, [c_char_p]),
    "tile_graph_destroy": (None, [c_void_p]),
    "tile_program_close": (None, [c_void_p]),
    "tile_program_input_count": (c_size_t, [c_void_p]),
    "tile_program_output_count": (c_size_t, [c_void_p]),
}

# ---- loading ----

_library: Optional[C.CDLL] = None
_lock = threading.Lock()


def _candidates() -> List[str]:
    """Where the library may be: $TILE_LIBRARY alone if it is set, else in this package, else where the system looks."""
    if os.environ.get("TILE_LIBRARY"):
        return [os.environ["TILE_LIBRARY"]]
    inside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "libtile.so.0")
    return [inside] * os.path.exists(inside) + ["libtile.so.0"]


def _open() -> C.CDLL:
    failures = []
    for path in _candidates():
        try:
            return C.CDLL(path)
        except OSError as e:
            failures.append(f"  {path}: {e}")
    raise errors.LibraryMissing("libtile was not found:\n" + "\n".join(failures) +
                                "\nInstall the wheel, which contains it, or set TILE_LIBRARY to the path of libtile.so")


def _declare(library: C.CDLL) -> None:
    for name, parameters in _STATUS.items():
        function = getattr(library, name)
        function.argtypes, function.restype = parameters, c_int
    for name, (result, parameters) in _OTHER.items():
        function = getattr(library, name)
        function.argtypes, function.restype = parameters, result


def lib() -> C.CDLL:
    """The library, loaded at the first call. LibraryMissing if there is none, or one of another version."""
    global _library
    if _library is None:
        with _lock:
            if _library is None:
                library = _open()
                try:
                    _declare(library)
                except AttributeError as e:
                    raise errors.LibraryMissing(f"{library._name} is from another version than this package: {e}") from None
                found = library.tile_version().decode()
                if found.split(".")[:2] != VERSION.split(".")[:2]:
                    raise errors.LibraryMissing(f"{library._name} has version {found}; this package is written for {VERSION}")
                _library = library
    return _library


def keeping_gil(name: str) -> Any:
    """A function of the library that keeps the GIL during its calls."""
    function = C.PyDLL(lib()._name)[name]
    function.argtypes, function.restype = _STATUS[name], c_int
    return function


def last_error(status: int) -> errors.Error:
    """The exception for the calling thread's last failure."""
    library = lib()
    return errors.from_status(status, library.tile_error_message().decode("utf-8", "replace"),
                              library.tile_error_json().decode("utf-8", "replace"))


def call(name: str, *args: Any) -> None:
    """Calls a function that returns a status; raises unless that is TILE_OK."""
    status = getattr(lib(), name)(*args)
    if status:
        raise last_error(status)


def create(name: str, *args: Any) -> int:
    """Calls a function whose last parameter receives a handle; returns the handle."""
    handle = c_void_p()
    call(name, *args, C.byref(handle))
    assert handle.value is not None
    return handle.value


# ---- arguments ----


def arg_pointer(slot: tile_arg, pointer: int, element: int) -> None:
    slot.is_pointer, slot.type, slot.value.pointer = 1, element, pointer


def arg_none(slot: tile_arg) -> None:
    slot.is_pointer, slot.type, slot.value.pointer = 1, NONE, None


def arg_int(slot: tile_arg, value: int, kind: int) -> None:
    slot.is_pointer, slot.type, slot.value.integer = 0, kind, value if value < 1 << 63 else value - (1 << 64)


def arg_real(slot: tile_arg, value: float, kind: int) -> None:
    slot.is_pointer, slot.type, slot.value.real = 0, kind, value


def arg_descriptor(slot: tile_arg, descriptor: tile_descriptor) -> None:
    slot.is_pointer, slot.type, slot.value.descriptor = 0, DESCRIPTOR, C.pointer(descriptor)
