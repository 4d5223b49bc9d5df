# SPDX-License-Identifier: Apache-2.0
"""Small models and functions for test_torch.py: name -> (a callable or module, arguments for a size)."""
import torch
import torch.nn.functional as F
from torch import nn

CASES = {}


def case(arguments, train=True, dynamic=True, tolerance=1.0):
    """A case: `arguments(n)` makes its inputs for size n. A class is a model, which is trained if `train`."""

    def add(f):
        CASES[f.__name__] = (f, arguments, train, dynamic, tolerance)
        return f

    return add


def r(*shape, dtype=torch.float32):
    return torch.randn(*shape).to(dtype)


# ---- functions ----


@case(lambda n: (r(n, 8), r(n, 8)))
def pointwise(x, y):
    return torch.sin(x) * y.exp() + torch.where(x > y, x, y).tanh() / 3


@case(lambda n: (r(n, 8), r(8)))
def broadcast_and_reduce(x, y):
    z = x * y + 1
    return z.sum(0), z.mean(-1, keepdim=True), z.amax(1), z.var(1)


@case(lambda n: (r(n, 6, 5),))
def writes_by_masks(x):
    y = x * 2
    y[y > 0.5] = 0.25
    y[:, x.sum((0, 2)) > 0] = torch.arange(5.0)
    return y * y


@case(lambda n: (r(2, 3, n, 4, 5).to(memory_format=torch.channels_last_3d),), dynamic=False)
def volumes_with_channels_last(x):
    y = F.avg_pool3d(x + 1, 2).contiguous(memory_format=torch.channels_last_3d)
    return F.interpolate(y, scale_factor=2) + 1


@case(lambda n: (r(n, 6), r(6, 10)))
def product(a, b):
    return (a @ b).relu(), a.t() @ a


@case(lambda n: (r(2, n, 4), r(2, 4, 5)))
def batched_product(a, b):
    return torch.bmm(a, b).softmax(-1).log_softmax(1)


@case(lambda n: (r(n, 5), r(n, 3)))
def concatenation(a, b):
    c = torch.cat([a, b, a[:, :2]], 1)
    return c.flip(1), torch.stack([a, a + 1]), c.chunk(2, 1)[1]


@case(lambda n: (torch.randint(0, 9, (n, 4)),), train=False)
def integers(x):
    return x // 2, x % 3, (x << 1) ^ 5, x.sum(), (x > 4).any(1), x.to(torch.float16)


@case(lambda n: (r(n, 7),))
def sorting(x):
    values, indices = x.sort(1)
    return values, indices, x.topk(3).values, x.argmax(1)


@case(lambda n: (r(n, 4), torch.randint(0, n, (6,))))
def indexing(x, i):
    return x[i], x[i, 1:3], x.index_select(0, i), x.gather(0, i[:, None].expand(6, 4))


@case(lambda n: (r(n, 4), torch.randint(0, n, (5,)), r(5, 4)))
def scattering(x, i, y):
    return x.index_add(0, i, y), torch.zeros_like(x).index_put((i,), y, accumulate=True)


@case(lambda n: (r(n, 6),))
def scans(x):
    return x.cumsum(1), x.cumsum(0) * 2, x.flip(1).cumsum(1).exp()


@case(lambda n: (r(n, 6), r(n, 6) > 0), train=False)
def masks(x, m):
    return x.masked_fill(m, -1.0), torch.logical_xor(m, x > 0), x.isnan(), (~m).sum()


@case(lambda n: (r(n, 4, dtype=torch.bfloat16), r(4, 8, dtype=torch.bfloat16)), tolerance=2.0)
def half_precision(x, w):
    return F.gelu(x @ w), x.float().mean()


@case(lambda n: (torch.randint(0, 9, (n, 4)), r(9, 6, dtype=torch.bfloat16)), tolerance=2.0)
def bags_of_rows(i, table):
    return F.embedding_bag(i, table, mode="sum") * 2, F.embedding_bag(i, table.float(), mode="sum")


@case(lambda n: (r(n, 4, dtype=torch.float64),))
def double_precision(x):
    return torch.special.expit(x) + x.pow(3), x.logsumexp(1)


@case(lambda n: (r(n, 10), torch.randint(0, 10, (n,))))
def cross_entropy(x, target):
    return F.cross_entropy(x, target, label_smoothing=0.1)


