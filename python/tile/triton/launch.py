# SPDX-License-Identifier: Apache-2.0
"""What stands for JITFunction.run: binds the arguments as Triton does, compiles by Tile, launches."""
from __future__ import annotations

import logging
import threading
from typing import Any, Dict, List, Optional, Set, Tuple

import triton.language as tl
from triton.runtime.jit import JITFunction

from .. import arguments, binding, devices, errors, kernels, plans, tensors
from . import hooks
from .errors import InvalidOption, as_triton, reason_of
from .launched import Launched
from .source import flatten, form_of, has_changed
from .specialization import name_of

log = logging.getLogger("tile.triton")
_lock = threading.RLock()

_TAKEN = {"num_warps", "num_stages", "num_ctas", "maxnreg", "launch_pdl"}
# Options of Triton that change nothing here.
_IGNORED = {"debug", "ir_override", "instrumentation_mode", "fpsan_homomorphic_casts", "enable_fp_fusion", "sanitize_overflow", "arch",
            "default_dot_input_precision", "allowed_dot_input_precisions", "supported_fp8_dtypes", "deprecated_fp8_dot_operand_dtypes",
            "max_num_imprecise_acc_default", "extern_libs", "backend_name", "warp_size", "ptx_version", "ptx_options", "launch_cooperative_grid",
            "cluster_dims", "enable_reflect_ftz", "device", "device_type", "stream", "early_stop_for_profiling"}


class _Source:
    """A JITFunction's kernels by the functions that it gets as arguments."""

    def __init__(self, function: JITFunction):
        self.function, self.src = function, function.src
        self.made: Dict[Tuple[Any, ...], Tuple[Any, kernels.Kernel, Dict[int, str]]] = {}
        self.names = [p.name for p in function.params]
        self.defaults = {p.name: _unwrap(p.default) for p in function.params if p.has_default}
        self.forms: Dict[Tuple[Any, ...], plans.Form] = {}
        self.compiled: Set[Tuple[Any, ...]] = set()

    def kernel(self, others: Tuple[Any, ...], forms: Tuple[Any, ...] = ()) -> Tuple[kernels.Kernel, Dict[int, str], Any]:
        """The kernel, the names of `others` in its text, and the text. `forms`: of parameters with named tuples."""
        key = (tuple(id(o) for o in others), forms)
        found = self.made.get(key)
        if found is None or has_changed(found[0]):
            text, names = flatten(self.function, others, forms)
            found = self.made[key] = (text, kernels.Kernel(text.text, text.path, text.name), names)
        return found[1], found[2], found[0]


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


def _kernel_of(function: JITFunction, values: Dict[str, Any]) -> Tuple[kernels.Kernel, Dict[str, Any], Any, List[Any]]:
    """The kernel, its arguments, whose functions are replaced by their names in the text, the text, and the functions."""
    others: List[Any] = []
    for value in values.values():
        _collect_functions(value, others)
    forms = tuple((n, form) for n, v in values.items() if (form := form_of(v)) is not None)
    with _lock:
        kernel, names, text = source_of(function).kernel(tuple(others), forms)
    if others:
        values = {n: _by_name(v, names) for n, v in values.items()}
    return kernel, values, text, others


class _Named:
    """A function as a compile-time value."""

    tile_function = True

    def __init__(self, name: str):
        self.__name__ = name


def _collect_functions(value: Any, found: List[Any]) -> None:
    if _is_function(value):
        found.append(value)
    elif isinstance(value, (tuple, list)):
        for v in value:
            _collect_functions(v, found)


def _by_name(value: Any, names: Dict[int, str]) -> Any:
    """The value with its functions replaced by their names in the text."""
    if isinstance(value, (tuple, list)):
        return tuple(_by_name(v, names) for v in value)
    return _Named(names[id(value)]) if _is_function(value) else value


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
    watched = hooks.launch_hooks()
    source = source_of(function)
    form = source.forms.get((len(args), *named)) if not (warmup or check) else None
    if form is not None and watched is None:
        data: List[Any] = []
        key = form.key((*args, *named.values()) if named else args, data)
        plan = form.plans.get(key) if key is not None else None
        if plan is not None and not has_changed(plan.user[0]):
            if callable(grid):
                grid = grid({**source.defaults, **dict(zip(source.names, args)), **named})
            programs = plans.plain_grid(grid)
            if programs is not None:
                packed = plan.packed(data)
                try:
                    plan.launch(packed, programs, None)
                except errors.Error as e:
                    raise as_triton(e) from reason_of(e)
                _, kernel, constants, options, name = plan.user
                return Launched(kernel, plan.handle, packed, plan.count, constants, options, plan.device, function, name)
    return _run_anew(function, args, named, grid, warmup, check, watched)


