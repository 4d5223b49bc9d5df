# SPDX-License-Identifier: Apache-2.0
"""Attention forward as graphs (scaled_dot_product_attention), f16: Tile's kernels without tuning beside cuDNN's through PyTorch, alternating in one
process, the L2 cache overwritten before each pair of launches.

usage: TILE_LIBRARY=libtile.so python3 graph_attention.py [BATCHxHEADSxLENGTHxDEPTH[c]...] [--rounds N]

One JSON line per case, TFLOP/s of 4 B H S S D operations, half of that if causal (c). The first two heads are compared with float64."""
import argparse
import statistics
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from products import FLUSH, put
from tile_ctypes import F16, Tile
from tile_programs import CompiledGraph

CASES = ("4x32x4096x128 4x32x4096x128c 1x16x16384x128c 2x32x2048x128 2x32x2048x128c 8x16x1024x128 8x16x1024x128c "
         "4x32x4096x64 4x32x4096x64c 4x16x2048x64c 8x12x1024x64c")


def text_of(b, h, s, d, causal):
    shape = f"f16[{b}, {h}, {s}, {d}]"
    return f'''def forward(self, q: "{shape}", k: "{shape}", v: "{shape}"):
    a = torch.ops.aten.scaled_dot_product_attention.default(q, k, v, None, 0.0, {causal})
    return (a,)
'''


def error_of(out, q, k, v, causal):
    x, y, z = (t[0, :2].double() for t in (q, k, v))
    scores = x @ y.mT * q.shape[-1] ** -0.5
    if causal:
        n = q.shape[2]
        scores = scores.masked_fill(~torch.ones(n, n, dtype=torch.bool, device="cuda").tril(), float("-inf"))
    want = scores.softmax(-1) @ z
    return ((out[0, :2].double() - want).abs().max() / want.abs().max()).item() if torch.isfinite(out).all() else float("nan")


def times_of(cases, rounds, flush):
    times = {name: [] for name in cases}
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for run in cases.values():
        run(), run()
    for _ in range(rounds):
        for name, run in cases.items():
            flush.zero_()
            begin.record()
            run(), run()
            end.record()
            end.synchronize()
            times[name].append(begin.elapsed_time(end) / 2)
    return {name: statistics.median(t) for name, t in times.items()}


def measure(tile, case, options, flush):
    causal = case.endswith("c")
    b, h, s, d = (int(n) for n in case.rstrip("c").split("x"))
    q, k, v = (torch.randn(b, h, s, d, device="cuda", dtype=torch.float16) for _ in range(3))
    out = torch.full_like(q, float("nan"))
    program = CompiledGraph(tile, text_of(b, h, s, d, causal))
    pack = lambda *tensors: [(t.data_ptr(), F16, t.shape, t.stride()) for t in tensors]
    run = program.bind_to(pack(q, k, v), pack(out))
    run()
    torch.cuda.synchronize()

    def cudnn():
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

    error = error_of(out, q, k, v, causal)
    times = times_of({"tile": run, "cudnn": cudnn}, options.rounds, flush)
    operations = 4 * b * h * s * s * d / (2 if causal else 1)
    rates = {name: operations / t * 1e-9 for name, t in times.items()}
    put(case, error=error, **rates, ratio=rates["tile"] / rates["cudnn"])
    return error < 2e-3


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("cases", nargs="*")
    p.add_argument("--rounds", type=int, default=15)
    options = p.parse_args()
    if not torch.cuda.is_available():
        put("skipped", why="no GPU")
        return 0
    tile, flush = Tile(device=b"cuda"), torch.empty(FLUSH // 8, dtype=torch.int8, device="cuda")
    put("device", model=torch.cuda.get_device_name(), torch=torch.__version__)
    right = [measure(tile, case, options, flush) for case in options.cases or CASES.split()]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