@case(lambda n: (r(n, 4), r(n, 4)))
def losses(x, y):
    return F.mse_loss(x, y), F.smooth_l1_loss(x, y), F.binary_cross_entropy_with_logits(x, torch.sigmoid(y))


@case(lambda n: (r(2, 3, n, 8), r(2, 3, n, 8), r(2, 3, n, 8)), tolerance=4.0)
def attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


@case(lambda n: (r(n, 3, 5),), train=False)
def views_of_the_input(x):
    return x.transpose(0, 1), x[1:], x.reshape(-1), x, x.unsqueeze(0).expand(2, -1, -1, -1)


@case(lambda n: (r(n, 6),), train=False)
def views_of_one_result(x):
    y = x * 2
    return y, y.t(), y[:, 1:3], y.view(-1)


@case(lambda n: (r(n, 6),), train=False)
def views_without_their_base(x):
    y = x + 1
    return y[1:], y.t(), y[:, ::2]


@case(lambda n: (r(n, 4),), train=False)
def numbers_and_nothing(x):
    return x.shape[0], None, x + 1, x.shape[0] * 2 + x.shape[1], 7


@case(lambda n: (r(n, 4), 3), train=False)
def an_integer_argument(x, k):
    return x * k + x.shape[0], x.new_full((k, 2), 1.5)


@case(lambda n: (r(n, 4), 0.25), train=False)
def a_float_argument(x, scale):
    return x * scale, x + scale


@case(lambda n: ({"a": r(n, 2), "b": (r(n, 2), r(2))},), train=False)
def nested_arguments(d):
    return {"sum": d["a"] + d["b"][0], "both": [d["b"][1] * 2]}


@case(lambda n: (r(n, n, 4),), train=False)
def unsupported_in_the_middle(x):
    y = torch.linalg.qr(x.cos() + 2)[1] * 2
    return y.sum(-1), x.exp()


@case(lambda n: (r(n, 5),))
def complex_in_the_middle(x):
    return torch.fft.rfft(x.sin()).abs() * 2


@case(lambda n: (r(n, 3, 8), torch.polar(torch.ones(n, 4), r(n, 4))))
def complex_rotations(x, turns):
    z = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(z * turns[:, None]).flatten(2)


@case(lambda n: (torch.complex(r(n, 4), r(n, 4)), r(4)))
def complex_results(z, x):
    return z.conj(), (z * z.conj()).real.sum(-1), z.mH, torch.linalg.vector_norm(z * x + 2j, dim=-1)


@case(lambda n: (torch.complex(r(n, 3), r(n, 3)),), train=False)
def complex_writes(z):
    w = z * 2
    w[:, 1].zero_()
    w.add_(1j)
    return w, w.real.cumsum(0)


@case(lambda n: (r(n, 5),), train=False)
def a_size_from_data(x):
    return (x[x > 0].sum() + 1).sin()


@case(lambda n: (r(n, 8),))
def constants(x):
    return x * torch.tensor([1.0, 2.0] * 4) + torch.arange(8), torch.eye(3)


@case(lambda n: (r(n, 8), r(n, 8)), tolerance=1000.0)  # bf16 values are rounded where they are stored, not within a kernel
def autocast(x, y):
    with torch.autocast("cpu", torch.bfloat16):
        return (x @ y.t()).float().sum(0)


@case(lambda n: (r(1, 2, n, 8),), train=True)
def padding_and_resizing(x):
    return F.pad(x, (1, 2, 0, 1)), F.interpolate(x, scale_factor=2, mode="nearest")


@case(lambda n: (r(n, 3, 8),), train=True)
def einsum(x):
    return torch.einsum("nij,nkj->nik", x, x)


# ---- models ----


@case(lambda n: (r(n, 6),))
class Perceptron(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(6, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 3), nn.Sigmoid())


@case(lambda n: (r(n, 3, 9, 9),), tolerance=4.0)
class Convolutions(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 6, 3, stride=2, bias=False),
                         nn.SiLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 2))


@case(lambda n: (r(n + 1, 4, 8, dtype=torch.bfloat16),), tolerance=4.0)
class HalfNorms(nn.Sequential):
    """Running statistics of half precision, written in training."""

    def __init__(self):
        super().__init__(nn.BatchNorm1d(4), nn.ReLU(), nn.Conv1d(4, 6, 3), nn.BatchNorm1d(6, affine=False))
        self.bfloat16()


