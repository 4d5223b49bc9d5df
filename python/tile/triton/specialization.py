# SPDX-License-Identifier: Apache-2.0
"""What a kernel's own name (`@triton.jit(repr=...)`) is made of: the types and the constants of a launch, in Triton's words."""
from __future__ import annotations

from collections import namedtuple
from typing import Any, Dict

from triton.runtime.jit import JITFunction, type_canonicalisation_dict

_Specialization = namedtuple("_Specialization", ["constants", "signature"])


def _type(value: Any, is_const: bool) -> Any:
    """"i32", "*fp32", "constexpr" for None, a tuple of types for a tuple."""
    if isinstance(value, (tuple, list)):
        return tuple(_type(v, False) for v in value)
    if isinstance(value, bool):
        return "u1"
    if isinstance(value, int):
        return "i32" if -(2**31) <= value < 2**31 else "u64" if value >= 2**63 else "i64"
    if isinstance(value, float):
        return "fp32"
    dtype = getattr(value, "dtype", None)
    name = str(getattr(dtype, "name", dtype)).split(".")[-1]
    return ("*k" if is_const else "*") + type_canonicalisation_dict.get(name, name) if dtype is not None else "constexpr"


def name_of(function: JITFunction, values: Dict[str, Any]) -> str:
    """The kernel's name for these values of its parameters."""
    own = getattr(function, "_repr", None)
    if own is None:
        return function.__name__
    constants, signature = {}, {}
    for p in function.params:
        value = values[p.name]
        is_one = type(value) is int and value == 1 and not p.do_not_specialize
        is_constant = p.is_constexpr or value is None or is_one
        signature[p.name] = "constexpr" if is_constant else _type(value, p.is_const)
        if is_constant:
            constants[p.name] = value
    return own(_Specialization(constants, signature))
