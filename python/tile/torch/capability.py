# SPDX-License-Identifier: Apache-2.0
"""Which nodes of a graph Tile takes: by the library's list of operators, and by what it can have as values."""
from __future__ import annotations

from typing import Any, Dict, Optional

import torch
from torch import fx

from .. import binding, tensors
from .sizes import is_symbolic, is_unbacked, numbers_of


def operator_name(target: Any) -> Optional[str]:
    """As the text prints it, without `torch.ops.`: "aten.add.Tensor", "higher_order.cond". None: not an operator."""
    if isinstance(target, torch._ops.OpOverload):
        return str(target)
    if isinstance(target, torch._ops.HigherOrderOperator):
        return "higher_order." + target.name()
    return None


def is_arithmetic(node: fx.Node) -> bool:
    """Computes a size: it belongs to whichever part of the graph uses it."""
    return node.op == "call_function" and is_symbolic(node.meta.get("val"))


def _dropout_of(node: fx.Node) -> Any:
    """The `dropout_p` of an operator of attention; None: it has none."""
    for i, a in enumerate(node.target._schema.arguments):
        if a.name == "dropout_p":
            return node.args[i] if i < len(node.args) else node.kwargs.get("dropout_p", a.default_value)
    return None


def is_random(node: fx.Node) -> bool:
    """Whether the operator draws random numbers. Attention does so only with dropout."""
    if not isinstance(node.target, torch._ops.OpOverload) or torch.Tag.nondeterministic_seeded not in node.target.tags:
        return False
    return _dropout_of(node) != 0


def _splits_dropout(node: fx.Node) -> bool:
    """Attention with dropout whose gradients are in another graph: they draw the mask again from results that are PyTorch's."""
    if not isinstance(node.target, torch._ops.OpOverload) or not _dropout_of(node):
        return False
    results = [u.args[1] for u in node.users if getattr(u.target, "__name__", "") == "getitem" and u.users]
    return "_backward" in node.target._schema.name or any(isinstance(i, int) and i > 1 for i in results)


def is_mutation(node: fx.Node) -> bool:
    return isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable


def _tensors(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from _tensors(part)


def _wrong_value(value: Any, device: torch.device) -> Optional[str]:
    if any(is_unbacked(n) for n in numbers_of(value)):
        return "a size that depends on the contents of a tensor"
    for t in _tensors(value):
        if t.layout is not torch.strided:
            return f"layout {t.layout}"
        if t.dtype not in tensors.torch_types() and not t.dtype.is_complex:
            return f"dtype {t.dtype}"
        if t.device != device:
            return f"device {t.device} in a graph on {device}"
    return None


def refusal(node: fx.Node, device: torch.device) -> Optional[str]:
    """Why Tile does not take the node; None: it does, as far as its operator and values tell."""
    if node.op != "call_function":
        return f"`{node.op}` of a module"
    value = node.meta.get("val")
    wrong = _wrong_value(value, device)
    for source in node.all_input_nodes:
        wrong = wrong or (_wrong_value(source.meta.get("val"), device) if not _is_number_of_cpu(source) else None)
    if wrong:
        return wrong
    if is_arithmetic(node) or getattr(node.target, "__name__", "") == "getitem":
        return None
    name = operator_name(node.target)
    if name is None:
        return f"the function {getattr(node.target, '__name__', node.target)}"
    if not binding.lib().tile_graph_has_operator(name.encode()):
        return f"the operator {name} is not in Tile"
    if _splits_dropout(node):
        return "attention with dropout whose gradients are in another graph"
    return None


def _is_number_of_cpu(node: fx.Node) -> bool:
    """An input that is a number of the host in a graph of a GPU: it is copied before each run."""
    value = node.meta.get("val")
    return node.op in ("placeholder", "get_attr") and isinstance(value, torch.Tensor) and value.dim() == 0 and value.device.type == "cpu"


def device_of(graph: fx.Graph) -> torch.device:
    """The GPU if there is one in the graph, else the CPU."""
    devices: Dict[torch.device, None] = {}
    for node in graph.nodes:
        for t in _tensors(node.meta.get("val")):
            devices[t.device] = None
    gpus = [d for d in devices if d.type != "cpu"]
    return gpus[0] if gpus else torch.device("cpu")
