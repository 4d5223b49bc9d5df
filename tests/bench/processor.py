# SPDX-License-Identifier: Apache-2.0
"""Kernels on the CPU against PyTorch, eager and compiled, in one process by turns: medians in milliseconds, with one thread of its processor time,
which other programs disturb less, else of wall time. The results are compared first.
usage: processor.py [LIBRARY] [--threads N] [--seconds S] [--only NAME,...] [--no-compile]"""
import math
import os
import statistics
import time

import turns

parser = turns.parser(0.6, "row")
parser.add_argument("library", nargs="?")
parser.add_argument("--only", default="")
parser.add_argument("--no-compile", action="store_true")
options = turns.parse(parser)
import torch  # noqa: E402

from tile_ctypes import Tile  # noqa: E402

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "processor.tile")
SHAPES = [(4096, 256), (2048, 1000), (1024, 1024), (1024, 3000), (512, 4096), (128, 16384)]
F = torch.nn.functional


def block(n):
    return 1 << max(4, math.ceil(math.log2(n)))


def rows_case(name, peer, *extra):
    """A kernel of whole rows: outputs like x, or one element a row."""
    def make(tile, x):
        rows, n = x.shape
        inputs = [make_input(x) for make_input in extra]
        expected = peer(x, *inputs)
        out = torch.zeros_like(expected)
        per_program = max(1, min(16, 4096 // block(n)))
        kernel = tile.kernel(FILE, name, ROWS=per_program, BLOCK=block(n))
        grid = ((rows + per_program - 1) // per_program, 1, 1)
        return tile.bind(kernel, grid, x, *inputs, out, rows, n), out, expected, lambda f: (lambda: f(x, *inputs))
    return name, make, peer


def grid_case(name, peer, rows_of_block, columns, grid):
    def make(tile, x):
        rows, n = x.shape
        expected = peer(x)
        out = torch.zeros_like(expected)
        kernel = tile.kernel(FILE, name, ROWS=rows_of_block, BLOCK=columns)
        return tile.bind(kernel, grid(rows, n), x, out, rows, n), out, expected, lambda f: (lambda: f(x))
    return name, make, peer


def product_case(size):
    def make(tile, _):
        a, b = torch.randn(size, size), torch.randn(size, size)
        expected = a @ b
        out = torch.zeros_like(expected)
        bm = bn = 256 if size >= 512 else 128
        kernel = tile.kernel(FILE, "product", BM=bm, BN=bn, BK=128)
        blocks = (size + bm - 1) // bm
        return (tile.bind(kernel, (blocks, blocks, 1), a, b, out, size, size, size), out, expected, lambda f: (lambda: f(a, b)))
    return f"product {size}", make, torch.matmul


def row_vector(x):
    return torch.randn(x.shape[1])


CASES = [
    rows_case("softmax", lambda x: F.softmax(x, 1)),
    rows_case("layer_norm", lambda x, w, b: F.layer_norm(x, (x.shape[1],), w, b), row_vector, row_vector),
    rows_case("rms_norm", lambda x, w: F.rms_norm(x, (x.shape[1],), w, 1e-6), row_vector),
    rows_case("cross_entropy", lambda x, t: F.cross_entropy(x, t, reduction="none"),
              lambda x: torch.randint(0, x.shape[1], (x.shape[0],))),
    rows_case("sum_rows", lambda x: x.sum(1)),
    rows_case("cumsum", lambda x: x.cumsum(1)),
    grid_case("gelu", F.gelu, 1, 1024, lambda rows, n: ((rows * n + 1023) // 1024, 1, 1)),
    grid_case("sum_columns", lambda x: x.sum(0), 16, 64, lambda rows, n: ((n + 63) // 64, 1, 1)),
    grid_case("transpose", lambda x: x.t().contiguous(), 64, 64, lambda rows, n: ((rows + 63) // 64, (n + 63) // 64, 1)),
]


def compiled(peer):
    try:
        return torch.compile(peer, dynamic=False)
    except Exception:
        return None




def run(tile, name, make, peer, x, shape):
    call, out, expected, bound = make(tile, x)
    call()
    scale = expected.abs().max().item()
    worst = (out - expected).abs().max().item() / scale
    if not worst < 2e-5:
        raise SystemExit(f"{name} {shape}: the results differ by {worst:.2e}")
    calls = [call, bound(peer)]
    fast = None if options.no_compile else compiled(peer)
    if fast is not None:
        bound(fast)()
        calls.append(bound(fast))
    ms = turns.medians(calls, options.seconds, options.threads)
    print(f"{name:14} {shape:>12} {ms[0]:9.3f}" + "".join(f" {m:9.3f} {m / ms[0]:6.2f}x" for m in ms[1:]), flush=True)
    return [m / ms[0] for m in ms[1:]]


def main():
    tile = Tile(options.library, b"cpu")
    only = [name for name in options.only.split(",") if name]
    ratios = {}
    print(f"{options.threads} threads, PyTorch {torch.__version__}\n{'':27} {'Tile':>9} {'eager':>17} {'compiled':>17}")
    for name, make, peer in CASES:
        for rows, n in SHAPES:
            if not only or name in only:
                ratios.setdefault(name, []).append(run(tile, name, make, peer, torch.randn(rows, n), f"{rows}x{n}"))
    for size in (256, 512, 768, 1024):
        name, make, peer = product_case(size)
        if not only or "product" in only:
            ratios.setdefault("product", []).append(run(tile, name, make, peer, None, ""))
    for name, lists in ratios.items():
        means = [math.exp(statistics.mean(math.log(r[i]) for r in lists)) for i in range(len(lists[0]))]
        print(f"{name:14} geometric mean of PyTorch / Tile: " + ", ".join(f"{m:.2f}" for m in means))


main()
