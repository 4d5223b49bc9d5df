# SPDX-License-Identifier: Apache-2.0
"""Flex attention with its gradients, for check_graphs.py (graph_models.py says how). PyTorch refuses gradients on the CPU, though its
definition by dense products (sdpa_dense_backward) runs there; so the refusal is taken out."""
import torch
from torch import nn
from torch.nn.attention import flex_attention as flex

from graph_models import Model, model
from models_attention import Function, heads


def allow_gradients_on_cpu():
    options = flex._apply_kernel_options
    flex._validate_device = lambda query, key, value: None
    flex._apply_kernel_options = lambda *args, **named: options(*args, **named) | {"OUTPUT_LOGSUMEXP": True}


def attention(score, mask, block=128):
    """Four heads of queries, two of keys and values, with other columns."""
    def call(m, x):
        allow_gradients_on_cpu()
        rows, q, kv = x.shape[1], m.q(x), m.kv(x)
        blocks = flex.create_block_mask(mask, None, None, rows, rows, device="cpu", BLOCK_SIZE=block) if mask else None
        key, value = kv.split([16, 32], -1)
        return flex.flex_attention(heads(q, 4), heads(key, 2), heads(value, 2), score_mod=score, block_mask=blocks, enable_gqa=True)

    return Model(Function(call, q=nn.Linear(6, 32), kv=nn.Linear(6, 48)), lambda n: (torch.randn(2, n, 6),), [{1: "n"}], sizes=(9, 3, 70), zero=False)


@model
def flex_soft_cap():
    """Scores within -2 and 2, and a window to the left."""
    return attention(lambda s, b, h, m, n: 2 * torch.tanh(s / 2), lambda b, h, m, n: (m >= n) & (m - n < 5))


@model
def flex_slopes():
    """A slope for each head, which grows with the distance, and squares of scores; no mask."""
    return attention(lambda s, b, h, m, n: s * s * 0.1 - s + 0.25 * (h + 1) * (n - m), None)


@model
def flex_documents():
    """Documents by a table, of which a query sees what is before it; blocks that are skipped."""
    documents = torch.arange(300) // 11
    return attention(None, lambda b, h, m, n: (documents[m] == documents[n]) & (m >= n), 16)
