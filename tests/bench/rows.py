# SPDX-License-Identifier: Apache-2.0
"""Softmax, layer norm and RMS norm on a GPU: Tile compared with the kernels of Triton's tutorials, torch.compile,
eager PyTorch and a device copy of as many bytes; cases alternate, results are checked against float64 first.
usage: TILE_LIBRARY=libtile.so [PEERS_DIR=folder of 02-fused-softmax.py and 05-layer-norm.py] python3 rows.py [MODE...]
One JSON line per figure. --all tries every launch shape, not only earlier winners."""
import importlib.util
import math
import os
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import torch
import triton
from elementwise import ROOT, alternate, put
from tile_ctypes import Tile

SOFTMAX = os.path.join(ROOT, "tutorials/03-fused-softmax/softmax.tile")
LAYER_NORM = os.path.join(ROOT, "tutorials/04-layer-norm/layer_norm.tile")
RMS_NORM = os.path.join(HERE, "rms_norm.tile")
EPS = 1e-5
ALL = "--all" in sys.argv


def tutorial(name, cut):
    """The module of a tutorial's file up to the text `cut`, or None."""
    path = os.path.join(os.environ.get("PEERS_DIR", ""), name)
    if not os.path.exists(path):
        return None
    text = open(path).read().split(cut)[0]
    copy = os.path.join(tempfile.mkdtemp(), "peer_" + name.replace("-", "_"))
    open(copy, "w").write(text)
    spec = importlib.util.spec_from_file_location("peer", copy)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def error_of(got, want):
    return ((got.double() - want).norm() / want.norm()).item()


def show(what, times, traffic):
    copy = times.get("copy", (None,))[0]
    for name, (median, low, high) in times.items():
        put(what, case=name, ms=median, p20=low, p80=high, gbs=traffic / 1e6 / median, of_copy=copy and copy / median)


