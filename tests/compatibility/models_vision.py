# SPDX-License-Identifier: Apache-2.0
"""Images, detection, diffusion and sound, written for check_graphs.py (graph_models.py says how)."""
import math

import torch
import torch.nn.functional as F
from torch import nn

from graph_models import Model, ids, model
from models_attention import Function, heads


def image(*shape):
    return lambda n: (torch.randn(n, *shape),)


# ---- convolutions ----


@model
def spatial_transformer():
    def call(m, x):
        theta = m.out(F.relu(m.conv(x)).mean((2, 3))).view(-1, 2, 3) * 0.1 + torch.tensor([[1.0, 0, 0], [0, 1, 0]])
        grid = F.affine_grid(theta, [x.shape[0], 2, 5, 6], align_corners=False)
        return F.grid_sample(x, grid, mode="bilinear", padding_mode="reflection", align_corners=False), F.grid_sample(x, grid, mode="bicubic", align_corners=True)

    return Model(Function(call, conv=nn.Conv2d(2, 4, 3), out=nn.Linear(4, 6)), image(2, 6, 7), [{0: "b"}], zero=False, tolerance=1e-3)


@model
def temporal_network():
    """Causal dilated convolutions with gates and normalised weights."""
    def call(m, x):
        skip = 0
        for i, (f, g) in enumerate(zip(m.filters, m.gates)):
            y = F.pad(x, (2 ** (i + 1), 0))
            y = f(y).tanh() * g(y).sigmoid()
            skip = skip + y
            x = x + m.mix(y)
        return F.relu(skip), F.leaky_relu(x, 0.1)[..., ::2]

    layers = lambda: nn.ModuleList([nn.utils.parametrizations.weight_norm(nn.Conv1d(4, 4, 3, dilation=2 ** i)) for i in range(3)])
    return Model(Function(call, filters=layers(), gates=layers(), mix=nn.Conv1d(4, 4, 1)), lambda n: (torch.randn(2, 4, n + 1),), [{2: "n"}], sizes=(5, 1, 9),
                 zero=False)


@model
def super_resolution():
    def call(m, x):
        y = m.head(x)
        y = y + m.tail(F.relu(m.body(y))) * 0.1
        y = F.pixel_shuffle(m.up(y), 2)
        return y + F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False), F.pixel_unshuffle(y, 2).amax(1)

    c = lambda i, o: nn.Conv2d(i, o, 3, padding=1, padding_mode="reflect" if i == 3 else "zeros")
    return Model(Function(call, head=c(3, 4), body=c(4, 4), tail=c(4, 4), up=c(4, 12)), lambda n: (torch.randn(1, 3, 2 * n + 2, 3 * n + 1),), [{2: "h", 3: "w"}],
                 sizes=(2, 1, 4), zero=False)


@model
def unpooled():
    """The positions of maxima, and back to them; patches by unfold, summed by fold."""
    def call(m, x):
        y, at = F.max_pool2d(m.conv(x), 2, return_indices=True)
        z = F.max_unpool2d(F.relu(y), at, 2)
        patches = F.unfold(x, 3, padding=1, stride=2)
        w = m.mix(patches.transpose(1, 2)).transpose(1, 2)
        return z, F.fold(w, (6, 8), 3, padding=1, stride=2), at

    return Model(Function(call, conv=nn.Conv2d(2, 3, 3, padding=1), mix=nn.Linear(18, 18)), image(2, 6, 8), [{0: "b"}], zero=False)


@model
def video_network():
    def call(m, x):
        y = F.silu(m.norm(m.conv(x)))
        y = F.avg_pool3d(y, (1, 2, 2)) + F.max_pool3d(y, (1, 2, 2))
        y = m.up(y)
        return F.adaptive_avg_pool3d(y, (1, 2, 2)).flatten(1), F.interpolate(y, scale_factor=(1, 2, 2), mode="trilinear")

    layers = dict(conv=nn.Conv3d(2, 4, 3, padding=1), norm=nn.GroupNorm(2, 4), up=nn.ConvTranspose3d(4, 2, 2, stride=2))
    return Model(Function(call, **layers), image(2, 3, 4, 6), [{0: "b"}], zero=False)


