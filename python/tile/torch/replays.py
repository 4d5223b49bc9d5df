# SPDX-License-Identifier: Apache-2.0
"""Modes "reduce-overhead" and "max-autotune": calls replay CUDA graphs, recorded and kept by PyTorch's cudagraph trees, so that
results live in memory of the graphs until the next iteration, as with TorchInductor."""
from __future__ import annotations

import logging
from typing import Any, Callable, List, Optional, Sequence

import torch

log = logging.getLogger("tile.torch")


class Recorder:
    """Of one compilation by Dynamo: its forward and backward are recorded both, or not at all."""

    def __init__(self, dynamo_inputs: int):
        self.dynamo_inputs = dynamo_inputs
        self.is_off = False
        self.device: Optional[int] = None

    def wrap(self, compiled: Any, run: Callable[[List[Any]], List[Any]], graph: Any, inputs: Sequence[Any]) -> Callable[[List[Any]], List[Any]]:
        """A callable that records `run` and replays it; `run` itself where a graph cannot be recorded."""
        why = "its forward is not recorded" if self.is_off else self._why_not(compiled, graph, inputs)
        if why:
            log.info("the %s graph is not replayed as a CUDA graph: %s", compiled.kind, why)
            self.is_off = True
            return self._beside(run) if compiled.kind == "backward" else run
        return self._record(compiled, run, graph, inputs)

    def _why_not(self, compiled: Any, graph: Any, inputs: Sequence[Any]) -> Optional[str]:
        from torch._dynamo.backends import cudagraphs

        if compiled.device.type != "cuda":
            return f"it runs on {compiled.device}"
        if any(not isinstance(i, torch.Tensor) for i in inputs):
            return "a size or number is an input"
        if any(s.is_tile and s.run.is_random for s in compiled.segments):
            return "a replay would repeat its random numbers"
        # Inputs that the graph writes to need no check here: the trees see in each call whether their memory stays.
        node = cudagraphs.get_first_incompatible_cudagraph_node(graph)
        return f"`{node.name}` cannot be recorded" if node else cudagraphs.check_multiple_devices_or_any_cpu_nodes(cudagraphs.get_device_node_mapping(graph))

    def _fixed(self, compiled: Any, graph: Any, inputs: Sequence[Any]) -> Sequence[int]:
        """Inputs that stay where they are: parameters, buffers, what a forward saved. A replay copies all others."""
        from torch._inductor.utils import count_tangents, num_fw_fixed_arguments

        if compiled.kind == "backward":
            return range(count_tangents(graph))
        context = torch._guards.TracingContext.try_get()
        if context is not None and context.fw_metadata is not None:
            return context.fw_metadata.static_input_indices
        return range(num_fw_fixed_arguments(self.dynamo_inputs, len(inputs)))

    def _record(self, compiled: Any, run: Callable[..., Any], graph: Any, inputs: Sequence[Any]) -> Callable[[List[Any]], List[Any]]:
        from torch._dynamo.backends.cudagraphs import find_input_mutations, get_device_index, get_stack_traces
        from torch._inductor.cudagraph_trees import cudagraphify_impl
        from torch._inductor.cudagraph_utils import get_placeholder_info

        programs = [s.run for s in compiled.segments if s.is_tile]
        is_optimized = False

        def first(args: List[Any]) -> List[Any]:
            nonlocal is_optimized
            results = run(args)
            if not is_optimized:  # the first run, which is not recorded: later ones load no code
                for program in programs:
                    program.wait_optimized()
                is_optimized = True
            return results

        first._boxed_call = True  # type: ignore[attr-defined]
        self.device = get_device_index(graph)
        recorded = cudagraphify_impl(first, inputs, self._fixed(compiled, graph, inputs), device_index=self.device,
                                     is_backward=compiled.kind == "backward", is_inference=compiled.kind == "inference",
                                     stack_traces=get_stack_traces(graph), placeholders=get_placeholder_info(graph.graph),
                                     mutated_input_idxs=find_input_mutations(graph.graph))
        recorded._boxed_call = True  # type: ignore[attr-defined]
        return recorded

    def _beside(self, run: Callable[..., Any]) -> Callable[[List[Any]], List[Any]]:
        """A backward that is not recorded, behind a forward that is: the trees have to know that it runs."""
        if self.device is None:
            return run
        from torch._inductor.cudagraph_trees import get_manager

        def told(args: List[Any]) -> List[Any]:
            manager = get_manager(self.device, create_if_none_exists=False)
            if manager is not None:
                manager.set_to_running_backward()
            return run(args)

        told._boxed_call = True  # type: ignore[attr-defined]
        return told
