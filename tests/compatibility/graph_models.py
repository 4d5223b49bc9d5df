# SPDX-License-Identifier: Apache-2.0
"""The models of check_graphs.py: small configurations of published ones (transformers, timm), with random weights, and
small ones of this file for what those do not use. Nothing is downloaded.

MODELS maps a name to a function that returns a Model."""
import dataclasses
from typing import Callable

import torch
import torch.nn.functional as F
from torch import nn


@dataclasses.dataclass
class Model:
    module: nn.Module
    inputs: Callable  # size -> tuple of tensors
    axes: list  # of each input: {axis: "name"}, or None
    sizes: tuple = (3, 1, 6)  # the first is the one exported with
    zero: bool = True  # PyTorch accepts size 0
    low: int = None  # the least size that the model's code allows
    tolerance: float = 2e-4


MODELS = {}


def model(make):
    MODELS[make.__name__] = make
    return make


class Call(nn.Module):
    """A function of the model's outputs, as a module."""

    def __init__(self, inner, call):
        super().__init__()
        self.inner, self.call = inner, call

    def forward(self, *args):
        return self.call(self.inner, *args)


def ids(*shape, top=64):
    return torch.randint(0, top, shape)


# ---- transformers ----


def language_model(name, config_name, sizes=(5, 1, 9), axes=None, inputs=None, attention="sdpa", **config):
    import transformers
    common = dict(vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
                  num_key_value_heads=2, max_position_embeddings=64)
    config = getattr(transformers, config_name)(**{**common, **config})
    config._attn_implementation = attention
    config.use_cache = False
    inner = getattr(transformers, name)(config).eval()
    inputs = inputs or (lambda n: (ids(2, n),))
    return Model(Call(inner, lambda m, x: m(input_ids=x, use_cache=False)[0]), inputs, axes or [{1: "n"}], sizes=sizes, zero=False)


@model
def llama():
    return language_model("LlamaForCausalLM", "LlamaConfig")


@model
def qwen3():
    return language_model("Qwen3ForCausalLM", "Qwen3Config", head_dim=8)


@model
def gemma2():
    return language_model("Gemma2ForCausalLM", "Gemma2Config", head_dim=8, sliding_window=4, attention="eager")


@model
def mixtral():
    return language_model("MixtralForCausalLM", "MixtralConfig", num_local_experts=4, num_experts_per_tok=2,
                          experts_implementation="batched_mm")


@model
def gpt2():
    return language_model("GPT2LMHeadModel", "GPT2Config", n_embd=32, n_layer=2, n_head=4, n_positions=64)


@model
def gpt_neox():
    return language_model("GPTNeoXForCausalLM", "GPTNeoXConfig")


# One head of keys and values, which the attention broadcasts.
@model
def falcon():
    return language_model("FalconForCausalLM", "FalconConfig", multi_query=True, alibi=False)


# In-place operators on values.
@model
def falcon_alibi():
    return language_model("FalconForCausalLM", "FalconConfig", alibi=True, attention="eager")


# Copies to slices of an empty tensor.
@model
def deepseek():
    return language_model("DeepseekV3ForCausalLM", "DeepseekV3Config", moe_intermediate_size=16, n_routed_experts=4, n_group=2, topk_group=1,
                          num_experts_per_tok=2, kv_lora_rank=8, q_lora_rank=8, qk_rope_head_dim=4, qk_nope_head_dim=4, v_head_dim=8,
                          first_k_dense_replace=1, num_key_value_heads=4, experts_implementation="batched_mm")


@model
def gpt_oss():
    return language_model("GptOssForCausalLM", "GptOssConfig", head_dim=8, num_local_experts=4, num_experts_per_tok=2, sliding_window=3,
                          attention="eager", experts_implementation="batched_mm")