@model
def dynamic_filters():
    """A filter for each image, as groups of one convolution."""
    def call(m, x):
        b, c, h, w = x.shape
        k = m.make(x.mean((2, 3))).view(b * c, 1, 3, 3)
        y = F.conv2d(x.reshape(1, b * c, h, w), k, padding=1, groups=b * c)
        return y.view(b, c, h, w)

    return Model(Function(call, make=nn.Linear(3, 27)), image(3, 5, 4), [{0: "b"}], zero=False)


@model
def style():
    def call(m, x):
        y = F.relu(m.norm(m.conv(F.pad(x, (2, 2, 2, 2), mode="reflect"))))
        y = F.interpolate(y, scale_factor=2, mode="nearest")
        y = F.pad(y, (1, 1, 1, 1), mode="replicate")
        f = y.flatten(2)
        return m.out(y).tanh(), f @ f.transpose(1, 2) / f.shape[-1], F.pad(x, (1, 1, 1, 1), mode="circular")

    layers = dict(conv=nn.Conv2d(3, 4, 5), norm=nn.InstanceNorm2d(4, affine=True), out=nn.Conv2d(4, 3, 3))
    return Model(Function(call, **layers), lambda n: (torch.randn(2, 3, n + 3, n + 4),), [{2: "h", 3: "w"}], sizes=(3, 1, 5), zero=False)


@model
def pyramid():
    """Pools to several grids, a lateral path, and nearest enlargement to the side of another level."""
    def call(m, x):
        c1 = F.relu(m.a(x))
        c2 = F.relu(m.b(c1))
        p2 = m.lateral(c2)
        p1 = m.side(c1) + F.interpolate(p2, size=c1.shape[-2:], mode="nearest")
        pools = [F.interpolate(F.adaptive_avg_pool2d(p1, s), size=p1.shape[-2:], mode="bilinear", align_corners=False) for s in (1, 2)]
        return m.out(torch.cat([p1] + pools, 1)), F.max_pool2d(p2, 1, stride=2)

    layers = dict(a=nn.Conv2d(3, 4, 3, stride=2, padding=1), b=nn.Conv2d(4, 6, 3, stride=2, padding=1), lateral=nn.Conv2d(6, 4, 1), side=nn.Conv2d(4, 4, 1),
                  out=nn.Conv2d(12, 4, 3, padding=1))
    return Model(Function(call, **layers), lambda n: (torch.randn(2, 3, 8 * n, 8 * n + 8),), [{2: "8*h", 3: "8*w"}], sizes=(2, 3, 4), zero=False, low=2)


# ---- vision transformers ----


@model
def shifted_windows():
    """Swin's mask from a cut image, with cosine attention and a merge of patches."""
    def call(m, x):
        b, h, w, c = x.shape
        img = x.new_zeros(1, 4, 6, 1)
        count = 0
        for hs in (slice(0, -2), slice(-2, -1), slice(-1, None)):
            for ws in (slice(0, -2), slice(-2, -1), slice(-1, None)):
                img[:, hs, ws] = count
                count += 1
        cut = lambda t: t.unflatten(2, (3, 2)).unflatten(1, (2, 2)).transpose(2, 3).flatten(3, 4).flatten(1, 2)
        zone = cut(img)[0, ..., 0]
        mask = (zone[:, None] != zone[..., None]) * -100.0
        y = cut(torch.roll(x, (-1, -1), (1, 2)))
        q, k, v = m.qkv(y).unflatten(-1, (3, 2, 4)).permute(3, 0, 1, 4, 2, 5)
        a = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-1, -2) * m.scale.clamp(max=4.6).exp()
        y = (a + mask[None, :, None]).softmax(-1) @ v
        y = y.transpose(2, 3).flatten(3).unflatten(1, (2, 3)).unflatten(3, (2, 2)).transpose(2, 3).reshape(b, 4, 6, 8)
        y = torch.roll(y, (1, 1), (1, 2)) + x
        return m.merge(torch.cat([y[:, 0::2, 0::2], y[:, 1::2, 0::2], y[:, 0::2, 1::2], y[:, 1::2, 1::2]], -1))

    layers = dict(qkv=nn.Linear(8, 24), scale=nn.Parameter(torch.zeros(2, 1, 1)), merge=nn.Linear(32, 5))
    return Model(Function(call, **layers), image(4, 6, 8), [{0: "b"}], zero=False)


