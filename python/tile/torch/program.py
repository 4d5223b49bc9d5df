# SPDX-License-Identifier: Apache-2.0
"""One graph as a program of the library: its text, its compilation, and its runs on PyTorch's tensors."""
from __future__ import annotations

import ctypes as C
import re
import threading
import weakref
from typing import Any, Callable, Collection, Dict, List, Optional, Sequence, Tuple

import torch
from torch import fx

from .. import binding, devices, errors, tensors
from ..binding import tile_likely_size, tile_tensor, tile_tensor_info
from . import aliases, layouts, sizes
from .capability import is_random
from .fixed import Fixed

_LINE = re.compile(r"\s*(\w+)(?:: \".*?\")? = ")


def text_of(module: fx.GraphModule, line: str) -> str:
    """The graph as PyTorch prints it, with the ranges of its sizes."""
    return module.print_readable(print_output=False, include_stride=True, include_device=True) + line


def node_at(text: str, line: int) -> Optional[str]:
    """The name that line `line` of a graph's text defines."""
    lines = text.split("\n")
    found = _LINE.match(lines[line - 1]) if 0 < line <= len(lines) else None
    return found[1] if found else None


class Unsupported(Exception):
    """The program cannot be made; `nodes` are the names of those to blame, [] if none is known."""

    def __init__(self, reason: str, nodes: Sequence[str] = ()):
        super().__init__(reason)
        self.reason, self.nodes = reason, list(nodes)


class _Tensor:
    """How one input or output is passed: type, shape and strides, fixed or as functions of symbols. A complex tensor is passed as its pairs
    of real numbers, with one dimension more."""

    def __init__(self, value: torch.Tensor, evaluator: sizes.Evaluator):
        self.is_complex = value.dtype.is_complex
        self.may_defer = self.is_complex or value.is_neg()  # a conjugation or negation
        self.rank = value.dim() + self.is_complex
        self.type = tensors.torch_types()[value.dtype.to_real() if self.is_complex else value.dtype]
        self.dtype = value.dtype
        self.is_fixed = not any(sizes.is_symbolic(n) for n in sizes.numbers_of(value))
        self.shape = evaluator.function(value.shape)
        self.strides = evaluator.function(value.stride())

    def fill(self, slot: tile_tensor, keep: List[Any], values: Dict[str, int]) -> None:
        sizes_of, steps = self.shape(values), self.strides(values)
        if self.is_complex:
            sizes_of, steps = (*sizes_of, 2), (*(2 * n for n in steps), 1)
        shape, strides = (C.c_int64 * max(self.rank, 1))(*sizes_of), (C.c_int64 * max(self.rank, 1))(*steps)
        slot.type, slot.rank, slot.shape, slot.strides = self.type, self.rank, shape, strides
        keep += [shape, strides]


