# SPDX-License-Identifier: Apache-2.0
"""Results that share memory. PyTorch lets results be views of an input, or of one another; callers may write to one and see it in
the other. A program computes each memory once, in its base; the rest are views of it."""
from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional

import torch
from torch import fx
from torch.multiprocessing.reductions import StorageWeakRef

from .sizes import is_symbolic


class Result(NamedTuple):
    """One result of a segment. kind: "none", "constant" (value), "number" (symbolic: node), "input" (index: the input itself), "input view"
    (of input index), "computed" (output index), "computed view" (of output index). `node` is the result."""

    kind: str
    index: int = -1
    node: Optional[fx.Node] = None
    value: Any = None


def _storage(value: Any) -> Optional[int]:
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return None
    return StorageWeakRef(value.untyped_storage()).cdata


def _covers(value: torch.Tensor, others: List[torch.Tensor]) -> bool:
    """Whether `value` is a dense tensor from the start of its storage with the form of the others: any of them is a view of it."""
    offset = value.storage_offset()
    return (_is_row_major(value) or _is_dense(value)) and not is_symbolic(offset) and offset == 0 and all(_has_form(o, value) for o in others)


def _has_form(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether an element of both is the same in memory: a deferred conjugate or negation is not."""
    return a.dtype == b.dtype and a.is_conj() == b.is_conj() and a.is_neg() == b.is_neg()


def _is_dense(value: torch.Tensor) -> bool:
    """A permutation of a row-major tensor, if the sizes are numbers."""
    if any(is_symbolic(n) for n in (*value.shape, *value.stride())):
        return False
    want = 1
    for stride, size in sorted((s, n) for s, n in zip(value.stride(), value.shape) if n != 1):
        if stride != want:
            return False
        want *= size
    return True


def _is_row_major(value: torch.Tensor) -> bool:
    """By expressions alone: comparing SymInts adds guards."""
    want: Any = 1
    for size, stride in zip(reversed(value.shape), reversed(value.stride())):
        if not is_symbolic(size) and size == 1:
            continue
        a, b = (x.node.expr if is_symbolic(x) else x for x in (stride, want))
        if a != b:
            return False
        want = want * size
    return True


def _size(value: torch.Tensor) -> Any:
    n: Any = 1
    for s in value.shape:
        n = n * s
    return n.node.expr if is_symbolic(n) else n


def plan(results: List[Any], inputs: List[fx.Node], nodes: List[fx.Node]) -> Any:
    """([Result, ...], the nodes that the program computes). `nodes` are those of the segment."""
    inputs_by_storage: Dict[int, int] = {}
    for i, node in enumerate(inputs):
        s = _storage(node.meta.get("val"))
        if s is not None:
            inputs_by_storage.setdefault(s, i)
    groups: Dict[int, List[fx.Node]] = {}
    for r in results:
        s = _storage(r.meta.get("val")) if isinstance(r, fx.Node) else None
        if s is not None and r not in groups.setdefault(s, []):
            groups[s].append(r)
    computed: List[fx.Node] = []
    base_of: Dict[int, int] = {}

    def compute(node: fx.Node) -> int:
        if node not in computed:
            computed.append(node)
        return computed.index(node)

    def base(storage: int) -> Optional[int]:
        """The output that holds the memory of a group of several results."""
        if storage not in base_of:
            values = [n.meta["val"] for n in groups[storage]]
            made = [n for n in nodes if _storage(n.meta.get("val")) == storage and _covers(n.meta["val"], values)]
            # The node that made the storage: every other one is a view of it.
            first = next((n for n in nodes if _storage(n.meta.get("val")) == storage), None)
            if first is None or not made or _size(made[0].meta["val"]) != _size(first.meta["val"]):
                return None
            base_of[storage] = compute(made[0])
        return base_of[storage]

    plans: List[Result] = []
    for r in results:
        if r is None:
            plans.append(Result("none"))
            continue
        if not isinstance(r, fx.Node):
            plans.append(Result("constant", value=r))
            continue
        value = r.meta.get("val")
        if not isinstance(value, torch.Tensor):
            plans.append(Result("number", node=r))
            continue
        if r in inputs:
            plans.append(Result("input", inputs.index(r), r))
            continue
        storage = _storage(value)
        source = inputs_by_storage.get(storage) if storage is not None else None
        if source is not None and _has_form(inputs[source].meta["val"], value):
            plans.append(Result("input view", source, r))
            continue
        of = base(storage) if storage is not None and len(groups[storage]) > 1 else None
        if of is None or computed[of] is r:
            plans.append(Result("computed", compute(r), r))
        else:
            plans.append(Result("computed view", of, r))
    return plans, computed
