# SPDX-License-Identifier: Apache-2.0
"""The entry point of group `torch_dynamo_backends`: `torch.compile(model, backend="tile")` finds it without an import.

One object at module level: PyTorch guards compiled code on the backend's identity."""
from typing import Any, Callable, Sequence


def backend(gm: Any, example_inputs: Sequence[Any], **options: Any) -> Callable[..., Any]:
    """A backend of torch.compile; tile/torch/backend.py has the options."""
    from .torch.backend import compile_dynamo_graph

    return compile_dynamo_graph(gm, example_inputs, **options)
