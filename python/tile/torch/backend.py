# SPDX-License-Identifier: Apache-2.0
"""From Dynamo's graph to compiled callables: AOTAutograd makes functional graphs of ATen operators, forward and backward;
each becomes segments (segments.py), of which Tile runs as many as it can.

Options of `torch.compile(..., options={...})`:
    min_operators   a segment with fewer operators stays in PyTorch (default 1)
    fallback        False: what Tile does not take is an error (default True)
    replays         calls replay CUDA graphs (default: in the modes "reduce-overhead" and "max-autotune")"""
from __future__ import annotations

from functools import lru_cache
from typing import Any, Callable, Dict, List, Optional, Sequence

import torch
from torch._dynamo.backends.common import aot_autograd

from .. import binding, errors
from . import layouts
from .replays import Recorder
from .segments import Compiled, Options

_MODES = {"default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"}


def options_from(named: Dict[str, Any]) -> Options:
    """Checks what torch.compile passes on."""
    mode = named.get("mode")
    if mode is not None and mode not in _MODES:
        raise errors.InvalidArgument(f"torch.compile: the backend `tile` has no mode `{mode}`; it has {', '.join(sorted(_MODES))}")
    options = Options(replays=mode in ("reduce-overhead", "max-autotune"))
    for name, value in (named.get("options") or {}).items():
        if name not in Options.__dataclass_fields__ or name == "observer":
            known = ", ".join(n for n in Options.__dataclass_fields__ if n != "observer")
            raise errors.InvalidArgument(f"torch.compile: the backend `tile` has no option `{name}`; it has {known}")
        if type(value) is not type(getattr(options, name)):
            raise errors.InvalidArgument(f"torch.compile: option `{name}` is a {type(getattr(options, name)).__name__}, not {value!r}")
        setattr(options, name, value)
    return options


@lru_cache(maxsize=None)
def decompositions() -> Dict[Any, Callable[..., Any]]:
    """PyTorch's decompositions of the operators that Tile has not."""
    from torch._decomp import core_aten_decompositions

    has = binding.lib().tile_graph_has_operator
    return {op: fn for op, fn in core_aten_decompositions().items() if not has(str(op).encode())}


def _partition() -> Optional[Callable[..., Any]]:
    from functorch.compile import min_cut_rematerialization_partition

    return min_cut_rematerialization_partition


def compile_dynamo_graph(gm: Any, example_inputs: Sequence[Any], _observer: Any = None, **named: Any) -> Callable[..., Any]:
    """The backend."""
    options = options_from(named)
    options.observer = _observer
    recorder = Recorder(len(example_inputs)) if options.replays else None
    binding.lib()  # LibraryMissing now, not in the first call

    def compiler(kind: str) -> Callable[..., Any]:
        def compile_graph(graph: Any, inputs: List[Any]) -> Callable[..., Any]:
            if kind == "backward":
                layouts.take_strides([n for n in graph.graph.nodes if n.op == "placeholder"], inputs)
            compiled = Compiled(graph, kind, options)
            return recorder.wrap(compiled, compiled.boxed(), graph, inputs) if recorder else compiled.boxed()

        return compile_graph

    compile_aot = aot_autograd(fw_compiler=compiler("forward"), bw_compiler=compiler("backward"), inference_compiler=compiler("inference"),
                               partition_fn=_partition(), decompositions=decompositions(), keep_inference_input_mutations=True)
    return compile_aot(gm, example_inputs)
