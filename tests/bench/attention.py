# SPDX-License-Identifier: Apache-2.0
"""Attention forward in f16: Tile compared with Triton, FlashAttention-2 and cuDNN, in one process.

usage: TILE_LIBRARY=libtile.so [PEERS_DIR=folder of 06-fused-attention.py] python3 attention.py [MODE...] [options]

One JSON line per figure. Tile and Triton compile the same kernel (tutorials/07-flash-attention) with the same list of
configurations, BLOCK_M x BLOCK_N x num_warps x num_stages; each is checked against float64 and timed, the two best
of each side then alternate with PyTorch's. Triton runs twice, `triton_v2` restricted to mma.sync and `triton` with its default;
`tutorial` and `tutorial_v2` are the kernel of its tutorial with its own tuning, where PEERS_DIR has it. Operations are counted as
4 B H S S D, half of that if causal. Modes: full, causal (both by default)."""
import math
import sys

from products import *

ATTENTION = os.path.join(ROOT, "tutorials/07-flash-attention/attention.tile")
SHAPES = "4x32x4096x64,4x32x4096x128"
CONFIGS = [
    (128, 64, 4, 2), (128, 64, 4, 3), (128, 64, 4, 4), (128, 64, 8, 2), (128, 64, 8, 3), (128, 64, 8, 4),
    (128, 128, 8, 2), (128, 128, 8, 3), (128, 128, 4, 2), (128, 32, 4, 3), (128, 32, 4, 4), (128, 32, 8, 4),
    (64, 64, 4, 2), (64, 64, 4, 3), (64, 64, 4, 4), (64, 32, 4, 3), (64, 128, 4, 2), (256, 64, 8, 3),
]
PEERS = {}  # modules of Triton, by side: they keep what they compiled


