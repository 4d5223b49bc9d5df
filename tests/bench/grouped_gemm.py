# SPDX-License-Identifier: Apache-2.0
"""Grouped products whose addresses and sizes are in memory: both kernels of Triton's tutorial 08, compiled unchanged by Tile and by
Triton, and one torch.matmul for each group, alternating in one process; results are checked against float64.

usage: TILE_LIBRARY=libtile.so PEERS_DIR=folder of 08-grouped-gemm.py python3 grouped_gemm.py [options]

One JSON line per figure. All sides get the same configurations and as many programs as the GPU has multiprocessors. The cases are N:
four products of N cubed, and falling: 1024, 512, 256 and 128 cubed. Needs PyTorch, Triton and a GPU."""
import sys

from products import *

KERNELS = {"pointers": "grouped_matmul_kernel", "descriptors": "grouped_matmul_tma_kernel"}
CONFIGS = [(128, 128, 64, 4, 3), (128, 128, 64, 8, 3), (128, 128, 32, 4, 4), (64, 128, 64, 4, 4), (64, 64, 32, 4, 3), (128, 256, 64, 8, 3)]
PEER = "08-grouped-gemm.py"


class Groups:
    """The matrices, and the tables that a launch gets. By descriptors, the second operands are N x K."""

    def __init__(self, bench, sizes, kind):
        torch = bench.torch
        self.a = [bench.normal(m, k) for m, n, k in sizes]
        self.b = [bench.normal(k, n) if kind == "pointers" else bench.normal(n, k) for m, n, k in sizes]
        self.c = [bench.empty(m, n) for m, n, k in sizes]
        self.columns = [b if kind == "pointers" else b.t() for b in self.b]
        table = lambda rows, dtype: torch.tensor(rows, dtype=dtype, device="cuda")
        self.tables = [table([x.data_ptr() for x in of], torch.int64) for of in (self.a, self.b, self.c)]
        self.tables += [table([list(s) for s in sizes], torch.int32),
                        table([[a.stride(0), b.stride(0), c.stride(0)] for a, b, c in zip(self.a, self.b, self.c)], torch.int32)]
        self.want = [a.double() @ b.double() for a, b in zip(self.a, self.columns)]
        self.operations = sum(2.0 * m * n * k for m, n, k in sizes)

    def wrong(self, launch):
        for c in self.c:
            c.fill_(math.nan)
        launch()
        errors = [((c.double() - w).norm() / w.norm()).item() for c, w in zip(self.c, self.want)]
        return None if all(e < 5e-4 for e in errors) else f"WRONG: errors {errors}"


def constants(bench, config, kind):
    named = dict(NUM_SM=bench.about.multiprocessors, BLOCK_SIZE_M=config[0], BLOCK_SIZE_N=config[1], BLOCK_SIZE_K=config[2])
    return dict(named, FP8=False) if kind == "descriptors" else named


def tile_launch(bench, groups, config, kind):
    path = os.path.join(os.environ["PEERS_DIR"], PEER)
    kernel = bench.tile.kernel(path, KERNELS[kind], warps=config[3], stages=config[4], **constants(bench, config, kind))
    return bench.tile.bind(kernel, (bench.about.multiprocessors, 1, 1), *groups.tables, len(groups.a))


def triton_launch(bench, groups, module, config, kind):
    kernel = getattr(module, KERNELS[kind])
    kernel = getattr(kernel, "fn", kernel)  # without its autotuner
    named = dict(constants(bench, config, kind), num_warps=config[3], num_stages=config[4])
    return lambda: kernel[(bench.about.multiprocessors,)](*groups.tables, len(groups.a), **named)


def cublas_launch(bench, groups):
    def launch():
        for a, b, c in zip(groups.a, groups.columns, groups.c):
            bench.torch.matmul(a, b, out=c)
    return launch


def run(bench, module, name, sizes):
    for kind in KERNELS:
        groups = Groups(bench, sizes, kind)
        # The kernel by pointers has no masks.
        whole = [g for g in configs_of(bench.options, CONFIGS) if all(m % g[0] == n % g[1] == k % g[2] == 0 for m, n, k in sizes)]
        tries = lambda make: {"x".join(map(str, g)): lambda g=g: make(g) for g in whole}
        sides = dict(tile=tries(lambda g: tile_launch(bench, groups, g, kind)),
                     triton=tries(lambda g: triton_launch(bench, groups, module, g, kind)),
                     cublas={"torch.matmul for each": lambda: cublas_launch(bench, groups)})
        bench.compare(f"grouped {name} by {kind}", groups.operations, sides, groups.wrong)


if __name__ == "__main__":
    bench = Bench(parser(__doc__).parse_args())
    text = peer_file(PEER, "group_m = [")
    if not bench.triton or not text:
        put("skipped", why="needs a GPU, PyTorch, Triton and PEERS_DIR")
        sys.exit(0)
    module = load_module(text, "peer_grouped")
    bench.triton.set_allocator(lambda size, alignment, stream: bench.torch.empty(size, device="cuda", dtype=bench.torch.int8))
    for n in (256, 512, 1024, 2048):
        run(bench, module, f"4 x {n}", [(n, n, n)] * 4)
    run(bench, module, "falling", [(n, n, n) for n in (1024, 512, 256, 128)])
    sys.exit(bench.is_wrong)
