# SPDX-License-Identifier: Apache-2.0
"""Tensor functions for comparing graph compilers, and how PyTorch prints their graphs."""
import math

import torch
import torch.nn.functional as F


def sin_cos(x):
    return torch.sin(x) * 2 + torch.cos(x)


def bias_gelu_residual(x, b, r):
    return F.gelu(x + b) + r


def residual_rms_norm(x, r, w):
    h = x + r
    f = h.float()
    return h, (f * torch.rsqrt(f.pow(2).mean(-1, keepdim=True) + 1e-6)).to(h.dtype) * w


def layer_norm_gelu(x, w, b):
    return F.gelu(F.layer_norm(x, (x.shape[-1],), w, b, 1e-5))


def cross_entropy(logits, target):
    return F.cross_entropy(logits.float(), target)


def softmax(x):
    return torch.softmax(x, -1)


def column_variance(x):
    return x.float().var(0)


def full_sum(x):
    return x.float().sum()


def transpose_add(x, y):
    return x + y.t()


def rope(q, cos, sin):
    a, b = q.chunk(2, -1)
    return q * cos + torch.cat((-b, a), -1) * sin


def swiglu(gate, up):
    return F.silu(gate) * up


def linear(x, w):
    return F.linear(x, w)


def linear_gelu(x, w, b):
    return F.gelu(F.linear(x, w, b))


def swiglu_mlp(x, gate, up, down):
    return F.linear(F.silu(F.linear(x, gate)) * F.linear(x, up), down)


def attention_masked(q, k, v, mask):
    return torch.softmax((q @ k.transpose(-1, -2)) * 0.125 + mask, -1) @ v


def attention_causal(q, k, v):
    s = q.shape[-2]
    keep = torch.ones(s, s, dtype=torch.bool, device=q.device).tril()
    scores = (q @ k.transpose(-1, -2)) / math.sqrt(q.shape[-1])
    return torch.softmax(scores.masked_fill(~keep, float("-inf")), -1) @ v


def layer_norm_backward(g, x, w, b):
    x = x.detach().requires_grad_()
    w = w.detach().requires_grad_()
    b = b.detach().requires_grad_()
    return torch.autograd.grad(F.layer_norm(x, (x.shape[-1],), w, b, 1e-5), (x, w, b), g)


def half(*shape):
    return ("bf16", shape)


def single(*shape):
    return ("f32", shape)


# name: function, tensors, relative tolerance, whether memory limits its speed
CASES = {
    "sin_cos": (sin_cos, [single(33554432)]),
    "bias_gelu_residual": (bias_gelu_residual, [half(8192, 4096), half(4096), half(8192, 4096)]),
    "residual_rms_norm": (residual_rms_norm, [half(8192, 4096), half(8192, 4096), half(4096)]),
    "layer_norm_gelu": (layer_norm_gelu, [half(8192, 4096), half(4096), half(4096)]),
    "cross_entropy": (cross_entropy, [half(8192, 32000), ("i64", (8192,), 32000)]),
    "softmax_4096": (softmax, [half(8192, 4096)]),
    "softmax_32768": (softmax, [half(4096, 32768)]),
    "softmax_1048576": (softmax, [half(64, 1048576)]),
    "column_variance": (column_variance, [half(32768, 4096)]),
    "full_sum": (full_sum, [half(16384, 4096)]),
    "transpose_add": (transpose_add, [half(8192, 8192), half(8192, 8192)]),
    "rope": (rope, [half(8, 32, 2048, 64), half(2048, 64), half(2048, 64)]),
    "swiglu": (swiglu, [half(8192, 11008), half(8192, 11008)]),
    "linear": (linear, [half(4096, 4096), half(11008, 4096)]),
    "linear_gelu": (linear_gelu, [half(4096, 4096), half(11008, 4096), half(11008)]),
    "swiglu_mlp": (swiglu_mlp, [half(4096, 4096), half(11008, 4096), half(11008, 4096), half(4096, 11008)]),
    "attention_masked": (attention_masked, [half(4, 16, 2048, 64)] * 3 + [half(4, 1, 2048, 2048)]),
    "attention_causal": (attention_causal, [half(4, 16, 2048, 64)] * 3),
}
# Dynamic dimensions of each input: rows, or batch and length. Sizes that models fix stay numbers.
DYNAMIC = {
    "sin_cos": [[0]], "bias_gelu_residual": [[0], [], [0]], "residual_rms_norm": [[0], [0], []], "layer_norm_gelu": [[0], [], []],
    "cross_entropy": [[0], [0]], "softmax_4096": [[0]], "softmax_32768": [[0]], "softmax_1048576": [[0, 1]], "column_variance": [[0]],
    "full_sum": [[0]], "transpose_add": [[0], [1]], "rope": [[0, 2], [0], [0]], "swiglu": [[0], [0]], "linear": [[0], []],
    "linear_gelu": [[0], [], []], "swiglu_mlp": [[0], [], [], []], "attention_masked": [[0, 2]] * 3 + [[0, 2, 3]],
    "attention_causal": [[0, 2]] * 3,
}
MATRIX_CASES = ("linear", "linear_gelu", "swiglu_mlp", "attention_masked", "attention_causal")  # bound by arithmetic


def make(spec, device):
    kind, shape = spec[:2]
    if kind == "i64":
        return torch.randint(0, spec[2], shape, device=device)
    x = torch.randn(*shape, device=device) * (0.1 if len(shape) == 2 and shape[0] >= 4096 and shape[1] in (4096, 11008) else 1.0)
    return x.to(torch.bfloat16 if kind == "bf16" else torch.float32)


def mark_dynamic(name, inputs):
    for t, dimensions in zip(inputs, DYNAMIC[name]):
        torch._dynamo.mark_dynamic(t, dimensions)


def text_of(function, inputs):
    """The graph as PyTorch prints it, without decompositions, and for each of its inputs which of `inputs` that is: it
    numbers them by their first use. Sizes that are inputs are left out, since tensors tell them; the last result has them by their
    symbols. They may be twice as large, so that elements are counted in 32 bits, as torch.compile does after a look at its inputs."""
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd
    texts, order, sizes = [], [], {}

    def keep(module, _):
        texts.append(module.print_readable(print_output=False, include_stride=True, include_device=True))
        return make_boxed_func(module.forward)

    def backend(module, taken):
        order[:] = [next(i for i, t in enumerate(inputs) if t is given) for given in taken if isinstance(given, torch.Tensor)]
        sizes.update({str(given): given.node.hint for given in taken if isinstance(given, torch.SymInt)})
        return aot_autograd(fw_compiler=keep, inference_compiler=keep)(module, taken)

    torch._dynamo.reset()
    with torch.no_grad():
        torch.compile(function, backend=backend, fullgraph=True)(*inputs)
    torch._dynamo.reset()
    lines = [line for line in texts[-1].split("\n") if line.strip() and not line.lstrip().startswith("#")]
    ranges = ", ".join(f"{name}: VR[1, {2 * size}]" for name, size in sizes.items())
    return "\n".join(lines) + "\n" + (f"Range constraints: {{{ranges}}}\n" if ranges else ""), order, sizes
