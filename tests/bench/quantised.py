# SPDX-License-Identifier: Apache-2.0
"""Products of graphs with weights of few bits, beside PyTorch's, alternating in one process.

usage: TILE_LIBRARY=libtile.so python3 quantised.py [rows|fp8...] [--rounds N]

`rows`: 1 to 64 rows of bf16 times 11008 x 4096 weights in bf16 (beside torch.mm), int8 with a scale for each row of them, and 4 bits, two a byte, with a scale for
each 128; microseconds, behind a sum over another buffer that leaves the L2 cache without lines to write back. `fp8`: _scaled_mm of e4m3 in rows along k, bf16 results,
TFLOP/s, beside torch._scaled_mm with and without fast accumulation. One JSON line per case; errors are those of the norm, against float64."""
import argparse
import statistics
import sys

import torch
from products import FLUSH, put
from tile_ctypes import BF16, F32, Tile
from tile_programs import CompiledGraph

I8, U8, F8E4NV = 1, 5, 10
KINDS = {torch.bfloat16: BF16, torch.int8: I8, torch.uint8: U8, torch.float8_e4m3fn: F8E4NV, torch.float32: F32}
COLUMNS, INNER, GROUP = 11008, 4096, 128
FP8 = ((1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (8192, 8192, 1024), (4096, 7168, 16384))

PRODUCT = '''    t = torch.ops.aten.permute.default(u, [1, 0])
    y = torch.ops.aten.mm.default(x, t)
    return (y,)
'''


def text_of(kind, m, n, k):
    x = f'def forward(self, x: "bf16[{m}, {k}]", '
    if kind == "bf16":
        return x + f'u: "bf16[{n}, {k}]"):\n' + PRODUCT
    if kind == "int8":
        return x + f'''w: "i8[{n}, {k}]", s: "bf16[{n}, 1]"):
    c = torch.ops.aten._to_copy.default(w, dtype = torch.bfloat16)
    u = torch.ops.aten.mul.Tensor(c, s)
''' + PRODUCT
    return x + f'''w: "u8[{n}, {k // 2}]", s: "bf16[{n}, {k // GROUP}, 1]"):
    low = torch.ops.aten.bitwise_and.Scalar(w, 15)
    high = torch.ops.aten.__rshift__.Scalar(w, 4)
    both = torch.ops.aten.stack.default([low, high], -1)
    v = torch.ops.aten.view.default(both, [{n}, {k // GROUP}, {GROUP}])
    c = torch.ops.aten._to_copy.default(v, dtype = torch.bfloat16)
    d = torch.ops.aten.sub.Tensor(c, 8)
    e = torch.ops.aten.mul.Tensor(d, s)
    u = torch.ops.aten.view.default(e, [{n}, {k}])
''' + PRODUCT


def weights_of(kind, n, k):
    """What the graph gets, and the values."""
    if kind == "bf16":
        w = (torch.randn(n, k, device="cuda") * 0.02).bfloat16()
        return [w], w
    if kind == "int8":
        w, s = torch.randint(-127, 128, (n, k), device="cuda", dtype=torch.int8), (torch.rand(n, 1, device="cuda") * 1e-3 + 1e-4).bfloat16()
        return [w, s], w.bfloat16() * s
    w = torch.randint(0, 256, (n, k // 2), device="cuda", dtype=torch.uint8)
    s = (torch.rand(n, k // GROUP, 1, device="cuda") * 1e-2 + 1e-3).bfloat16()
    return [w, s], (torch.stack([w & 15, w >> 4], -1).view(n, k // GROUP, GROUP).bfloat16().sub(8) * s).view(n, k)


def tensor_of(t):
    return t.data_ptr(), KINDS[t.dtype], t.shape, t.stride()


def compiled(tile, text, inputs, out):
    program = CompiledGraph(tile, text)
    run = program.bind_to(list(map(tensor_of, inputs)), [tensor_of(out)])
    run()
    torch.cuda.synchronize()
    return run


def error_of(got, want):
    return ((got.double() - want).norm() / want.norm()).item()


def times_of(cases, rounds, flush):
    times = {name: [] for name in cases}
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for run in cases.values():
        run(), run()
    for _ in range(rounds):
        for name, run in cases.items():
            flush()
            begin.record()
            run()
            end.record()
            end.synchronize()
            times[name].append(begin.elapsed_time(end))
    return {name: statistics.median(t) for name, t in times.items()}


def measure_rows(tile, options, buffer):
    flush, right = lambda: buffer.view(torch.int32).sum(), True
    for kind in ("bf16", "int8", "int4"):
        given, values = weights_of(kind, COLUMNS, INNER)
        for m in (1, 4, 16, 32, 64):
            x = torch.randn(m, INNER, device="cuda").bfloat16()
            out = torch.full((m, COLUMNS), float("nan"), device="cuda", dtype=torch.bfloat16)
            cases = {"tile": compiled(tile, text_of(kind, m, COLUMNS, INNER), [x] + given, out)}
            error = error_of(out, x.double() @ values.double().T)
            if kind == "bf16":
                cases["mm"] = lambda: torch.mm(x, values.T)
            times = {name: t * 1e3 for name, t in times_of(cases, options.rounds, flush).items()}
            read = sum(t.numel() * t.element_size() for t in given)
            put(f"{kind} {m}x{COLUMNS}x{INNER}", error=error, TBps=read / times["tile"] * 1e-6, **times)
            right = right and error < 5e-3
    return right


def measure_fp8(tile, options, buffer):
    right = True
    for m, n, k in FP8:
        x, w = (torch.randn(rows, k, device="cuda").to(torch.float8_e4m3fn) for rows in (m, n))
        a, b = torch.tensor(0.5, device="cuda"), torch.tensor(0.25, device="cuda")
        out = torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16)
        text = f'''def forward(self, x: "f8e4m3fn[{m}, {k}]", w: "f8e4m3fn[{n}, {k}]", a: "f32[]", b: "f32[]"):
    t = torch.ops.aten.permute.default(w, [1, 0])
    y = torch.ops.aten._scaled_mm.default(x, t, a, b, out_dtype = torch.bfloat16, use_fast_accum = True)
    return (y,)
'''
        peer = lambda fast: lambda: torch._scaled_mm(x, w.T, a, b, out_dtype=torch.bfloat16, use_fast_accum=fast)
        cases = {"tile": compiled(tile, text, [x, w, a, b], out), "fast": peer(True), "precise": peer(False)}
        want = x[:256].double() @ w.double().T * 0.125
        error, of_peer = error_of(out[:256], want), error_of(peer(True)()[:256], want)
        rates = {name: 2 * m * n * k / t * 1e-9 for name, t in times_of(cases, options.rounds, buffer.zero_).items()}
        put(f"fp8 {m}x{n}x{k}", error=error, error_of_fast=of_peer, **rates)
        right = right and error < 1.5 * of_peer
    return right


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("modes", nargs="*", help="both by default")
    p.add_argument("--rounds", type=int, default=20)
    options = p.parse_args()
    if not torch.cuda.is_available():
        put("skipped", why="no GPU")
        return 0
    tile, buffer = Tile(device=b"cuda"), torch.empty(FLUSH // 4, dtype=torch.int8, device="cuda")
    put("device", model=torch.cuda.get_device_name(), torch=torch.__version__)
    modes = {"rows": measure_rows, "fp8": measure_fp8}
    right = [modes[mode](tile, options, buffer) for mode in options.modes or modes]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
