# SPDX-License-Identifier: Apache-2.0
"""Matrix products in f16: Tile compared with Triton and cuBLAS, in one process.

usage: TILE_LIBRARY=libtile.so [PEERS_DIR=folder of 03-matrix-multiplication.py] python3 gemm.py [MODE...] [options]

One JSON line per figure. Both compilers get the same list of configurations, BLOCK_M x BLOCK_N x BLOCK_K x num_warps x
num_stages, and for `persistent` x programs of a cluster, if given; each is checked against float64 and timed, the two best of each side then alternate with cuBLAS. `tile` is the
kernel of tutorial 06, `persistent` that of tutorial 09, with as many programs as multiprocessors. Triton runs twice,
`triton_v2` restricted to mma.sync and `triton` with its default. Its kernel is the tutorial's if PEERS_DIR has it, else
Tile's. Modes: first_call, matmul (both by default), leaky_relu (matmul with that epilogue)."""
import math
import sys

from products import *

MATMUL = os.path.join(ROOT, "tutorials/06-matmul/matmul.tile")
PERSISTENT = os.path.join(ROOT, "tutorials/09-persistent-matmul/persistent.tile")
SIZES = "1024,2048,4096,8192,4096x11008x4096"
CONFIGS = [
    (128, 256, 64, 8, 3), (128, 256, 64, 8, 4), (128, 256, 32, 8, 4), (128, 256, 32, 8, 3),
    (256, 128, 64, 8, 3), (256, 128, 64, 8, 4), (256, 128, 32, 8, 4), (256, 128, 32, 8, 3),
    (128, 128, 64, 8, 6), (128, 128, 64, 8, 3), (128, 128, 64, 4, 3), (128, 128, 64, 4, 4), (128, 128, 32, 8, 4), (128, 128, 32, 4, 4),
    (64, 256, 32, 4, 4), (256, 64, 32, 4, 4), (128, 64, 64, 4, 4), (64, 128, 64, 4, 4), (128, 64, 32, 4, 4), (64, 64, 64, 4, 4),
]
GROUP = 8
PEERS, KERNELS = {}, {}  # those that have compiled something


def sizes_of(text):
    for size in text.split(","):
        n = [int(x) for x in size.split("x")]
        yield tuple(n * 3 if len(n) == 1 else n)


