# SPDX-License-Identifier: Apache-2.0
"""State spaces, recommendation, recurrence, graphs."""
import torch
import torch.nn.functional as F
from torch import nn


# ---- Mamba (Gu and Dao, 2312.00752) ----


class MambaBlock(nn.Module):
    """The selective scan: all pairs within chunks, and a loop over chunks."""

    def __init__(self, width, state=16, chunk=8):
        super().__init__()
        inner, self.rank, self.state, self.chunk = 2 * width, width // 16, state, chunk
        self.norm, self.enter, self.leave = nn.LayerNorm(width), nn.Linear(width, 2 * inner, bias=False), nn.Linear(inner, width, bias=False)
        self.conv = nn.Conv1d(inner, inner, 4, padding=3, groups=inner)
        self.select, self.step = nn.Linear(inner, self.rank + 2 * state, bias=False), nn.Linear(self.rank, inner)
        self.decay, self.skip = nn.Parameter(torch.arange(1.0, state + 1).log().repeat(inner, 1)), nn.Parameter(torch.ones(inner))

    def scan(self, x, step, b, c):
        n, tokens, inner = x.shape
        a = -self.decay.float().exp()
        cut = lambda t: t.view(n, tokens // self.chunk, self.chunk, *t.shape[2:])
        step, x, b, c = cut(step.float()), cut(x.float()), cut(b.float()), cut(c.float())
        # Of position j within the chunk, seen from i: exp(a * (sum of steps from j + 1 to i)), 0 for later ones.
        total = step.cumsum(2)
        log = (total[:, :, :, None] - total[:, :, None])[..., None] * a  # n, chunks, i, j, inner, state
        seen = torch.ones(self.chunk, self.chunk, device=x.device, dtype=torch.bool).tril()[:, :, None, None]
        added = (step * x)[..., None] * b[:, :, :, None]
        within = (log.where(seen, float("-inf")).exp() * added[:, :, None]).sum(3)
        decay, states, h = (total[..., None] * a).exp(), [], torch.zeros(n, inner, self.state, device=x.device)
        for i in range(tokens // self.chunk):
            states.append(h)
            h = h * decay[:, i, -1] + within[:, i, -1]
        h = within + decay * torch.stack(states, 1)[:, :, None]
        return (h * c[:, :, :, None]).sum(-1).view(n, tokens, inner)

    def forward(self, x):
        y, gate = self.enter(self.norm(x)).chunk(2, -1)
        y = F.silu(self.conv(y.transpose(1, 2))[..., :x.shape[1]].transpose(1, 2))
        step, b, c = self.select(y).split((self.rank, self.state, self.state), -1)
        step = F.softplus(self.step(step))
        out = self.scan(y, step, b, c).to(x.dtype) + y * self.skip
        return x + self.leave(out * F.silu(gate))


class Mamba(nn.Module):
    def __init__(self, layers=4, width=768):
        super().__init__()
        self.blocks = nn.ModuleList(MambaBlock(width) for _ in range(layers))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


# ---- DLRM (Naumov et al., 1906.00091) ----


class DLRM(nn.Module):
    def __init__(self, tables=26, rows=100000, width=128, dense=13):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(rows, width) for _ in range(tables))
        layers = lambda *sizes: nn.Sequential(*(m for i, o in zip(sizes, sizes[1:]) for m in (nn.Linear(i, o), nn.ReLU())))
        self.bottom = layers(dense, 512, 256, width)
        self.top = nn.Sequential(layers(width + tables * (tables + 1) // 2, 1024, 1024, 512, 256), nn.Linear(256, 1))
        self.register_buffer("pairs", torch.tril_indices(tables + 1, tables + 1, -1))

    def forward(self, dense, indices):
        x = self.bottom(dense)
        t = torch.stack([x] + [table(indices[:, i]) for i, table in enumerate(self.tables)], 1)
        products = t @ t.transpose(1, 2)
        return self.top(torch.cat([x, products[:, self.pairs[0], self.pairs[1]]], 1))


# ---- LSTM ----


class LSTM(nn.Module):
    def __init__(self, width=512, layers=2, tokens=32):
        super().__init__()
        self.cells, self.head = nn.LSTM(width, width, layers, batch_first=True), nn.Linear(width, width)

    def forward(self, x):
        return self.head(self.cells(x)[0])


# ---- a graph network (GraphSAGE, Hamilton et al., 1706.02216) ----


class GraphNetwork(nn.Module):
    """Mean of the neighbours by index_add over the edges."""

    def __init__(self, widths=(256, 256, 256, 64)):
        super().__init__()
        self.own = nn.ModuleList(nn.Linear(i, o) for i, o in zip(widths, widths[1:]))
        self.near = nn.ModuleList(nn.Linear(i, o, bias=False) for i, o in zip(widths, widths[1:]))

    def forward(self, x, source, target, degree):
        for own, near in zip(self.own, self.near):
            mean = torch.zeros_like(x).index_add(0, target, x[source]) / degree
            x = F.relu(own(x) + near(mean))
        return x
