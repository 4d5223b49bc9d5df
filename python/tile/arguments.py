# SPDX-License-Identifier: Apache-2.0
"""Python values as arguments and as compile-time values of kernels."""
from __future__ import annotations

import sys
from typing import Any, Dict, List, Optional, Tuple

from . import binding, errors, tensors
from .binding import F32, F64, I1, I32, I64, U64, tile_arg, tile_descriptor


class TensorDescriptor:
    """A tensor and the blocks in which a kernel accesses it: `TensorDescriptor(x, [64, 32])`.

    `shape` and `strides` are those of `x` unless given. The last stride is 1, the others are multiples of 16 bytes."""

    def __init__(self, base: Any, block_shape: Any, shape: Any = None, strides: Any = None, padding: str = "zero"):
        self.base, self.block_shape, self.padding = base, [int(n) for n in block_shape], padding
        self.shape = list(base.shape if shape is None else shape)
        self.strides = list(strides) if strides is not None else list(tensors.memory(base, "base").strides)


def is_descriptor(x: Any) -> bool:
    """A TensorDescriptor of this package or of Triton."""
    return hasattr(x, "block_shape") and hasattr(x, "base") and hasattr(x, "strides")


def _descriptor(x: Any, name: str, stream: Optional[int]) -> Tuple[tile_descriptor, tensors.Memory]:
    m = tensors.memory(x.base, name, stream)
    rank = len(x.shape)
    if not 1 <= rank <= 5 or len(x.strides) != rank or len(x.block_shape) != rank:
        raise errors.InvalidArgument(f"`{name}`: a tensor descriptor has 1 to 5 sizes, and as many strides and block sizes")
    d = tile_descriptor(base=m.pointer, element=m.type, rank=rank, pads_nan=int(x.padding == "nan"))
    for i in range(rank):
        d.shape[i], d.strides[i], d.block[i] = int(x.shape[i]), int(x.strides[i]), int(x.block_shape[i])
    return d, m


class Packed:
    """Arguments as the C library takes them, and what must live as long."""

    def __init__(self) -> None:
        self.values: List[Tuple[Any, str, Optional["Parameter"]]] = []
        self.memories: List[tensors.Memory] = []
        self.keep: List[Any] = []
        self.device: Optional[str] = None
        self.slots: Any = None

    def place(self, m: tensors.Memory, name: str) -> None:
        if not m.device:  # a stand-in without memory
            return
        if self.device is None:
            self.device = m.device
        elif m.device != self.device and m.pointer:
            raise errors.InvalidArgument(f"`{name}` is on {m.device}, an earlier argument on {self.device}: all have to be on one device")
        self.memories.append(m)


class Parameter:
    """A parameter of a kernel, as its source declares it."""

    __slots__ = ("name", "default_text", "is_constexpr", "has_default", "is_typed", "is_pointer", "is_const", "is_descriptor", "type")

    def __init__(self, p: binding.tile_parameter):
        self.name = p.name.decode()
        self.default_text = p.default_text.decode() if p.default_text is not None else None
        for field in ("is_constexpr", "has_default", "is_typed", "is_pointer", "is_const", "is_descriptor"):
            setattr(self, field, bool(getattr(p, field)))
        self.type = p.type


def is_constant(value: Any) -> bool:
    """Whether a tuple's element is a compile-time value: Triton's constexpr, a function, a dtype, a text; an empty tuple."""
    kind = type(value).__name__
    return kind in ("constexpr", "dtype", "str") or hasattr(value, "tile_function") or (isinstance(value, (tuple, list)) and not value)


def flatten(name: str, value: Any, found: List[Tuple[str, Any]], tuples: List[Tuple[str, int]], constants: List[Tuple[str, str]]) -> None:
    """Tuples become their elements, named `s[0]`, `s[1]`; `tuples` gets their names and lengths, `constants` what launches do not pass."""
    if isinstance(value, (tuple, list)) and value:
        tuples.append((name, len(value)))
        for i, element in enumerate(value):
            flatten(f"{name}[{i}]", element, found, tuples, constants)
    elif is_constant(value) and (name.endswith("]") or isinstance(value, (tuple, list))):
        constants.append((name, constant(value, name)))
    else:
        found.append((name, value))


