# SPDX-License-Identifier: Apache-2.0
"""The models of processor_models.py: name -> a function that makes (model, inputs)."""
import torch
import torch.nn.functional as F
from torch import nn

from nets import Block

MODELS = {}


def model(make):
    MODELS[make.__name__] = make
    return make


# ---- transformers ----


class LanguageModel(nn.Module):
    def __init__(self, layers, width, heads, tokens, words, is_causal):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(words, width), nn.Parameter(torch.randn(tokens, width) * 0.02)
        self.blocks = nn.ModuleList(Block(width, heads, is_causal) for _ in range(layers))
        self.norm, self.is_causal = nn.LayerNorm(width), is_causal

    def forward(self, indices):
        x = self.embedding(indices) + self.positions
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        return x @ self.embedding.weight.T if self.is_causal else x


def language_model(layers, batch, tokens, words, is_causal):
    return LanguageModel(layers, 768, 12, tokens, words, is_causal), (torch.randint(0, words, (batch, tokens)),)


@model
def gpt2_2():
    return language_model(2, 1, 128, 50257, True)


@model
def gpt2_12():
    return language_model(12, 1, 128, 50257, True)


@model
def bert_4():
    return language_model(4, 4, 128, 30522, False)


# ---- convolutions ----


def conv(inputs, outputs, size, stride=1, groups=1, act=None):
    layers = [nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs)]
    return nn.Sequential(*layers, *([act()] if act else []))


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first, self.second = conv(inputs, outputs, 3, stride, act=nn.ReLU), conv(outputs, outputs, 3)
        self.short = conv(inputs, outputs, 1, stride) if stride > 1 or inputs != outputs else nn.Identity()

    def forward(self, x):
        return F.relu(self.second(self.first(x)) + self.short(x))


@model
def resnet18():
    blocks, inputs = [], 64
    for outputs, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        blocks += [Residual(inputs, outputs, stride), Residual(outputs, outputs, 1)]
        inputs = outputs
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000)]
    return nn.Sequential(conv(3, 64, 7, 2, act=nn.ReLU), nn.MaxPool2d(3, 2, 1), *blocks, *head), (torch.randn(1, 3, 224, 224),)


class Inverted(nn.Module):
    """Of MobileNetV3: expand, depthwise, squeeze and excite, project."""

    def __init__(self, inputs, size, hidden, outputs, squeezes, act, stride):
        super().__init__()
        self.expand = conv(inputs, hidden, 1, act=act) if hidden != inputs else nn.Identity()
        self.depthwise = conv(hidden, hidden, size, stride, hidden, act)
        few = max(8, (hidden // 4 + 4) // 8 * 8)
        self.squeeze = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(hidden, few, 1), nn.ReLU(), nn.Conv2d(few, hidden, 1),
                                     nn.Hardsigmoid()) if squeezes else None
        self.project, self.is_residual = conv(hidden, outputs, 1), stride == 1 and inputs == outputs

    def forward(self, x):
        y = self.depthwise(self.expand(x))
        if self.squeeze is not None:
            y = y * self.squeeze(y)
        y = self.project(y)
        return x + y if self.is_residual else y


LARGE = [(3, 16, 16, False, nn.ReLU, 1), (3, 64, 24, False, nn.ReLU, 2), (3, 72, 24, False, nn.ReLU, 1), (5, 72, 40, True, nn.ReLU, 2),
         (5, 120, 40, True, nn.ReLU, 1), (5, 120, 40, True, nn.ReLU, 1), (3, 240, 80, False, nn.Hardswish, 2),
         (3, 200, 80, False, nn.Hardswish, 1), (3, 184, 80, False, nn.Hardswish, 1), (3, 184, 80, False, nn.Hardswish, 1),
         (3, 480, 112, True, nn.Hardswish, 1), (3, 672, 112, True, nn.Hardswish, 1), (5, 672, 160, True, nn.Hardswish, 2),
         (5, 960, 160, True, nn.Hardswish, 1), (5, 960, 160, True, nn.Hardswish, 1)]


@model
def mobilenetv3():
    layers, inputs = [conv(3, 16, 3, 2, act=nn.Hardswish)], 16
    for size, hidden, outputs, squeezes, act, stride in LARGE:
        layers.append(Inverted(inputs, size, hidden, outputs, squeezes, act, stride))
        inputs = outputs
    layers += [conv(160, 960, 1, act=nn.Hardswish), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(960, 1280), nn.Hardswish(), nn.Linear(1280, 1000)]
    return nn.Sequential(*layers), (torch.randn(1, 3, 224, 224),)


# ---- single operators ----


@model
def attention():
    q, k, v = (torch.randn(1, 12, 1024, 64) for _ in range(3))
    return F.scaled_dot_product_attention, (q, k, v)


@model
def causal():
    q, k, v = (torch.randn(1, 12, 1024, 64) for _ in range(3))
    return lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), (q, k, v)
