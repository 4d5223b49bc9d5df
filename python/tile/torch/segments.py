# SPDX-License-Identifier: Apache-2.0
"""A graph as a sequence of segments, each run by Tile or by PyTorch.

Every node has a level: even ones are Tile's, odd ones PyTorch's. A node's level is the least of its kind that is not below those of
its operands, so the number of segments is that of the changes on the longest path. A node that writes to an operand is not
below any node before it, and no node after it is below it: PyTorch's order of reads and writes is kept."""
from __future__ import annotations

import logging
import operator
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple

import torch
from torch import fx

from .. import errors
from . import layouts
from .capability import device_of, is_arithmetic, is_mutation, operator_name, refusal
from .program import Program, Unsupported

log = logging.getLogger("tile.torch")

_ROUNDS = 24  # attempts to compile a graph, each without the nodes that the one before was refused for


@dataclass
class Options:
    """Options of the backend."""

    min_operators: int = 1
    fallback: bool = True
    replays: bool = False
    observer: Any = None  # explain(): told of each compiled graph


@dataclass
class Segment:
    """A part of a graph. `run` takes the values of `inputs` and returns those of `results`."""

    is_tile: bool
    nodes: List[fx.Node]
    inputs: List[fx.Node]
    results: List[Any]
    run: Any = None


