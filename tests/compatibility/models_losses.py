# SPDX-License-Identifier: Apache-2.0
"""Losses, normalisations, quantisation and graph networks, written for check_graphs.py (graph_models.py says how)."""
import torch
import torch.nn.functional as F
from torch import nn

from graph_models import Model, ids, model
from models_attention import Function

# ---- losses ----


@model
def classification_losses():
    def call(m, x, y):
        z = m.out(x)
        hot = F.one_hot(y, 5).float()
        p = z.sigmoid()
        focal = (F.binary_cross_entropy_with_logits(z, hot, reduction="none") * (hot * (1 - p) + (1 - hot) * p) ** 2).mean()
        return (F.cross_entropy(z, y, weight=m.weight, ignore_index=2, label_smoothing=0.1), F.multi_margin_loss(z, y), focal,
                F.binary_cross_entropy_with_logits(z, hot, pos_weight=m.weight), F.multilabel_soft_margin_loss(z, hot),
                F.cross_entropy(z, hot * 0.8 + 0.04), F.nll_loss(F.log_softmax(z, -1), y, reduction="sum"), F.soft_margin_loss(z, 2 * hot - 1))

    return Model(Function(call, out=nn.Linear(4, 5), weight=nn.Parameter(torch.rand(5) + 0.5, requires_grad=False)),
                 lambda n: (torch.randn(n + 2, 4), torch.arange(n + 2) % 5), [{0: "b"}, {0: "b"}], sizes=(4, 1, 7), zero=False)


@model
def regression_losses():
    def call(m, x, y):
        z = m.out(x)
        return (F.huber_loss(z, y, delta=0.5), F.smooth_l1_loss(z, y, beta=0.3), F.mse_loss(z, y), F.l1_loss(z, y, reduction="sum"),
                F.poisson_nll_loss(z, y.abs()), F.kl_div(z.log_softmax(-1), y.softmax(-1), reduction="batchmean"),
                torch.log(torch.cosh(z - y)).mean(), F.pairwise_distance(z, y).mean())

    return Model(Function(call, out=nn.Linear(4, 3)), lambda n: (torch.randn(n, 4), torch.randn(n, 3)), [{0: "b"}, {0: "b"}], zero=False)


@model
def metric_losses():
    def call(m, x, y):
        a, b = F.normalize(m.one(x), dim=-1), F.normalize(m.two(y), dim=-1)
        s = a @ b.t() * m.scale.exp()
        target = torch.arange(x.shape[0], device=x.device)
        away = torch.cdist(a, b)
        clip = (F.cross_entropy(s, target) + F.cross_entropy(s.t(), target)) / 2
        triplet = F.triplet_margin_loss(a, b, b.flip(0), margin=0.5)
        hardest = F.relu(away.diagonal() - (away + 10 * torch.eye(x.shape[0], device=x.device)).min(1).values + 0.2).mean()
        return clip, triplet, hardest, F.cosine_embedding_loss(a, b, 2.0 * (target % 2) - 1), F.margin_ranking_loss(a[:, 0], b[:, 0], 1.0 - 2 * (target % 2))

    return Model(Function(call, one=nn.Linear(4, 3), two=nn.Linear(5, 3), scale=nn.Parameter(torch.tensor(1.0))),
                 lambda n: (torch.randn(n + 1, 4), torch.randn(n + 1, 5)), [{0: "b"}, {0: "b"}], zero=False)


@model
def variational():
    """A variational autoencoder with its noise as an input, and the covariances of its codes."""
    def call(m, x, noise):
        mean, log = m.encoder(x).chunk(2, -1)
        z = mean + noise * (0.5 * log).exp()
        y = m.decoder(z)
        c = z - z.mean(0)
        cov = c.t() @ c / x.shape[0]
        spread = F.relu(1 - (z.var(0, unbiased=False) + 1e-4).sqrt()).mean()
        off = (cov - torch.diag(cov.diagonal())).square().sum() / 3
        return F.binary_cross_entropy(y, x.sigmoid(), reduction="sum") / x.shape[0] - 0.5 * (1 + log - mean ** 2 - log.exp()).sum(1).mean(), spread, off

    layers = dict(encoder=nn.Sequential(nn.Linear(4, 6), nn.Softplus(), nn.Linear(6, 6)), decoder=nn.Sequential(nn.Linear(3, 4), nn.Sigmoid()))
    return Model(Function(call, **layers), lambda n: (torch.randn(n + 1, 4), torch.randn(n + 1, 3)), [{0: "b"}, {0: "b"}], zero=False)