def _options(wanted: Dict[str, Any], check: bool) -> Dict[str, int]:
    options = {n: int(v) for n, v in wanted.items() if n in _TAKEN and v is not None and (v or n not in ("maxnreg", "launch_pdl"))}
    warps = options.get("num_warps", 1)
    if warps < 1 or warps & (warps - 1):
        raise InvalidOption(f"num_warps must be a power of 2, got {warps}")
    arch = wanted.get("arch")
    if options.get("num_ctas", 1) > 1 and isinstance(arch, str) and arch.startswith("sm") and int(arch[2:].rstrip("af") or 90) < 90:
        raise errors.InvalidArgument("num_ctas > 1 requires NVIDIA SM90+ (Hopper)")
    return {**options, "check": 1} if check else options


def _run_anew(function: JITFunction, args: Tuple[Any, ...], named: Dict[str, Any], grid: Any, warmup: bool, check: bool, watched: Any) -> Any:
    """A launch without a plan; makes one if it succeeds."""
    values, wanted = bind(function, args, named)
    device = device_of(values) or ("cuda:0" if devices.device_count() else "cpu")
    options = _options(wanted, check and device == "cpu")
    try:
        kernel, arguments_, text, functions = _kernel_of(function, values)
        bound = kernel.bind((), arguments_)
        packed, handle, device = kernel._prepare(bound, options, None, device)
        compilation = None
        if (key := _compiled_key(handle, packed)) not in source_of(function).compiled:
            compilation = hooks.Compilation(function, args, named, warmup)
            if compilation.is_cancelled():
                return None
        constants = {n: v for n, v in arguments_.items() if n in kernel._constants}
        name = name_of(function, values)
        launched = Launched(kernel, handle, packed.slots, packed.count, constants, options, device, function, name)
        if warmup or compilation is not None:
            binding.call("tile_kernel_prepare", handle.pointer, packed.slots, packed.count)
        if compilation is not None:
            source_of(function).compiled.add(key)
            compilation.done()
        if not warmup:
            programs = kernels.as_grid(grid(values) if callable(grid) else grid)
            stream = devices.current_stream(device)
            launch = lambda: kernel.launch_packed(packed, handle, device, options, programs, stream)
            if watched is None:
                launch()
            else:
                hooks.around(watched, hooks.launch_metadata(function, launched, programs, stream, values), launch)
            _remember(source_of(function), args, named, (text, kernel, constants, options, name), functions, bound, packed, handle, device)
    except errors.Error as e:
        raise as_triton(e) from reason_of(e)
    return launched


def _compiled_key(handle: Any, packed: Any) -> Tuple[Any, ...]:
    """What distinguishes compilations, for their hooks: the types of the arguments, and what divides pointers and integers."""
    found: List[Any] = [id(handle)]
    for slot in packed.slots[:packed.count]:
        number = slot.value.integer
        found.append((slot.is_pointer, slot.type, number % 16 == 0, number == 1))
    return tuple(found)


def _remember(source: _Source, args: Any, named: Dict[str, Any], user: Any, keep: Any, bound: Dict[str, Any], packed: Any, handle: Any,
              device: str) -> None:
    """Makes a plan for calls like this one."""
    kernel, options = user[1], user[3]
    if "check" in options:
        return
    plans.learn_tensors()
    names = source.names[:len(args)] + list(named)
    is_constant = [n in kernel._constants or n not in kernel._names for n in names]
    form = source.forms.setdefault((len(args), *named), plans.Form(names, is_constant))
    key = form.key((*args, *named.values()), [])
    if key is not None:
        form.remember(key, handle, device, packed, {n: bound[n] for n in kernel._names if n not in kernel._constants}, user, keep)
