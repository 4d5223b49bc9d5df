# SPDX-License-Identifier: Apache-2.0
"""What of a model Tile runs, and why the rest stays in PyTorch."""
from __future__ import annotations

from typing import Any, Callable, Dict, List

import torch

from .capability import operator_name
from .program import Program, properties
from .segments import Compiled


class Explanation:
    """The graphs of a model. `str()` of it is a report; `graphs` has what was compiled, `refused` why nodes stay in PyTorch."""

    def __init__(self) -> None:
        self.graphs: List[Compiled] = []

    @property
    def refused(self) -> Dict[str, str]:
        """Operator -> reason."""
        found: Dict[str, str] = {}
        for g in self.graphs:
            names = {n.name: operator_name(n.target) or str(n.target) for n in g.gm.graph.nodes}
            for node, reason in g.refused.items():
                found.setdefault(names.get(node, node), reason)
        return found

    @property
    def sources(self) -> List[str]:
        """The texts that the library compiled."""
        return [s.run.text for g in self.graphs for s in g.segments if isinstance(s.run, Program)]

    def count(self, is_tile: bool) -> int:
        """Operators that run in Tile, or in PyTorch."""
        return sum(1 for g in self.graphs for s in g.segments if s.is_tile == is_tile for n in s.nodes if operator_name(n.target))

    def __str__(self) -> str:
        lines = []
        for g in self.graphs:
            lines.append(f"{g.kind} graph on {g.device}: {len(g.segments)} segment{'s' * (len(g.segments) != 1)}")
            for s in g.segments:
                operators = [n for n in s.nodes if operator_name(n.target)]
                if isinstance(s.run, Program):
                    kernels, launches = properties(s.run)
                    lines.append(f"  Tile: {len(operators)} operators, {kernels} kernels, {launches} launches")
                else:
                    lines.append(f"  PyTorch: {len(operators)} operators")
        if not self.graphs:
            lines.append("no graph was compiled")
        if self.refused:
            lines.append("in PyTorch:")
            lines += [f"  {name}: {reason}" for name, reason in sorted(self.refused.items())]
        return "\n".join(lines)


def explain(model: Callable[..., Any], *args: Any, backward: bool = False, dynamic: Any = None, **named: Any) -> Explanation:
    """Compiles and runs `model(*args, **named)` once, and reports what Tile runs. `backward=True`: the gradients of the sum of its
    results, too. Other compilations of the process are not touched."""
    found = Explanation()

    def observed(gm: Any, inputs: Any, **options: Any) -> Any:
        from .backend import compile_dynamo_graph

        return compile_dynamo_graph(gm, inputs, _observer=found.graphs.append, **options)

    result = torch.compile(model, backend=observed, dynamic=dynamic)(*args, **named)
    if backward:
        flat = torch.utils._pytree.tree_leaves(result)
        sum(t.sum() for t in flat if isinstance(t, torch.Tensor) and t.requires_grad).backward()
    return found