@model
def policy_losses():
    """A clipped policy loss with advantages summed backwards, and the projection of a distribution of returns."""
    def call(m, x, action, reward):
        logits, value = m.actor(x), m.critic(x)[..., 0]
        p = torch.distributions.Categorical(logits=logits, validate_args=False)
        n = x.shape[1]
        power = 0.9 ** torch.arange(n, device=x.device)
        advantage = ((reward * power).flip(1).cumsum(1).flip(1) / power - value).detach()
        advantage = (advantage - advantage.mean()) / (advantage.std(unbiased=False) + 1e-5)
        ratio = (p.log_prob(action) - logits.detach().log_softmax(-1).gather(-1, action[..., None])[..., 0] * 0.9).exp()
        loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        support = torch.linspace(-2, 2, 5, device=x.device)
        b = ((reward.flatten()[:, None] + 0.9 * support).clamp(-2, 2) + 2) / 1.0
        low, high = b.floor().long(), b.ceil().long()
        mass = torch.softmax(logits.flatten(0, 1)[:, :1] * support, -1)
        start = torch.arange(b.shape[0], device=x.device)[:, None] * 5
        flat = torch.zeros(b.numel(), device=x.device)
        flat = flat.index_add(0, (low + start).flatten(), (mass * (high.float() - b + (low == high))).flatten())
        flat = flat.index_add(0, (high + start).flatten(), (mass * (b - low)).flatten())
        return loss, F.smooth_l1_loss(value, reward), p.entropy().mean(), flat.view_as(b)

    return Model(Function(call, actor=nn.Linear(4, 3), critic=nn.Linear(4, 1)), lambda n: (torch.randn(2, n, 4), ids(2, n, top=3), torch.randn(2, n)),
                 [{1: "n"}, {1: "n"}, {1: "n"}], sizes=(4, 1, 7), zero=False)


@model
def transport():
    """Sinkhorn iterations between two sets of points, and the dice of the soft matching."""
    def call(m, x, y):
        cost = torch.cdist(m.f(x), y, p=1)
        a, b = torch.zeros_like(cost[:, 0]), torch.zeros_like(cost[0])
        for _ in range(3):
            a = -torch.logsumexp((b[None] - cost) / 0.5, 1) * 0.5
            b = -torch.logsumexp((a[:, None] - cost) / 0.5, 0) * 0.5
        plan = ((a[:, None] + b[None] - cost) / 0.5).exp()
        return (plan * cost).sum(), 1 - (2 * (plan * plan.round()).sum() + 1) / (plan.sum() + plan.round().sum() + 1)

    return Model(Function(call, f=nn.Linear(3, 3)), lambda n: (torch.randn(n, 3), torch.randn(n + 2, 3)), [{0: "n"}, {0: "m"}], zero=False)


@model
def radiance():
    """Volume rendering along rays, and samples by the inverse of a cumulative distribution."""
    def call(m, rays, u):
        t = torch.linspace(0.1, 2.0, 6, device=rays.device)
        points = rays[:, None, :3] + rays[:, None, 3:] * t[None, :, None]
        wave = 2.0 ** torch.arange(3, device=rays.device)
        f = (points[..., None] * wave).flatten(2)
        rgb, sigma = m.mlp(torch.cat([f.sin(), f.cos()], -1)).split([3, 1], -1)
        alpha = 1 - torch.exp(-F.relu(sigma[..., 0] + 0.5) * (t[1] - t[0]))
        seen = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1 - alpha + 1e-10], -1), -1)[:, :-1]
        w = alpha * seen
        cdf = torch.cumsum((w[:, 1:-1] + 1e-5) / (w[:, 1:-1] + 1e-5).sum(-1, keepdim=True), -1)
        cdf = torch.cat([torch.zeros_like(cdf[:, :1]), cdf], -1)
        at = torch.searchsorted(cdf.detach(), u, right=True)
        low, high = (at - 1).clamp(min=0), at.clamp(max=4)
        g = cdf.gather(1, low), cdf.gather(1, high)
        mid = 0.5 * (t[1:] + t[:-1])
        size = torch.where(g[1] - g[0] < 1e-5, 1.0, g[1] - g[0])
        samples = mid[low] + (u - g[0]) / size * (mid[high] - mid[low])
        return (w[..., None] * rgb.sigmoid()).sum(1), (w * t).sum(1), samples

    return Model(Function(call, mlp=nn.Sequential(nn.Linear(18, 8), nn.ReLU(), nn.Linear(8, 4))), lambda n: (torch.randn(n, 6), torch.rand(n, 4)),
                 [{0: "r"}, {0: "r"}], zero=False)


