# SPDX-License-Identifier: Apache-2.0
"""Strides of what a forward saves for its backward. Nothing else reads these tensors, so the library stores images of convolutions with
their channels last; AOTAutograd is told of it, as TorchInductor does, and compiles the backward for these strides."""
from __future__ import annotations

from typing import Any, Collection, List, Optional, Sequence, Set, Tuple

import torch
from torch import fx

from .sizes import is_symbolic


def _context() -> Any:
    return torch._guards.TracingContext.try_get()


def saved_only(outputs: Sequence[Any]) -> Set[fx.Node]:
    """The outputs of a forward that its backward alone gets."""
    metadata = getattr(_context(), "fw_metadata", None)
    first = getattr(metadata, "num_forward", None)
    if first is None or getattr(_context(), "output_strides", None) is None:
        return set()
    given = {o for o in outputs[:first] if isinstance(o, fx.Node)}
    return {o for o in outputs[first:] if isinstance(o, fx.Node)} - given


def free_outputs(results: Sequence[Any], computed: Sequence[fx.Node], free: Collection[fx.Node]) -> List[fx.Node]:
    """The computed nodes among `free`, images of fixed sizes, whose views are they themselves once more and free, too."""
    found = []
    for i, node in enumerate(computed):
        value = node.meta["val"]
        sharing = [r.node for r in results if r.kind in ("computed", "computed view") and r.index == i]
        if node in free and 3 <= value.dim() <= 5 and not value.is_complex() and not any(is_symbolic(n) for n in (*value.shape, *value.stride())) and \
                all(n in free and _is_same(n.meta["val"], value) for n in sharing):
            found.append(node)
    return found


def _is_same(a: torch.Tensor, b: torch.Tensor) -> bool:
    return (a.shape, a.stride(), a.dtype) == (b.shape, b.stride(), b.dtype) and a.storage_offset() == b.storage_offset() == 0


def line(free: Sequence[fx.Node]) -> str:
    """By which the library learns of them; "" without any."""
    return "\nFree strides: {" + ", ".join(n.name for n in free) + "}\n" if free else ""


def report(strides: Sequence[Optional[Tuple[int, ...]]]) -> None:
    """Tells AOTAutograd of the strides of a forward's outputs, None where they are as the graph says."""
    told = getattr(_context(), "output_strides", None)
    if told is not None and any(s is not None for s in strides):
        told.extend(strides)


def take_strides(placeholders: Sequence[fx.Node], inputs: Sequence[Any]) -> None:
    """Gives the placeholders of a backward the strides that its inputs have."""
    for node, given in zip(placeholders, inputs):
        value = node.meta.get("val")
        if isinstance(given, torch.Tensor) and isinstance(value, torch.Tensor) and value.dim() == given.dim() and \
                not any(is_symbolic(n) for n in (*value.stride(), *given.stride())) and value.stride() != given.stride():
            node.meta["val"] = given
