# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries as memory: address, element type, device, shape and strides, without copies.

NumPy and PyTorch are read directly, since a DLPack capsule costs 2 us; everything else with `__dlpack__` goes through
tile_tensor_from_dlpack. Neither NumPy nor PyTorch is needed."""
from __future__ import annotations

import ctypes as C
import sys
from typing import Any, Dict, NamedTuple, Optional, Tuple

from . import binding, devices, errors
from .binding import BF16, F16, F32, F64, F8E4NV, F8E5, I1, I16, I32, I64, I8, U16, U32, U64, U8


class Memory(NamedTuple):
    """An array's first element, and how the others lie. Strides count elements."""

    pointer: int
    type: int
    device: str
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]
    readonly: bool
    owner: Any  # keeps the memory


_NUMPY: Dict[str, int] = {"bool": I1, "int8": I8, "int16": I16, "int32": I32, "int64": I64, "uint8": U8, "uint16": U16, "uint32": U32,
                          "uint64": U64, "float16": F16, "float32": F32, "float64": F64, "bfloat16": BF16, "float8_e5m2": F8E5,
                          "float8_e4m3fn": F8E4NV}
_torch: Dict[Any, int] = {}


def torch_types() -> Dict[Any, int]:
    """torch.dtype -> tile_type, for the dtypes that this PyTorch has."""
    if not _torch:
        torch = sys.modules["torch"]
        _torch.update({getattr(torch, name): number for name, number in _NUMPY.items() if hasattr(torch, name)})
    return _torch


def is_torch(x: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, getattr(torch, "Tensor", ()))