@model
def bert():
    import transformers
    config = transformers.BertConfig(vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
                                     max_position_embeddings=64)
    config._attn_implementation = "sdpa"
    inner = transformers.BertModel(config).eval()

    def inputs(n):
        mask = torch.ones(3, n, dtype=torch.int64)
        mask[0, n // 2 + 1:] = 0
        return ids(3, n), mask

    return Model(Call(inner, lambda m, x, mask: m(input_ids=x, attention_mask=mask)[0]), inputs, [{1: "n"}, {1: "n"}], sizes=(6, 1, 11), zero=False)


@model
def t5():
    import transformers
    config = transformers.T5Config(vocab_size=64, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, decoder_start_token_id=0, pad_token_id=0)
    inner = transformers.T5ForConditionalGeneration(config).eval()
    return Model(Call(inner, lambda m, x, y: m(input_ids=x, decoder_input_ids=y, use_cache=False)[0]),
                 lambda n: (ids(2, n), ids(2, n + 1)), [{1: "n"}, {1: "k"}], sizes=(4, 1, 7), zero=False)


@model
def bart():
    import transformers
    config = transformers.BartConfig(vocab_size=64, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                                     decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=64)
    inner = transformers.BartModel(config).eval()
    return Model(Call(inner, lambda m, x, y: m(input_ids=x, decoder_input_ids=y, use_cache=False)[0]),
                 lambda n: (ids(2, n), ids(2, n + 1)), [{1: "n"}, {1: "k"}], sizes=(4, 1, 7), zero=False)


@model
def mamba():
    import transformers
    config = transformers.MambaConfig(vocab_size=64, hidden_size=16, state_size=4, num_hidden_layers=2, conv_kernel=4, use_mambapy=False)
    inner = transformers.MambaModel(config).eval()
    return Model(Call(inner, lambda m, x: m(input_ids=x, use_cache=False)[0]), lambda n: (ids(n, 5),), [{0: "b"}], zero=False)


@model
def whisper_encoder():
    import transformers
    config = transformers.WhisperConfig(vocab_size=64, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                                        decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, num_mel_bins=8, max_source_positions=12,
                                        max_target_positions=16, pad_token_id=0, bos_token_id=1, eos_token_id=2)
    inner = transformers.WhisperModel(config).eval()
    return Model(Call(inner, lambda m, x: m.encoder(x)[0]), lambda n: (torch.randn(n, 8, 24),), [{0: "b"}], zero=False)


@model
def clip():
    import transformers
    config = transformers.CLIPTextConfig(vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
                                         max_position_embeddings=16, eos_token_id=63)
    inner = transformers.CLIPTextModel(config).eval()
    return Model(Call(inner, lambda m, x: m(input_ids=x)[1]), lambda n: (ids(n, 9),), [{0: "b"}], zero=False)


@model
def wav2vec2():
    import transformers
    config = transformers.Wav2Vec2Config(vocab_size=16, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
                                         conv_dim=(16, 16, 16), conv_stride=(5, 2, 2), conv_kernel=(10, 3, 2), num_feat_extract_layers=3,
                                         num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=4)
    inner = transformers.Wav2Vec2Model(config).eval()
    return Model(Call(inner, lambda m, x: m(x)[0]), lambda n: (torch.randn(2, 100 + 60 * n),), [{1: "n"}], sizes=(3, 1, 5), zero=False)


@model
def vit():
    import transformers
    config = transformers.ViTConfig(image_size=16, patch_size=4, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4)
    inner = transformers.ViTModel(config).eval()
    return Model(Call(inner, lambda m, x: m(pixel_values=x)[0]), lambda n: (torch.randn(n, 3, 16, 16),), [{0: "b"}], zero=False)


@model
def siglip():
    import transformers
    config = transformers.SiglipVisionConfig(image_size=16, patch_size=4, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4)
    inner = transformers.SiglipVisionModel(config).eval()
    return Model(Call(inner, lambda m, x: m(x)[1]), lambda n: (torch.randn(n, 3, 16, 16),), [{0: "b"}], zero=False)


# ---- timm ----


def image_model(name, side=32, axes=None, sizes=(3, 1, 4), inputs=None, zero=True, **options):
    import timm
    inner = timm.create_model(name, pretrained=False, num_classes=10, **options).eval()
    return Model(inner, inputs or (lambda n: (torch.randn(n, 3, side, side),)), axes or [{0: "b"}], sizes=sizes, zero=zero, tolerance=1e-3)


@model
def swin():
    return image_model("swin_tiny_patch4_window7_224", side=32, img_size=32, window_size=4, embed_dim=16, depths=(2, 2), num_heads=(2, 4), zero=False)


@model
def convnext():
    return image_model("convnext_atto", depths=(1, 1, 1, 1), dims=(8, 16, 24, 32))


@model
def convnext_sides():
    return image_model("convnext_atto", depths=(1, 1, 1, 1), dims=(8, 16, 24, 32), axes=[{2: "h", 3: "w"}], zero=False,
                       inputs=lambda n: (torch.randn(2, 3, 32 * n, 32 * n + 32),))


@model
def resnet():
    return image_model("resnet10t", channels=(8, 16, 16, 32), zero=True)


@model
def resnet_sides():
    return image_model("resnet10t", channels=(8, 16, 16, 32), axes=[{2: "h", 3: "w"}], zero=False,
                       inputs=lambda n: (torch.randn(2, 3, 32 * n, 32 * n + 32),))


@model
def mobilenet():
    return image_model("mobilenetv3_small_050")


@model
def efficientnet():
    return image_model("efficientnet_lite0")


@model
def mixer():
    return image_model("mixer_s32_224", side=64, img_size=64)


@model
def densenet():
    return image_model("densenet121", growth_rate=4, block_config=(3, 3, 3), bn_size=2)


@model
def deit():
    return image_model("deit_tiny_distilled_patch16_224", side=32, img_size=32, embed_dim=24, depth=2, num_heads=3)


@model
def coat():
    return image_model("pvt_v2_b0", depths=(1, 1, 1, 1), embed_dims=(8, 16, 40, 64), zero=False)


@model
def mobilevit():
    return image_model("mobilevit_xxs", side=64, sizes=(2, 1, 3), zero=False)


# ---- torchvision ----


@model
def retina_head():
    from torchvision.models.detection.retinanet import RetinaNetHead
    head = RetinaNetHead(8, 3, 5).eval()

    def call(m, a, b):
        out = m([a, b])
        scores, index = out["cls_logits"].sigmoid().flatten(1).topk(7)
        boxes = out["bbox_regression"].gather(1, (index // 5)[..., None].expand(-1, -1, 4))
        return scores, boxes

    return Model(Call(head, call), lambda n: (torch.randn(n, 8, 8, 8), torch.randn(n, 8, 4, 4)), [{0: "b"}, {0: "b"}], zero=False)


@model
def segmentation():
    from torchvision.models.segmentation import lraspp_mobilenet_v3_large
    inner = lraspp_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=4).eval()
    return Model(Call(inner, lambda m, x: m(x)["out"]), lambda n: (torch.randn(n, 3, 32, 32),), [{0: "b"}], sizes=(2, 1, 3), tolerance=1e-3)


# ---- of this file ----


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        block = lambda i, o: nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.GroupNorm(2, o), nn.SiLU())
        self.a, self.b, self.c, self.d = block(1, 4), block(4, 8), block(8, 4), block(8, 4)
        self.up, self.head = nn.ConvTranspose2d(4, 4, 2, stride=2), nn.Conv2d(4, 2, 1)

    def forward(self, x):
        a = self.a(x)
        c = self.c(self.b(F.max_pool2d(a, 2)))
        up = self.up(c)
        smooth = F.interpolate(c, size=a.shape[-2:], mode="bilinear", align_corners=False)
        return self.head(self.d(torch.cat([a, up + smooth], 1)))


@model
def unet():
    return Model(UNet().eval(), lambda n: (torch.randn(n, 1, 12, 8),), [{0: "b"}])


@model
def unet_sides():
    return Model(UNet().eval(), lambda n: (torch.randn(2, 1, 4 * n, 4 * n + 4),), [{2: "4*h", 3: "4*w"}], zero=False)


class LSTMCellLoop(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.LSTMCell(6, 8), nn.Linear(8, 3)

    def forward(self, x):
        h = c = x.new_zeros(x.shape[0], 8)
        outs = []
        for t in range(x.shape[1]):
            h, c = self.cell(x[:, t], (h, c))
            outs.append(self.out(h))
        return torch.stack(outs, 1), h, c


@model
def lstm_loop():
    return Model(LSTMCellLoop(), lambda n: (torch.randn(n, 7, 6),), [{0: "b"}])


class GraphNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.message, self.update = nn.Linear(10, 8), nn.Linear(13, 5)

    def forward(self, nodes, edges, weights):
        source, target = edges[0], edges[1]
        m = torch.relu(self.message(torch.cat([nodes[source], nodes[target]], -1))) * weights[:, None]
        total = nodes.new_zeros(nodes.shape[0], 8).index_add(0, target, m)
        count = nodes.new_zeros(nodes.shape[0]).scatter_add(0, target, torch.ones_like(weights))
        mean = total / count.clamp(min=1)[:, None]
        worst = torch.full_like(count, -1.0).scatter_reduce(0, target, weights, "amax")
        return self.update(torch.cat([nodes, mean], -1)), worst


@model
def graph_net():
    def inputs(n):
        nodes, edges = n + 1, 2 * n
        return torch.randn(nodes, 5), ids(2, edges, top=nodes), torch.rand(edges)

    return Model(GraphNet(), inputs, [{0: "n"}, {1: "e"}, {0: "e"}], sizes=(4, 1, 9))


class Speech(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("basis", torch.randn(18, 16))
        self.conv, self.pointwise = nn.Conv1d(9, 12, 3, stride=2, padding=1), nn.Conv1d(12, 24, 1)
        self.depthwise, self.norm, self.out = nn.Conv1d(12, 12, 5, padding=2, groups=12), nn.BatchNorm1d(12), nn.Linear(12, 5)

    def forward(self, x):
        frames = x.unfold(-1, 16, 8)
        spectrum = frames @ self.basis.T
        power = spectrum[..., :9] ** 2 + spectrum[..., 9:] ** 2
        y = self.conv(torch.log(power + 1e-5).transpose(1, 2))
        y = self.norm(self.depthwise(F.glu(self.pointwise(y), dim=1)))
        return F.log_softmax(self.out(F.silu(y).transpose(1, 2)), -1)


@model
def speech():
    return Model(Speech().eval(), lambda n: (torch.randn(2, 40 + 16 * n),), [{1: "n"}], sizes=(3, 1, 6), zero=False)


@model
def speech_batch():
    return Model(Speech().eval(), lambda n: (torch.randn(n, 72),), [{0: "b"}])


class StaticCache(nn.Module):
    """Decode steps of an attention layer, whose cache is a buffer that the graph writes."""

    def __init__(self, heads=4, width=8, length=16):
        super().__init__()
        self.heads, self.width = heads, width
        self.qkv, self.out = nn.Linear(heads * width, 3 * heads * width, bias=False), nn.Linear(heads * width, heads * width, bias=False)
        self.register_buffer("keys", torch.randn(1, heads, length, width))
        self.register_buffer("values", torch.randn(1, heads, length, width))

    def forward(self, x, position):
        q, k, v = self.qkv(x).view(1, -1, 3, self.heads, self.width).permute(2, 0, 3, 1, 4)
        keys, values = self.keys.index_copy(2, position, k), self.values.index_copy(2, position, v)
        mask = torch.arange(keys.shape[2], device=x.device)[None, :] <= position[:, None]
        y = F.scaled_dot_product_attention(q, keys, values, attn_mask=mask)
        return self.out(y.transpose(1, 2).flatten(2)), keys, values


@model
def static_cache():
    return Model(StaticCache(), lambda n: (torch.randn(1, n, 32), torch.arange(n) + 2), [{1: "n"}, {0: "n"}], zero=False)


class StateSpace(nn.Module):
    """A selective scan as a loop over time, and the same as cumulative sums of logarithms."""

    def __init__(self, width=6, state=4):
        super().__init__()
        self.project, self.a = nn.Linear(width, width + 2 * state), nn.Parameter(torch.rand(width, state))
        self.conv = nn.Conv1d(width, width, 4, padding=3, groups=width)
        self.state, self.width = state, width

    def forward(self, x):
        y = F.silu(self.conv(x.transpose(1, 2))[..., :x.shape[1]].transpose(1, 2))
        dt, b, c = self.project(y).split([self.width, self.state, self.state], -1)
        dt = F.softplus(dt)
        decay = -dt[..., None] * self.a
        drive = (dt * y)[..., None] * b[:, :, None]
        total = decay.cumsum(1)
        h = (total[:, :, None] - total[:, None]).clamp(max=0).exp()
        past = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
        h = (h.masked_fill(~past[None, :, :, None, None], 0.0) * drive[:, None]).sum(2)
        return (h * c[:, :, None]).sum(-1) + y


@model
def state_space():
    return Model(StateSpace(), lambda n: (torch.randn(2, n, 6),), [{1: "n"}], sizes=(5, 1, 8), zero=False)


class Experts(nn.Module):
    def __init__(self, width=8, experts=4, k=2):
        super().__init__()
        self.k, self.router = k, nn.Linear(width, experts, bias=False)
        self.w1, self.w2 = nn.Parameter(torch.randn(experts, width, 12)), nn.Parameter(torch.randn(experts, 12, width))

    def forward(self, x):
        weights, chosen = self.router(x).softmax(-1).topk(self.k)
        weights = weights / weights.sum(-1, keepdim=True)
        hidden = torch.einsum("tw,tkwh->tkh", x, self.w1[chosen])
        y = torch.einsum("tkh,tkhw->tkw", F.gelu(hidden), self.w2[chosen])
        load = F.one_hot(chosen, 4).sum((0, 1))
        return (y * weights[..., None]).sum(1), load


@model
def experts():
    return Model(Experts(), lambda n: (torch.randn(n, 8),), [{0: "t"}])


class Windows(nn.Module):
    """Window attention with a relative bias and a cyclic shift, over symbolic sides."""

    def __init__(self, width=8, side=2):
        super().__init__()
        self.side, self.qkv, self.bias = side, nn.Linear(width, 3 * width), nn.Parameter(torch.randn(2, side * side, side * side))

    def forward(self, x):
        b, h, w, c = x.shape
        s = self.side
        x = torch.roll(F.pad(x, (0, 0, 0, (s - w % s) % s, 0, (s - h % s) % s)), (-1, -1), (1, 2))
        hp, wp = x.shape[1:3]
        y = x.view(b, hp // s, s, wp // s, s, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, s * s, c)
        q, k, v = self.qkv(y).view(y.shape[0], s * s, 3, 2, c // 2).permute(2, 0, 3, 1, 4)
        a = ((q @ k.transpose(-1, -2)) * 0.5 + self.bias).softmax(-1) @ v
        a = a.transpose(1, 2).reshape(b, hp // s, wp // s, s, s, c).permute(0, 1, 3, 2, 4, 5).reshape(b, hp, wp, c)
        return torch.roll(a, (1, 1), (1, 2))[:, :h, :w]


@model
def windows():
    return Model(Windows(), lambda n: (torch.randn(n, 4, 6, 8),), [{0: "b"}])


@model
def windows_sides():
    return Model(Windows(), lambda n: (torch.randn(2, 2 * n, 2 * n + 2, 8),), [{1: "2*h", 2: "2*w"}], zero=False)


class Pools(nn.Module):
    def forward(self, x):
        a = F.max_pool2d(x, 3, stride=2, padding=1)
        b = F.avg_pool2d(a, 2, ceil_mode=True)
        c = F.adaptive_avg_pool2d(x, (2, 3))
        d = F.adaptive_max_pool2d(x, 1)
        return a, b, c, d.flatten(1), F.lp_pool2d(x, 2.0, 2), F.pixel_unshuffle(x, 2)


@model
def pools():
    return Model(Pools(), lambda n: (torch.randn(n, 2, 12, 18),), [{0: "b"}])


@model
def pools_sides():
    class Sides(nn.Module):
        def forward(self, x):
            a = F.max_pool2d(F.max_pool2d(x, 2), 3, stride=2, padding=1)
            b = F.avg_pool2d(x, 2, ceil_mode=True)
            return a, b, x.mean((2, 3)), F.interpolate(a, scale_factor=2, mode="nearest"), F.interpolate(a, size=x.shape[2:], mode="bilinear")
    return Model(Sides(), lambda n: (torch.randn(2, 2, 4 * n + 1, 4 * n + 6),), [{2: "h", 3: "w"}], zero=False)


class Boxes(nn.Module):
    """The tail of a detector without suppression: the best boxes by score, decoded and clipped."""

    def forward(self, scores, deltas, anchors):
        best, label = scores.sigmoid().max(-1)
        score, order = best.topk(4, dim=1)
        picked = deltas.gather(1, order[..., None].expand(-1, -1, 4))
        base = anchors[order]
        size = base[..., 2:] - base[..., :2]
        center = base[..., :2] + 0.5 * size + picked[..., :2] * size
        half = 0.5 * size * picked[..., 2:].clamp(max=4.0).exp()
        boxes = torch.cat([center - half, center + half], -1).clamp(0, 1)
        area = (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])
        low, high = torch.maximum(boxes[:, :, None, :2], boxes[:, None, :, :2]), torch.minimum(boxes[:, :, None, 2:], boxes[:, None, :, 2:])
        shared = (high - low).clamp(min=0).prod(-1)
        iou = shared / (area[:, :, None] + area[:, None] - shared + 1e-6)
        decay = (1 - iou.triu(1).max(1).values) * score
        return boxes, decay, label.gather(1, order)


@model
def boxes():
    return Model(Boxes(), lambda n: (torch.randn(n, 10, 3), torch.randn(n, 10, 4), torch.rand(10, 4)), [{0: "b"}, {0: "b"}, None])


class Ragged(nn.Module):
    """Arithmetic on sizes: halves, products, remainders, ranges of computed lengths."""

    def forward(self, x, y):
        n, m = x.shape[0], y.shape[0]
        half = n // 2
        a = x[:half].sum(0) + x[half:].mean(0) * (n + m)
        b = torch.arange(n * m, device=x.device).view(n, m).remainder(n + 1)
        c = torch.cat([x, y.flip(0)])[::2]
        d = torch.full((m + 1, n), 0.5, device=x.device).cumsum(0)
        return a, b, c, d, x.new_zeros(2 * n - n % 2).add(m / (n + 1)), y.repeat(2, 1)[: n + m]


@model
def ragged():
    return Model(Ragged(), lambda n: (torch.randn(n, 4), torch.randn(n + 2, 4)), [{0: "n"}, {0: "m"}], sizes=(5, 4, 7), zero=False, low=4)


class Recommender(nn.Module):
    """Bags of embeddings, and the products of each pair of them."""

    def __init__(self):
        super().__init__()
        self.bottom, self.top = nn.Linear(4, 6), nn.Linear(6 + 6, 1)
        self.tables = nn.ModuleList([nn.EmbeddingBag(10, 6, mode="sum") for _ in range(3)])

    def forward(self, dense, sparse):
        x = F.relu(self.bottom(dense))
        z = torch.stack([x] + [table(sparse[:, i]) for i, table in enumerate(self.tables)], 1)
        i, j = torch.tril_indices(4, 4, -1)
        return self.top(torch.cat([x, (z @ z.transpose(1, 2))[:, i, j]], 1))


@model
def recommender():
    return Model(Recommender(), lambda n: (torch.randn(n, 4), ids(n, 3, 5, top=10)), [{0: "b"}, {0: "b"}])


class InPlace(nn.Module):
    """Writes to values, to views of them and of views, and reads of views made before."""

    def forward(self, x):
        y = torch.zeros_like(x)
        row, flat = y[:, 0], y.view(-1)
        y.copy_(x).mul_(2)
        y[:, 1:3] += 1
        y[:, 2].relu_()
        y.t()[-1].fill_(3)
        a, b = y.chunk(2, 1)
        b.sub_(a)
        return y, row * 2, flat.clamp_(min=-1), x + y


@model
def in_place():
    return Model(InPlace(), lambda n: (torch.randn(n, 6),), [{0: "b"}])


class Bits(nn.Module):
    """Powers of two by the bits of floats, packed bytes, the most frequent label."""

    def forward(self, x, labels):
        exponent = (x.view(torch.int32) >> 23 & 255) - 127
        scale = ((exponent + 127) << 23).view(torch.float32)
        packed = (x / scale).to(torch.bfloat16).view(torch.int32)
        values, indices = labels.mode(1)
        return exponent, scale, packed, x.view(torch.uint8), values, indices, torch.digamma(x.abs() + 0.5)


@model
def bits():
    return Model(Bits(), lambda n: (torch.randn(n, 4), ids(n, 5, top=3)), [{0: "b"}, {0: "b"}])


@model
def long_convolution():
    """A convolution as long as the sequence, by Fourier transforms of symbolic length; FNet's mixing."""
    class LongConvolution(nn.Module):
        def forward(self, x):
            n = x.shape[1]
            kernel = torch.fft.rfft(torch.exp(-0.3 * torch.arange(n).float()), n=2 * n)
            y = torch.fft.irfft(torch.fft.rfft(x, n=2 * n, dim=1) * kernel[None, :, None], n=2 * n, dim=1)[:, :n]
            return y, torch.fft.fft2(x, norm="ortho").real

    return Model(LongConvolution(), lambda n: (torch.randn(2, n, 3),), [{1: "n"}], sizes=(6, 1, 9, 5), zero=False)


@model
def spectrogram():
    class Spectrogram(nn.Module):
        def forward(self, x):
            z = torch.stft(x, 16, 4, win_length=12, window=torch.hamming_window(12), return_complex=True)
            return (z.abs().square() + 1e-6).log10()

    return Model(Spectrogram(), lambda n: (torch.randn(n, 40),), [{0: "n"}], zero=False)


@model
def running():
    """Running extrema, products and sums along a symbolic dimension."""
    class Running(nn.Module):
        def forward(self, x):
            top, at = x.cummax(1)
            return top, at, x.cummin(1).values, x.cumprod(1), torch.logcumsumexp(x, 1)

    return Model(Running(), lambda n: (torch.randn(2, n, 3),), [{1: "n"}])


@model
def patches():
    """A guard makes the square of a symbolic number of patches a constant."""
    class Patches(nn.Module):
        def __init__(self):
            super().__init__()
            self.cut, self.where = nn.Conv2d(3, 8, 4, 4), nn.Embedding(9, 8)

        def forward(self, x):
            y = self.cut(x).flatten(2).transpose(1, 2)
            return F.layer_norm(y + self.where(torch.arange(9)), (8,)).mean(1)

    return Model(Patches(), lambda n: (torch.randn(n, 3, 12, 12),), [{0: "n"}], zero=False)
