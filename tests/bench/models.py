# SPDX-License-Identifier: Apache-2.0
"""Whole models in bf16, inference: Tile compared with torch.compile and torch.compile(mode="max-autotune"), alternating in one
process. Tile and max-autotune replay CUDA graphs.

    python3 tests/bench/models.py [MODEL...] [--no-max-autotune] [--no-pdl] [--profile]

Needs PyTorch and a GPU. TILE_LIBRARY names libtile.so. One JSON line a model: medians of milliseconds, the relative error to eager
execution as a norm. --no-pdl adds a second recording of the same program, launched without programmatic dependent launch (tile_in_order), and
whether twenty runs of the first one have its bits. --profile adds the kernels that take most of the time. Models (random weights): gpt2 (12
layers, 8x1024 tokens), vit (12 layers of 768, 64x200 tokens), bert (12 layers of 1024, 16x512 tokens), llama (2 layers of 4096, 8 heads of keys,
2x2048 tokens)."""
import argparse
import ctypes as C
import json
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import torch
import torch.nn.functional as F
from graph_cases import text_of
from graphs import Program
from nets import Block
from tile_ctypes import Tile
from torch import nn


class Encoder(nn.Module):
    def __init__(self, layers, width, heads):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width, heads, False) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.norm(x)


class LanguageModel(nn.Module):
    def __init__(self, layers, width, heads, tokens, words):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.positions = nn.Parameter(torch.randn(tokens, width) * 0.02)
        self.blocks = nn.ModuleList(Block(width, heads, True) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, indices):
        x = self.embedding(indices) + self.positions
        for block in self.blocks:
            x = block(x)
        return self.norm(x) @ self.embedding.weight.T


class LlamaBlock(nn.Module):
    """RMS norms, rotary embeddings, grouped queries, SwiGLU."""

    def __init__(self, width, heads, key_heads, hidden):
        super().__init__()
        self.heads, self.key_heads, self.head = heads, key_heads, width // heads
        self.norm1, self.norm2 = nn.Parameter(torch.ones(width)), nn.Parameter(torch.ones(width))
        self.q, self.out = nn.Linear(width, width, False), nn.Linear(width, width, False)
        self.k, self.v = (nn.Linear(width, key_heads * self.head, False) for _ in range(2))
        self.gate, self.up, self.down = nn.Linear(width, hidden, False), nn.Linear(width, hidden, False), nn.Linear(hidden, width, False)

    @staticmethod
    def normed(x, weight):
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * weight

    def split(self, x, heads):
        return x.view(x.shape[0], x.shape[1], heads, self.head).transpose(1, 2)

    def repeated(self, x):
        shape = (x.shape[0], self.key_heads, self.heads // self.key_heads, x.shape[2], self.head)
        return x[:, :, None].expand(shape).reshape(x.shape[0], self.heads, x.shape[2], self.head)

    def forward(self, x, cos, sin):
        def rotated(t):
            a, b = t.chunk(2, -1)
            return t * cos + torch.cat((-b, a), -1) * sin

        y = self.normed(x, self.norm1)
        q, k = rotated(self.split(self.q(y), self.heads)), rotated(self.split(self.k(y), self.key_heads))
        v = self.split(self.v(y), self.key_heads)
        a = F.scaled_dot_product_attention(q, self.repeated(k), self.repeated(v), is_causal=True)
        x = x + self.out(a.transpose(1, 2).reshape(x.shape))
        y = self.normed(x, self.norm2)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self, layers, *sizes):
        super().__init__()
        self.blocks = nn.ModuleList(LlamaBlock(*sizes) for _ in range(layers))

    def forward(self, x, cos, sin):
        for block in self.blocks:
            x = block(x, cos, sin)
        return x


def random(*shape):
    return torch.randn(*shape, device="cuda").bfloat16()


MODELS = {
    "gpt2": lambda: (LanguageModel(12, 768, 12, 1024, 50304), [torch.randint(0, 50304, (8, 1024), device="cuda")]),
    "vit": lambda: (Encoder(12, 768, 12), [random(64, 200, 768)]),
    "bert": lambda: (Encoder(12, 1024, 16), [random(16, 512, 1024)]),
    "llama": lambda: (Llama(2, 4096, 32, 8, 14336), [random(2, 2048, 4096), random(2048, 128), random(2048, 128)]),
}