def copy_case(traffic):
    """Reads and writes traffic / 2 bytes each."""
    source = torch.randn(traffic // 8, device="cuda")
    target = torch.empty_like(source)
    return lambda: target.copy_(source)


def block_of(columns):
    return triton.next_power_of_2(columns)


# Candidates of (rows per program, warps) for a row of `block` elements.
def shapes(block, quick):
    if not ALL:
        return quick
    tries = []
    for warps in (1, 2, 4, 8, 16, 32):
        per_thread = block / (warps * 32)
        if 4 <= per_thread <= 64:
            tries.append((1, warps))
    for rows in (2, 4, 8):
        for warps in (4, 8):
            if 4 <= rows * block / (warps * 32) <= 64:
                tries.append((rows, warps))
    return tries


def triton_softmax(peer, x):
    """The tutorial's launch with all that its wrapper finds out on the CPU done before."""
    rows, columns = x.shape
    y = torch.empty_like(x)
    options = dict(BLOCK_SIZE=block_of(columns), num_stages=4 if peer.SIZE_SMEM > 200000 else 2, num_warps=8)
    try:
        k = peer.softmax_kernel.warmup(y, x, columns, columns, rows, columns, grid=(1,), **options)
        k._init_handles()
    except Exception as problem:  # needs more shared memory than there is
        put("softmax", case="triton", columns=columns, problem=str(problem)[:120])
        return None
    resident = min(peer.NUM_REGS // (k.n_regs * 32 * 8), peer.SIZE_SMEM // max(k.metadata.shared, 1))
    programs = min(peer.NUM_SM * max(resident, 1), rows)
    return lambda: peer.softmax_kernel[(programs,)](y, x, columns, columns, rows, columns, **options)


def run_softmax(tile, rows, columns, quick):
    what = f"softmax_f32_{rows}x{columns}"
    x = torch.randn(rows, columns, device="cuda")
    want = torch.softmax(x[:256].double(), -1)
    block, cases = block_of(columns), {}
    for per, warps in shapes(block, quick):
        out = torch.empty_like(x)
        k = tile.kernel(SOFTMAX, "softmax", warps=warps, ROWS=per, BLOCK=block)
        f = tile.bind(k, (triton.cdiv(rows, per), 1, 1), x, out, rows, columns, columns, columns)
        out.fill_(math.nan)
        f()
        torch.cuda.synchronize()
        error = error_of(out[:256], want)
        if not error < 1e-6 or not error_of(out[-8:], torch.softmax(x[-8:].double(), -1)) < 1e-6:
            put(what, case=f"tile_{per}x{warps}", WRONG=error)
        cases[f"tile_{per}x{warps}"] = f
    peer = tutorial("02-fused-softmax.py", "# %%\n# Unit Test")
    if peer:
        launch = triton_softmax(peer, x)
        if launch:
            cases["triton"] = launch
    compiled = torch.compile(lambda v: torch.softmax(v, -1), dynamic=False)
    cases["torch.compile"] = lambda: compiled(x)
    cases["eager"] = lambda: torch.softmax(x, -1)
    traffic = 8 * rows * columns
    cases["copy"] = copy_case(traffic)
    show(what, alternate(cases), traffic)
    torch._dynamo.reset()


def softmax(tile):
    run_softmax(tile, 4096, 1024, [(1, 1), (1, 2), (4, 4)])
    run_softmax(tile, 4096, 4096, [(1, 2), (1, 4)])
    run_softmax(tile, 4096, 8192, [(1, 4), (1, 8)])
    run_softmax(tile, 8192, 12672, [(1, 16), (1, 32)])


def wide_softmax(tile):
    run_softmax(tile, 4096, 32768, [(1, 16), (1, 32)])
    run_softmax(tile, 2048, 65536, [(1, 32)])


def walks(block):
    """(warps, programs, bound on registers) that are tried for programs that walk over rows."""
    return {4096: [(4, 660, 96)], 8192: [(16, 264, 64)], 16384: [(16, 132, 112)]}.get(block, [])


def run_layer_norm(tile, rows, columns, quick):
    what = f"layer_norm_f16_{rows}x{columns}"
    x = (torch.randn(rows, columns, device="cuda") * 0.5 - 2.3).half()
    w, b = torch.rand(columns, device="cuda").half(), torch.rand(columns, device="cuda").half()
    mean, rstd = torch.empty(rows, device="cuda"), torch.empty(rows, device="cuda")
    F = torch.nn.functional
    want = F.layer_norm(x[:256].double(), (columns,), w.double(), b.double(), EPS)
    block, cases = block_of(columns), {}
    for per, warps, *registers in shapes(block, quick):
        out = torch.empty_like(x)
        k = tile.kernel(LAYER_NORM, "layer_norm", warps=warps, registers=sum(registers), ROWS=per, BLOCK=block, EVEN=block == columns)
        f = tile.bind(k, (triton.cdiv(rows, per), 1, 1), x, w, b, out, mean, rstd, rows, columns, EPS)
        out.fill_(math.nan)
        f()
        torch.cuda.synchronize()
        error = error_of(out[:256], want)
        if not error < 1e-3:
            put(what, case=f"tile_{per}x{warps}", WRONG=error)
        cases[f"tile_{per}x{warps}" + "".join(f"_r{r}" for r in registers)] = f
    for warps, programs, *registers in walks(block):
        out = torch.empty_like(x)
        k = tile.kernel(LAYER_NORM, "layer_norm_ahead", warps=warps, registers=sum(registers), BLOCK=block, EVEN=block == columns)
        f = tile.bind(k, (programs, 1, 1), x, w, b, out, mean, rstd, rows, columns, EPS)
        out.fill_(math.nan)
        f()
        torch.cuda.synchronize()
        error = error_of(out[:256], want)
        if not error < 1e-3:
            put(what, case=f"tile_ahead_{programs}x{warps}", WRONG=error)
        cases[f"tile_ahead_{programs}x{warps}"] = f
    peer = tutorial("05-layer-norm.py", "test_layer_norm(1151")
    if peer:
        y = torch.empty_like(x)
        size = min(65536 // 2, block)
        warps = min(max(size // 256, 1), 8)
        cases["triton"] = lambda: peer._layer_norm_fwd_fused[(rows,)](x, y, w, b, mean, rstd, columns, columns, EPS, BLOCK_SIZE=size, num_warps=warps)
    compiled = torch.compile(lambda v, p, q: F.layer_norm(v, (columns,), p, q, EPS), dynamic=False)
    cases["torch.compile"] = lambda: compiled(x, w, b)
    cases["eager"] = lambda: F.layer_norm(x, (columns,), w, b, EPS)
    traffic = 4 * rows * columns
    cases["copy"] = copy_case(traffic)
    show(what, alternate(cases), traffic)
    torch._dynamo.reset()


def layer_norm(tile):
    run_layer_norm(tile, 4096, 1024, [(4, 4), (8, 8)])
    run_layer_norm(tile, 4096, 4096, [(1, 8), (2, 8)])
    run_layer_norm(tile, 4096, 8192, [(1, 8), (1, 8, 64), (1, 4), (1, 4, 128)])
    run_layer_norm(tile, 4096, 15872, [(1, 8), (1, 8, 128), (1, 16), (1, 16, 64)])


def both_ways(f, parameters, dy):
    """Forward and backward of f through autograd; gradients are not accumulated."""
    def call():
        for p in parameters:
            p.grad = None
        f(*parameters).backward(dy)
    return call


def layer_norm_backward(tile):
    rows, columns = 8192, 4096
    what = f"layer_norm_forward_backward_bf16_{rows}x{columns}"
    F = torch.nn.functional
    x = (torch.randn(rows, columns, device="cuda") * 0.5 - 2.3).bfloat16().requires_grad_()
    w = torch.rand(columns, device="cuda").bfloat16().requires_grad_()
    b = torch.rand(columns, device="cuda").bfloat16().requires_grad_()
    dy = (torch.randn(rows, columns, device="cuda") * 0.1).bfloat16()
    p = [v.detach().double().requires_grad_() for v in (x, w, b)]
    y = F.layer_norm(p[0], (columns,), p[1], p[2], EPS)
    y.backward(dy.double())
    want = [y.detach()] + [v.grad for v in p]
    cases = {}
    for per, warps, programs, back in tries_backward():
        out, dx = torch.empty_like(dy), torch.empty_like(dy)
        dw, db = torch.empty_like(w), torch.empty_like(w)
        mean, rstd = torch.empty(rows, device="cuda"), torch.empty(rows, device="cuda")
        parts = [torch.empty(programs, columns, device="cuda") for _ in range(2)]
        forward = tile.bind(tile.kernel(LAYER_NORM, "layer_norm", warps=warps, ROWS=per, BLOCK=4096, EVEN=True), (triton.cdiv(rows, per), 1, 1),
                            x, w, b, out, mean, rstd, rows, columns, EPS)
        backward = tile.bind(tile.kernel(LAYER_NORM, "layer_norm_backward", warps=back, BLOCK=4096), (programs, 1, 1),
                             dy, x, w, mean, rstd, dx, *parts, rows, columns)
        total = tile.bind(tile.kernel(LAYER_NORM, "sum_parts", warps=8, PARTS=64, BLOCK=32), (triton.cdiv(columns, 32), 1, 1),
                          *parts, dw, db, programs, columns)
        for v in (out, dx, dw, db):
            v.data.fill_(math.nan)
        forward(), backward(), total()
        torch.cuda.synchronize()
        name = f"tile_{per}x{warps}_{programs}x{back}"
        errors = [error_of(g.detach(), v) for g, v in zip((out, dx, dw, db), want)]
        if not max(errors) < 6e-3:
            put(what, case=name, WRONG=str(errors))
        cases[name] = lambda f=forward, g=backward, h=total: (f(), g(), h())
        cases[name + "_forward"], cases[name + "_backward"], cases[name + "_sum"] = forward, backward, total
    del want, p
    eager = lambda v, s, t: F.layer_norm(v, (columns,), s, t, EPS)
    cases["torch.compile"] = both_ways(torch.compile(eager, dynamic=False), (x, w, b), dy)
    cases["eager"] = both_ways(eager, (x, w, b), dy)
    peer = tutorial("05-layer-norm.py", "test_layer_norm(1151")
    if peer:
        cases["triton"] = both_ways(lambda v, s, t: peer.layer_norm(v, (columns,), s, t, EPS), (x, w, b), dy)
    show(what, alternate(cases, flushes=6), 10 * rows * columns)
    torch._dynamo.reset()


def tries_backward():
    if ALL:
        return [(1, 4, n, back) for n in (132, 264, 396, 528) for back in (8, 16)] + [(1, 8, 264, 8), (2, 8, 264, 4)]
    return [(1, 8, 264, 8), (1, 4, 264, 8)]


def rms_norm_backward(tile):
    rows, columns = 8192, 4096
    what = f"rms_norm_forward_backward_bf16_{rows}x{columns}"
    x = torch.randn(rows, columns, device="cuda").bfloat16().requires_grad_()
    w = torch.rand(columns, device="cuda").bfloat16().requires_grad_()
    dy = (torch.randn(rows, columns, device="cuda") * 0.1).bfloat16()

    def eager(v, s):
        u = v.float()
        return (u * torch.rsqrt(u.pow(2).mean(-1, keepdim=True) + EPS)).to(v.dtype) * s

    p = [v.detach().double().requires_grad_() for v in (x, w)]
    y = p[0] * torch.rsqrt(p[0].pow(2).mean(-1, keepdim=True) + EPS) * p[1]
    y.backward(dy.double())
    want = [y.detach()] + [v.grad for v in p]
    cases = {}
    for per, warps, programs, back in tries_backward():
        out, dx, dw = torch.empty_like(dy), torch.empty_like(dy), torch.empty_like(w)
        rstd, parts = torch.empty(rows, device="cuda"), torch.empty(programs, columns, device="cuda")
        forward = tile.bind(tile.kernel(RMS_NORM, "rms_norm", warps=warps, ROWS=per, BLOCK=4096), (triton.cdiv(rows, per), 1, 1),
                            x, w, out, rstd, rows, columns, EPS)
        backward = tile.bind(tile.kernel(RMS_NORM, "rms_norm_backward", warps=back, BLOCK=4096), (programs, 1, 1),
                             dy, x, w, rstd, dx, parts, rows, columns)
        total = tile.bind(tile.kernel(RMS_NORM, "sum_rows", warps=8, PARTS=64, BLOCK=32), (triton.cdiv(columns, 32), 1, 1),
                          parts, dw, programs, columns)
        for v in (out, dx, dw):
            v.data.fill_(math.nan)
        forward(), backward(), total()
        torch.cuda.synchronize()
        name = f"tile_{per}x{warps}_{programs}x{back}"
        errors = [error_of(g.detach(), v) for g, v in zip((out, dx, dw), want)]
        if not max(errors) < 6e-3:
            put(what, case=name, WRONG=str(errors))
        cases[name] = lambda f=forward, g=backward, h=total: (f(), g(), h())
    del want, p
    cases["torch.compile"] = both_ways(torch.compile(eager, dynamic=False), (x, w), dy)
    cases["eager"] = both_ways(eager, (x, w), dy)
    show(what, alternate(cases, flushes=6), 10 * rows * columns)
    torch._dynamo.reset()


def first_call(tile):
    """Source to finished kernel with empty caches; the context exists. One figure a process."""
    os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
    x = torch.randn(4096, 1024, device="cuda")
    h, w = x.half(), torch.rand(1024, device="cuda").half()
    out, y = torch.empty_like(x), torch.empty_like(h)
    mean, rstd = torch.empty(4096, device="cuda"), torch.empty(4096, device="cuda")
    torch.cuda.synchronize()

    def timed(f):
        t0 = time.perf_counter()
        f()
        torch.cuda.synchronize()
        return (time.perf_counter() - t0) * 1e3

    ours = timed(lambda: tile.bind(tile.kernel(SOFTMAX, "softmax", ROWS=4, BLOCK=1024), (1024, 1, 1), x, out, 4096, 1024, 1024, 1024)())
    ours_norm = timed(lambda: tile.bind(tile.kernel(LAYER_NORM, "layer_norm", ROWS=4, BLOCK=1024), (1024, 1, 1), h, w, w, y, mean, rstd, 4096, 1024, EPS)())
    row = dict(tile_softmax_ms=ours, tile_layer_norm_ms=ours_norm)
    soft, norm = tutorial("02-fused-softmax.py", "# %%\n# Unit Test"), tutorial("05-layer-norm.py", "test_layer_norm(1151")
    if soft and norm:
        row["triton_softmax_ms"] = timed(lambda: soft.softmax(x))
        row["triton_layer_norm_ms"] = timed(lambda: norm._layer_norm_fwd_fused[(4096,)](h, y, w, w, mean, rstd, 1024, 1024, EPS, BLOCK_SIZE=1024, num_warps=4))
    put("first_call", **row)


if __name__ == "__main__":
    modes = [a for a in sys.argv[1:] if not a.startswith("--")]
    tile = Tile()
    put("device", model=torch.cuda.get_device_name(), torch=torch.__version__, triton=triton.__version__)
    for mode in modes or ["first_call", "softmax", "wide_softmax", "layer_norm", "layer_norm_backward", "rms_norm_backward"]:
        globals()[mode](tile)
