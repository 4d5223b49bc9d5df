# SPDX-License-Identifier: Apache-2.0
"""Vector add and bias + GELU + residual on a GPU: Tile compared with Triton, torch.compile, eager PyTorch and a
device copy, alternating in one process; results checked against float64 first.
usage: TILE_LIBRARY=libtile.so python3 elementwise.py   (prints one JSON line per figure)"""
import json
import math
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, HERE)
import torch
import triton
import triton.language as tl
from tile_ctypes import Tile

ADD = os.path.join(ROOT, "tutorials/01-vector-add/add.tile")
FUSED = os.path.join(ROOT, "tutorials/02-fused-elementwise/fused.tile")


@triton.jit
def triton_add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


def put(what, **figures):
    print(json.dumps({"what": what, **{k: round(v, 4) if isinstance(v, float) else v for k, v in figures.items()}}), flush=True)


def alternate(cases, rounds=7, reps=12, flushes=1):
    """Median milliseconds of each case, with the 20th and 80th percentile; cases take turns, the L2 is
    flushed before every launch, for so long that the CPU has issued all of a case before it starts."""
    flush = torch.empty(1 << 30, dtype=torch.int8, device="cuda")
    times = {name: [] for name in cases}
    for f in cases.values():
        for _ in range(3):
            f()
    for _ in range(rounds):
        for name, f in cases.items():
            for _ in range(reps):
                for _ in range(flushes):
                    flush.zero_()
                start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                start.record()
                f()
                stop.record()
                torch.cuda.synchronize()
                times[name].append(start.elapsed_time(stop))
    out = {}
    for name, t in times.items():
        t.sort()
        out[name] = (t[len(t) // 2], t[len(t) // 5], t[len(t) * 4 // 5])
    return out


def vector_add(tile):
    n = 1 << 28
    x, y = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    big = torch.empty(n * 3 // 2, device="cuda")  # a copy that moves as many bytes: 1.5 n read, 1.5 n written
    source = torch.randn(n * 3 // 2, device="cuda")
    cases, checks = {}, []
    for block, warps in ((1024, 4), (1024, 8), (2048, 8), (2048, 4), (512, 4)):
        k = tile.kernel(ADD, "add", warps=warps, BLOCK=block)
        f = tile.bind(k, (triton.cdiv(n, block), 1, 1), x, y, out, n)
        out.fill_(math.nan)
        f()
        torch.cuda.synchronize()
        checks.append(bool(torch.equal(out, x + y)))
        cases[f"tile_{block}_{warps}"] = f
    cases["triton_1024"] = lambda: triton_add[(triton.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)
    cases["eager"] = lambda: torch.add(x, y, out=out)
    cases["copy"] = lambda: big.copy_(source)
    for name, (median, low, high) in alternate(cases).items():
        put("vector_add_f32_2^28", case=name, ms=median, p20=low, p80=high, gbs=12 * n / 1e6 / median)
    put("vector_add_f32_2^28", right=all(checks))
    # A length that no vector width divides.
    m = n - 3
    k = tile.kernel(ADD, "add", warps=4, BLOCK=1024)
    odd = {"tile_1024_4": tile.bind(k, (triton.cdiv(m, 1024), 1, 1), x, y, out, m),
           "triton_1024": lambda: triton_add[(triton.cdiv(m, 1024),)](x, y, out, m, BLOCK=1024)}
    for name, (median, low, high) in alternate(odd).items():
        put("vector_add_f32_2^28-3", case=name, ms=median, p20=low, p80=high, gbs=12 * m / 1e6 / median)


def bias_gelu_residual(tile):
    rows, columns = 16384, 4096
    x, r = (torch.randn(rows, columns, device="cuda", dtype=torch.float16) for _ in range(2))
    b = torch.randn(columns, device="cuda", dtype=torch.float16)
    out = torch.empty_like(x)
    gelu = lambda x, b, r: torch.nn.functional.gelu(x + b) + r
    compiled = torch.compile(gelu, dynamic=False)
    cases = {}
    v = x.double() + b.double()
    want = torch.nn.functional.gelu(v) + r.double()
    for block, warps in ((2048, 4), (1024, 4), (4096, 8), (2048, 8), (1024, 2)):
        k = tile.kernel(FUSED, "bias_gelu_residual", warps=warps, BLOCK=block)
        f = tile.bind(k, (triton.cdiv(columns, block), rows, 1), x, b, r, out, columns)
        out.fill_(math.nan)
        f()
        torch.cuda.synchronize()
        error = ((out.double() - want).norm() / want.norm()).item()
        put("bias_gelu_residual_f16_16384x4096", case=f"tile_{block}_{warps}", error=f"{error:.3e}")
        cases[f"tile_{block}_{warps}"] = f
    got = compiled(x, b, r)
    put("bias_gelu_residual_f16_16384x4096", case="torch.compile", error=f"{((got.double() - want).norm() / want.norm()).item():.3e}")
    del v, want
    cases["torch.compile"] = lambda: compiled(x, b, r)
    cases["eager"] = lambda: gelu(x, b, r)
    big, source = (torch.randn(rows * columns * 3 // 2, device="cuda").half() for _ in range(2))
    cases["copy"] = lambda: big.copy_(source)
    for name, (median, low, high) in alternate(cases).items():
        put("bias_gelu_residual_f16_16384x4096", case=name, ms=median, p20=low, p80=high, gbs=6 * rows * columns / 1e6 / median)


def launch_overhead(tile):
    n = 1024
    x, y = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    k = tile.kernel(ADD, "add", BLOCK=1024)
    ours = tile.bind(k, (1, 1, 1), x, y, out, n)
    theirs = lambda: triton_add[(1,)](x, y, out, n, BLOCK=1024)
    nothing = lambda: None
    for name, f in (("python_call", nothing), ("tile_through_ctypes", ours), ("triton", theirs)):
        samples = []
        for _ in range(20):
            torch.cuda.synchronize()
            t0 = time.perf_counter()
            for _ in range(500):
                f()
            samples.append((time.perf_counter() - t0) / 500 * 1e6)
            torch.cuda.synchronize()
        samples.sort()
        put("launch_overhead", case=name, us=samples[10])


def first_call(tile):
    """Source to finished kernel with empty caches; the context exists. One figure a process."""
    import tempfile
    os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
    n = 1 << 20
    x, y = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    torch.cuda.synchronize()
    t0 = time.perf_counter()
    k = tile.kernel(ADD, "add", BLOCK=1024)
    tile.bind(k, (1024, 1, 1), x, y, out, n)()
    torch.cuda.synchronize()
    t1 = time.perf_counter()
    triton_add[(1024,)](x, y, out, n, BLOCK=1024)
    torch.cuda.synchronize()
    t2 = time.perf_counter()
    put("first_call_vector_add", tile_ms=(t1 - t0) * 1e3, triton_ms=(t2 - t1) * 1e3)


if __name__ == "__main__":
    modes = sys.argv[1:] or ["first_call", "launch_overhead", "vector_add", "bias_gelu_residual"]
    tile = Tile()
    put("device", model=torch.cuda.get_device_name(), torch=torch.__version__, triton=triton.__version__)
    for mode in modes:
        globals()[mode](tile)