class Recorded:
    """The model's graph compiled by libtile, recorded on a stream."""

    def __init__(self, tile, model, inputs, shape, stream):
        tensors = inputs + list(model.parameters())
        text, order, sizes = text_of(lambda *all: model(*all[:len(inputs)]), tensors)
        start = time.perf_counter()
        self.program = Program(tile, text, [shape], sizes)
        tile.call("tile_program_wait_optimized", self.program.handle)
        self.compile_s = time.perf_counter() - start
        self.tile, self.stream, self.replay = tile, C.c_void_p(), C.c_void_p()
        tile.call("tile_stream_from_handle", tile.device, C.c_void_p(stream.cuda_stream), C.byref(self.stream))
        self.packed, self.count = self.program.pack([tensors[i] for i in order]), len(order)
        self.record(self.replay)

    def record(self, replay):
        self.tile.call("tile_program_record", self.program.handle, self.stream, C.c_uint64(0), self.packed, C.c_size_t(self.count),
                       self.program.out, C.c_size_t(len(self.program.outputs)), C.byref(replay))

    def __call__(self):
        self.tile.call("tile_replay_run", self.replay, self.stream)

    def in_order(self):
        """The same, each kernel behind the end of the one before it."""
        replay = C.c_void_p()
        self.tile.call("tile_program_set_pdl", self.program.handle, C.c_int(0))
        self.record(replay)
        self.tile.call("tile_program_set_pdl", self.program.handle, C.c_int(1))
        return lambda: self.tile.call("tile_replay_run", replay, self.stream)


def same_bits(recorded, in_order, stream, runs=20):
    got = recorded.program.outputs[0]

    def result(run):
        got.fill_(float("nan"))
        run()
        stream.synchronize()
        return got.clone()

    want = result(in_order)
    return all(torch.equal(result(recorded), want) for _ in range(runs))


def alternate(sides, stream, rounds=15, runs=2):
    times = {name: [] for name in sides}
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for _ in range(rounds):
        for name, run in sides.items():
            run()
            torch.cuda._sleep(1_500_000)  # launches are queued meanwhile
            begin.record(stream)
            for _ in range(runs):
                run()
            end.record(stream)
            end.synchronize()
            times[name].append(begin.elapsed_time(end) / runs)
    return {name: statistics.median(t) for name, t in times.items()}


def kernels_of(run):
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CUDA]) as p:
        run()
        torch.cuda.synchronize()
    rows = sorted(p.key_averages(), key=lambda e: -e.device_time_total)[:12]
    return [dict(name=e.key[:60], us=round(e.device_time_total), launches=e.count) for e in rows]


def measure(tile, name, options):
    torch.manual_seed(0)
    model, inputs = MODELS[name]()
    model = model.cuda().bfloat16().eval()
    stream = torch.cuda.Stream()
    with torch.no_grad(), torch.cuda.stream(stream):
        want = model(*inputs)
        recorded = Recorded(tile, model, inputs, want.shape, stream)
        got = recorded.program.outputs[0]
        got.fill_(float("nan"))
        recorded()
        stream.synchronize()
        error = ((got.double() - want.double()).norm() / want.double().norm()).item()
        sides, equal = {"tile": recorded}, {}
        if options.no_pdl:
            sides["tile_in_order"] = recorded.in_order()
            equal = dict(same_bits=same_bits(recorded, sides["tile_in_order"], stream))
        for mode in ("compile",) if options.no_max_autotune else ("compile", "max_autotune"):
            torch._dynamo.reset()
            compiled = torch.compile(model, mode=None if mode == "compile" else "max-autotune")
            for _ in range(3):
                compiled(*inputs)
            sides[mode] = lambda compiled=compiled: compiled(*inputs)
        times = alternate(sides, stream)
        best = min(t for side, t in times.items() if not side.startswith("tile"))
        line = dict(what=name, error=round(error, 4), launches=recorded.program.counts.launches, compile_s=round(recorded.compile_s, 2),
                    against_best=round(best / times["tile"], 3), **equal, **{side + "_ms": round(t, 3) for side, t in times.items()})
        if options.profile:
            line["kernels"] = {side: kernels_of(run) for side, run in sides.items()}
        print(json.dumps(line), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help="all by default")
    parser.add_argument("--no-max-autotune", action="store_true", help="torch.compile's default mode alone")
    parser.add_argument("--no-pdl", action="store_true", help="also without programmatic dependent launch")
    parser.add_argument("--profile", action="store_true", help="the kernels of each side")
    options = parser.parse_args()
    tile = Tile()
    print(json.dumps(dict(what="device", model=torch.cuda.get_device_name(), torch=torch.__version__)), flush=True)
    for name in options.models or MODELS:
        measure(tile, name, options)


if __name__ == "__main__":
    main()
