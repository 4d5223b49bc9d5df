# SPDX-License-Identifier: Apache-2.0
"""A function of Triton and its launch, as a library has them: nothing here knows of Tile."""
import torch
import triton
import triton.language as tl

ROOT_HALF = tl.constexpr(0.7071067811865476)


@triton.autotune([triton.Config({"BLOCK": 128}, num_warps=4), triton.Config({"BLOCK": 512}, num_warps=8)], key=["n"])
@triton.jit
def gelu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, 0.5 * v * (1 + tl.math.erf(v * ROOT_HALF)), mask=i < n)


def gelu(x):
    out = torch.empty_like(x)
    gelu_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, out, x.numel())
    return out