class Compiled:
    """A graph of AOTAutograd, compiled."""

    def __init__(self, gm: fx.GraphModule, kind: str, options: Options):
        self.gm, self.kind, self.options = gm, kind, options
        self.device = device_of(gm.graph)
        self.refused: Dict[str, str] = {}  # node -> reason
        self.placeholders = [n for n in gm.graph.nodes if n.op == "placeholder"]
        output = gm.graph.output_node().args[0]
        self.outputs: List[Any] = list(output) if isinstance(output, (tuple, list)) else [output]
        for n in gm.graph.nodes:
            reason = None if n.op in ("placeholder", "output", "get_attr") else refusal(n, self.device)
            if reason:
                self._refuse(n, reason)
        self.free = layouts.saved_only(self.outputs) if kind == "forward" else set()
        self.segments = self._compile()
        if self.free:
            chosen = {s.results[i]: strides for s in self.segments if s.is_tile for i, strides in s.run.chosen.items()}
            layouts.report([chosen.get(o) if isinstance(o, fx.Node) else None for o in self.outputs])
        if self.refused and not options.fallback:
            raise errors.CompileError("the backend `tile` does not take this graph, and the option `fallback` is off:\n" +
                                      "\n".join(f"  {n}: {r}" for n, r in self.refused.items()))
        if options.observer is not None:
            options.observer(self)

    def _refuse(self, node: fx.Node, reason: str) -> None:
        self.refused.setdefault(node.name, reason)

    # ---- splitting ----

    def _compile(self) -> List[Segment]:
        for _ in range(_ROUNDS):
            segments = self._split()
            if all([self._build(s) for s in segments]):
                return segments
        for n in self.gm.graph.nodes:
            if n.op == "call_function":
                self._refuse(n, "the graph could not be divided")
        segments = self._split()
        for s in segments:
            self._build(s)
        return segments

    def _split(self) -> List[Segment]:
        levels: Dict[fx.Node, int] = {}
        barrier = top = 0
        for n in self.gm.graph.nodes:
            if n.op in ("placeholder", "output", "get_attr"):
                continue
            below = max([levels[a] for a in n.all_input_nodes if a in levels], default=0)
            is_part = n.target is operator.getitem and isinstance(n.args[0], fx.Node) and n.args[0] in levels
            if is_part or is_arithmetic(n):
                levels[n] = levels[n.args[0]] if is_part else below
                continue
            least = max(below, top if is_mutation(n) else barrier)
            levels[n] = least + ((least % 2 == 1) != (n.name in self.refused))
            top = max(top, levels[n])
            barrier = levels[n] if is_mutation(n) else barrier
        parts: Dict[int, List[fx.Node]] = {}
        for n, level in levels.items():
            parts.setdefault(level, []).append(n)
        used_by_output = {n for n in self.outputs if isinstance(n, fx.Node)}
        whole = len(parts) == 1 and not any(level % 2 for level in parts)
        return [self._segment(level % 2 == 0, nodes, used_by_output, whole) for level, nodes in sorted(parts.items())]

    def _segment(self, is_tile: bool, nodes: List[fx.Node], used_by_output: Set[fx.Node], whole: bool) -> Segment:
        inside = set(nodes)
        inputs = [n for n in dict.fromkeys(a for n in nodes for a in n.all_input_nodes) if n not in inside and n.op != "get_attr"]
        # Symbolic sizes come as inputs of the whole graph, whose nodes mostly do not use them as operands.
        inputs += [p for p in self.placeholders if p not in inputs and isinstance(p.meta.get("val"), torch.SymInt)]
        results: List[Any] = [n for n in nodes if n in used_by_output or any(u not in inside and u.op != "output" for u in n.users)]
        return Segment(is_tile, nodes, inputs, results)

    def _module(self, s: Segment) -> fx.GraphModule:
        graph, env = fx.Graph(), {}
        for n in s.inputs:
            env[n] = graph.placeholder(n.name)
            env[n].meta = dict(n.meta)
        for n in s.nodes:
            for a in n.all_input_nodes:
                if a.op == "get_attr" and a not in env:
                    env[a] = graph.node_copy(a)
            env[n] = graph.node_copy(n, lambda a: env[a])
        graph.output(tuple(env[n] for n in s.results))
        self._copies = env
        return fx.GraphModule(self.gm, graph)

    # ---- building ----

    def _build(self, s: Segment) -> bool:
        """Makes the segment runnable. False: it is not Tile's, and what is to blame has been refused."""
        module = self._module(s)
        operators = [n for n in s.nodes if operator_name(n.target)]
        if not s.is_tile or not any(not is_arithmetic(n) for n in operators):
            s.is_tile, s.run = False, _Eager(module)
            return True
        if len(operators) < self.options.min_operators:
            for n in s.nodes:
                self._refuse(n, f"fewer than {self.options.min_operators} operators")
            return False
        try:
            inputs = [self._copies[n] for n in s.inputs]
            free = {self._copies[r] for r in s.results if r in self.free and all(u in s.nodes or u.op == "output" for u in r.users)}
            guarded = [] if self.kind == "backward" else [self._copies[n] for n in s.inputs if n.op == "placeholder"]
            s.run = Program(module, inputs, [self._copies[r] for r in s.results], self.device, f"{self.kind}.py", free, guarded)
            return True
        except Unsupported as e:
            names = {n.name for n in s.nodes} - set(self.refused)
            blamed = [n for n in e.nodes if n in names] or sorted(names)
            if len(blamed) > 1 and not any(n in names for n in e.nodes):
                log.warning("%d operators of the %s graph run in PyTorch: %s", len(blamed), self.kind, e.reason)
            for name in blamed:
                self.refused.setdefault(name, _summary(e.reason, name))
            return False

    # ---- running ----

    def boxed(self) -> Callable[[List[Any]], List[Any]]:
        """A callable that takes its arguments in a list, which it empties, so that they can be freed early."""
        if len(self.segments) == 1 and self._is_whole(self.segments[0]):
            run = self._whole(self.segments[0])
        else:
            run = self._sequence()
        run._boxed_call = True  # type: ignore[attr-defined]
        return run

    def _is_whole(self, s: Segment) -> bool:
        return not any(isinstance(o, fx.Node) and o.op == "get_attr" for o in self.outputs)

    def _whole(self, s: Segment) -> Callable[[List[Any]], List[Any]]:
        order = [self.placeholders.index(n) for n in s.inputs]
        place = {n: i for i, n in enumerate(s.results)}
        given = {n: i for i, n in enumerate(self.placeholders)}
        takes = [(0, place[o]) if o in place else (1, given[o]) if o in given else (2, o) for o in self.outputs]

        if order == list(range(len(self.placeholders))) and takes == [(0, i) for i in range(len(s.results))]:
            def run_all(args: List[Any]) -> List[Any]:
                held = args.copy()
                args.clear()
                return s.run(held)

            return run_all

        def run(args: List[Any]) -> List[Any]:
            held = list(args)
            args.clear()
            results = s.run([held[i] for i in order])
            return [results[i] if kind == 0 else held[i] if kind == 1 else i for kind, i in takes]

        return run

    def _sequence(self) -> Callable[[List[Any]], List[Any]]:
        last: Dict[fx.Node, int] = {}
        for i, s in enumerate(self.segments):
            for n in s.inputs:
                last[n] = i
        kept = {o for o in self.outputs if isinstance(o, fx.Node)}
        dies = [[n for n, at in last.items() if at == i and n not in kept] for i in range(len(self.segments))]

        def run(args: List[Any]) -> List[Any]:
            values: Dict[fx.Node, Any] = dict(zip(self.placeholders, args))
            args.clear()
            for s, dead in zip(self.segments, dies):
                values.update(zip(s.results, s.run([values[n] for n in s.inputs])))
                for n in dead:
                    values.pop(n, None)
            return [self._output(o, values) for o in self.outputs]

        return run

    def _output(self, o: Any, values: Dict[fx.Node, Any]) -> Any:
        if not isinstance(o, fx.Node):
            return o
        return getattr(self.gm, o.target) if o.op == "get_attr" else values[o]


class _Eager:
    """A segment that PyTorch runs, operator by operator."""

    def __init__(self, module: fx.GraphModule):
        self.forward = module.forward

    def __call__(self, args: Sequence[Any]) -> Tuple[Any, ...]:
        return self.forward(*args)


def _summary(reason: str, name: str) -> str:
    """The first line of a message without its place."""
    line = next((l for l in reason.split("\n") if "error" in l), reason.split("\n")[0])
    return line.partition("error: ")[2] or line
