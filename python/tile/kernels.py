# SPDX-License-Identifier: Apache-2.0
"""Kernels: `load` reads a file, `kernel[grid](...)` launches."""
from __future__ import annotations

import ast
import ctypes as C
import os
import threading
import weakref
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from . import arguments, binding, devices, errors, plans, tensors
from .arguments import Parameter

Grid = Union[int, Sequence[int], Callable[[Dict[str, Any]], Union[int, Sequence[int]]]]

_OPTIONS = {"num_warps": "tile_kernel_set_warps", "num_stages": "tile_kernel_set_stages", "num_ctas": "tile_kernel_set_num_ctas",
            "maxnreg": "tile_kernel_set_max_registers", "launch_pdl": "tile_kernel_set_launch_pdl", "check": "tile_kernel_set_check"}
# Checked launches on the CPU register the arguments' memory; one at a time, since launches may share it.
_checking = threading.Lock()


class _Handle:
    """A tile_kernel with fixed constants and options. Launches need no lock."""

    def __init__(self, source: "Kernel", device: str, constants: Tuple[Tuple[str, str], ...], options: Tuple[Tuple[str, int], ...],
                 tuples: Tuple[Tuple[str, int], ...]):
        text = source.text.encode()
        self.pointer = binding.create("tile_kernel_from_source", devices.handle(device), source.path.encode(), text, len(text),
                                      source.name.encode() if source.name else None)
        self._close = weakref.finalize(self, binding.lib().tile_kernel_close, self.pointer)
        for folder in source.folders:
            binding.call("tile_kernel_add_folder", self.pointer, folder.encode())
        for name, count in tuples:
            binding.call("tile_kernel_set_tuple", self.pointer, name.encode(), count)
        for name, value in constants:
            binding.call("tile_kernel_set_constant", self.pointer, name.encode(), value.encode())
        for name, value in options:
            binding.call(_OPTIONS[name], self.pointer, value)