@model
def ctc():
    """The forward recursion of CTC over 5 frames, written out."""
    def call(m, x, labels):
        p = m.out(x).log_softmax(-1)
        b = x.shape[0]
        path = torch.stack([torch.zeros_like(labels), labels], -1).flatten(1)
        path = F.pad(path, (0, 1))
        e = p.gather(2, path[:, None].expand(-1, 5, -1))
        skip = (path[:, 2:] != 0) & (path[:, 2:] != path[:, :-2])
        a = torch.full_like(e[:, 0], -1e30)
        a = torch.cat([e[:, 0, :2], a[:, 2:]], 1)
        for t in range(1, 5):
            one = F.pad(a, (1, 0), value=-1e30)[:, :-1]
            two = F.pad(torch.where(skip, a[:, :-2], -1e30), (2, 0), value=-1e30)
            a = torch.logsumexp(torch.stack([a, one, two]), 0) + e[:, t]
        return -torch.logaddexp(a[:, -1], a[:, -2]).sum() / b

    return Model(Function(call, out=nn.Linear(4, 5)), lambda n: (torch.randn(n, 5, 4), torch.randint(1, 5, (n, 2))), [{0: "b"}, {0: "b"}], zero=False)


# ---- normalisation ----


@model
def norms_trained():
    """Batch statistics, groups, instances, lengths and the spectrum of a weight."""
    def call(m, x):
        y = m.batch(x)
        y = m.instance(y) + m.group(x)
        y = F.local_response_norm(y, 3)
        y = m.weight(m.spectral(y))
        g = y.norm(dim=(2, 3), keepdim=True)
        y = y * (g / (g.mean(1, keepdim=True) + 1e-6)) + y
        return F.layer_norm(y, y.shape[1:2] + (4, 4)), F.normalize(y.flatten(1)), F.rms_norm(y, (4,))

    layers = dict(batch=nn.BatchNorm2d(4), instance=nn.InstanceNorm2d(4, affine=True), group=nn.GroupNorm(2, 4),
                  weight=nn.utils.parametrizations.weight_norm(nn.Conv2d(4, 4, 3, padding=1)),
                  spectral=nn.utils.parametrizations.spectral_norm(nn.Conv2d(4, 4, 1)))
    return Model(Function(call, **layers), lambda n: (torch.randn(n + 1, 4, 4, 4),), [{0: "b"}], zero=False, tolerance=1e-3)


@model
def activations():
    def call(m, x):
        return [f(m.out(x)) for f in (F.gelu, F.elu, F.celu, F.selu, F.mish, F.hardswish, F.hardsigmoid, F.hardtanh, F.softsign, F.logsigmoid,
                                      F.tanhshrink, F.softshrink, F.hardshrink, F.relu6, F.leaky_relu)] + [
            F.prelu(x, m.slope), F.glu(x), F.softmin(x, -1), F.threshold(x, 0.1, -0.2), F.gumbel_softmax(x * 0 + 1, tau=1e-8).sum(-1) * 0,
            F.gelu(x, approximate="tanh"), F.softplus(x, beta=2, threshold=1), F.rrelu(x)]

    return Model(Function(call, out=nn.Linear(4, 4), slope=nn.Parameter(torch.full((1,), 0.2))).eval(), lambda n: (torch.randn(n, 4),), [{0: "b"}])


# ---- quantisation ----


@model
def quantised_linear():
    """Dynamic scales by row, an integer product, and weights of 4 bits in groups."""
    def call(m, x):
        scale = x.abs().amax(-1, keepdim=True).clamp(min=1e-5) / 127
        q = (x / scale).round().clamp(-128, 127).to(torch.int8)
        y = torch._int_mm(q, m.w8).float() * scale * m.s8
        low, high = (m.w4 & 15).to(torch.int8) - 8, (m.w4 >> 4).to(torch.int8) - 8
        w = torch.stack([low, high], -1).view(8, 4, 4).to(x.dtype) * m.s4[..., None]
        return y, x @ w.flatten(1).t()

    m = Function(call)
    for name, t in dict(w8=torch.randint(-128, 128, (16, 8), dtype=torch.int8), s8=torch.rand(8), w4=torch.randint(0, 256, (8, 8), dtype=torch.uint8),
                        s4=torch.rand(8, 4)).items():
        m.register_buffer(name, t)
    return Model(m, lambda n: (torch.randn(n + 17, 16),), [{0: "b"}], zero=False)