def is_numpy(x: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(x, numpy.ndarray)


# Names of Triton's dtypes.
_TRITON: Dict[str, int] = {"int1": I1, "fp16": F16, "bf16": BF16, "fp32": F32, "fp64": F64, "fp8e5": F8E5, "fp8e4nv": F8E4NV,
                           "fp8e4b15": binding.F8E4B15}


def type_named(dtype: Any) -> Optional[int]:
    """The type of a dtype of PyTorch, NumPy or Triton."""
    name = str(getattr(dtype, "name", dtype)).replace("torch.", "")
    return _NUMPY.get(name, _TRITON.get(name))


def is_array(x: Any) -> bool:
    """Whether `x` is passed to kernels as a pointer."""
    return is_torch(x) or is_numpy(x) or (hasattr(x, "__dlpack__") and not is_number(x)) or hasattr(x, "data_ptr")


def is_number(x: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return isinstance(x, (bool, int, float)) or (numpy is not None and isinstance(x, numpy.generic))


def torch_device(device: Any) -> str:
    """The library's name of a torch.device."""
    if device.type == "cuda":
        return f"cuda:{device.index or 0}"
    if device.type == "cpu":
        return "cpu"
    raise errors.InvalidArgument(f"a tensor on device `{device}`: Tile runs on cpu and cuda")


def _of_torch(x: Any, name: str) -> Memory:
    torch = sys.modules["torch"]
    if x.layout is not torch.strided:
        raise errors.InvalidArgument(f"`{name}` is a {x.layout} tensor; Tile takes strided ones: call .to_dense()")
    if x.is_conj() or x.is_neg():
        raise errors.InvalidArgument(f"`{name}` is a view whose conjugation or negation is deferred; call .resolve_conj().resolve_neg()")
    kind = torch_types().get(x.dtype)
    if kind is None:
        raise errors.InvalidArgument(f"`{name}` has dtype {x.dtype}, which Tile has not; it has {', '.join(_NUMPY)}")
    try:
        pointer = x.data_ptr()
    except RuntimeError as e:  # fake and functional tensors have no storage
        raise errors.InvalidArgument(f"`{name}` has no memory: {e}") from None
    device = torch_device(x.device)
    if not pointer and x.numel():
        raise errors.InvalidArgument(f"`{name}` has no memory: its storage was freed")
    return Memory(pointer, kind, device, tuple(x.shape), x.stride(), False, x)


def _of_pointer(x: Any, name: str) -> Memory:
    """An object with `data_ptr` and `dtype`: Triton's reinterpreted tensors, and its stand-ins for tensors, which have no memory."""
    kind = type_named(x.dtype)
    if kind is None:
        raise errors.InvalidArgument(f"`{name}` has dtype {x.dtype}, which Tile has not")
    base = getattr(x, "base", None)
    shape = tuple(x.shape)
    strides = tuple(x.stride()) if hasattr(x, "stride") else dense_strides(shape)
    device = torch_device(x.device) if hasattr(x, "device") else ""
    return Memory(int(x.data_ptr()), kind, device, shape, strides, False, base if is_torch(base) else x)


def _of_numpy(x: Any, name: str) -> Memory:
    kind = _NUMPY.get(x.dtype.name)
    if kind is None or not x.dtype.isnative:
        raise errors.InvalidArgument(f"`{name}` has dtype {x.dtype}, which Tile has not; it has {', '.join(_NUMPY)} in native byte order")
    size = x.dtype.itemsize
    if any(s % size for s in x.strides) or x.ctypes.data % size:
        raise errors.InvalidArgument(f"`{name}` is not aligned to its elements of {size} bytes; pass a copy")
    return Memory(x.ctypes.data, kind, "cpu", x.shape, tuple(s // size for s in x.strides), not x.flags.writeable, x)


class _DLTensor(C.Structure):
    _fields_ = [("data", C.c_void_p), ("device_type", C.c_int32), ("device_id", C.c_int32), ("ndim", C.c_int32), ("code", C.c_uint8),
                ("bits", C.c_uint8), ("lanes", C.c_uint16), ("shape", C.POINTER(C.c_int64)), ("strides", C.POINTER(C.c_int64)),
                ("byte_offset", C.c_uint64)]


class _Versioned(C.Structure):
    _fields_ = [("major", C.c_uint32), ("minor", C.c_uint32), ("context", C.c_void_p), ("deleter", C.c_void_p), ("flags", C.c_uint64),
                ("tensor", _DLTensor)]


def _capsule_pointer(capsule: Any, name: bytes) -> Optional[int]:
    api = C.pythonapi
    api.PyCapsule_IsValid.argtypes, api.PyCapsule_IsValid.restype = [C.py_object, C.c_char_p], C.c_int
    api.PyCapsule_GetPointer.argtypes, api.PyCapsule_GetPointer.restype = [C.py_object, C.c_char_p], C.c_void_p
    return api.PyCapsule_GetPointer(capsule, name) if api.PyCapsule_IsValid(capsule, name) else None


def _export(x: Any, stream: Optional[int]) -> Any:
    """x.__dlpack__ by the newest protocol that `x` knows. CUDA numbers the legacy default stream 1, not 0."""
    named = {} if stream is None else {"stream": stream or 1}
    try:
        return x.__dlpack__(max_version=(1, 0), **named)
    except TypeError:
        return x.__dlpack__(**named)


def _of_dlpack(x: Any, name: str, stream: Optional[int]) -> Memory:
    """Borrows the memory: the capsule stays ours and calls its deleter when it dies, with `owner`."""
    kind, index = (int(n) for n in x.__dlpack_device__())
    if kind not in (1, 2, 3, 13):
        raise errors.InvalidArgument(f"`{name}` is on a device of DLPack's type {kind}; Tile runs on CPU (1) and CUDA (2)")
    device = f"cuda:{index}" if kind == 2 else "cpu"
    if kind == 2 and stream is None:
        stream = devices.current_stream(device)
    try:
        capsule = _export(x, stream if kind == 2 else None)
    except (BufferError, RuntimeError) as e:
        raise errors.InvalidArgument(f"`{name}` cannot be shared by DLPack: {e}") from None
    pointer, readonly = _capsule_pointer(capsule, b"dltensor_versioned"), False
    if pointer is not None:
        versioned = _Versioned.from_address(pointer)
        if versioned.major != 1:
            raise errors.InvalidArgument(f"`{name}` has version {versioned.major} of DLPack; Tile reads 1")
        readonly, t = bool(versioned.flags & 1), versioned.tensor
    else:
        pointer = _capsule_pointer(capsule, b"dltensor")
        if pointer is None:
            raise errors.InvalidArgument(f"`{name}`: __dlpack__ returned no tensor")
        t = _DLTensor.from_address(pointer)
    out = binding.tile_tensor()
    binding.call("tile_tensor_from_dlpack", devices.handle(device), C.addressof(t), C.byref(out))
    shape = tuple(out.shape[:out.rank]) if out.rank else ()
    strides = tuple(out.strides[:out.rank]) if out.rank and out.strides else dense_strides(shape)
    return Memory(out.data or 0, out.type, device, shape, strides, readonly, (x, capsule))


def dense_strides(shape: Tuple[int, ...]) -> Tuple[int, ...]:
    """Strides of a row-major array."""
    strides, n = [], 1
    for size in reversed(shape):
        strides.append(n)
        n *= max(size, 1)
    return tuple(reversed(strides))


def memory(x: Any, name: str = "array", stream: Optional[int] = None) -> Memory:
    """The memory of an array of NumPy, PyTorch or any library with DLPack. `stream`, a CUstream, will use it."""
    if is_torch(x):
        return _of_torch(x, name)
    if is_numpy(x):
        return _of_numpy(x, name)
    if hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__"):
        return _of_dlpack(x, name, stream)
    if hasattr(x, "data_ptr") and hasattr(x, "dtype"):
        return _of_pointer(x, name)
    raise errors.InvalidArgument(f"`{name}` is a {type(x).__name__}, not an array: pass one of NumPy, PyTorch or a library with DLPack")


def extent(m: Memory) -> Tuple[int, int]:
    """First and last byte address + 1 of the allocation that a checked launch may access through this argument."""
    base = m.owner
    if is_torch(base):
        storage = base.untyped_storage()
        return storage.data_ptr(), storage.data_ptr() + storage.nbytes()
    while is_numpy(base) and is_numpy(base.base):
        base = base.base
    if is_numpy(base):
        m = _of_numpy(base, "array")
    size = binding.TYPE_BYTES[m.type]
    if 0 in m.shape:
        return m.pointer, m.pointer
    low = sum(min(0, (n - 1) * s) for n, s in zip(m.shape, m.strides))
    high = sum(max(0, (n - 1) * s) for n, s in zip(m.shape, m.strides))
    return m.pointer + low * size, m.pointer + (high + 1) * size
