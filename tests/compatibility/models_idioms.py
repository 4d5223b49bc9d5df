# SPDX-License-Identifier: Apache-2.0
"""Idioms of PyTorch code that few published models use, written for check_graphs.py (graph_models.py says how)."""
import torch
import torch.nn.functional as F
from torch import nn

from graph_models import Model, model
from models_attention import Function


@model
def quantiles():
    """Robust scaling by quartiles, and the same without NaNs."""
    def call(m, x):
        low, middle, high = torch.quantile(x, m.at, dim=1, keepdim=True)
        y = (x - middle) / (high - low + 1e-3)
        gaps = x.masked_fill(x > 1, torch.nan)
        return y, torch.nanquantile(gaps, 0.4, dim=1), torch.quantile(x, 0.9, dim=1, interpolation="nearest")

    m = Function(call)
    m.register_buffer("at", torch.tensor([0.25, 0.5, 0.75]))
    return Model(m, lambda n: (torch.randn(n, 7),), [{0: "b"}], zero=False)


@model
def shapes_in_place():
    """Shapes changed in place, and writes through the views that were made before."""
    def call(m, x):
        y = x * 2
        flat = y.view(-1)
        y.unsqueeze_(1).add_(1)
        flat.mul_(3)
        z = (x + 1).t_()
        z[0].fill_(7)
        w = x.exp()
        w.transpose_(0, 1).unsqueeze_(0).squeeze_(0)
        return y, flat, z, w.relu_()

    return Model(Function(call), lambda n: (torch.randn(n, 5),), [{0: "b"}])


@model
def views_written():
    """Writes to an expanded row, to overlapping windows taken apart, to a band of a matrix."""
    def call(m, x):
        y = x.clone()
        y[:, 2:3].expand(-1, 4).fill_(2.0)
        y.as_strided((2, 2), (6, 3), 1).mul_(10)
        z = x.new_zeros(x.shape[0], 4, 4)
        z.diagonal(0, 1, 2).copy_(x[:, :4])
        z.diagonal(1, 1, 2).sub_(1)
        z.unfold(1, 2, 2)[:, 0].add_(0.5)
        return y, z

    return Model(Function(call), lambda n: (torch.randn(n, 6),), [{0: "b"}], sizes=(3, 2, 6), zero=False, low=2)


@model
def norms_in_training():
    """Norms that write their running statistics, undecomposed."""
    def call(m, x):
        return m.channels(m.linear(x)).relu(), m.instances(x.transpose(0, 1)[None])

    layers = dict(linear=nn.Linear(3, 5), channels=nn.BatchNorm1d(5), instances=nn.InstanceNorm1d(3, track_running_stats=True))
    return Model(Function(call, **layers).train(), lambda n: (torch.randn(n + 1, 3),), [{0: "b"}], sizes=(5, 1, 8), zero=False, low=2)


@model
def volumes():
    """Samples of a warped volume, and of an image with each padding."""
    def call(m, x, flow):
        at = torch.cat([flow, torch.ones_like(flow[..., :1])], -1) @ m.pose.t()
        y = F.grid_sample(x, at, align_corners=False)
        slices, at = x[:, :, 0], flow[:, 0, :, :, :2]
        return (y, F.grid_sample(slices, at, padding_mode="reflection", align_corners=True),
                F.grid_sample(slices, at * 1.5, padding_mode="border", align_corners=False))

    pose = nn.Parameter(torch.eye(3, 4) * 0.8 + 0.05)
    return Model(Function(call, pose=pose), lambda n: (torch.randn(n, 2, 3, 4, 5), torch.randn(n, 2, 3, 3, 3)), [{0: "b"}, {0: "b"}], zero=False)


@model
def pairs():
    """Distances of all pairs in each norm, normals of triangles."""
    def call(m, x):
        a, b = x[:3] - x[3:6], x[1:4] - x[4:7]
        return F.pdist(x), F.pdist(x, p=1.0), torch.cdist(x, m.centres, p=3.0), torch.cross(a, b, dim=0), x[1:].norm(dim=1) / 2

    return Model(Function(call, centres=nn.Parameter(torch.randn(4, 5))), lambda n: (torch.randn(7, 5),), [None],
                 sizes=(1,), zero=False)


@model
def pairs_of_any():
    def call(m, x):
        return F.pdist(x).sort().values, F.pdist(x, p=torch.inf).sum()

    return Model(Function(call), lambda n: (torch.randn(n, 3),), [{0: "n"}], sizes=(6, 2, 9), zero=False, low=2)


@model
def spectra():
    """A phase vocoder's pieces: shifted spectra, Hermitian transforms, frequencies, the waveform back."""
    def call(m, x):
        z = torch.fft.fftshift(torch.fft.fft(x), dim=-1)
        even = torch.fft.hfft(torch.fft.ihfft(x))
        step = torch.fft.rfftfreq(12, 0.5) * torch.fft.rfft(x).abs()
        w = torch.hamming_window(6)
        s = torch.stft(x, 6, 2, window=w, return_complex=True)
        return z.abs(), even, step, torch.istft(s * torch.polar(torch.ones(()), m.turn), 6, 2, window=w), (s @ s.mH).real

    return Model(Function(call, turn=nn.Parameter(torch.tensor(0.3))), lambda n: (torch.randn(n, 12),), [{0: "b"}], zero=False, tolerance=1e-3)


@model
def pixel_centres():
    """Positions of the centres of patches, from a half on."""
    def call(m, x):
        h, w = x.shape[-2] // 2, x.shape[-1] // 2
        y, z = torch.arange(0.5, h), torch.arange(0.5, w)
        at = torch.stack(torch.meshgrid(y / h, z / w, indexing="ij"), -1).flatten(0, 1) * 2 - 1
        return m.patch(x).flatten(2).transpose(1, 2) + torch.cat([at.sin(), at.cos()], -1)

    return Model(Function(call, patch=nn.Conv2d(3, 4, 2, 2)), lambda n: (torch.randn(2, 3, 2 * n, 2 * n + 2),), [{2: "2*h", 3: "2*w"}], sizes=(3, 1, 5), zero=False)


@model
def branches():
    """A branch by a value within one by another, and a loop that stops by a value."""
    def call(m, x):
        from torch._higher_order_ops.while_loop import while_loop
        inner = lambda a: torch.cond(a.max() > 2, lambda b: b * 2, lambda b: b / 2, (a,))
        y = torch.cond(x.sum() > 0, inner, lambda a: (a - a.mean()).relu(), (x,))
        return while_loop(lambda i, a: (i < 5) & (a.abs().sum() < 1e3), lambda i, a: (i + 1, a * 1.5 + 0.1), (torch.zeros((), dtype=torch.int64), y))

    return Model(Function(call), lambda n: (torch.randn(n, 3),), [{0: "n"}], zero=False)


@model
def prefixes():
    """A linear recurrence by associative_scan and by scan."""
    def call(m, x):
        from torch._higher_order_ops.associative_scan import associative_scan
        from torch._higher_order_ops.scan import scan
        x = x.view(6, -1)
        a, b = associative_scan(lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (x.sigmoid(), x), 0, combine_mode="pointwise")
        last, all = scan(lambda h, t: (lambda z: (z, z * 2))(h * t.sigmoid() + t), torch.zeros_like(x[0]), x, dim=0)
        return a, b, last, all

    return Model(Function(call), lambda n: (torch.randn(6, n),), [{1: "b"}], zero=False)