@model
def fake_quantised():
    """Training with rounded weights and activations."""
    def call(m, x):
        w = torch.fake_quantize_per_channel_affine(m.w, m.w.detach().abs().amax(1) / 127, torch.zeros(6, dtype=torch.int32), 0, -128, 127)
        y = torch.fake_quantize_per_tensor_affine(F.relu(F.linear(x, w)), 0.05, 3, 0, 255)
        step = m.step.abs() + 1e-3
        z = (y / step).clamp(-8, 7)
        return ((z.round() - z).detach() + z) * step

    return Model(Function(call, w=nn.Parameter(torch.randn(6, 4)), step=nn.Parameter(torch.tensor(0.1))), lambda n: (torch.randn(n, 4),), [{0: "b"}])


@model
def observed():
    """torch.ao's fake quantisation modules with moving averages."""
    from torch.ao.quantization import FakeQuantize, MovingAverageMinMaxObserver

    def call(m, x):
        return m.out(m.fake(x))

    fake = FakeQuantize(observer=MovingAverageMinMaxObserver, quant_min=0, quant_max=255)
    fake(torch.randn(5, 4))
    return Model(Function(call, out=nn.Linear(4, 3), fake=fake).eval(), lambda n: (torch.randn(n, 4),), [{0: "b"}], zero=False)


@model
def vector_quantised():
    """Residual codes: nearest entries of three tables, with gradients passed straight through."""
    def call(m, x):
        rest, total, codes = x, 0, []
        for table in (m.a, m.b, m.c):
            i = torch.cdist(rest, table).argmin(-1)
            q = F.embedding(i, table)
            total, rest = total + rest + (q - rest).detach(), rest - q.detach()
            codes.append(i)
        use = F.one_hot(codes[0], 8).float().mean(0)
        return total, torch.stack(codes), torch.exp(-(use * (use + 1e-10).log()).sum()), F.mse_loss(rest, torch.zeros_like(rest))

    return Model(Function(call, **{k: nn.Parameter(torch.randn(8, 3)) for k in "abc"}), lambda n: (torch.randn(n, 3),), [{0: "t"}], zero=False)


# ---- graphs and point clouds ----


@model
def graph_attention():
    """A softmax over the edges of each node, by scattered maxima and sums."""
    def call(m, x, edges):
        source, target = edges
        h = m.w(x).view(-1, 2, 4)
        e = F.leaky_relu((h * m.a).sum(-1)[source] + (h * m.b).sum(-1)[target], 0.2)
        at = target[:, None].expand_as(e)
        top = torch.full((x.shape[0], 2), -torch.inf, device=x.device).scatter_reduce(0, at, e, "amax")
        e = (e - top[target]).exp()
        total = torch.zeros(x.shape[0], 2, device=x.device).scatter_add(0, at, e)
        a = e / (total[target] + 1e-16)
        y = torch.zeros_like(h).index_add(0, target, a[..., None] * h[source])
        return F.elu(y.flatten(1)), a

    return Model(Function(call, w=nn.Linear(3, 8, bias=False), a=nn.Parameter(torch.randn(2, 4)), b=nn.Parameter(torch.randn(2, 4))),
                 lambda n: (torch.randn(n + 1, 3), ids(2, 2 * n, top=n + 1)), [{0: "n"}, {1: "e"}], sizes=(4, 1, 9))


