# SPDX-License-Identifier: Apache-2.0
"""Models of text beside those of models.py: an encoder and decoder, experts, decoding with a cache."""
import torch
import torch.nn.functional as F
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * self.weight


# ---- T5 (Raffel et al., 1910.10683) ----


class T5Attention(nn.Module):
    """No scale; the bias depends on the bucket of the distance."""

    def __init__(self, width, heads, has_bias=False):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.buckets = nn.Embedding(32, heads) if has_bias else None

    def bias(self, rows, columns, device, is_causal):
        distance = torch.arange(columns, device=device)[None] - torch.arange(rows, device=device)[:, None]
        bucket = (distance.abs().float() + 1).log2().mul(2).long().clamp(max=15) + 16 * (distance > 0)
        bias = self.buckets(bucket).permute(2, 0, 1)
        return bias.masked_fill(distance > 0, float("-inf")) if is_causal else bias

    def forward(self, x, memory, bias):
        split = lambda t: t.view(t.shape[0], t.shape[1], self.heads, -1).transpose(1, 2)
        q, k, v = split(self.q(x)), split(self.k(memory)), split(self.v(memory))
        scores = q @ k.transpose(-1, -2)
        if bias is not None:
            scores = scores + bias
        a = scores.float().softmax(-1).to(v.dtype) @ v
        return self.o(a.transpose(1, 2).reshape(x.shape))


class T5Block(nn.Module):
    def __init__(self, width, heads, hidden, is_decoder, is_first):
        super().__init__()
        self.own, self.norm1 = T5Attention(width, heads, is_first), RMSNorm(width)
        self.cross, self.norm2 = (T5Attention(width, heads), RMSNorm(width)) if is_decoder else (None, None)
        self.up, self.down, self.norm3 = nn.Linear(width, hidden, bias=False), nn.Linear(hidden, width, bias=False), RMSNorm(width)

    def forward(self, x, bias, memory=None):
        y = self.norm1(x)
        x = x + self.own(y, y, bias)
        if self.cross is not None:
            x = x + self.cross(self.norm2(x), memory, None)
        return x + self.down(F.relu(self.up(self.norm3(x))))


class T5(nn.Module):
    def __init__(self, layers=6, width=512, heads=8, hidden=2048, words=32128):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.encoder = nn.ModuleList(T5Block(width, heads, hidden, False, i == 0) for i in range(layers))
        self.decoder = nn.ModuleList(T5Block(width, heads, hidden, True, i == 0) for i in range(layers))
        self.norm1, self.norm2 = RMSNorm(width), RMSNorm(width)

    def forward(self, source, target):
        x, y = self.embedding(source), self.embedding(target)
        bias = self.encoder[0].own.bias(source.shape[1], source.shape[1], source.device, False)
        for block in self.encoder:
            x = block(x, bias)
        x = self.norm1(x)
        bias = self.decoder[0].own.bias(target.shape[1], target.shape[1], target.device, True)
        for block in self.decoder:
            y = block(y, bias, x)
        return self.norm2(y) @ self.embedding.weight.T


# ---- a mixture of experts (Mixtral, Jiang et al., 2401.04088) ----


class Experts(nn.Module):
    """Each token goes to two of the experts; tokens are sorted by expert, products are grouped."""

    def __init__(self, width, hidden, count):
        super().__init__()
        self.count = count
        self.route = nn.Linear(width, count, bias=False)
        self.up = nn.Parameter(torch.randn(count, width, 2 * hidden) * width ** -0.5)
        self.down = nn.Parameter(torch.randn(count, hidden, width) * hidden ** -0.5)

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        weights, chosen = self.route(flat).float().softmax(-1).topk(2, -1)
        weights = (weights / weights.sum(-1, keepdim=True)).to(x.dtype)
        order = chosen.reshape(-1).argsort(stable=True)
        ends = torch.bincount(chosen.reshape(-1), minlength=self.count).cumsum(0).to(torch.int32)
        rows = flat[order // 2]
        gate, up = torch._grouped_mm(rows, self.up, ends).chunk(2, -1)
        out = torch._grouped_mm(F.silu(gate) * up, self.down, ends)
        out = out * weights.reshape(-1)[order][:, None]
        return torch.zeros_like(flat).index_add(0, order // 2, out).view(x.shape)


class ExpertsBlock(nn.Module):
    def __init__(self, width, heads, hidden, count):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = RMSNorm(width), RMSNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.experts = Experts(width, hidden, count)

    def forward(self, x):
        q, k, v = (t.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2) for t in self.qkv(self.norm1(x)).chunk(3, -1))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(a.transpose(1, 2).reshape(x.shape))
        return x + self.experts(self.norm2(x))


class Mixture(nn.Module):
    def __init__(self, layers=4, width=1024, heads=16, hidden=2816, count=8):
        super().__init__()
        self.blocks = nn.ModuleList(ExpertsBlock(width, heads, hidden, count) for _ in range(layers))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


# ---- decoding with a static cache ----


class DecodeBlock(nn.Module):
    """One token a sequence: grouped heads, rotary embeddings, a cache of fixed length, SwiGLU."""

    def __init__(self, width, heads, key_heads, hidden, length, batch):
        super().__init__()
        self.heads, self.key_heads, self.head = heads, key_heads, width // heads
        self.norm1, self.norm2 = RMSNorm(width), RMSNorm(width)
        self.q, self.out = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.k, self.v = (nn.Linear(width, key_heads * self.head, bias=False) for _ in range(2))
        self.gate, self.up, self.down = nn.Linear(width, hidden, bias=False), nn.Linear(width, hidden, bias=False), nn.Linear(hidden, width, bias=False)
        for name in ("keys", "values"):
            self.register_buffer(name, torch.randn(batch, key_heads, length, self.head))

    def forward(self, x, at, cos, sin):
        def rotated(t):
            a, b = t.chunk(2, -1)
            return t * cos + torch.cat((-b, a), -1) * sin

        y = self.norm1(x)
        split = lambda t, heads: t.view(x.shape[0], 1, heads, self.head).transpose(1, 2)
        q, k, v = rotated(split(self.q(y), self.heads)), rotated(split(self.k(y), self.key_heads)), split(self.v(y), self.key_heads)
        keys, values = self.keys.index_copy(2, at, k), self.values.index_copy(2, at, v)
        mask = torch.arange(keys.shape[2], device=x.device)[None, None, None] <= at
        a = F.scaled_dot_product_attention(q, keys, values, mask, enable_gqa=True)
        x = x + self.out(a.transpose(1, 2).reshape(x.shape))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    def __init__(self, layers=4, width=4096, heads=32, key_heads=8, hidden=14336, length=2048, batch=1):
        super().__init__()
        self.blocks = nn.ModuleList(DecodeBlock(width, heads, key_heads, hidden, length, batch) for _ in range(layers))

    def forward(self, x, at, cos, sin):
        for block in self.blocks:
            x = block(x, at, cos, sin)
        return x
