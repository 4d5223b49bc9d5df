# SPDX-License-Identifier: Apache-2.0
"""Attention, positions, recurrences and routing, written for check_graphs.py (graph_models.py says how)."""
import math

import torch
import torch.nn.functional as F
from torch import nn

from graph_models import Model, ids, model


class Function(nn.Module):
    """A function of the inputs, with layers that it calls."""

    def __init__(self, call, **layers):
        super().__init__()
        self.call = call
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, *args):
        return self.call(self, *args)


def heads(x, count):
    return x.unflatten(-1, (count, -1)).transpose(-2, -3)


# ---- attention ----


@model
def linear_attention():
    """Causal, by running sums of outer products of positive features."""
    def call(m, x):
        q, k, v = (heads(y, 2) for y in m.qkv(x).chunk(3, -1))
        q, k = F.elu(q) + 1, F.elu(k) + 1
        state = torch.einsum("bhnd,bhne->bhnde", k, v).cumsum(2)
        weight = torch.einsum("bhnd,bhnd->bhn", q, k.cumsum(2)).clamp(min=1e-6)
        return (torch.einsum("bhnd,bhnde->bhne", q, state) / weight[..., None]).transpose(1, 2).flatten(2)

    return Model(Function(call, qkv=nn.Linear(8, 24)), lambda n: (torch.randn(2, n, 8),), [{1: "n"}], sizes=(5, 1, 9))