def _number(slot: tile_arg, value: Any, p: Optional[Parameter], name: str) -> None:
    numpy = sys.modules.get("numpy")
    kind = p.type if p is not None and p.is_typed and not (p.is_pointer or p.is_descriptor) else None
    if numpy is not None and isinstance(value, numpy.generic):
        if kind is None:
            kind = tensors._NUMPY.get(value.dtype.name)
        value = value.item()
    if kind is not None and kind >= binding.F8E5:
        if not isinstance(value, (int, float)):
            raise errors.InvalidArgument(f"`{name}` is a {type(value).__name__}; the parameter is a number")
        return binding.arg_real(slot, float(value), kind)
    if isinstance(value, float):
        if kind is not None:
            raise errors.InvalidArgument(f"`{name}` is {value!r}, but the parameter is {binding.TYPE_NAMES[kind]}: pass an integer")
        return binding.arg_real(slot, value, F32)
    if isinstance(value, bool) and kind is None:
        return binding.arg_int(slot, int(value), I1)
    if not -(1 << 63) <= value < 1 << 64:
        raise errors.IntegerTooLarge(f"`{name}` is {value}, which does not fit 64 bits")
    if kind is None:
        kind = I32 if -(1 << 31) <= value < 1 << 31 else I64 if value < 1 << 63 else U64
    binding.arg_int(slot, int(value), kind)


def pack(values: List[Tuple[str, Any, Optional[Parameter]]], stream: Optional[int]) -> Packed:
    """Packs run-time arguments, with tuples flattened."""
    packed = Packed()
    packed.slots = (tile_arg * max(len(values), 1))()
    for slot, (name, value, p) in zip(packed.slots, values):
        if value is None:
            binding.arg_none(slot)
        elif tensors.is_number(value):
            _number(slot, value, p, name)
        elif is_descriptor(value):
            d, m = _descriptor(value, name, stream)
            packed.place(m, name)
            packed.keep.append(d)
            binding.arg_descriptor(slot, d)
        elif tensors.is_array(value):
            m = tensors.memory(value, name, stream)
            if m.readonly and not (p is not None and p.is_const):
                raise errors.InvalidArgument(f"`{name}` is read-only, and the kernel may write to it: pass a copy, or declare `const_ptr`")
            packed.place(m, name)
            binding.arg_pointer(slot, m.pointer, m.type)
        else:
            raise errors.InvalidArgument(f"`{name}` is a {type(value).__name__}; arguments are arrays, numbers, None, tuples and descriptors")
    return packed


# ---- compile-time values, as tile_kernel_set_constant takes them ----

_WORDS: Dict[str, str] = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64", "fp8e4nv": "float8e4nv",
                          "fp8e5": "float8e5", "float8_e4m3fn": "float8e4nv", "float8_e5m2": "float8e5", "bool": "int1"}


def constant(value: Any, name: str) -> str:
    """Text of a compile-time value: a number, True, None, "text", a dtype, a tuple."""
    value = getattr(value, "value", value) if type(value).__name__ == "constexpr" else value
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    if isinstance(value, str):
        if '"' in value or "\\" in value or "\n" in value:
            raise errors.InvalidArgument(f"`{name}`: a text without quotes, backslashes and line ends is needed, not {value!r}")
        return f'"{value}"'
    if isinstance(value, (tuple, list)):
        items = [constant(v, name) for v in value]
        return "(" + ",".join(items) + ("," if len(items) == 1 else "") + ")"
    word = str(value).replace("torch.", "")
    word = getattr(value, "name", word) if type(value).__name__ == "dtype" else word
    if type(value).__name__ in ("dtype", "type") or hasattr(value, "primitive_bitwidth"):
        word = getattr(value, "__name__", word)
        return _WORDS.get(word, word)
    if hasattr(value, "__name__"):
        return value.__name__  # a function of the file
    raise errors.InvalidArgument(f"`{name}` is a {type(value).__name__}; compile-time values are numbers, None, texts, dtypes and tuples")