def blocks(config, m, n):
    return -(-m // config[0]) * -(-n // config[1])


# ---- sides ----

def tile_launch(bench, target, config, a, b, c, size, activation=None):
    m, n, k = size
    key = (target, config, activation)
    if key not in KERNELS:
        bm, bn, bk, warps, stages = config
        constants = dict(BLOCK_M=bm, BLOCK_N=bn, BLOCK_K=bk, GROUP_M=GROUP, ACTIVATION=f'"{activation}"' if activation else None)
        KERNELS[key] = bench.tile.kernel(MATMUL, "matmul", warps=warps, stages=stages, target=target, **constants)
    return bench.tile.bind(KERNELS[key], (blocks(config, m, n), 1, 1), a, b, c, m, n, k, k, n, n)


def persistent_launch(bench, target, config, a, b, c, size):
    m, n, k = size
    key = (target, config, "persistent")
    if key not in KERNELS:
        bm, bn, bk, warps, stages, *ctas = config
        constants = dict(BLOCK_M=bm, BLOCK_N=bn, BLOCK_K=bk, GROUP_M=GROUP)
        KERNELS[key] = bench.tile.kernel(PERSISTENT, "persistent_matmul", warps=warps, stages=stages, target=target, ctas=ctas[0] if ctas else 1, **constants)
    programs = min(blocks(config, m, n), max(1, bench.about.multiprocessors))
    return bench.tile.bind(KERNELS[key], (programs, 1, 1), a, b, c, m, n, k, k, n, n)


class Peer:
    """Triton's kernel: the tutorial's, or ours without its types. One object for each way of compiling."""

    def __init__(self, only_v2, same_source):
        self.only_v2 = only_v2
        text = None if same_source else peer_file("03-matrix-multiplication.py", "# %%\n# Unit Test")
        self.is_tutorial = text is not None
        module = load_module(text or as_triton(MATMUL), "peer_matmul_v2" if only_v2 else "peer_matmul")
        kernel = module.matmul_kernel if self.is_tutorial else module.matmul
        self.kernel = getattr(kernel, "fn", kernel)  # without its autotuner

    def launch(self, config, a, b, c, size, activation=None):
        m, n, k = size
        bm, bn, bk, warps, stages = config
        grid, options = (blocks(config, m, n),), dict(num_warps=warps, num_stages=stages)
        if self.is_tutorial:
            args = (a, b, c, m, n, k, k, 1, n, 1, n, 1)
            options.update(BLOCK_SIZE_M=bm, BLOCK_SIZE_N=bn, BLOCK_SIZE_K=bk, GROUP_SIZE_M=GROUP, ACTIVATION=activation or "")
        else:
            args = (a, b, c, m, n, k, k, n, n)
            options.update(BLOCK_M=bm, BLOCK_N=bn, BLOCK_K=bk, GROUP_M=GROUP, ACTIVATION=activation)
        with OnlyMmaV2(self.only_v2):
            compiled = self.kernel[grid](*args, **options)
        f = lambda: self.kernel[grid](*args, **options)
        f.instruction = instruction(compiled.asm["ptx"])
        if self.only_v2 and f.instruction == "wgmma":
            raise RuntimeError("compiled to wgmma in spite of DISABLE_MMA_V3")
        return f


# ---- checking results ----

def reference(bench, a, b, size, activation):
    """A function that says what is wrong with c, or None."""
    m, n, k = size
    leak = 0.01 if activation else 1
    if bench.torch:
        want = a.double() @ b.double()
        want = bench.torch.where(want < 0, want * leak, want)
        norm, top = want.norm(), want.abs().max()

        def wrong(c):
            difference = c.double() - want
            relative, worst = (difference.norm() / norm).item(), (difference.abs().max() / top).item()
            return None if relative < 5e-4 and worst < 1e-3 else f"WRONG: error {relative:.2e}, worst {worst:.2e}"
    else:
        samples = [(0, 0), (m - 1, n - 1)] + [(random.randrange(m), random.randrange(n)) for _ in range(62)]
        want = [math.fsum(a.at(i * k + x) * b.at(x * n + j) for x in range(k)) for i, j in samples]
        want = [w * leak if w < 0 else w for w in want]

        def wrong(c):
            worst = 0.0
            for (i, j), w in zip(samples, want):
                error = abs(c.read(i * n + j, 1)[0] - w) / (abs(w) + math.sqrt(k))
                worst = error if not error <= worst else worst
            return None if worst < 1e-3 else f"WRONG: error {worst:.2e}"
    return wrong


# ---- modes ----

def run(bench, size, activation=None):
    m, n, k = size
    what = f"{activation or 'matmul'}_f16_{m}x{n}x{k}"
    a, b, c = bench.normal(m, k), bench.normal(k, n), bench.empty(m, n)
    wrong = reference(bench, a, b, size, activation)

    def check(launch):
        bench.clear(c)
        launch()
        return wrong(c)

    plain = [g for g in configs_of(bench.options, CONFIGS) if len(g) == 5]  # without clusters
    candidates = {}
    for target in bench.targets:
        candidates["tile" + (f"_{target}" if target else "")] = {
            "x".join(map(str, g)): lambda g=g, t=target: tile_launch(bench, t, g, a, b, c, size, activation) for g in plain}
    if not activation and n % 8 == 0 and k % 8 == 0:  # rows of multiples of 16 bytes
        for target in bench.targets:
            candidates["persistent" + (f"_{target}" if target else "")] = {
                "x".join(map(str, g)): lambda g=g, t=target: persistent_launch(bench, t, g, a, b, c, size)
                for g in configs_of(bench.options, CONFIGS)}
    if bench.triton:
        for side, only_v2 in (("triton_v2", True), ("triton", False)):
            if side not in PEERS:
                PEERS[side] = Peer(only_v2, bench.options.same_source)
            peer = PEERS[side]
            candidates[side] = {"x".join(map(str, g)): lambda g=g, p=peer: p.launch(g, a, b, c, size, activation)
                                for g in plain}
    if bench.torch and not bench.options.no_peers and not activation:
        candidates["cublas"] = {"torch.matmul": lambda: lambda: bench.torch.matmul(a, b, out=c)}
    bench.compare(what, 2.0 * m * n * k, candidates, check)
    bench.free(a, b, c)


def matmul(bench):
    for size in sizes_of(bench.options.sizes):
        run(bench, size)


def leaky_relu(bench):
    for size in sizes_of(bench.options.sizes):
        run(bench, size, "leaky_relu")


def first_call(bench):
    bench.is_wrong |= not first_calls(os.path.abspath(__file__), bench.options)


def first_call_once(bench):
    n, config = 1024 if not bench.about.is_cpu else 64, (128, 128, 32, 4, 4)
    a, b, c = bench.normal(n, n), bench.normal(n, n), bench.empty(n, n)
    row = dict(tile_ms=timed_once(bench, lambda: tile_launch(bench, bench.targets[0], config, a, b, c, (n, n, n))()))
    if bench.triton:
        peer = Peer(False, bench.options.same_source)
        row["triton_ms"] = timed_once(bench, lambda: peer.launch(config, a, b, c, (n, n, n)))
    put("first_call_once", **row)


if __name__ == "__main__":
    p = parser(__doc__)
    p.add_argument("--sizes", default=SIZES, help=f"N or MxNxK, joined by commas: {SIZES}")
    options = p.parse_args()
    bench = Bench(options)
    for mode in options.modes or ["first_call", "matmul"]:
        globals()[mode](bench)
    sys.exit(bench.is_wrong)