@model
def masked_autoencoder():
    """Random patches are dropped, by the order of noise, and put back."""
    def call(m, x, noise):
        y = m.patch(x).flatten(2).transpose(1, 2) + m.where
        order = noise.argsort(1)
        back = order.argsort(1)
        kept = y.gather(1, order[:, :4, None].expand(-1, -1, 8))
        kept = torch.cat([m.token.expand(x.shape[0], -1, -1), m.layer(kept)], 1)
        full = torch.cat([kept[:, 1:], m.mask.repeat(x.shape[0], 5, 1)], 1).gather(1, back[..., None].expand(-1, -1, 8))
        mask = torch.ones(x.shape[0], 9, device=x.device)
        mask[:, :4] = 0
        mask = mask.gather(1, back)
        target = x.unflatten(3, (3, 2)).unflatten(2, (3, 2)).permute(0, 2, 4, 3, 5, 1).flatten(3).flatten(1, 2)
        return ((m.out(full) - target).square().mean(-1) * mask).sum() / mask.sum(), kept[:, 0]

    layers = dict(patch=nn.Conv2d(3, 8, 2, stride=2), where=nn.Parameter(torch.randn(1, 9, 8)), token=nn.Parameter(torch.randn(1, 1, 8)),
                  mask=nn.Parameter(torch.randn(1, 1, 8)), layer=nn.TransformerEncoderLayer(8, 2, 12, batch_first=True, dropout=0.0), out=nn.Linear(8, 12))
    return Model(Function(call, **layers), lambda n: (torch.randn(n, 3, 6, 6), torch.rand(n, 9)), [{0: "b"}, {0: "b"}], zero=False)


@model
def deformable_attention():
    """Samples of two levels around reference points, with their own weights."""
    def call(m, q, a, b):
        n = q.shape[0]
        at = m.offsets(q).view(n, 5, 2, 2, 3, 2).tanh() * 0.3
        w = m.weights(q).view(n, 5, 2, 6).softmax(-1).view(n, 5, 2, 2, 3)
        out = 0
        for level, image in enumerate((a, b)):
            v = m.value(image.flatten(2).transpose(1, 2)).unflatten(-1, (2, 4)).permute(0, 2, 3, 1).reshape(n * 2, 4, *image.shape[2:])
            grid = (m.reference(q).sigmoid() * 2 - 1)[:, :, None, None] + at[:, :, :, level]
            s = F.grid_sample(v, grid.transpose(1, 2).flatten(0, 1), padding_mode="zeros", align_corners=False)
            out = out + (s * w[:, :, :, level].transpose(1, 2).flatten(0, 1)[:, None]).sum(-1)
        return out.view(n, 8, 5).transpose(1, 2)

    layers = dict(offsets=nn.Linear(8, 24), weights=nn.Linear(8, 12), value=nn.Linear(3, 8), reference=nn.Linear(8, 2))
    return Model(Function(call, **layers), lambda n: (torch.randn(n, 5, 8), torch.randn(n, 3, 4, 5), torch.randn(n, 3, 2, 3)), [{0: "b"}] * 3, zero=False)