class Kernel:
    """A kernel of a source file. `kernel[grid](x, y, n, BLOCK=128, num_warps=8)` launches it: arrays of NumPy, PyTorch or
    any library with DLPack, on the CPU or a GPU, are passed without copies.

    `grid` is a number, a tuple of up to three, or a function of a dict with all arguments. Options of a launch:
    num_warps, num_stages, num_ctas, maxnreg, launch_pdl, `check=True` (CPU: finds invalid accesses and races) and
    `stream` (a CUstream or a stream of PyTorch; else PyTorch's current one)."""

    def __init__(self, text: str, path: str = "kernel.tile", name: Optional[str] = None, folders: Sequence[str] = ()):
        self.text, self.path, self.name, self.folders = text, path, name, tuple(folders)
        self._handles: Dict[Any, _Handle] = {}
        self._lock = threading.Lock()
        first = self._handle("cpu", (), (), ())
        self.name = binding.lib().tile_kernel_name(first.pointer).decode()
        self.parameters = [self._parameter(first.pointer, i) for i in range(binding.lib().tile_kernel_parameter_count(first.pointer))]
        self._names = [p.name for p in self.parameters]
        self._constants = {p.name for p in self.parameters if p.is_constexpr}
        self._defaults = {p.name: _literal(p.default_text) for p in self.parameters if p.default_text is not None}
        self._forms: Dict[Tuple[Any, ...], plans.Form] = {}

    @staticmethod
    def _parameter(pointer: int, index: int) -> Parameter:
        p = binding.tile_parameter()
        binding.call("tile_kernel_get_parameter", pointer, index, C.byref(p))
        return Parameter(p)

    def __repr__(self) -> str:
        return f"<tile.Kernel {self.name}({', '.join(self._names)}) of {self.path}>"

    def _handle(self, device: str, constants: Any, options: Any, tuples: Any) -> _Handle:
        key = (device, constants, options, tuples)
        found = self._handles.get(key)
        if found is None:
            with self._lock:
                found = self._handles.get(key) or self._handles.setdefault(key, _Handle(self, *key))
        return found

    # ---- binding ----

    def bind(self, args: Sequence[Any], named: Dict[str, Any]) -> Dict[str, Any]:
        """Values of parameters by name. Raises TypeError as a Python call would."""
        if len(args) > len(self._names):
            raise TypeError(f"kernel `{self.name}` takes {len(self._names)} arguments, got {len(args)}")
        values = dict(zip(self._names, args))
        for name, value in named.items():
            if name not in self._names:
                raise TypeError(f"kernel `{self.name}` has no parameter `{name}`; it has {', '.join(self._names)}")
            if name in values:
                raise TypeError(f"kernel `{self.name}` got two values for `{name}`")
            values[name] = value
        for p in self.parameters:
            if p.name not in values and not p.is_constexpr:
                if p.default_text is None:
                    raise TypeError(f"kernel `{self.name}` needs an argument `{p.name}`")
                values[p.name] = _literal(p.default_text)
        return values

    def _programs(self, grid: Grid, values: Dict[str, Any]) -> Tuple[int, int, int]:
        return as_grid(grid({**self._defaults, **values}) if callable(grid) else grid)

    def _prepare(self, values: Dict[str, Any], options: Dict[str, int], stream: Optional[int], device: Optional[str]) -> Tuple[Any, Any, str]:
        flat: List[Tuple[str, Any]] = []
        tuples: List[Tuple[str, int]] = []
        kinds: List[Optional[Parameter]] = []
        constants = []
        for p in self.parameters:
            if p.is_constexpr:
                if p.name in values:
                    constants.append((p.name, arguments.constant(values[p.name], p.name)))
                continue
            arguments.flatten(p.name, values[p.name], flat, tuples, constants)
            kinds += [p] * (len(flat) - len(kinds))
        packed = arguments.pack([(n, v, p) for (n, v), p in zip(flat, kinds)], stream)
        packed.count = len(flat)  # type: ignore[attr-defined]
        where = device or packed.device or "cpu"
        if packed.device and device and packed.device != device:
            raise errors.InvalidArgument(f"the arrays are on {packed.device}, and the launch is to run on {device}")
        return packed, self._handle(where, tuple(constants), tuple(sorted(options.items())), tuple(tuples)), where

    # ---- launching ----

    def __getitem__(self, grid: Grid) -> Callable[..., None]:
        return lambda *args, **named: self.launch(grid, args, named)

    def launch(self, grid: Grid, args: Sequence[Any], named: Dict[str, Any]) -> None:
        """`kernel[grid](*args, **named)`."""
        form = self._forms.get((len(args), *named))
        if form is not None:
            data: List[Any] = []
            key = form.key((*args, *named.values()) if named else args, data)
            plan = form.plans.get(key) if key is not None else None
            if plan is not None:
                if callable(grid):
                    grid = grid({**self._defaults, **dict(zip(self._names, args)), **named})
                programs = plans.plain_grid(grid)
                if programs is not None:
                    return plan.launch(plan.packed(data), programs, None)
        self._launch_anew(grid, args, named)

    def _launch_anew(self, grid: Grid, args: Sequence[Any], given: Dict[str, Any]) -> None:
        """A launch without a plan; makes one if it succeeds."""
        named = dict(given)
        stream = named.pop("stream", None)
        options = {o: int(named.pop(o)) for o in _OPTIONS if o in named and o not in self._names and named[o] is not None}
        options = {o: v for o, v in options.items() if v or o not in ("check", "launch_pdl", "maxnreg")}
        raw = None if stream is None else devices.raw_stream(stream)
        values = self.bind(args, named)
        packed, handle, device = self._prepare(values, options, raw, None)
        if raw is None:
            raw = devices.current_stream(device)
        programs = self._programs(grid, values)
        if stream is None and not options.get("check"):
            self.remember(args, given, values, packed, handle, device)
        self.launch_packed(packed, handle, device, options, programs, raw)

    @staticmethod
    def launch_packed(packed: Any, handle: _Handle, device: str, options: Dict[str, int], programs: Tuple[int, int, int], raw: int) -> None:
        """Launches packed arguments on a CUstream; nothing if the grid is empty."""
        if 0 in programs:
            return
        run = lambda: binding.call("tile_launch", handle.pointer, devices.stream_handle(device, raw), binding.tile_grid(*programs), packed.slots,
                                   packed.count)
        if options.get("check") and device == "cpu":
            with _checking, Registered(device, packed.memories):
                run()
        else:
            run()

    def remember(self, args: Sequence[Any], named: Dict[str, Any], values: Dict[str, Any], packed: Any, handle: Any, device: str) -> None:
        """Makes a plan for calls like this one."""
        plans.learn_tensors()
        names = self._names[:len(args)] + list(named)
        is_constant = [n in self._constants or n not in self._names for n in names]
        form = self._forms.setdefault((len(args), *named), plans.Form(names, is_constant))
        key = form.key((*args, *named.values()), [])
        if key is not None:
            form.remember(key, handle, device, packed, {n: values[n] for n in self._names if n not in self._constants})

    def prepare(self, grid: Grid, *args: Any, **named: Any) -> "Prepared":
        """A launch with its arguments bound once; calling the result launches it on PyTorch's current stream."""
        options = {o: int(named.pop(o)) for o in _OPTIONS if o in named and o not in self._names}
        values = self.bind(args, named)
        packed, handle, device = self._prepare(values, options, None, None)
        return Prepared(handle, packed, device, self._programs(grid, values))

    def code(self, *args: Any, **named: Any) -> bytes:
        """The PTX (on the CPU: the object file) that a launch with these arguments runs."""
        device = named.pop("device", None)
        options = {o: int(named.pop(o)) for o in _OPTIONS if o in named and o not in self._names}
        packed, handle, _ = self._prepare(self.bind(args, named), options, None, device)
        text, size = C.c_void_p(), C.c_size_t()
        binding.call("tile_kernel_get_code", handle.pointer, packed.slots, packed.count, C.byref(text), C.byref(size))
        return C.string_at(text, size.value)