class Program:
    """A segment that Tile runs: called with a list of inputs, returns a list of results.

    `inputs` are the nodes whose values it is called with, `results` those (or None, or numbers) that it returns."""

    def __init__(self, module: fx.GraphModule, inputs: List[fx.Node], results: List[Any], device: torch.device, name: str,
                 free: Collection[fx.Node] = (), guarded: Collection[fx.Node] = ()):
        """`free`: results whose strides the library may choose. `guarded`: inputs whose strides Dynamo's guards see to."""
        nodes = [n for n in module.graph.nodes if n.op not in ("placeholder", "output")]
        self.device, self.name, self._guarded = device, tensors.torch_device(device), guarded
        self.results, computed = aliases.plan(results, inputs, nodes)
        module.graph.output_node().args = (tuple(computed),)
        module.recompile()
        self.is_random = any(is_random(n) for n in nodes)
        self.writes = {n.args[0] for n in nodes if getattr(getattr(n.target, "_schema", None), "is_mutable", False)}
        self._symbols(module, inputs)
        free_outputs = layouts.free_outputs(self.results, computed, free)
        self.text = text_of(module, sizes.ranges(self.symbols, self.shape_env) + layouts.line(free_outputs))
        self._outputs([n.meta["val"] for n in computed])
        self.pointer = self._compile(name) if computed or self.writes else None
        self._choose_strides([computed.index(n) for n in free_outputs])
        self._inputs(module, inputs)
        self._lock = threading.Lock()
        self._stream: Optional[int] = None

    # ---- making ----

    def _symbols(self, module: fx.GraphModule, inputs: List[fx.Node]) -> None:
        numbers = [n for node in module.graph.nodes for n in sizes.numbers_of(node.meta.get("val"))]
        numbers += [r.node.meta["val"] for r in self.results if r.kind == "number"]
        self.symbols = sizes.symbols_of(numbers)
        self.shape_env = sizes.shape_env_of([node.meta.get("val") for node in inputs])
        found = sizes.sources(self.symbols, [node.meta.get("val") for node in inputs])
        if found is None:
            raise Unsupported("a symbolic size that no input gives")
        self.sources = list(found.items())
        self._evaluator = sizes.Evaluator()

    def _compile(self, name: str) -> int:
        text = self.text.encode()
        hints = sizes.hints(self.symbols, self.shape_env)
        while True:
            likely = (tile_likely_size * max(len(hints), 1))(*[tile_likely_size(n.encode(), v) for n, v in hints.items()])
            try:
                pointer = binding.create("tile_program_from_text_likely", devices.handle(self.name), name.encode(), text, len(text), likely,
                                         len(hints))
                break
            except errors.InvalidArgument as e:  # a symbol that the text does not mention
                named = re.search(r"no size `(\w+)`", str(e))
                if named is None or named[1] not in hints:
                    raise Unsupported(str(e)) from None
                del hints[named[1]]
            except errors.Error as e:
                raise Unsupported(str(e), self._blame(e, name)) from None
        weakref.finalize(self, binding.lib().tile_program_close, pointer)
        return pointer

    def _blame(self, e: errors.Error, name: str) -> List[str]:
        found = [node_at(self.text, d["line"]) for d in e.diagnostics if d.get("severity") == "error" and d.get("file") == name and d.get("line")]
        # E1002 names operators: every node that uses one.
        for d in e.diagnostics:
            if d.get("code") == "E1002":
                for operator in re.findall(r"`([\w.]+)`", d.get("message", "")):
                    found += [node_at(self.text, i) for i, line in enumerate(self.text.split("\n"), 1) if f"torch.ops.{operator}(" in line]
        return [n for n in dict.fromkeys(found) if n]

    def _inputs(self, module: fx.GraphModule, inputs: List[fx.Node]) -> None:
        """What the program's inputs are: values of the segment's inputs by index, or constants of the module."""
        self.input_of: List[Tuple[Optional[int], Any]] = []  # (index, whether it is written) or (None, constant)
        self.input_specs: List[_Tensor] = []
        self.given: Dict[str, Optional[int]] = {}
        if self.pointer is None:
            return
        index = {n.name: i for i, n in enumerate(inputs)}
        attributes = {n.name: n for n in module.graph.nodes if n.op == "get_attr"}
        for i in range(binding.lib().tile_program_input_count(self.pointer)):
            info = tile_tensor_info()
            binding.call("tile_program_input", self.pointer, i, C.byref(info))
            name = info.name.decode()
            if name in index:
                self.input_of.append((index[name], inputs[index[name]] in self.writes))
                self.input_specs.append(_Tensor(inputs[index[name]].meta["val"], self._evaluator))
            elif name in attributes:
                self.input_of.append((None, _attribute(module, attributes[name].target)))
                self.input_specs.append(_Tensor(attributes[name].meta["val"], self._evaluator))
            else:
                raise Unsupported(f"the program has an input `{name}` that the graph has not")
        possible = sizes.possible(self.symbols, self.shape_env)
        for symbol in self.symbols:  # those that the program's own inputs leave open
            if binding.lib().tile_program_set_size(self.pointer, symbol.encode(), possible[symbol]) == 0:
                self.given[symbol] = None
        self._arrays()
        self._fix(inputs)

    def _fix(self, inputs: List[fx.Node]) -> None:
        """Without symbols and inputs that may be conjugates or negations, and with all inputs on the program's device, runs take a short way."""
        is_here = all(i is None or inputs[i].meta["val"].device == self.device for i, _ in self.input_of)
        may_defer = any(s.may_defer for s in self.input_specs)
        if not self.symbols and is_here and not may_defer and all(s.is_fixed for s in self.input_specs + self.output_specs):
            self._fixed = Fixed(self, len(inputs), {i for i, n in enumerate(inputs) if n in self._guarded})
        self._is_plain = [(r.kind, r.index) for r in self.results] == [("computed", i) for i in range(len(self.output_specs))]

    def _outputs(self, values: List[torch.Tensor]) -> None:
        self.output_specs = [_Tensor(v, self._evaluator) for v in values]
        as_numbers = self._evaluator.function
        self.views = [
            (as_numbers(r.node.meta["val"].shape), as_numbers(r.node.meta["val"].stride()), as_numbers([r.node.meta["val"].storage_offset()]))
            if r.kind.endswith("view") else None for r in self.results]
        self.numbers = [as_numbers([r.node.meta["val"]]) if r.kind == "number" else None for r in self.results]

    def _choose_strides(self, outputs: List[int]) -> None:
        """Takes the strides that the library chose for these outputs."""
        self.chosen: Dict[int, Tuple[int, ...]] = {}  # by result
        for i in outputs:
            info = tile_tensor_info()
            binding.call("tile_program_output", self.pointer, i, C.byref(info))
            strides = tuple(info.strides[:info.rank])
            if strides == self.output_specs[i].strides({}):
                continue
            self.output_specs[i].strides = self._evaluator.function(strides)
            for k, r in enumerate(self.results):
                if r.index == i and r.kind in ("computed", "computed view"):
                    self.chosen[k] = strides
                    if self.views[k] is not None:
                        self.views[k] = (self.views[k][0], self._evaluator.function(strides), self.views[k][2])

    def _arrays(self) -> None:
        self.in_slots = (tile_tensor * max(len(self.input_specs), 1))()
        self.out_slots = (tile_tensor * max(len(self.output_specs), 1))()
        self._keep: List[Any] = []
        for slots, specs in ((self.in_slots, self.input_specs), (self.out_slots, self.output_specs)):
            for slot, spec in zip(slots, specs):
                if spec.is_fixed:
                    spec.fill(slot, self._keep, {})

    # ---- running ----

    def __call__(self, args: Sequence[Any]) -> List[Any]:
        if self._fixed is not None:
            outs = self._fixed(args)
            if outs is not None:
                return outs if self._is_plain else [self._result(i, r, args, outs, {}) for i, r in enumerate(self.results)]
        values: Dict[str, int] = {name: int(args[i]) if dim is None else args[i].shape[dim] for name, (i, dim) in self.sources}
        outs = [torch.empty_strided(s.shape(values), s.strides(values), dtype=s.dtype, device=self.device) for s in self.output_specs]
        if self.pointer is not None:
            ins = self._take(args, values)
            raw = devices.current_stream(self.name)
            seed = self.seed()
            with self._lock:
                self._run(ins, outs, values, raw, seed)
        return [self._result(i, r, args, outs, values) for i, r in enumerate(self.results)]

    def _take(self, args: Sequence[Any], values: Dict[str, int]) -> List[torch.Tensor]:
        """The program's inputs, on its device and with the strides that it was compiled for."""
        ins = []
        for (i, extra), spec in zip(self.input_of, self.input_specs):
            t = extra if i is None else args[i]
            if spec.may_defer:
                if extra is True and (t.is_conj() or t.is_neg()):
                    raise errors.InvalidArgument("an input that the graph writes to is a conjugate or a negation that PyTorch has deferred")
                t = t.resolve_conj().resolve_neg()
            if t.device != self.device:
                if extra is True:
                    raise errors.InvalidArgument(f"an input that the graph writes to is on {t.device}, not on {self.device}")
                t = t.to(self.device)
            strides = spec.strides(values)
            if t.stride() != strides and any(a != b and n > 1 for a, b, n in zip(t.stride(), strides, t.shape)):
                if extra is True:
                    raise errors.InvalidArgument(f"an input that the graph writes to has strides {t.stride()}, not {strides}")
                t = torch.empty_strided(t.shape, strides, dtype=t.dtype, device=t.device).copy_(t)
            ins.append(t)
        return ins

    def _run(self, ins: List[torch.Tensor], outs: List[torch.Tensor], values: Dict[str, int], raw: int, seed: int) -> None:
        stream = self._enter(raw)
        keep: List[Any] = []
        for slots, specs, ts in ((self.in_slots, self.input_specs, ins), (self.out_slots, self.output_specs, outs)):
            for slot, spec, t in zip(slots, specs, ts):
                slot.data = t.data_ptr()
                if not spec.is_fixed:
                    spec.fill(slot, keep, values)
        for name, before in self.given.items():
            if before != values[name]:
                binding.call("tile_program_set_size", self.pointer, name.encode(), values[name])
                self.given[name] = values[name]
        binding.call("tile_program_run", self.pointer, stream, seed, self.in_slots, len(ins), self.out_slots, len(outs))

    def _enter(self, raw: int) -> Optional[int]:
        """The library's stream of a run; the lock is held."""
        stream = devices.stream_handle(self.name, raw)
        if stream != self._stream and self._stream is not None or (stream is not None and self._stream is None and self._was_run):
            # Runs share memory for intermediate results: those in the other stream have to end first.
            binding.call("tile_stream_synchronize", devices.handle(self.name), self._stream)
        self._stream, self._was_run = stream, True
        return stream

    def wait_optimized(self) -> None:
        """Waits until no run loads other code than the one before."""
        if self.pointer is not None:
            binding.call("tile_program_wait_optimized", self.pointer)

    def seed(self) -> int:
        """Of a run: drawn from PyTorch's generator where the graph has random operators."""
        return int(torch.randint(0, 1 << 62, ()).item()) if self.is_random else 0

    _fixed: Optional[Fixed] = None
    _is_plain = False
    _was_run = False

    def _result(self, i: int, r: aliases.Result, args: Sequence[Any], outs: List[torch.Tensor], values: Dict[str, int]) -> Any:
        if r.kind == "computed":
            return outs[r.index]
        if r.kind == "input":
            return args[r.index]
        if r.kind == "number":
            return self.numbers[i](values)[0]
        if self.views[i] is not None:
            shape, strides, offset = (f(values) for f in self.views[i])
            of = args[r.index] if r.kind == "input view" else outs[r.index]
            # Offsets count from the start of the storage, which a caller's input may not begin at.
            return torch.as_strided(of.detach(), shape, strides, offset[0])
        return r.value  # a constant, or None


def _attribute(module: Any, path: str) -> Any:
    for part in path.split("."):
        module = getattr(module, part)
    return module


def properties(program: Program) -> Tuple[int, int]:
    """Kernels and launches."""
    if program.pointer is None:
        return 0, 0
    p = binding.tile_program_properties()
    binding.call("tile_program_get_properties", program.pointer, C.byref(p))
    return p.kernels, p.launches