@model
def grid_attention():
    """MaxViT: attention within blocks and over a dilated grid, after an inverted bottleneck."""
    def call(m, x):
        y = F.gelu(m.expand(x))
        y = F.silu(m.depth(y))
        y = y * m.se(y.mean((2, 3), keepdim=True)).sigmoid()
        y = (x + m.project(y)).permute(0, 2, 3, 1)
        b, h, w, c = y.shape
        attend = lambda t: F.scaled_dot_product_attention(*(heads(u, 2) for u in m.qkv(t).chunk(3, -1))).transpose(-2, -3).flatten(-2)
        z = y.view(b, h // 2, 2, w // 2, 2, c).transpose(2, 3).reshape(b, -1, 4, c)
        z = attend(z).view(b, h // 2, w // 2, 2, 2, c).transpose(2, 3).reshape(b, h, w, c) + y
        g = z.view(b, 2, h // 2, 2, w // 2, c).permute(0, 2, 4, 1, 3, 5).reshape(b, -1, 4, c)
        g = attend(g).view(b, h // 2, w // 2, 2, 2, c).permute(0, 3, 1, 4, 2, 5).reshape(b, h, w, c)
        return z + g

    layers = dict(expand=nn.Conv2d(8, 12, 1), depth=nn.Conv2d(12, 12, 3, padding=1, groups=12), se=nn.Conv2d(12, 12, 1), project=nn.Conv2d(12, 8, 1),
                  qkv=nn.Linear(8, 24))
    return Model(Function(call, **layers), lambda n: (torch.randn(2, 8, 2 * n, 2 * n + 2),), [{2: "2*h", 3: "2*w"}], sizes=(2, 1, 3), zero=False)


# ---- detection ----


@model
def center_points():
    """Peaks of a heat map by a pool, the best of them, and their boxes."""
    def call(m, x):
        heat = m.heat(x).sigmoid()
        heat = heat * (F.max_pool2d(heat, 3, stride=1, padding=1) == heat) + torch.linspace(0, 1e-3, 3, device=x.device)[:, None, None]
        heat = heat + 1e-4 * torch.arange(x.shape[2] * x.shape[3], device=x.device).view(x.shape[2:]).float() / 40
        score, at = heat.flatten(1).topk(5)
        label, cell = at // (x.shape[2] * x.shape[3]), at % (x.shape[2] * x.shape[3])
        size = m.size(x).flatten(2).gather(2, cell[:, None].expand(-1, 2, -1))
        cy, cx = (cell // x.shape[3]).float(), (cell % x.shape[3]).float()
        return torch.stack([cx - size[:, 0] / 2, cy - size[:, 1] / 2, cx + size[:, 0] / 2, cy + size[:, 1] / 2], -1), score, label

    return Model(Function(call, heat=nn.Conv2d(4, 3, 1), size=nn.Conv2d(4, 2, 1)), lambda n: (torch.randn(2, 4, n + 2, n + 3),), [{2: "h", 3: "w"}],
                 sizes=(3, 1, 5), zero=False)


@model
def suppression():
    """Greedy suppression of a fixed number of boxes, one after another."""
    def call(m, boxes, scores):
        score, order = scores.sort(descending=True)
        b = boxes.gather(1, order[..., None].expand(-1, -1, 4))
        b = torch.cat([b[..., :2], b[..., :2] + b[..., 2:]], -1)
        area = (b[..., 2:] - b[..., :2]).prod(-1)
        shared = (torch.minimum(b[:, :, None, 2:], b[:, None, :, 2:]) - torch.maximum(b[:, :, None, :2], b[:, None, :, :2])).clamp(min=0).prod(-1)
        over = shared / (area[:, :, None] + area[:, None] - shared) > 0.3
        kept = torch.ones_like(score, dtype=torch.bool)
        for i in range(6):
            later = torch.arange(6, device=b.device) > i
            kept = kept & ~(kept[:, i:i + 1] & over[:, i] & later)
        return b, torch.where(kept, score, 0.0), kept.sum(1), order

    return Model(Function(call), lambda n: (torch.rand(n, 6, 4) + 0.1, torch.randn(n, 6)), [{0: "b"}, {0: "b"}], zero=False)


@model
def dense_boxes():
    """YOLO's and FCOS's decoding over symbolic sides, with distances as distributions."""
    def call(m, x):
        b, _, h, w = x.shape
        y, z = torch.meshgrid(torch.arange(h, device=x.device) + 0.5, torch.arange(w, device=x.device) + 0.5, indexing="ij")
        points = torch.stack([z, y], -1).reshape(-1, 2) * 8
        d = m.box(x).flatten(2).view(b, 4, 4, -1).softmax(2)
        d = torch.einsum("bkin,i->bnk", d, torch.arange(4.0, device=x.device)) * 8
        boxes = torch.cat([points - d[..., :2], points + d[..., 2:]], -1)
        size = torch.tensor([[2.0, 3.0], [4.0, 1.0]], device=x.device)
        raw = m.anchor(x).view(b, 2, 5, h, w).permute(0, 1, 3, 4, 2)
        xy = (raw[..., :2].sigmoid() * 2 - 0.5 + torch.stack([z, y], -1)) * 8
        wh = (raw[..., 2:4].sigmoid() * 2) ** 2 * size[None, :, None, None]
        return boxes, torch.cat([xy, wh, raw[..., 4:].sigmoid()], -1).view(b, -1, 5)

    return Model(Function(call, box=nn.Conv2d(3, 16, 1), anchor=nn.Conv2d(3, 10, 1)), lambda n: (torch.randn(2, 3, n + 1, n + 2),), [{2: "h", 3: "w"}],
                 sizes=(3, 1, 5), zero=False)


@model
def region_pool():
    """Bilinear samples in each region, as roi_align takes them, by plain indices."""
    def call(m, x, boxes):
        grid = (torch.arange(4, device=x.device) + 0.5) / 4
        px = boxes[:, 0:1] + grid * (boxes[:, 2:3] - boxes[:, 0:1])
        py = boxes[:, 1:2] + grid * (boxes[:, 3:4] - boxes[:, 1:2])
        total = 0
        x0, y0 = px.floor(), py.floor()
        for dx in (0, 1):
            for dy in (0, 1):
                wx = 1 - (px - (x0 + dx)).abs()
                wy = 1 - (py - (y0 + dy)).abs()
                ix, iy = (x0 + dx).clamp(0, 6).long(), (y0 + dy).clamp(0, 5).long()
                total = total + x[:, iy[:, :, None], ix[:, None]] * (wy[:, :, None] * wx[:, None])
        return F.avg_pool2d(total.transpose(0, 1), 2)

    return Model(Function(call), lambda n: (torch.randn(3, 6, 7), torch.rand(n, 4) * 5), [None, {0: "r"}], zero=False)


# ---- diffusion ----


class ResBlock(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.n1, self.c1, self.n2, self.c2 = nn.GroupNorm(2, i), nn.Conv2d(i, o, 3, padding=1), nn.GroupNorm(2, o), nn.Conv2d(o, o, 3, padding=1)
        self.time, self.skip = nn.Linear(8, 2 * o), nn.Conv2d(i, o, 1)

    def forward(self, x, t):
        h = self.c1(F.silu(self.n1(x)))
        scale, shift = self.time(F.silu(t))[..., None, None].chunk(2, 1)
        return self.skip(x) + self.c2(F.silu(self.n2(h) * (1 + scale) + shift))


@model
def denoiser():
    """A U-Net with time, attention to a text, and a step of the sampler, over symbolic sides."""
    def call(m, x, t, text):
        f = torch.exp(-math.log(100.0) * torch.arange(4, device=x.device) / 4)
        e = m.embed(torch.cat([(t[:, None] * f).cos(), (t[:, None] * f).sin()], -1))
        a = m.one(m.enter(x), e)
        y = m.two(m.down(a), e)
        q = y.flatten(2).transpose(1, 2)
        q = q + m.attend(q, text, text, need_weights=False)[0]
        y = q.transpose(1, 2).view_as(y)
        y = F.interpolate(y, scale_factor=2.0, mode="nearest")
        noise = m.leave(F.silu(m.three(torch.cat([y, a], 1), e)))
        keep = (t / 10).cos()[:, None, None, None] ** 2
        return (x - (1 - keep).sqrt() * noise) / keep.sqrt().clamp(min=0.1), noise

    layers = dict(embed=nn.Linear(8, 8), enter=nn.Conv2d(3, 4, 3, padding=1), one=ResBlock(4, 4), down=nn.Conv2d(4, 4, 3, stride=2, padding=1),
                  two=ResBlock(4, 8), attend=nn.MultiheadAttention(8, 2, kdim=6, vdim=6, batch_first=True), three=ResBlock(12, 4),
                  leave=nn.Conv2d(4, 3, 3, padding=1))
    return Model(Function(call, **layers).eval(), lambda n: (torch.randn(2, 3, 2 * n, 2 * n + 2), torch.rand(2) * 5, torch.randn(2, 5, 6)),
                 [{2: "2*h", 3: "2*w"}, None, None], sizes=(2, 1, 3), zero=False, tolerance=1e-3)


@model
def diffusion_transformer():
    """Patches, adaptive norms, joint attention with text tokens, and patches back to an image."""
    def call(m, x, t, text):
        b, c, h, w = x.shape
        y = x.view(b, c, h // 2, 2, w // 2, 2).permute(0, 2, 4, 3, 5, 1).reshape(b, -1, 4 * c)
        y = m.enter(y)
        e = F.silu(m.time(torch.stack([t.cos(), t.sin()], -1)))
        s1, g1, a1, s2, g2, a2 = m.modulate(e)[:, None].chunk(6, -1)
        z = F.layer_norm(y, (8,)) * (1 + g1) + s1
        q, k, v = (heads(u, 2) for u in torch.cat([m.context(text), m.qkv(z)], 1).chunk(3, -1))
        q, k = F.rms_norm(q, (4,)), F.rms_norm(k, (4,))
        z = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)[:, text.shape[1]:]
        y = y + a1 * m.out(z)
        y = y + a2 * m.mlp(F.layer_norm(y, (8,)) * (1 + g2) + s2)
        y = m.leave(y).view(b, h // 2, w // 2, 2, 2, c).permute(0, 5, 1, 3, 2, 4)
        return y.reshape(b, c, h, w)

    layers = dict(enter=nn.Linear(8, 8), time=nn.Linear(2, 8), modulate=nn.Linear(8, 48), context=nn.Linear(5, 24), qkv=nn.Linear(8, 24), out=nn.Linear(8, 8),
                  mlp=nn.Sequential(nn.Linear(8, 16), nn.GELU(approximate="tanh"), nn.Linear(16, 8)), leave=nn.Linear(8, 8))
    return Model(Function(call, **layers), lambda n: (torch.randn(2, 2, 2 * n, 2 * n + 2), torch.rand(2), torch.randn(2, 3, 5)), [{2: "2*h", 3: "2*w"}, None, None],
                 sizes=(2, 1, 3), zero=False)


# ---- sound ----


@model
def mel_features():
    """Mel bands of a spectrum, cepstral coefficients, and their differences."""
    def call(m, x):
        z = torch.stft(x, 16, 8, window=torch.hann_window(16), return_complex=True)
        mel = m.bands @ (z.real ** 2 + z.imag ** 2)
        db = 10 * mel.clamp(min=1e-10).log10()
        db = torch.maximum(db, db.amax((-2, -1), keepdim=True) - 80)
        c = m.dct @ db
        d = F.conv1d(F.pad(c, (2, 2), mode="replicate"), m.slope[None, None].expand(4, 1, -1), groups=4)
        return db, torch.cat([c, d], 1), (c - c.mean(-1, keepdim=True)) / (c.std(-1, keepdim=True) + 1e-5)

    m = Function(call)
    for name, t in dict(bands=torch.rand(5, 9), dct=torch.randn(4, 5), slope=torch.tensor([-0.2, -0.1, 0, 0.1, 0.2])).items():
        m.register_buffer(name, t)
    return Model(m, lambda n: (torch.randn(n, 48),), [{0: "b"}], zero=False, tolerance=1e-3)


@model
def separation():
    """A mask of the spectrum, and the waveform back."""
    def call(m, x):
        w = torch.hann_window(16)
        z = torch.stft(x, 16, 4, window=w, return_complex=True)
        mask = m.mask(z.abs().transpose(1, 2)).sigmoid().transpose(1, 2)
        # the first and the last part are symmetric, so that their transforms are real up to rounding
        return torch.istft(z * mask, 16, 4, window=w, length=40), (z.angle() * (z.abs() > 0.1))[..., 2:-2]

    return Model(Function(call, mask=nn.Linear(9, 9)), lambda n: (torch.randn(n, 40),), [{0: "b"}], zero=False, tolerance=1e-3)


@model
def codec():
    """Strided convolutions, the nearest codes, and transposed convolutions with snakes."""
    def call(m, x):
        y = F.elu(m.down1(F.pad(x, (2, 2), mode="reflect")))
        y = m.down2(F.elu(y))
        flat = y.transpose(1, 2)
        away = flat.square().sum(-1, keepdim=True) - 2 * flat @ m.codes.t() + m.codes.square().sum(-1)
        i = away.argmin(-1)
        q = F.embedding(i, m.codes).transpose(1, 2)
        snake = lambda t, a: t + (t * a).sin() ** 2 / (a + 1e-9)
        return m.up1(snake(m.up2(q), m.alpha)).tanh(), i

    layers = dict(down1=nn.Conv1d(1, 4, 5, stride=2), down2=nn.Conv1d(4, 3, 4, stride=2, padding=1), codes=nn.Parameter(torch.randn(8, 3)),
                  up2=nn.ConvTranspose1d(3, 4, 4, stride=2, padding=1), up1=nn.ConvTranspose1d(4, 1, 4, stride=2, padding=1), alpha=nn.Parameter(torch.ones(4, 1)))
    return Model(Function(call, **layers), lambda n: (torch.randn(2, 1, 8 * n + 8),), [{2: "8*n"}], sizes=(2, 1, 4), zero=False)


@model
def parametric_filters():
    """SincNet's filters, a resampling by a strided convolution, and a positional convolution of any length."""
    def call(m, x):
        t = torch.arange(-4, 5, device=x.device) / 8.0
        low, band = m.low.abs()[:, None], m.band.abs()[:, None]
        f = 2 * (low + band) * torch.sinc(2 * (low + band) * t) - 2 * low * torch.sinc(2 * low * t)
        f = f * torch.hamming_window(9, periodic=False)
        y = F.conv1d(x[:, None], (f / f.abs().amax(1, keepdim=True))[:, None], padding=4)
        y = F.max_pool1d(y.abs(), 3, stride=2)
        return F.layer_norm(y.transpose(1, 2), (3,)), F.conv1d(x[:, None], torch.ones(1, 1, 4) / 4, stride=3)[:, 0], x.unfold(1, 4, 2).std(-1)

    return Model(Function(call, low=nn.Parameter(torch.rand(3)), band=nn.Parameter(torch.rand(3))), lambda n: (torch.randn(2, 2 * n + 8),), [{1: "2*n"}],
                 sizes=(4, 1, 7), zero=False)


# ---- numbers taken from tensors ----


@model
def item():
    """A number that the graph takes from a tensor, in arithmetic and comparisons, but as no size."""
    def call(m, x, length, at):
        n = length.item()
        y = x * n + (n - 1) * 0.5
        seen = torch.arange(x.shape[1], device=x.device) < n
        return torch.where(seen, y, -1.0), x.sum() / n, torch.full_like(x, at.item())

    return Model(Function(call), lambda n: (torch.randn(n, 4), torch.tensor(3), torch.tensor(2.5)), [{0: "b"}, None, None], zero=False)
