# SPDX-License-Identifier: Apache-2.0
"""Attention of a few queries over many keys (decoding) as graphs: Tile's kernels beside PyTorch's scaled_dot_product_attention with
each of its backends, alternating in one process, the L2 cache overwritten before each launch.

usage: TILE_LIBRARY=libtile.so python3 decode.py [CASE...] [--seconds N] [--no-tuning]

One JSON line per case: microseconds, and the bytes of keys and values a second. Results are checked against float64. A case is
BATCHxHEADSxKEY_HEADSxQUERIESxKEYSxDEPTH."""
import argparse
import itertools
import os
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from products import FLUSH, put
from tile_ctypes import BF16, Tile
from tile_programs import CompiledGraph

BACKENDS = {"cudnn": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION, "efficient": SDPBackend.EFFICIENT_ATTENTION}
MOST_BYTES = 9 << 30
CASES = [(b, 32, 8, m, s, 128) for m, b, s in itertools.product((1, 8), (1, 8, 32, 128), (1024, 4096, 16384, 65536))]
CASES += [(1, 32, 32, 1, 4096, 128), (16, 32, 32, 1, 4096, 128), (8, 32, 8, 1, 5000, 128), (16, 16, 2, 1, 4096, 64), (4, 64, 8, 4, 8192, 128)]


def text_of(b, h, g, m, s, d):
    return f'''def forward(self, q: "bf16[{b}, {h}, {m}, {d}]", k: "bf16[{b}, {g}, {s}, {d}]", v: "bf16[{b}, {g}, {s}, {d}]"):
    a = torch.ops.aten.scaled_dot_product_attention.default(q, k, v, None, 0.0, False, enable_gqa = True)
    return (a,)
'''


def tensor_of(t):
    return t.data_ptr(), BF16, t.shape, t.stride()


def reference(q, k, v):
    """Of the first and the last batch, in double precision."""
    group, rows = q.shape[1] // k.shape[1], sorted({0, q.shape[0] - 1})
    out = []
    for i in rows:
        x, y, z = q[i].double(), k[i].double(), v[i].double()
        x = x.view(k.shape[1], group * q.shape[2], q.shape[3])
        out.append(((x @ y.mT * q.shape[3] ** -0.5).softmax(-1) @ z).view(q.shape[1], q.shape[2], -1))
    return rows, torch.stack(out)


def error_of(out, rows, want):
    got = out[rows].double()
    return ((got - want).abs().max() / want.abs().max()).item() if torch.isfinite(out).all() else float("nan")


def peer(backend, q, k, v):
    def f():
        with sdpa_kernel(backend):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=q.shape[1] != k.shape[1])
    return f


def alternate(cases, rounds, flush):
    times = {name: [] for name in cases}
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for _ in range(rounds):
        for name, run in cases.items():
            flush.zero_()
            begin.record()
            run()
            end.record()
            end.synchronize()
            times[name].append(begin.elapsed_time(end) * 1e3)
    return {name: statistics.median(t) for name, t in times.items()}


def measure(tile, case, options, flush):
    b, h, g, m, s, d = case
    name = "x".join(map(str, case))
    q = torch.randn(b, h, m, d, device="cuda", dtype=torch.bfloat16)
    k, v = (torch.randn(b, g, s, d, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    rows, want = reference(q, k, v)
    cases, row, programs = {}, {}, [("tile", None)] + ([] if options.no_tuning else [("tile_tuned", 2.0)])
    for side, tuning in programs:
        program = CompiledGraph(tile, text_of(*case))
        out = torch.full_like(q, float("nan"))
        inputs, outputs = [tensor_of(t) for t in (q, k, v)], [tensor_of(out)]
        if tuning:
            row["choice"] = [c["config"] for c in program.tune_for(inputs, outputs, tuning)]
        run = program.bind_to(inputs, outputs)
        run()
        torch.cuda.synchronize()
        row[side + "_error"] = error_of(out, rows, want)
        row["launches"] = program.counts.launches
        cases[side] = run
    for side, backend in BACKENDS.items():
        try:
            row[side + "_error"] = error_of(peer(backend, q, k, v)(), rows, want)
            cases[side] = peer(backend, q, k, v)
        except RuntimeError:
            pass
    times = alternate(cases, options.rounds, flush)
    row.update({side + "_us": t for side, t in times.items()})
    bytes_moved = 2 * b * g * s * d * 2
    row["tile_TBps"] = bytes_moved / times["tile"] * 1e-6
    peers = [t for side, t in times.items() if not side.startswith("tile")]
    if peers:
        row["of_best_peer"] = min(peers) / times["tile"]
    put(name, **row)
    return row


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("cases", nargs="*")
    p.add_argument("--rounds", type=int, default=25)
    p.add_argument("--no-tuning", action="store_true")
    options = p.parse_args()
    if not torch.cuda.is_available():
        put("skipped", why="no GPU")
        return 0
    tile, flush = Tile(device=b"cuda"), torch.empty(FLUSH // 4, dtype=torch.int8, device="cuda")
    put("device", model=torch.cuda.get_device_name(), torch=torch.__version__)
    chosen = [tuple(map(int, c.split("x"))) for c in options.cases] or [c for c in CASES if 4 * c[0] * c[2] * c[4] * c[5] <= MOST_BYTES]
    ratios = []
    for case in chosen:
        row = measure(tile, case, options, flush)
        ratios += [row["of_best_peer"]] if "of_best_peer" in row else []
    if ratios:
        put("geometric mean of_best_peer", cases=len(ratios), ratio=statistics.geometric_mean(ratios), least=min(ratios))
    return 0


if __name__ == "__main__":
    sys.exit(main())
