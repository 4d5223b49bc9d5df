# SPDX-License-Identifier: Apache-2.0
"""The models of the suite: name -> (module, inputs) for a batch. Sizes of the papers; decoders and experts have fewer layers than theirs."""
import torch
from models import Encoder, LanguageModel, Llama
from zoo import language, others, vision


def random(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def words(high, *shape):
    return torch.randint(0, high, shape, device="cuda")


class Patches(torch.nn.Module):
    """ViT-B/16 (Dosovitskiy et al., 2010.11929)."""

    def __init__(self):
        super().__init__()
        self.patch, self.body = torch.nn.Conv2d(3, 768, 16, 16), Encoder(12, 768, 12)
        self.first, self.positions = torch.nn.Parameter(torch.randn(1, 1, 768)), torch.nn.Parameter(torch.randn(1, 197, 768))
        self.head = torch.nn.Linear(768, 1000)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(x.shape[0], -1, -1), x], 1) + self.positions
        return self.head(self.body(x)[:, 0])


def image(model, size=224):
    return lambda n: (model(), [random(n, 3, size, size)])


def decoder(batch):
    return language.Decoder(batch=batch), [random(batch, 1, 4096), torch.tensor([1500], device="cuda"), random(1, 128), random(1, 128)]


def graph(_):
    nodes, edges = 50000, 400000
    source, target = words(nodes, edges), words(nodes, edges)
    degree = torch.bincount(target, minlength=nodes).clamp(min=1)[:, None].bfloat16()
    return others.GraphNetwork(), [random(nodes, 256), source, target, degree]


# name -> (how to make it, batch for throughput, batch for latency)
SUITE = {
    "gpt2": (lambda n: (LanguageModel(12, 768, 12, 1024, 50304), [words(50304, n, 1024)]), 8, 1),
    "bert": (lambda n: (Encoder(12, 768, 12), [random(n, 512, 768)]), 32, 1),
    "llama": (lambda n: (Llama(2, 4096, 32, 8, 14336), [random(n, 2048, 4096), random(2048, 128), random(2048, 128)]), 2, 1),
    "decode": (decoder, 16, 1),
    "mixture": (lambda n: (language.Mixture(), [random(n, 1024, 1024)]), 8, 1),
    "t5": (lambda n: (language.T5(), [words(32128, n, 512), words(32128, n, 128)]), 16, 1),
    "vit": (image(Patches), 64, 1),
    "swin": (image(vision.Swin), 64, 1),
    "resnet50": (image(vision.ResNet), 64, 1),
    "convnext": (image(vision.ConvNeXt), 64, 1),
    "efficientnet": (image(vision.EfficientNet), 64, 1),
    "densenet": (image(vision.DenseNet), 64, 1),
    "unet": (image(vision.UNet, 256), 8, 1),
    "mamba": (lambda n: (others.Mamba(2), [random(n, 512, 768)]), 4, 1),
    "dlrm": (lambda n: (others.DLRM(), [random(n, 13), words(100000, n, 26)]), 4096, 1),
    "lstm": (lambda n: (others.LSTM(), [random(n, 32, 512)]), 64, 1),
    "graph": (graph, 1, 1),
}
