# SPDX-License-Identifier: Apache-2.0
"""Models of images."""
import torch
import torch.nn.functional as F
from torch import nn


def conv(inputs, outputs, kernel, stride=1, groups=1, act=nn.ReLU, norm=nn.BatchNorm2d):
    """A convolution without bias that keeps the size (divided by the stride), a norm, an activation."""
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False), norm(outputs)]
    return nn.Sequential(*layers, act()) if act else nn.Sequential(*layers)


# ---- ResNet (He et al., 1512.03385) ----


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.body = nn.Sequential(conv(inputs, width, 1), conv(width, width, 3, stride), conv(width, 4 * width, 1, act=None))
        self.short = nn.Identity() if inputs == 4 * width else conv(inputs, 4 * width, 1, stride, act=None)

    def forward(self, x):
        return F.relu(self.body(x) + self.short(x))


class ResNet(nn.Module):
    def __init__(self, depths=(3, 4, 6, 3), classes=1000):
        super().__init__()
        layers, inputs = [conv(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)], 64
        for stage, depth in enumerate(depths):
            width = 64 << stage
            for i in range(depth):
                layers.append(Bottleneck(inputs, width, 2 if stage and not i else 1))
                inputs = 4 * width
        self.body, self.head = nn.Sequential(*layers), nn.Linear(inputs, classes)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


# ---- ConvNeXt (Liu et al., 2201.03545) ----


class ChannelNorm(nn.Module):
    """Layer norm over the channels of an image."""

    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width, eps=1e-6)

    def forward(self, x):
        return self.norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class ConvNeXtBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.depthwise, self.norm = nn.Conv2d(width, width, 7, padding=3, groups=width), nn.LayerNorm(width, eps=1e-6)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.scale = nn.Parameter(torch.full((width,), 0.1))

    def forward(self, x):
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        return x + (self.scale * self.down(F.gelu(self.up(y)))).permute(0, 3, 1, 2)


class ConvNeXt(nn.Module):
    def __init__(self, depths=(3, 3, 9, 3), widths=(96, 192, 384, 768), classes=1000):
        super().__init__()
        layers = [nn.Conv2d(3, widths[0], 4, 4), ChannelNorm(widths[0])]
        for i, (depth, width) in enumerate(zip(depths, widths)):
            if i:
                layers += [ChannelNorm(widths[i - 1]), nn.Conv2d(widths[i - 1], width, 2, 2)]
            layers += [ConvNeXtBlock(width) for _ in range(depth)]
        self.body, self.norm, self.head = nn.Sequential(*layers), nn.LayerNorm(widths[-1], eps=1e-6), nn.Linear(widths[-1], classes)

    def forward(self, x):
        return self.head(self.norm(self.body(x).mean((2, 3))))


# ---- EfficientNet (Tan and Le, 1905.11946) ----


class MobileBlock(nn.Module):
    """An inverted bottleneck with squeeze and excitation."""

    def __init__(self, inputs, outputs, kernel, stride, expansion):
        super().__init__()
        width, squeezed = inputs * expansion, max(1, inputs // 4)
        self.expand = conv(inputs, width, 1, act=nn.SiLU) if expansion > 1 else nn.Identity()
        self.depthwise = conv(width, width, kernel, stride, width, nn.SiLU)
        self.squeeze, self.excite = nn.Conv2d(width, squeezed, 1), nn.Conv2d(squeezed, width, 1)
        self.project = conv(width, outputs, 1, act=None)
        self.is_residual = stride == 1 and inputs == outputs

    def forward(self, x):
        y = self.depthwise(self.expand(x))
        y = y * torch.sigmoid(self.excite(F.silu(self.squeeze(y.mean((2, 3), keepdim=True)))))
        y = self.project(y)
        return x + y if self.is_residual else y


class EfficientNet(nn.Module):
    STAGES = ((1, 16, 1, 3, 1), (6, 24, 2, 3, 2), (6, 40, 2, 5, 2), (6, 80, 3, 3, 2), (6, 112, 3, 5, 1), (6, 192, 4, 5, 2), (6, 320, 1, 3, 1))

    def __init__(self, classes=1000):
        super().__init__()
        layers, inputs = [conv(3, 32, 3, 2, act=nn.SiLU)], 32
        for expansion, outputs, depth, kernel, stride in self.STAGES:
            for i in range(depth):
                layers.append(MobileBlock(inputs, outputs, kernel, 1 if i else stride, expansion))
                inputs = outputs
        self.body, self.head = nn.Sequential(*layers, conv(inputs, 1280, 1, act=nn.SiLU)), nn.Linear(1280, classes)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


# ---- DenseNet (Huang et al., 1608.06993) ----


class DenseLayer(nn.Module):
    def __init__(self, inputs, growth):
        super().__init__()
        self.body = nn.Sequential(nn.BatchNorm2d(inputs), nn.ReLU(), nn.Conv2d(inputs, 4 * growth, 1, bias=False), nn.BatchNorm2d(4 * growth),
                                  nn.ReLU(), nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False))

    def forward(self, x):
        return torch.cat([x, self.body(x)], 1)


