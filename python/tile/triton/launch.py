# SPDX-License-Identifier: Apache-2.0
"""What stands for JITFunction.run: binds the arguments as Triton does, compiles by Tile, launches."""
from __future__ import annotations

import logging
import threading
from typing import Any, Callable, Dict, List, Optional, Tuple

import triton.language as tl
from triton.runtime.jit import JITFunction

from .. import arguments, binding, devices, errors, kernels, tensors
from .errors import as_triton
from .source import flatten, has_changed

log = logging.getLogger("tile.triton")
_lock = threading.RLock()

_TAKEN = {"num_warps", "num_stages", "num_ctas", "maxnreg", "launch_pdl"}
# Options of Triton that change nothing here.
_IGNORED = {"debug", "ir_override", "instrumentation_mode", "fpsan_homomorphic_casts", "enable_fp_fusion", "sanitize_overflow", "arch",
            "default_dot_input_precision", "allowed_dot_input_precisions", "supported_fp8_dtypes", "deprecated_fp8_dot_operand_dtypes",
            "max_num_imprecise_acc_default", "extern_libs", "backend_name", "warp_size", "ptx_version", "ptx_options", "launch_cooperative_grid",
            "cluster_dims", "enable_reflect_ftz", "device", "device_type", "stream", "early_stop_for_profiling"}


class Launched:
    """What a launch returns, instead of Triton's CompiledKernel: launchable, with its code. `n_regs`, `n_spills` and `metadata` are not
    there: the driver has them only for code that it assembled."""

    def __init__(self, kernel: kernels.Kernel, values: Dict[str, Any], options: Dict[str, int], device: str):
        self._kernel, self._values, self._options, self._device = kernel, values, options, device
        self.name = kernel.name

    @property
    def asm(self) -> Dict[str, Any]:
        """{"ptx": text} on a GPU, {"object": bytes} on the CPU."""
        code = self._kernel.code(device=self._device, **self._values, **self._options)
        return {"object": code} if self._device == "cpu" else {"ptx": code.decode()}

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        constants = {p.name: self._values[p.name] for p in self._kernel.parameters if p.is_constexpr and p.name in self._values}
        return lambda *args: self._kernel[grid](*args[:len(self._kernel.parameters)], **{
            n: v for n, v in constants.items() if n not in self._kernel._names[:len(args)]}, **self._options)


class _Source:
    """A JITFunction's kernels by the functions that it gets as arguments."""

    def __init__(self, function: JITFunction):
        self.function, self.src = function, function.src
        self.made: Dict[Tuple[int, ...], Tuple[Any, kernels.Kernel, Dict[int, str]]] = {}

    def kernel(self, others: Tuple[Any, ...]) -> Tuple[kernels.Kernel, Dict[int, str]]:
        key = tuple(id(o) for o in others)
        found = self.made.get(key)
        if found is None or has_changed(found[0]):
            text, names = flatten(self.function, others)
            found = self.made[key] = (text, kernels.Kernel(text.text, text.path, text.name), names)
        return found[1], found[2]


def source_of(function: JITFunction) -> _Source:
    found = function.__dict__.get("_tile_source")
    if found is None or found.src is not function.src:
        found = _Source(function)
        function.__dict__["_tile_source"] = found
    return found


def _unwrap(value: Any) -> Any:
    return value.value if isinstance(value, tl.constexpr) else value


def _is_function(value: Any) -> bool:
    return isinstance(value, JITFunction)


def bind(function: JITFunction, args: Tuple[Any, ...], named: Dict[str, Any]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """(values of parameters, options of the launch). Raises TypeError as a call would."""
    params = function.params
    if len(args) > len(params):
        raise TypeError(f"{function.__name__}() takes {len(params)} arguments but {len(args)} were given")
    values = {p.name: a for p, a in zip(params, args)}
    options = {}
    for name, value in named.items():
        if name in values:
            raise TypeError(f"{function.__name__}() got multiple values for argument '{name}'")
        (values if any(p.name == name for p in params) else options)[name] = value
    for p in params:
        if p.name not in values:
            if not p.has_default:
                raise TypeError(f"{function.__name__}() missing a required argument: '{p.name}'")
            values[p.name] = p.default
    for name in options:
        if name not in _TAKEN and name not in _IGNORED:
            raise KeyError(f"Keyword argument {name} was specified but unrecognised")
    return {p.name: _unwrap(values[p.name]) for p in params}, options


def _kernel_of(function: JITFunction, values: Dict[str, Any]) -> Tuple[kernels.Kernel, Dict[str, Any]]:
    """The kernel, and its arguments: functions are replaced by their names in the text."""
    others: List[Any] = []
    for value in values.values():
        others += [v for v in (value if isinstance(value, (tuple, list)) else (value,)) if _is_function(v)]
    with _lock:
        kernel, names = source_of(function).kernel(tuple(others))
    if others:
        values = {n: _Named(names[id(v)]) if _is_function(v) else v for n, v in values.items()}
    return kernel, values


class _Named:
    """A function as a compile-time value."""

    def __init__(self, name: str):
        self.__name__ = name


def device_of(values: Dict[str, Any]) -> Optional[str]:
    """The device of the first array; None if there is none."""
    for value in values.values():
        for v in value if isinstance(value, (tuple, list)) else (value,):
            v = v.base if arguments.is_descriptor(v) else v
            if getattr(v, "device", None) is not None and hasattr(v, "data_ptr"):
                return tensors.torch_device(v.device)
    return None


def run(function: JITFunction, args: Tuple[Any, ...], named: Dict[str, Any], grid: Any, warmup: bool, check: bool) -> Any:
    """Launches by Tile. Raises an errors.Error that Triton's callers understand."""
    for hook in function.pre_run_hooks:
        hook(*args, **named)
    values, wanted = bind(function, args, named)
    options = {n: int(v) for n, v in wanted.items() if n in _TAKEN and v is not None and (v or n not in ("maxnreg", "launch_pdl"))}
    device = device_of(values) or ("cuda:0" if devices.device_count() else "cpu")
    if check and device == "cpu":
        options["check"] = 1
    try:
        kernel, arguments_ = _kernel_of(function, values)
        if warmup:
            packed, handle, _ = kernel._prepare(arguments_, options, None, device)
            binding.call("tile_kernel_prepare", handle.pointer, packed.slots, packed.count)
        else:
            programs = grid(values) if callable(grid) else grid
            kernel.launch(tuple(programs) if isinstance(programs, (tuple, list)) else programs, (), {**arguments_, **options})
    except errors.Error as e:
        raise as_triton(e) from None
    return Launched(kernel, arguments_, options, device)