@model
def principal_aggregation():
    """Mean, deviation, least and largest messages, scaled by degree."""
    def call(m, x, edges):
        source, target = edges[0], edges[1]
        v = m.message(torch.cat([x[source], x[target]], -1))
        at = target[:, None].expand_as(v)
        zero = torch.zeros(x.shape[0], 4, device=x.device)
        parts = [zero.scatter_reduce(0, at, v, how, include_self=False) for how in ("mean", "amin", "amax", "prod", "sum")]
        square = zero.scatter_reduce(0, at, v * v, "mean", include_self=False)
        parts.append(F.relu(square - parts[0] ** 2).sqrt())
        degree = torch.zeros(x.shape[0], device=x.device).index_add(0, target, torch.ones_like(v[:, 0]))
        y = torch.cat(parts, -1)
        log = (degree + 1).log()[:, None]
        return m.out(torch.cat([y, y * log, y / log.clamp(min=0.5)], -1)), degree

    return Model(Function(call, message=nn.Linear(6, 4), out=nn.Linear(72, 3)), lambda n: (torch.randn(n + 1, 3), ids(2, 2 * n, top=n + 1)),
                 [{0: "n"}, {1: "e"}], sizes=(4, 1, 7))


@model
def equivariant():
    """Distances of particles in radial functions, a cutoff, and moved coordinates."""
    def call(m, z, r, edges):
        i, j = edges[0], edges[1]
        away = r[i] - r[j]
        d = (away.square().sum(-1) + 1e-8).sqrt()
        radial = torch.exp(-4 * (d[:, None] - torch.linspace(0, 3, 6, device=r.device)) ** 2)
        cut = 0.5 * ((d * torch.pi / 3).cos() + 1) * (d < 3)
        h = m.embed(z)
        w = m.filter(radial) * cut[:, None]
        h = h + m.out(torch.zeros_like(h).index_add(0, i, h[j] * w))
        move = torch.zeros_like(r).index_add(0, i, away * m.gate(h[i] * h[j]))
        return F.silu(h).sum(0), r + move

    layers = dict(embed=nn.Embedding(5, 4), filter=nn.Sequential(nn.Linear(6, 4), nn.Softplus()), out=nn.Linear(4, 4), gate=nn.Linear(4, 1))
    return Model(Function(call, **layers), lambda n: (ids(n + 1, top=5), torch.randn(n + 1, 3), ids(2, 2 * n, top=n + 1)), [{0: "n"}, {0: "n"}, {1: "e"}],
                 sizes=(4, 1, 7))


@model
def point_cloud():
    """Farthest points, their nearest neighbours, edge features, maxima, and interpolation back."""
    def call(m, x):
        b = x.shape[0]
        far = torch.full_like(x[..., 0], 1e10)
        at = torch.zeros(b, dtype=torch.int64, device=x.device)
        rows = torch.arange(b, device=x.device)
        chosen = []
        for _ in range(3):
            chosen.append(at)
            far = torch.minimum(far, (x - x[rows, at][:, None]).square().sum(-1))
            at = far.argmax(-1)
        centers = x.gather(1, torch.stack(chosen, 1)[..., None].expand(-1, -1, 3))
        away = torch.cdist(centers, x)
        near = away.topk(4, largest=False).indices
        group = x[rows[:, None, None], near] - centers[:, :, None]
        f = m.mlp(torch.cat([group, centers[:, :, None].expand_as(group)], -1)).amax(2)
        d, i = away.transpose(1, 2).topk(2, largest=False)
        w = 1 / (d + 1e-4)
        w = w / w.sum(-1, keepdim=True)
        return (f.gather(1, i.flatten(1)[..., None].expand(-1, -1, 5)).unflatten(1, (-1, 2)) * w[..., None]).sum(2), f.amax(1)

    return Model(Function(call, mlp=nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 5))), lambda n: (torch.randn(n, 7, 3),), [{0: "b"}], zero=False)


@model
def top_pooling():
    """A pooled graph: the best half of the nodes, gates, and the adjacency between them."""
    def call(m, x, a):
        h = F.relu(m.w((a + torch.eye(x.shape[0], device=x.device)) @ x))
        degree = a.sum(-1).clamp(min=1).rsqrt()
        h = degree[:, None] * (a @ (degree[:, None] * h)) + h
        s = (h @ m.p / m.p.norm()).tanh()
        best, at = s.topk(4)
        return h[at] * best[:, None], a[at][:, at], torch.cat([h.mean(0), h.amax(0)])

    return Model(Function(call, w=nn.Linear(3, 5), p=nn.Parameter(torch.randn(5))), lambda n: (torch.randn(n + 3, 3), (torch.rand(n + 3, n + 3) > 0.5).float()),
                 [{0: "n"}, {0: "n", 1: "n"}], sizes=(5, 1, 8), zero=False, low=4)