class DenseNet(nn.Module):
    def __init__(self, depths=(6, 12, 24, 16), growth=32, classes=1000):
        super().__init__()
        layers, width = [conv(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)], 64
        for stage, depth in enumerate(depths):
            for _ in range(depth):
                layers.append(DenseLayer(width, growth))
                width += growth
            if stage + 1 < len(depths):
                layers += [nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, width // 2, 1, bias=False), nn.AvgPool2d(2)]
                width //= 2
        self.body, self.head = nn.Sequential(*layers, nn.BatchNorm2d(width), nn.ReLU()), nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


# ---- U-Net (Ronneberger et al., 1505.04597) ----


class UNet(nn.Module):
    def __init__(self, width=64, depth=4, classes=2):
        super().__init__()
        pair = lambda inputs, outputs: nn.Sequential(conv(inputs, outputs, 3), conv(outputs, outputs, 3))
        widths = [width << i for i in range(depth + 1)]
        self.down = nn.ModuleList(pair(i, o) for i, o in zip([3] + widths, widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * w, w, 2, 2) for w in reversed(widths[:-1]))
        self.merge = nn.ModuleList(pair(2 * w, w) for w in reversed(widths[:-1]))
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        kept = []
        for i, block in enumerate(self.down):
            x = block(F.max_pool2d(x, 2) if i else x)
            kept.append(x)
        kept.pop()
        for up, merge in zip(self.up, self.merge):
            x = merge(torch.cat([kept.pop(), up(x)], 1))
        return self.head(x)


# ---- Swin (Liu et al., 2103.14030) ----


class WindowAttention(nn.Module):
    def __init__(self, width, heads, window):
        super().__init__()
        self.heads, self.window = heads, window
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.table = nn.Parameter(torch.randn((2 * window - 1) ** 2, heads) * 0.02)
        at = torch.stack(torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")).flatten(1)
        distance = (at[:, :, None] - at[:, None]) + window - 1
        self.register_buffer("index", distance[0] * (2 * window - 1) + distance[1])

    def forward(self, x, mask):
        windows, tokens, width = x.shape
        q, k, v = self.qkv(x).reshape(windows, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        bias = self.table[self.index].permute(2, 0, 1)[None]
        if mask is not None:
            bias = (bias + mask[:, None]).repeat(windows // mask.shape[0], 1, 1, 1)
        a = F.scaled_dot_product_attention(q, k, v, bias)
        return self.out(a.transpose(1, 2).reshape(windows, tokens, width))


class SwinBlock(nn.Module):
    def __init__(self, width, heads, size, shift, window=7):
        super().__init__()
        self.size, self.window, self.shift = size, window, shift if size > window else 0
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = WindowAttention(width, heads, window)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.register_buffer("mask", self.shifted_mask() if self.shift else None)

    def windows(self, x):
        w = self.window
        n, h, _, c = x.shape
        return x.view(n, h // w, w, h // w, w, c).transpose(2, 3).reshape(-1, w * w, c)

    def shifted_mask(self):
        part = torch.zeros(1, self.size, self.size, 1)
        edges = [slice(0, -self.window), slice(-self.window, -self.shift), slice(-self.shift, None)]
        for i, rows in enumerate(edges):
            for j, columns in enumerate(edges):
                part[:, rows, columns] = 3 * i + j
        part = self.windows(part).squeeze(-1)
        return (part[:, :, None] != part[:, None]).float() * -100.0

    def forward(self, x):
        n, h, w = x.shape[0], self.size, self.window
        y = self.norm1(x).view(n, h, h, -1)
        if self.shift:
            y = torch.roll(y, (-self.shift, -self.shift), (1, 2))
        y = self.attention(self.windows(y), self.mask)
        y = y.view(n, h // w, h // w, w, w, -1).transpose(2, 3).reshape(n, h, h, -1)
        if self.shift:
            y = torch.roll(y, (self.shift, self.shift), (1, 2))
        x = x + y.view(x.shape)
        return x + self.mlp(self.norm2(x))


class Swin(nn.Module):
    def __init__(self, depths=(2, 2, 6, 2), width=96, classes=1000, size=56):
        super().__init__()
        self.patch, self.norm0 = nn.Conv2d(3, width, 4, 4), nn.LayerNorm(width)
        self.stages, self.merges = nn.ModuleList(), nn.ModuleList()
        for i, depth in enumerate(depths):
            if i:
                self.merges.append(nn.Sequential(nn.LayerNorm(4 * width), nn.Linear(4 * width, 2 * width, bias=False)))
                width, size = 2 * width, size // 2
            self.stages.append(nn.Sequential(*(SwinBlock(width, width // 32, size, 3 * (k % 2)) for k in range(depth))))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = self.norm0(x)
        for i, stage in enumerate(self.stages):
            if i:
                n, tokens, c = x.shape
                h = int(tokens ** 0.5)
                x = x.view(n, h // 2, 2, h // 2, 2, c).permute(0, 1, 3, 4, 2, 5).reshape(n, tokens // 4, 4 * c)
                x = self.merges[i - 1](x)
            x = stage(x)
        return self.head(self.norm(x).mean(1))
