# SPDX-License-Identifier: Apache-2.0
"""What stands for `triton.compile`, which TorchInductor calls for each of its kernels and then launches by the result's `run`."""
from __future__ import annotations

import struct
from typing import Any, Callable, Dict, List, Optional, Tuple

from triton.compiler import ASTSource

from .. import arguments, binding, devices, errors, kernels, tensors
from . import hooks
from .errors import as_triton, reason_of
from .launch import _options, _TAKEN, source_of
from .launched import Launched

_NUMBERS = {"u1": binding.I1, **{f"{k}{b}": getattr(binding, f"{k.upper()}{b}") for k in "iu" for b in (8, 16, 32, 64)}, "i1": binding.I1}


def _slot(kind: str, name: str, is_divisible: bool) -> binding.tile_arg:
    """A stand-in for an argument of this type of Triton's: "*fp32", "i64"."""
    slot = binding.tile_arg()
    if kind.startswith("*"):
        element = tensors.type_named(kind.lstrip("*k")) if kind.lstrip("*k") not in _NUMBERS else _NUMBERS[kind.lstrip("*k")]
        if element is None or kind.startswith("**"):
            raise errors.InvalidArgument(f"`{name}` has Triton's type {kind}, which Tile has not")
        binding.arg_pointer(slot, 4096 if is_divisible else 4096 + 8, element)
    elif kind in _NUMBERS:
        binding.arg_int(slot, 16 if is_divisible else 3, _NUMBERS[kind])
    else:
        real = tensors.type_named(kind)
        if real is None:
            raise errors.InvalidArgument(f"`{name}` has Triton's type {kind}, which Tile has not")
        binding.arg_real(slot, 1.0, real)
    return slot


def _fixed_slot(value: Any, name: str) -> binding.tile_arg:
    """An argument of which Triton made a constant."""
    slot = binding.tile_arg()
    if value is None:
        binding.arg_none(slot)
    elif isinstance(value, int):
        binding.arg_int(slot, value, binding.I32)
    else:
        raise errors.InvalidArgument(f"`{name}` is the constant {value!r}, but no constexpr parameter")
    return slot


class Compiled(Launched):
    """As CompiledKernel: `run(gx, gy, gz, stream, function, packed_metadata, launch_metadata, enter_hook, exit_hook, *args)`."""

    __slots__ = ("_pack", "_head", "_places", "_arity", "packed_metadata", "module")

    def __init__(self, src: ASTSource, kernel: kernels.Kernel, handle: Any, slots: List[Any], constants: Dict[str, Any], options: Dict[str, int],
                 device: str):
        array = (binding.tile_arg * max(len(slots), 1))(*slots)
        super().__init__(kernel, handle, array, len(slots), constants, options, device, src)
        reals = [not s.is_pointer and binding.F8E5 <= s.type <= binding.F8E4B15 for s in slots]
        self._pack = struct.Struct("@" + "".join("iid" if r else "iiq" for r in reals)).pack
        self._head = [n for s in slots for n in (s.is_pointer, s.type, 0)]
        self._places = [i for i, p in enumerate(kernel.parameters) if not p.is_constexpr]
        self._arity = len(kernel.parameters)
        self.packed_metadata: Tuple[Any, ...] = ()
        self.module = None

    @property
    def run(self) -> Callable[..., None]:
        """The launcher. `args` are those of all parameters, or of the run-time ones."""
        return self._run

    def _run(self, x: int, y: int, z: int, stream: int, function: Any, metadata: Any, launch_metadata: Any, enter: Any, leave: Any, *args: Any) -> None:
        if len(args) == self._arity:
            args = tuple(args[i] for i in self._places)
        values = self._head.copy()
        values[2::3] = [a.data_ptr() if hasattr(a, "data_ptr") else 0 if a is None else a for a in args]
        packed = self._pack(*values)

        def launch() -> None:
            status = binding.lib().tile_launch(self._handle.pointer, devices.stream_handle(self._device, stream), binding.tile_grid(x, y, z), packed,
                                               self._count)
            if status:
                error = binding.last_error(status)
                raise as_triton(error) from reason_of(error)

        if x > 0 and y > 0 and z > 0:
            launch() if enter is None and leave is None else hooks.around((enter, leave), launch_metadata, launch)

    def launch_metadata(self, grid: Any, stream: int, *args: Any) -> Any:
        """What launch hooks get; None without hooks."""
        if hooks.launch_hooks() is None:
            return None
        return hooks.launch_metadata(self.src.fn, self, grid, stream, dict(zip(self.src.fn.arg_names, args)))


def _is_divisible(attributes: Any, index: int) -> bool:
    found = attributes.get((index,), ()) if isinstance(attributes, dict) else ()
    return any(list(a) == ["tt.divisibility", 16] for a in found)


def compile_source(src: ASTSource, options: Optional[Dict[str, Any]]) -> Compiled:
    """Compiles for the current GPU, without one for the CPU. Raises an errors.Error that Triton's callers understand."""
    fn, names = src.fn, src.fn.arg_names
    constants = {names[k[0] if isinstance(k, tuple) else k if isinstance(k, int) else names.index(k)]: v for k, v in src.constants.items()}
    constants = {n: getattr(v, "value", v) for n, v in constants.items()}
    kernel, _, _ = source_of(fn).kernel(())
    device = f"cuda:{_current()}" if devices.device_count() else "cpu"
    taken = _options({n: v for n, v in (options or {}).items() if n in _TAKEN}, False)
    slots = []
    for i, p in enumerate(kernel.parameters):
        kind = src.signature[p.name]
        if not p.is_constexpr:
            is_fixed = kind == "constexpr" or p.name in constants  # the number 1, or None
            slots.append(_fixed_slot(constants[p.name], p.name) if is_fixed else _slot(kind, p.name, _is_divisible(getattr(src, "attrs", None), i)))
    given = tuple((n, arguments.constant(v, n)) for n, v in constants.items() if n in kernel._constants)
    try:
        handle = kernel._handle(device, given, tuple(sorted(taken.items())), ())
        made = Compiled(src, kernel, handle, slots, constants, taken, device)
        binding.call("tile_kernel_prepare", handle.pointer, made._packed, made._count)
    except errors.Error as e:
        raise as_triton(e) from reason_of(e)
    return made


def _current() -> int:
    import torch

    return torch.cuda.current_device()
