# SPDX-License-Identifier: Apache-2.0
"""Tile from PyTorch: a kernel on tensors, a model by torch.compile, a function of Triton. Each result is compared with PyTorch's own."""
import os
import sys

import tile
import torch
from torch import nn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
HERE = os.path.dirname(os.path.abspath(__file__))


def compare(what, got, want, tolerance=1e-4):
    error = float((got - want).abs().max())
    print(f"{what}: largest error {error:.1e}: {'right' if error <= tolerance else 'WRONG'}")
    if error > tolerance:
        sys.exit(1)


def a_kernel():
    """A .tile file on tensors; the grid is a function of the arguments."""
    add = tile.load(os.path.join(HERE, "..", "01-vector-add", "add.tile"))
    n = 1000
    x, y, out = (torch.rand(n, device=DEVICE) for _ in range(3))
    add[lambda a: tile.cdiv(a["n"], a["BLOCK"])](x, y, out, n, BLOCK=256)
    compare("vector add", out, x + y)

    launch = add.prepare(tile.cdiv(n, 256), x, y, out, n, BLOCK=256)  # arguments bound once
    y.fill_(1)
    launch()
    compare("prepared launch", out, x + 1)


class Block(nn.Module):
    """Attention and a gated unit, as in a language model."""

    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads = heads
        self.norm, self.mix, self.out = nn.RMSNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(width, width)

    def forward(self, x):
        q, k, v = self.mix(self.norm(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        x = x + self.out(nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        a, b = self.up(x).chunk(2, -1)
        return x + self.down(nn.functional.silu(a) * b)


def a_model():
    """Training and inference by torch.compile, at several lengths."""
    import tile.torch

    torch.manual_seed(0)
    model = Block().to(DEVICE)
    compiled = torch.compile(model, backend="tile", dynamic=True)
    for length in (7, 16):
        x = torch.randn(2, length, 32, device=DEVICE)
        want = torch.autograd.grad(model(x).square().mean(), list(model.parameters()))
        got = torch.autograd.grad(compiled(x).square().mean(), list(model.parameters()))
        compare(f"gradients, length {length}", torch.cat([g.flatten() for g in got]), torch.cat([g.flatten() for g in want]))
    print(tile.torch.explain(model, torch.randn(2, 9, 32, device=DEVICE), backward=True))


def a_function_of_triton():
    """Where Triton is installed: its decorators, Tile's compiler."""
    try:
        import tile.triton
        from triton_gelu import gelu
    except ImportError as e:
        return print(f"no Triton here ({e}): this part is left out")
    tile.triton.install(check=True)  # on the CPU: accesses outside of tensors are errors
    x = torch.randn(1000, device=DEVICE)
    compare("Triton's gelu", gelu(x), nn.functional.gelu(x))


a_kernel()
a_model()
a_function_of_triton()