@model
def rotary_complex():
    """Rotary positions as products of complex numbers, with fewer heads of keys than of queries."""
    def call(m, x):
        n = x.shape[1]
        angle = torch.outer(torch.arange(n, device=x.device).float(), 10.0 ** -torch.arange(4).float())
        turn = torch.polar(torch.ones_like(angle), angle)[None, :, None]
        q, k, v = m.q(x).unflatten(-1, (4, 8)), m.k(x).unflatten(-1, (2, 8)), m.v(x).unflatten(-1, (2, 8))
        rotate = lambda t: torch.view_as_real(torch.view_as_complex(t.unflatten(-1, (4, 2))) * turn).flatten(3)
        q, k, v = (t.transpose(1, 2) for t in (rotate(q), rotate(k), v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return y.transpose(1, 2).flatten(2)

    layers = dict(q=nn.Linear(8, 32), k=nn.Linear(8, 16), v=nn.Linear(8, 16))
    return Model(Function(call, **layers), lambda n: (torch.randn(2, n, 8),), [{1: "n"}], sizes=(5, 1, 9), zero=False)


@model
def local_attention():
    """Each block of queries sees its own and the previous block, by padding and unfold."""
    def call(m, x):
        b, n, c = x.shape
        w = 4
        x = F.pad(x, (0, 0, 0, (w - n % w) % w))
        q, k, v = m.qkv(x).chunk(3, -1)
        q = q.view(b, -1, w, c)
        k, v = (F.pad(t, (0, 0, w, 0)).unfold(1, 2 * w, w).transpose(2, 3) for t in (k, v))
        i = torch.arange(w, device=x.device)
        seen = (torch.arange(2 * w, device=x.device)[None] <= i[:, None] + w)[None, None]
        first = torch.arange(q.shape[1], device=x.device)[None, :, None, None] > 0
        seen = seen & (first | (torch.arange(2 * w, device=x.device) >= w))
        s = (q @ k.transpose(-1, -2) / math.sqrt(c)).masked_fill(~seen, -torch.inf)
        return (s.softmax(-1) @ v).reshape(b, -1, c)[:, :n]

    return Model(Function(call, qkv=nn.Linear(8, 24)), lambda n: (torch.randn(2, n, 8),), [{1: "n"}], sizes=(7, 1, 12), zero=False)


@model
def cross_attention():
    """torch's own module with a padding mask, and its weights."""
    def call(m, x, memory, length):
        pad = torch.arange(memory.shape[1], device=x.device)[None] >= length[:, None]
        y, w = m.attention(x, memory, memory, key_padding_mask=pad, need_weights=True)
        return m.norm(x + y), w

    layers = dict(attention=nn.MultiheadAttention(8, 2, batch_first=True), norm=nn.LayerNorm(8))
    return Model(Function(call, **layers).eval(), lambda n: (torch.randn(2, n, 8), torch.randn(2, n + 2, 8), torch.tensor([n + 2, 1])),
                 [{1: "n"}, {1: "k"}, None], sizes=(4, 1, 7), zero=False)


@model
def transformer_xl():
    """Relative positions by the shift of a padded matrix."""
    def call(m, x, memory):
        n, k = x.shape[1], x.shape[1] + memory.shape[1]
        q = heads(m.q(x), 2)
        key, value = (heads(t, 2) for t in m.kv(torch.cat([memory, x], 1)).chunk(2, -1))
        where = torch.arange(k - 1, -1, -1, device=x.device).float()
        wave = where[:, None] * 0.1 ** torch.arange(4, device=x.device)
        r = heads(m.r(torch.cat([wave.sin(), wave.cos()], -1)), 2)
        content, position = (q + m.u) @ key.transpose(-1, -2), (q + m.w) @ r.transpose(-1, -2)
        position = F.pad(position, (1, 0)).flatten(2)[..., n:].unflatten(-1, (n, k))
        seen = torch.ones(n, k, dtype=torch.bool, device=x.device).tril(k - n)
        s = ((content + position) * 0.5).masked_fill(~seen, -1e9)
        return (s.softmax(-1) @ value).transpose(1, 2).flatten(2)

    layers = dict(q=nn.Linear(8, 8), kv=nn.Linear(8, 16), r=nn.Linear(8, 8, bias=False), u=nn.Parameter(torch.randn(4)), w=nn.Parameter(torch.randn(4)))
    return Model(Function(call, **layers), lambda n: (torch.randn(2, n, 8), torch.randn(2, n + 1, 8)), [{1: "n"}, {1: "k"}], sizes=(4, 1, 7), zero=False)


@model
def differential_attention():
    def call(m, x):
        q, k, v = m.qkv(x).split([8, 8, 8], -1)
        q1, q2, k1, k2 = *q.chunk(2, -1), *k.chunk(2, -1)
        causal = torch.full((x.shape[1], x.shape[1]), -torch.inf, device=x.device).triu(1)
        a = (q1 @ k1.mT + causal).softmax(-1) - m.scale.exp() * (q2 @ k2.mT + causal).softmax(-1)
        return F.rms_norm(a @ v, (8,)) * 0.2

    return Model(Function(call, qkv=nn.Linear(8, 24), scale=nn.Parameter(torch.tensor(-1.0))), lambda n: (torch.randn(2, n, 8),), [{1: "n"}],
                 sizes=(5, 1, 8), zero=False)


@model
def retention():
    """A decay by distance instead of a softmax, and the same state step by step in chunks."""
    def call(m, x):
        q, k, v = (heads(t, 2) for t in m.qkv(x).chunk(3, -1))
        n = torch.arange(x.shape[1], device=x.device)
        gamma = (1 - 2.0 ** (-5 - torch.arange(2, device=x.device))).log()
        away = (n[:, None] - n[None]).float()
        decay = torch.exp(gamma[:, None, None] * away).masked_fill(away < 0, 0)
        decay = decay / decay.sum(-1, keepdim=True).sqrt()
        y = (q @ k.transpose(-1, -2) * decay) @ v
        return m.norm(y.transpose(1, 2).flatten(0, 1).flatten(1)).view_as(x)

    return Model(Function(call, qkv=nn.Linear(8, 24), norm=nn.GroupNorm(2, 8)), lambda n: (torch.randn(2, n, 8),), [{1: "n"}], sizes=(5, 1, 9), zero=False)


@model
def paged_cache():
    """Keys and values in pages, found by a table; new ones are written to slots."""
    def call(m, q, table, slots):
        k, v = m.k.clone(), m.v.clone()
        k.view(-1, 4).index_copy_(0, slots, q * 2)
        v.view(-1, 4).index_put_((slots,), q + 1)
        keys, values = k[table].flatten(1, 2), v[table].flatten(1, 2)
        s = torch.einsum("bc,bkc->bk", q, keys)
        seen = torch.arange(keys.shape[1], device=q.device) <= slots[:, None] % 6
        return torch.einsum("bk,bkc->bc", s.masked_fill(~seen, -torch.inf).softmax(-1), values), k

    class Paged(Function):
        pass

    m = Paged(call)
    m.register_buffer("k", torch.randn(8, 3, 4))
    m.register_buffer("v", torch.randn(8, 3, 4))
    return Model(m, lambda n: (torch.randn(n, 4), ids(n, 2, top=8), torch.randperm(24)[:n]), [{0: "b"}] * 3, sizes=(3, 1, 6))


@model
def nystrom():
    """Attention through means of segments, with an iterated pseudoinverse."""
    def call(m, x):
        q, k, v = m.qkv(x).chunk(3, -1)
        n = x.shape[1]
        ql, kl = q.view(2, 3, n // 3, 8).mean(2), k.view(2, 3, n // 3, 8).mean(2)
        a, b, c = (q @ kl.mT).softmax(-1), (ql @ kl.mT).softmax(-1), (ql @ k.mT).softmax(-1)
        z = b.mT / (b.abs().sum(-1).max() * b.abs().sum(-2).max())
        eye = torch.eye(3, device=x.device)
        for _ in range(3):
            bz = b @ z
            z = 0.25 * z @ (13 * eye - bz @ (15 * eye - bz @ (7 * eye - bz)))
        return a @ z @ (c @ v)

    return Model(Function(call, qkv=nn.Linear(8, 24)), lambda n: (torch.randn(2, 3 * n, 8),), [{1: "3*n"}], sizes=(4, 2, 5), zero=False, low=2)


# ---- positions ----


@model
def positions_2d():
    """Sines and cosines of rows and columns, a grid, and a table that is resized to the image."""
    def call(m, x):
        b, c, h, w = x.shape
        y, z = torch.meshgrid(torch.arange(h, device=x.device).float(), torch.arange(w, device=x.device).float(), indexing="ij")
        omega = 1.0 / 100 ** (torch.arange(2, device=x.device) / 2.0)
        parts = [f(t.flatten()[:, None] * omega) for t in (y, z) for f in (torch.sin, torch.cos)]
        table = F.interpolate(m.table, size=(h, w), mode="bilinear", align_corners=True)
        return x.flatten(2).transpose(1, 2) + torch.cat(parts, 1) + table.flatten(2).transpose(1, 2)

    return Model(Function(call, table=nn.Parameter(torch.randn(1, 8, 4, 5))), lambda n: (torch.randn(2, 8, n + 1, n + 3),), [{2: "h", 3: "w"}],
                 sizes=(3, 1, 6), zero=False)


@model
def positions_bicubic():
    def call(m, x):
        table = F.interpolate(m.table, size=x.shape[2:], mode="bicubic", align_corners=False)
        return (x + table).flatten(2).mean(-1), F.interpolate(x, scale_factor=2, mode="bicubic")

    return Model(Function(call, table=nn.Parameter(torch.randn(1, 3, 4, 5))), lambda n: (torch.randn(2, 3, n + 1, n + 3),), [{2: "h", 3: "w"}],
                 sizes=(3, 1, 6), zero=False)


@model
def relative_buckets():
    """A logarithmic table of distances, and a continuous one by a small network."""
    def call(m, x):
        n = x.shape[1]
        away = torch.arange(n, device=x.device)[None] - torch.arange(n, device=x.device)[:, None]
        far = away.abs()
        bucket = torch.where(far < 4, far, (4 + (far.float() / 4).clamp(min=1).log2().long()).clamp(max=7)) + 8 * (away > 0)
        grid = away.float() / max(n - 1, 1)
        soft = m.mlp((grid.sign() * torch.log2(grid.abs() * 8 + 1) / 3)[..., None]).sigmoid()
        s = x @ x.mT + m.table(bucket).permute(2, 0, 1) + 16 * soft.permute(2, 0, 1)
        return s.softmax(-1) @ x

    mlp = nn.Sequential(nn.Linear(1, 6), nn.ReLU(), nn.Linear(6, 2, bias=False))
    return Model(Function(call, mlp=mlp, table=nn.Embedding(16, 2)), lambda n: (torch.randn(2, n, 6),), [{1: "n"}], sizes=(6, 1, 9), zero=False)


# ---- recurrences ----


@model
def gru_seq2seq():
    """An encoder of two directions and a decoder with attention, of 5 and 3 steps."""
    def call(m, x, y):
        memory, h = m.encoder(x)
        h = m.bridge(torch.cat([h[0], h[1]], -1))
        outs = []
        for t in range(3):
            s = torch.einsum("bc,bkc->bk", m.key(h), memory).softmax(-1)
            h = m.cell(torch.cat([y[:, t], (s[..., None] * memory).sum(1)], -1), h)
            outs.append(h)
        return m.out(torch.stack(outs, 1)).log_softmax(-1)

    layers = dict(encoder=nn.GRU(4, 6, bidirectional=True, batch_first=True), bridge=nn.Linear(12, 6), key=nn.Linear(6, 12), cell=nn.GRUCell(16, 6),
                  out=nn.Linear(6, 5))
    return Model(Function(call, **layers), lambda n: (torch.randn(n, 5, 4), torch.randn(n, 3, 4)), [{0: "b"}, {0: "b"}], zero=False)


@model
def tagger_crf():
    """Two layers of LSTM, and the scores of all paths."""
    def call(m, x, tags):
        e = m.out(m.lstm(m.words(x))[0])
        alpha, path = e[:, 0], e[:, 0].gather(1, tags[:, :1])[:, 0]
        for t in range(1, x.shape[1]):
            alpha = torch.logsumexp(alpha[:, :, None] + m.moves, 1) + e[:, t]
            path = path + m.moves[tags[:, t - 1], tags[:, t]] + e[:, t].gather(1, tags[:, t:t + 1])[:, 0]
        return alpha.logsumexp(1) - path, alpha.argmax(-1)

    layers = dict(words=nn.Embedding(12, 4), lstm=nn.LSTM(4, 5, num_layers=2, bidirectional=True, batch_first=True), out=nn.Linear(10, 3),
                  moves=nn.Parameter(torch.randn(3, 3)))
    return Model(Function(call, **layers), lambda n: (ids(n, 5, top=12), ids(n, 5, top=3)), [{0: "b"}, {0: "b"}], zero=False)


@model
def conv_lstm():
    def call(m, x):
        h = c = x.new_zeros(x.shape[0], 4, x.shape[3], x.shape[4])
        for t in range(3):
            i, f, g, o = m.gates(torch.cat([x[:, t], h], 1)).chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        return h, c

    return Model(Function(call, gates=nn.Conv2d(6, 16, 3, padding=1)), lambda n: (torch.randn(2, 3, 2, n + 2, n + 1),), [{3: "h", 4: "w"}],
                 sizes=(3, 1, 5), zero=False)


@model
def rwkv():
    """The maximum-shifted sums of its time mixing, 6 steps."""
    def call(m, x):
        last = F.pad(x, (0, 0, 1, -1))
        k, v, r = (f(x * p + last * (1 - p)) for f, p in ((m.k, m.mix[0]), (m.v, m.mix[1]), (m.r, m.mix[2])))
        a = b = x.new_zeros(x.shape[0], 6)
        top, outs = x.new_full((x.shape[0], 6), -1e38), []
        for t in range(6):
            now = torch.maximum(top, m.first + k[:, t])
            e1, e2 = (top - now).exp(), (m.first + k[:, t] - now).exp()
            outs.append((e1 * a + e2 * v[:, t]) / (e1 * b + e2))
            next = torch.maximum(top - m.decay.exp(), k[:, t])
            e1, e2 = (top - m.decay.exp() - next).exp(), (k[:, t] - next).exp()
            a, b, top = e1 * a + e2 * v[:, t], e1 * b + e2, next
        return r.sigmoid() * torch.stack(outs, 1)

    layers = dict(k=nn.Linear(6, 6), v=nn.Linear(6, 6), r=nn.Linear(6, 6), mix=nn.Parameter(torch.rand(3, 6)), first=nn.Parameter(torch.randn(6)),
                  decay=nn.Parameter(torch.randn(6)))
    return Model(Function(call, **layers), lambda n: (torch.randn(n, 6, 6),), [{0: "b"}])


@model
def chunked_scan():
    """Mamba 2's scan in chunks: segment sums, products within and between chunks."""
    def segments(a):
        n = a.shape[-1]
        x = a[..., None].expand(*a.shape, n).masked_fill(~torch.ones(n, n, dtype=torch.bool, device=a.device).tril(-1), 0).cumsum(-2)
        return x.masked_fill(~torch.ones(n, n, dtype=torch.bool, device=a.device).tril(), -torch.inf)

    def call(m, x):
        dt, b, c, v = m.project(x).split([2, 3, 3, 8], -1)
        n, q = x.shape[1], 4
        pad = lambda t: F.pad(t, (0, 0, 0, (q - n % q) % q)).unflatten(1, (-1, q))
        dt = F.softplus(dt)
        a, b, c = pad(-dt * m.a.exp()).permute(0, 3, 1, 2), pad(b), pad(c)
        v = pad(v * dt.repeat_interleave(4, -1)).unflatten(-1, (2, 4))
        total = a.cumsum(-1)
        inner = torch.einsum("zcls,zcms,zhclm,zcmhp->zclhp", c, b, segments(a).exp(), v)
        states = torch.einsum("zcls,zhcl,zclhp->zchps", b, (total[..., -1:] - total).exp(), v)
        states = torch.cat([torch.zeros_like(states[:, :1]), states], 1)
        between = segments(F.pad(total[..., -1], (1, 0))).exp()
        states = torch.einsum("zhij,zjhps->zihps", between, states)[:, :-1]
        outer = torch.einsum("zcls,zchps,zhcl->zclhp", c, states, total.exp())
        return (inner + outer).flatten(1, 2).flatten(2)[:, :n]

    return Model(Function(call, project=nn.Linear(8, 16), a=nn.Parameter(torch.rand(2))), lambda n: (torch.randn(2, n, 8),), [{1: "n"}],
                 sizes=(7, 1, 12), zero=False)


@model
def min_gru():
    """A gated recurrence of any length, in logarithms."""
    def call(m, x):
        k, pre = m.project(x).chunk(2, -1)
        logz, logkeep = -F.softplus(-k), -F.softplus(k)
        loggate = torch.where(pre >= 0, (F.relu(pre) + 0.5).log(), -F.softplus(-pre))
        a = logkeep.cumsum(1)
        return (a + torch.logcumsumexp(logz + loggate - a, 1)).exp()

    return Model(Function(call, project=nn.Linear(4, 8)), lambda n: (torch.randn(2, n, 4),), [{1: "n"}], sizes=(6, 1, 11))


@model
def diagonal_states():
    """S4D: a kernel of complex exponentials, applied by Fourier transforms."""
    def call(m, x):
        n = x.shape[-1]
        a = -m.real.exp() + 1j * m.imaginary
        dt = m.dt.exp()[:, None]
        k = 2 * (torch.view_as_complex(m.c)[..., None] * (((a * dt).exp() - 1) / a)[..., None]
                 * (a[..., None] * dt[..., None] * torch.arange(n, device=x.device)).exp()).sum(1).real
        y = torch.fft.irfft(torch.fft.rfft(x, n=32) * torch.fft.rfft(k, n=32), n=32)[..., :n]
        return F.gelu(y + x * m.d[:, None])

    layers = dict(real=nn.Parameter(torch.randn(3, 2)), imaginary=nn.Parameter(torch.randn(3, 2)), dt=nn.Parameter(torch.randn(3) - 2),
                  c=nn.Parameter(torch.randn(3, 2, 2)), d=nn.Parameter(torch.randn(3)))
    return Model(Function(call, **layers), lambda n: (torch.randn(2, 3, n),), [{2: "n"}], sizes=(6, 2, 11), zero=False, low=2)


@model
def delta_rule():
    """A chunk of the delta rule: the inverse of a unit triangular matrix row by row."""
    def call(m, x):
        q, k, v, beta = m.project(x).split([4, 4, 4, 1], -1)
        k, beta = F.normalize(k, dim=-1), beta.sigmoid()
        a = -(beta * k @ k.mT).tril(-1)
        for i in range(1, 5):
            row = a[:, i, :i] + (a[:, i, :, None] * a[:, :, :i]).sum(1)
            a = torch.cat([a[:, :i], F.pad(row, (0, 5 - i))[:, None], a[:, i + 1:]], 1)
        t = a + torch.eye(5, device=x.device)
        return (q @ k.mT).tril() @ (t @ (beta * v)), t

    return Model(Function(call, project=nn.Linear(6, 13)), lambda n: (torch.randn(n, 5, 6),), [{0: "b"}])


# ---- routing ----


@model
def switch_experts():
    """One expert each, with a capacity, by running counts and products with one-hot tensors."""
    def call(m, x):
        p = m.router(x).softmax(-1)
        gate, chosen = p.max(-1)
        hot = F.one_hot(chosen, 4)
        place = hot.cumsum(0) * hot - 1
        kept = (place < 3) & (hot > 0)
        send = F.one_hot(place.clamp(0, 2), 3) * kept[..., None]
        packed = torch.einsum("tec,tw->ecw", send.to(x.dtype), x)
        y = torch.einsum("ecw,ewv->ecv", packed, m.w)
        balance = 4 * (hot.float().mean(0) * p.mean(0)).sum()
        return torch.einsum("tec,ecv->tv", send * gate[:, None, None], y), balance, kept.sum(0)

    return Model(Function(call, router=nn.Linear(6, 4), w=nn.Parameter(torch.randn(4, 6, 5))), lambda n: (torch.randn(n, 6),), [{0: "t"}], sizes=(9, 1, 14),
                 zero=False)


@model
def sorted_experts():
    """Tokens sorted by their expert, and put back by scattered sums."""
    def call(m, x):
        weight, chosen = m.router(x).sigmoid().topk(2)
        weight = weight / weight.sum(-1, keepdim=True)
        order = chosen.flatten().argsort(stable=True)
        token, expert = order // 2, chosen.flatten()[order]
        h = torch.bmm(x[token][:, None], m.w[expert])[:, 0] * weight.flatten()[order][:, None]
        count = torch.zeros(4, dtype=torch.int64, device=x.device).scatter_add(0, chosen.flatten(), torch.ones_like(chosen.flatten()))
        return torch.zeros_like(x).index_add(0, token, h), count, count.cumsum(0), order.argsort()

    return Model(Function(call, router=nn.Linear(6, 4), w=nn.Parameter(torch.randn(4, 6, 6))), lambda n: (torch.randn(n, 6),), [{0: "t"}], sizes=(5, 1, 9),
                 zero=False)


@model
def expert_choice():
    """Each expert takes the half of the tokens that it likes best."""
    def call(m, x):
        p = m.router(x).softmax(-1)
        weight, token = p.t().topk(x.shape[0] // 2, dim=-1)
        y = torch.einsum("ekw,ewv->ekv", x[token], m.w) * weight[..., None]
        return torch.zeros_like(x).index_add(0, token.flatten(), y.flatten(0, 1))

    return Model(Function(call, router=nn.Linear(6, 3), w=nn.Parameter(torch.randn(3, 6, 6))), lambda n: (torch.randn(n, 6),), [{0: "t"}], sizes=(6, 2, 9),
                 zero=False, low=2)


@model
def halves():
    """Parts of symbolic length whose number is known."""
    def call(m, x):
        a, b = x.chunk(2, 1)
        c, d, e = x.split(max((x.shape[1] + 2) // 3, 1), 1)
        return a * b.sigmoid(), c.sum(1) + d.sum(1) - e.sum(1), torch.cat([b, a], 1)

    return Model(Function(call), lambda n: (torch.randn(2, 6 * n, 3),), [{1: "6*n"}], sizes=(2, 1, 4), zero=False)


@model
def product_of_sizes():
    """Sizes within products only: an input of as many elements as two others span."""
    def call(m, x, y):
        flat = (x[:, None] * y[None]).flatten()
        return flat / flat.shape[0], flat.view(x.shape[0], -1).cumsum(1), torch.full((x.shape[0] * y.shape[0],), 1.5, device=x.device)

    return Model(Function(call), lambda n: (torch.randn(n), torch.randn(n + 2)), [{0: "n"}, {0: "m"}], sizes=(4, 1, 6), zero=False)