class Prepared:
    """A launch whose arguments are bound: `launch()` runs it, `set(0, y)` replaces an argument."""

    def __init__(self, handle: _Handle, packed: Any, device: str, grid: Tuple[int, int, int]):
        self._kernel, self._packed, self.device, self._grid = handle, packed, device, binding.tile_grid(*grid)
        self.pointer = binding.create("tile_prepared_create", handle.pointer, packed.slots, packed.count)
        self._close = weakref.finalize(self, binding.lib().tile_prepared_destroy, self.pointer)
        self._run = binding.lib().tile_prepared_launch

    def __call__(self, stream: Any = None) -> None:
        raw = devices.current_stream(self.device) if stream is None else devices.raw_stream(stream)
        status = self._run(self.pointer, devices.stream_handle(self.device, raw), self._grid)
        if status:
            raise binding.last_error(status)

    def set(self, index: int, value: Any) -> None:
        """Replaces run-time argument `index`."""
        packed = arguments.pack([(f"argument {index}", value, None)], None)
        if packed.device not in (None, self.device):
            raise errors.InvalidArgument(f"the array is on {packed.device}, the launch on {self.device}")
        binding.call("tile_prepared_set", self.pointer, index, packed.slots[0])
        self._packed.keep.append(packed)


class Registered:
    """For its `with` block the CPU device knows the bounds of this memory. Ranges that overlap are joined."""

    def __init__(self, device: str, memories: Sequence[tensors.Memory]):
        self.device = devices.handle(device)
        self.ranges: List[List[int]] = []
        for low, high in sorted(tensors.extent(m) for m in memories):
            if self.ranges and low < self.ranges[-1][1]:
                self.ranges[-1][1] = max(self.ranges[-1][1], high)
            elif high > low:
                self.ranges.append([low, high])

    def __enter__(self) -> None:
        for i, (low, high) in enumerate(self.ranges):
            try:
                binding.call("tile_memory_register", self.device, low, high - low)
            except errors.Error:
                self.ranges = self.ranges[:i]
                self.__exit__()
                raise

    def __exit__(self, *unused: Any) -> None:
        for low, _ in self.ranges:
            binding.lib().tile_memory_unregister(self.device, low)


def as_grid(grid: Any) -> Tuple[int, int, int]:
    """Three numbers from one, or from a tuple of up to three."""
    numbers = (grid,) if not isinstance(grid, (tuple, list)) else tuple(grid)
    if not 1 <= len(numbers) <= 3:
        raise errors.InvalidArgument(f"a grid has one to three numbers, not {len(numbers)}")
    whole = tuple(int(n) for n in numbers)
    if any(n < 0 or n > (1 << 32) - 1 for n in whole):
        raise errors.InvalidArgument(f"a grid's numbers are at least 0 and fit 32 bits: {whole}")
    return (whole + (1, 1))[:3]  # type: ignore[return-value]


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def load(path: Union[str, "os.PathLike[str]"], name: Optional[str] = None, folders: Sequence[str] = ()) -> Kernel:
    """Reads a `.tile` file, or Triton's source, and returns its kernel `name` (the only one if None). Modules that it imports
    are looked for beside it and in `folders`."""
    path = os.fspath(path)
    try:
        with open(path, encoding="utf-8") as f:
            text = f.read()
    except FileNotFoundError:
        raise errors.NotFound(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as e:
        raise errors.FileError(f"{path}: {e}") from None
    return Kernel(text, path, name, folders)


def from_source(text: str, name: Optional[str] = None, path: str = "kernel.tile", folders: Sequence[str] = ()) -> Kernel:
    """The same for a text; `path` appears in messages."""
    return Kernel(text, path, name, folders)