def grid_of(config, shape):
    b, h, s, _ = shape
    return (-(-s // config[0]), b * h, 1)


# ---- sides ----

def tile_launch(bench, target, config, arrays, shape, causal):
    b, h, s, d = shape
    bm, bn, warps, stages = config
    kernel = bench.tile.kernel(ATTENTION, "attention", warps=warps, stages=stages, target=target, D=d, CAUSAL=causal, BLOCK_M=bm, BLOCK_N=bn)
    return bench.tile.bind(kernel, grid_of(config, shape), *arrays, s, s, 1 / math.sqrt(d))


def triton_launch(side, config, arrays, shape, causal):
    """Our kernel, without its types, compiled by Triton."""
    b, h, s, d = shape
    bm, bn, warps, stages = config
    only_v2 = side.endswith("_v2")
    if side not in PEERS:
        PEERS[side] = load_module(as_triton(ATTENTION), "peer_attention_" + side)
    kernel = PEERS[side].attention.fn[grid_of(config, shape)]
    options = dict(D=d, CAUSAL=causal, BLOCK_M=bm, BLOCK_N=bn, num_warps=warps, num_stages=stages)
    args = (*arrays, s, s, 1 / math.sqrt(d))
    with OnlyMmaV2(only_v2):
        compiled = kernel(*args, **options)
    f = lambda: kernel(*args, **options)
    f.instruction = instruction(compiled.asm["ptx"])
    if only_v2 and f.instruction == "wgmma":
        raise RuntimeError("compiled to wgmma in spite of DISABLE_MMA_V3")
    return f


def tutorial_launch(side, arrays, shape, causal):
    """The tutorial's function, tuned by itself at its first call; what it returns is copied to where the check looks."""
    d = shape[3]  # its tuning does not ask whether it is causal: a module for each case
    module = load_module(peer_file("06-fused-attention.py", "\n@pytest.mark.parametrize"), f"peer_{side}_{d}_{causal}")
    q, k, v, out = arrays
    f = lambda: module.attention(q, k, v, causal, 1 / math.sqrt(d), False)
    with OnlyMmaV2(side.endswith("_v2")):
        out.copy_(f())
    return f, out


def sdpa_launch(bench, backend, arrays, causal):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    q, k, v, out = arrays
    which = getattr(SDPBackend, backend)

    def f():
        with sdpa_kernel(which):
            return bench.torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

    out.copy_(f())
    return f, out


# ---- checking results ----

def reference(bench, arrays, shape, causal):
    b, h, s, d = shape
    q, k, v, out = arrays
    scale = 1 / math.sqrt(d)
    if bench.torch:
        heads = sorted({0, 1, h // 2, h - 1} & set(range(h)))  # of the first and the last batch, all rows
        def want_of(batch):
            x, y, z = (t[batch, heads].double() for t in (q, k, v))
            scores = x @ y.transpose(-1, -2) * scale
            if causal:
                scores = scores.masked_fill(~bench.torch.ones(s, s, dtype=bool, device="cuda").tril(), -math.inf)
            return scores.softmax(-1) @ z
        batches = sorted({0, b - 1})
        want = [want_of(i) for i in batches]

        def wrong():
            errors = [((out[i, heads].double() - w).norm() / w.norm()).item() for i, w in zip(batches, want)]
            worst = max((out[i, heads].double() - w).abs().max().item() for i, w in zip(batches, want))
            finite = bool(bench.torch.isfinite(out).all())
            right = finite and all(e < 2e-3 for e in errors) and worst < 2e-2
            return None if right else f"WRONG: errors {errors}, worst {worst:.2e}"
    else:
        rows = sorted({(head, row) for head in (0, b * h - 1) for row in (0, s // 2, s - 1)})
        want = [plain_row(q, k, v, s, d, head, row, causal, scale) for head, row in rows]

        def wrong():
            worst = 0.0
            for (head, row), w in zip(rows, want):
                for x, y in zip(out.read((head * s + row) * d, d), w):
                    worst = abs(x - y) if not abs(x - y) <= worst else worst
            return None if worst < 1e-2 else f"WRONG: error {worst:.2e}"
    return wrong


def plain_row(q, k, v, s, d, head, row, causal, scale):
    """One row of the result, in Python's double precision."""
    keys = range(row + 1 if causal else s)
    base = head * s * d
    scores = [scale * math.fsum(q.at(base + row * d + i) * k.at(base + j * d + i) for i in range(d)) for j in keys]
    top = max(scores)
    weights = [math.exp(x - top) for x in scores]
    total = math.fsum(weights)
    return [math.fsum(w * v.at(base + j * d + i) for j, w in zip(keys, weights)) / total for i in range(d)]


# ---- modes ----

def run(bench, shape, causal):
    b, h, s, d = shape
    what = f"attention_f16_B{b}_H{h}_S{s}_D{d}" + ("_causal" if causal else "")
    arrays = [bench.normal(*shape) for _ in range(3)] + [bench.empty(*shape)]
    wrong = reference(bench, arrays, shape, causal)

    def check(launch):
        bench.clear(arrays[3])
        launch()
        return wrong()

    def checked(make):
        """For those that return their result elsewhere: checked here, where it was copied."""
        f, _ = make()
        problem = wrong()
        if problem:
            raise RuntimeError(problem)
        f.is_checked = True
        return f

    names = ["x".join(map(str, c)) for c in configs_of(bench.options, CONFIGS)]
    listed = list(zip(names, configs_of(bench.options, CONFIGS)))
    candidates = {}
    for t in bench.targets:
        candidates["tile" + (f"_{t}" if t else "")] = {
            name: lambda c=c, t=t: tile_launch(bench, t, c, arrays, shape, causal) for name, c in listed}
    if bench.triton:
        for side in ("triton_v2", "triton"):
            candidates[side] = {name: lambda c=c, side=side: triton_launch(side, c, arrays, shape, causal) for name, c in listed}
        if peer_file("06-fused-attention.py", "\n@pytest") is not None:
            for side in ("tutorial_v2", "tutorial"):
                candidates[side] = {"own": lambda side=side: checked(lambda: tutorial_launch(side, arrays, shape, causal))}
    if bench.torch and not bench.options.no_peers:
        for side, backend in (("flash2", "FLASH_ATTENTION"), ("cudnn", "CUDNN_ATTENTION")):
            candidates[side] = {"sdpa": lambda backend=backend: checked(lambda: sdpa_launch(bench, backend, arrays, causal))}
    operations = 4.0 * b * h * s * s * d / (2 if causal else 1)
    bench.compare(what, operations, candidates, lambda f: None if getattr(f, "is_checked", False) else check(f))
    bench.free(*arrays)


def shapes_of(text):
    return [tuple(int(n) for n in shape.split("x")) for shape in text.split(",")]


def full(bench):
    for shape in shapes_of(bench.options.shapes):
        run(bench, shape, False)


def causal(bench):
    for shape in shapes_of(bench.options.shapes):
        run(bench, shape, True)


if __name__ == "__main__":
    p = parser(__doc__)
    p.add_argument("--shapes", default=SHAPES, help=f"BxHxSxD, joined by commas: {SHAPES}")
    options = p.parse_args()
    bench = Bench(options)
    for mode in options.modes or ["full", "causal"]:
        globals()[mode](bench)
    sys.exit(bench.is_wrong)
