# SPDX-License-Identifier: Apache-2.0
"""What a launch need not find out again. A form is the shape of a call: the number of positional arguments and the names of the
others. Within a form, a key says what the library would compile: types of arrays and numbers, values of compile-time parameters and
options. A plan, found by the key, launches: it packs addresses and numbers into a text of tile_arg and calls the library.

Calls that have no plan, or arguments of rarer kinds (descriptors, tuples, arrays by DLPack), take the long way of kernels.py,
which checks everything and raises; a plan is made when it has succeeded."""
from __future__ import annotations

import struct
import sys
from operator import itemgetter
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from . import binding, devices

MOST = 1024  # plans of a form; a form with more starts again
_LOW, _HIGH, _LOW64, _HIGH64 = -(1 << 31), (1 << 31) - 1, -(1 << 63), (1 << 63) - 1
_PLAIN = {int, bool, str, type(None)}
_tensors: set = set()  # torch.Tensor and torch.nn.Parameter, once PyTorch is loaded


class Plan:
    """How to launch calls of one key."""

    __slots__ = ("handle", "pointer", "device", "index", "pack", "head", "order", "defaults", "count", "user", "keep", "run")

    def __init__(self, handle: Any, device: str, slots: Any, count: int, order: List[int], defaults: List[Any], user: Any, keep: Any):
        self.handle, self.pointer, self.device = handle, handle.pointer, device
        self.index = int(device[5:] or 0) if device.startswith("cuda") else -1
        formats, self.head = "@", []
        for slot in slots[:count]:
            is_real = not slot.is_pointer and binding.F8E5 <= slot.type <= binding.F8E4B15
            formats += "iid" if is_real else "iiq"
            self.head += [slot.is_pointer, slot.type, 0]
        self.pack = struct.Struct(formats).pack
        self.count, self.defaults = count, defaults
        is_straight = order == list(range(count))
        self.order: Optional[Callable[[List[Any]], Tuple[Any, ...]]] = None if is_straight else itemgetter(*order, order[0])
        self.user, self.keep, self.run = user, keep, binding.lib().tile_launch

    def packed(self, data: List[Any]) -> bytes:
        """The arguments as an array of tile_arg."""
        if self.order is not None:
            data = list(self.order(data + self.defaults)[:-1])
        values = self.head.copy()
        values[2::3] = data
        return self.pack(*values)

    def launch(self, packed: bytes, programs: Any, raw: Optional[int]) -> None:
        """Launches on a CUstream; None: PyTorch's current one."""
        stream = None
        if self.index >= 0:
            raw = devices.current_stream_of(self.index) if raw is None else raw
            stream = devices.stream_handle(self.device, raw) if raw else None
        status = self.run(self.pointer, stream, binding.tile_grid(*programs), packed, self.count)
        if status:
            raise binding.last_error(status)


def plain_grid(programs: Any) -> Optional[Tuple[int, int, int]]:
    """Three numbers from a grid of one to three positive numbers that fit; None for another."""
    kind = type(programs)
    if kind is int:
        programs = (programs, 1, 1)
    elif kind is tuple or kind is list:
        programs = (*programs, 1, 1)[:3] if 0 < len(programs) < 3 else programs
    else:
        return None
    if len(programs) != 3:
        return None
    for n in programs:
        if type(n) is not int or not 0 < n < 1 << 32:
            return None
    return programs


class Form:
    """Calls with the same number of positional arguments and the same names."""

    __slots__ = ("kinds", "plans", "names")

    def __init__(self, names: Sequence[str], constants: Sequence[bool]):
        """`names` of the values in the order of the call; constants: whether they are compile-time values or options."""
        self.names, self.kinds = tuple(names), tuple(constants)
        self.plans: Dict[Tuple[Any, ...], Plan] = {}

    def key(self, values: Sequence[Any], data: List[Any]) -> Optional[Tuple[Any, ...]]:
        """The key of a call; appends its addresses and numbers to `data`. None: the call has an argument of a rarer kind."""
        key: List[Any] = []
        add, give = key.append, data.append
        for value, is_constant in zip(values, self.kinds):
            kind = type(value)
            if is_constant:
                if kind in _PLAIN:
                    add(kind)
                    add(value)
                elif kind is float:
                    add(repr(value))
                elif not _add_constant(value, key):
                    return None
            elif kind in _tensors:
                pointer = value.data_ptr()
                if not pointer or value.is_neg():
                    return None
                add(value.dtype)
                add(value.device)
                give(pointer)
            elif kind is int:
                if not _LOW <= value <= _HIGH:
                    if not _LOW64 <= value <= _HIGH64:
                        return None
                    add(0)
                add(int)
                give(value)
            elif kind is float or kind is bool:
                add(kind)
                give(value)
            elif value is None:
                add(None)
                give(0)
            elif not _add_numpy(value, key, data):
                return None
        return tuple(key)

    def remember(self, key: Tuple[Any, ...], handle: Any, device: str, packed: Any, run_time: Dict[str, Any], user: Any = None, keep: Any = None) -> Optional[Plan]:
        """Makes the plan of a call that the long way has launched. `run_time`: the values of its run-time parameters in their order.
        None: it has arguments that a plan does not pass."""
        given = [n for n, is_constant in zip(self.names, self.kinds) if not is_constant]
        defaults = [n for n in run_time if n not in given]
        if packed.count != len(run_time):  # tuples
            return None
        values = [0 if run_time[n] is None else run_time[n] for n in defaults]
        if not all(isinstance(v, (int, float)) for v in values):
            return None
        order = [(given + defaults).index(n) for n in run_time]
        if len(self.plans) >= MOST:
            self.plans = {}
        plan = self.plans[key] = Plan(handle, device, packed.slots, packed.count, order, values, user, keep)
        return plan


def _add_constant(value: Any, key: List[Any]) -> bool:
    """Compile-time values of Triton and PyTorch: dtypes, `tl.constexpr`, functions. The plan keeps functions alive, so that their ids stay theirs."""
    name = type(value).__name__
    if name == "constexpr":
        inner = value.value
        if type(inner) in _PLAIN or type(inner) is float:
            key += [type(inner), repr(inner)]
            return True
        return _add_constant(inner, key)
    if name == "dtype":
        key += [name, str(value)]
        return True
    if name == "JITFunction":
        key += [name, id(value)]
        return True
    return False


def _add_numpy(value: Any, key: List[Any], data: List[Any]) -> bool:
    """NumPy's arrays that are contiguous, writeable and aligned."""
    numpy = sys.modules.get("numpy")
    if numpy is None or type(value) is not numpy.ndarray:
        return False
    flags = value.flags
    if not (flags.c_contiguous and flags.writeable and flags.aligned):
        return False
    key.append(value.dtype)
    data.append(value.__array_interface__["data"][0])
    return True


def learn_tensors() -> None:
    """Notes PyTorch's classes, once it is loaded."""
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "nn"):
        _tensors.update((torch.Tensor, torch.nn.Parameter))