@case(lambda n: (r(n, 2, 20),), tolerance=4.0)
class Signals(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv1d(2, 4, 5, dilation=2), nn.GroupNorm(2, 4), nn.ELU(), nn.ConvTranspose1d(4, 2, 4, stride=2))


@case(lambda n: (torch.randint(0, 12, (2, n)),), tolerance=8.0)
class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(12, 16)
        self.block = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True, norm_first=True)
        self.head = nn.Linear(16, 12, bias=False)

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        return self.head(self.block(self.table(tokens), src_mask=mask))


@case(lambda n: (r(2, n, 8),), tolerance=4.0)
class Rotary(nn.Module):
    """RMS norm, rotated queries and keys, grouped heads, a gated linear unit: a block as in Llama."""

    def __init__(self):
        super().__init__()
        self.norm, self.q, self.k, self.v = nn.RMSNorm(8), nn.Linear(8, 16), nn.Linear(8, 8), nn.Linear(8, 8)
        self.o, self.up, self.gate, self.down = nn.Linear(16, 8), nn.Linear(8, 12), nn.Linear(8, 12), nn.Linear(12, 8)

    def turn(self, x, heads):
        x = x.unflatten(-1, (heads, 4)).transpose(1, 2)
        angle = torch.arange(x.shape[2])[:, None] * torch.tensor([1.0, 0.1])
        a, b = x.chunk(2, -1)
        return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)

    def forward(self, x):
        h = self.norm(x)
        q, k = self.turn(self.q(h), 4), self.turn(self.k(h), 2)
        v = self.v(h).unflatten(-1, (2, 4)).transpose(1, 2)
        a = F.scaled_dot_product_attention(q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1), is_causal=True)
        x = x + self.o(a.transpose(1, 2).flatten(2))
        return x + self.down(F.silu(self.gate(x)) * self.up(x))


@case(lambda n: (r(n, 5, 6),), dynamic=False, tolerance=8.0)
class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(6, 8)

    def forward(self, x):
        h = x.new_zeros(x.shape[0], 8)
        for i in range(x.shape[1]):
            h = self.cell(x[:, i], h)
        return h


@case(lambda n: (r(n, 6),))
class Tied(nn.Module):
    """One weight used twice, a buffer, a frozen parameter."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(6, 6))
        self.frozen = nn.Parameter(torch.randn(6), requires_grad=False)
        self.register_buffer("shift", torch.randn(6))

    def forward(self, x):
        return (x @ self.w + self.shift) @ self.w.t() * self.frozen


@case(lambda n: (r(n, 6),))
class Checkpointed(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 8), nn.Linear(8, 6)

    def forward(self, x):
        return torch.utils.checkpoint.checkpoint(lambda y: self.b(torch.tanh(self.a(y))), x, use_reentrant=False)


@case(lambda n: (r(n, 6),))
class Experts(nn.Module):
    """A soft mixture: every expert computes, the router weighs."""

    def __init__(self):
        super().__init__()
        self.route, self.experts = nn.Linear(6, 3), nn.Parameter(torch.randn(3, 6, 5))

    def forward(self, x):
        weights = self.route(x).softmax(-1)
        return torch.einsum("ne,nd,edf->nf", weights, x, self.experts)


@case(lambda n: (r(n, 16, dtype=torch.bfloat16), (torch.arange(4) + 1) * n // 4), tolerance=4.0)
class ExpertsInGroups(nn.Module):
    """A mixture whose tokens are sorted by expert: gathered, multiplied in groups, added where they came from."""

    def __init__(self):
        super().__init__()
        self.up = nn.Parameter(r(4, 16, 32, dtype=torch.bfloat16) / 4)
        self.gate = nn.Parameter(r(4, 16, 32, dtype=torch.bfloat16) / 4)
        self.down = nn.Parameter(r(4, 32, 16, dtype=torch.bfloat16) / 4)

    def forward(self, x, ends):
        token = torch.arange(x.shape[0] - 1, -1, -1)
        rows, ends = x[token], ends.to(torch.int32)
        hidden = F.silu(torch._grouped_mm(rows, self.gate, ends)) * torch._grouped_mm(rows, self.up, ends)
        return torch.zeros_like(x).index_add(0, token, torch._grouped_mm(hidden, self.down, ends))
