# SPDX-License-Identifier: Apache-2.0
"""Matrix products of graphs, f16 and bf16: Tile's generated kernels, the kernel of tutorial 09, Triton and cuBLAS, alternating in
one process, all results checked against float64, those of graphs for equal bits as well.

usage: TILE_LIBRARY=libtile.so [PEERS_DIR=folder of 03-matrix-multiplication.py and 09-persistent-matmul.py of Triton's tutorials]
       python3 graph_gemm.py [CASE...] [options]

One JSON line per figure. `graph` is the configuration that is chosen without tuning, `graph_tuned` the same graph after
tile_program_tune; `tutorial` is ours, with the configurations of its decorator. `triton` is its plain kernel, `triton_tma` its persistent one with
descriptors, which takes B as N x K: where a case has K x N, it gets a transposed copy. The cases are those below; an argument that is part of their names selects them. --sizes adds N or MxNxK. The
time of --seconds is divided evenly among the cases that are left; cases for which none is left are named in the end. Without PyTorch
only Tile's sides run, in f16, and samples of the results are checked; so the script tests itself with --device cpu --sizes 64."""
import statistics
import sys
from dataclasses import dataclass

from products import *
from tile_ctypes import BF16, F16
from tile_programs import CompiledGraph

PERSISTENT = os.path.join(ROOT, "tutorials/09-persistent-matmul/persistent.tile")
CONFIGS = [(128, 256, 64, 8, 4), (256, 128, 64, 8, 4), (128, 256, 64, 8, 3), (128, 128, 64, 8, 6), (128, 128, 64, 4, 4), (64, 128, 64, 4, 4)]
GROUP, CODES = 8, {"f16": F16, "bf16": BF16}
ERROR = {"f16": 5e-4, "bf16": 4e-3}  # of the result's norm: the rounding of the output


@dataclass
class Case:
    name: str
    m: int
    n: int
    k: int
    batch: int = 1
    a_is_transposed: bool = False  # stored as K x M
    b_is_transposed: bool = False  # stored as N x K
    pad: int = 0                   # elements between the rows of operands
    heads: int = 0                 # batch = groups x heads, stored as [group, row, head, column]
    shares_b: bool = False         # all batches have the same B


def cases_of_issue():
    """Large cubes, short and long k, odd sizes, transpositions, batches, strides, little work."""
    for n in (1024, 2048, 4096, 8192):
        yield Case(f"cube {n}", n, n, n)
    for k in (256, 512, 1024, 4096, 16384):
        yield Case(f"8192x8192 k {k}", 8192, 8192, k)
    for m, n, k in ((4096, 11008, 4096), (3000, 3000, 4096), (8192, 768, 3072), (2048, 4096, 4096)):
        yield Case(f"layer {m}x{n}x{k}", m, n, k)
    for m, n, k in ((512, 768, 3072), (128, 4096, 4096), (256, 1024, 16384), (64, 8192, 8192), (512, 4096, 4096)):
        yield Case(f"small {m}x{n}x{k}", m, n, k)
    for a in (False, True):
        for b in (False, True):
            if a or b:
                yield Case(f"{'t' if a else 'n'}{'t' if b else 'n'} 4096", 4096, 4096, 4096, a_is_transposed=a, b_is_transposed=b)
    for m, n, k in ((2047, 2048, 2048), (4095, 4097, 4096), (4096, 4096, 4095), (2049, 2051, 2053), (4096, 4096, 32), (4096, 4096, 40)):
        yield Case(f"odd {m}x{n}x{k}", m, n, k)
    yield Case("batch 16x1024", 1024, 1024, 1024, batch=16)
    yield Case("batch 4x4096x4096x1024 nt", 4096, 4096, 1024, batch=4, b_is_transposed=True)
    yield Case("batch shared b 16x2048x2048x1024", 2048, 2048, 1024, batch=16, shares_b=True)
    yield Case("heads 4x32x2048x2048x128 nt", 2048, 2048, 128, batch=128, heads=32, b_is_transposed=True)
    yield Case("heads 4x32x2048x128x2048", 2048, 128, 2048, batch=128, heads=32)
    yield Case("strided 4096", 4096, 4096, 4096, pad=64)
    yield Case("strided 4096 nt", 4096, 4096, 4096, pad=8, b_is_transposed=True)


# ---- operands ----

class Operand:
    """`batch` matrices of rows x columns as they are stored; the graph's view of them has these dimensions."""

    def __init__(self, bench, dtype, case, rows, columns, is_transposed, is_shared):
        self.rows, self.columns, self.is_transposed = rows, columns, is_transposed
        self.case, self.is_shared = case, is_shared
        height, width = (columns, rows) if is_transposed else (rows, columns)
        row = width + case.pad
        if case.batch == 1 or is_shared:
            self.shape, self.strides = (height, width), (row, 1)
        elif case.heads:
            self.shape = (case.batch // case.heads, height, case.heads, width)
            self.strides = (height * case.heads * row, case.heads * row, row, 1)
        else:
            self.shape, self.strides = (case.batch, height, width), (height * row, row, 1)
        count = self.shape[0] * self.strides[0]
        self.array = bench.normal(count) if dtype == "f16" else bench.normal(count).to(bench.torch.bfloat16)
        self.dtype = dtype

    def packed(self):
        return self.array.data_ptr(), CODES[self.dtype], self.shape, self.strides

    def at(self, z, row, column):
        """An element, where the array knows its values."""
        i, j = (column, row) if self.is_transposed else (row, column)
        if len(self.shape) == 2:
            index = (i, j)
        elif self.case.heads:
            index = (z // self.case.heads, i, z % self.case.heads, j)
        else:
            index = (z, i, j)
        return self.array.at(sum(x * s for x, s in zip(index, self.strides)))

    def tensor(self):
        """The view that cuBLAS multiplies: [rows, columns], or [batch, rows, columns]."""
        t = self.array.as_strided(self.shape, self.strides)
        if len(self.shape) == 4:
            t = t.permute(0, 2, 1, 3)
        t = t.transpose(-1, -2) if self.is_transposed else t
        return t.expand(self.case.batch, -1, -1) if self.is_shared and self.case.batch > 1 else t

    def lines(self, name):
        """Its parameter, and the statements that make the view `name`."""
        kind = f"{self.dtype}{list(self.shape)}{list(self.strides)}"
        text, last = "", f"{name}_0"
        order = list(range(len(self.shape)))
        if len(order) == 4:
            order = [0, 2, 1, 3]
        if self.is_transposed:
            order[-2:] = reversed(order[-2:])
        if order != list(range(len(order))):
            text += f"    {name}_1 = torch.ops.aten.permute.default({last}, {order})\n"
            last = f"{name}_1"
        if self.is_shared and self.case.batch > 1:
            text += f"    {name}_2 = torch.ops.aten.unsqueeze.default({last}, 0)\n"
            text += f"    {name}_3 = torch.ops.aten.expand.default({name}_2, [{self.case.batch}, {self.rows}, {self.columns}])\n"
            last = f"{name}_3"
        return f'{name}_0: "{kind}"', text, last


def graph_text(a, b):
    (a_parameter, a_lines, x), (b_parameter, b_lines, y) = a.lines("a"), b.lines("b")
    name = "mm" if a.case.batch == 1 else "matmul" if a.case.heads else "bmm"
    return (f"def forward(self, {a_parameter}, {b_parameter}):\n{a_lines}{b_lines}"
            f"    out = torch.ops.aten.{name}.default({x}, {y})\n    return (out,)\n")


class Problem:
    def __init__(self, bench, case, dtype):
        self.bench, self.case, self.dtype = bench, case, dtype
        self.a = Operand(bench, dtype, case, case.m, case.k, case.a_is_transposed, False)
        self.b = Operand(bench, dtype, case, case.k, case.n, case.b_is_transposed, case.shares_b)
        self.out = bench.empty(case.batch * case.m * case.n)
        if dtype == "bf16":
            self.out = self.out.to(bench.torch.bfloat16)
        self.shape = [case.m, case.n] if case.batch == 1 else [case.batch, case.m, case.n]
        if case.heads:
            self.shape[:1] = [case.batch // case.heads, case.heads]
        self.operations = 2.0 * case.batch * case.m * case.n * case.k
        self.programs = []
        if bench.torch:
            self.want = self.a.tensor().double() @ self.b.tensor().double()

    def output(self):
        strides = [1]
        for size in reversed(self.shape[1:]):
            strides.insert(0, strides[0] * size)
        return self.out.data_ptr(), CODES[self.dtype], self.shape, strides

    def error(self):
        """Of the output, in units of its norm; of samples where there is no PyTorch."""
        if self.bench.torch:
            difference = self.out.view(self.want.shape).double() - self.want
            return (difference.norm() / self.want.norm()).item()
        c, worst = self.case, 0.0
        for _ in range(64):
            z, i, j = random.randrange(c.batch), random.randrange(c.m), random.randrange(c.n)
            want = math.fsum(self.a.at(z, i, x) * self.b.at(z, x, j) for x in range(c.k))
            got = self.out.read((z * c.m + i) * c.n + j, 1)[0]
            error = abs(got - want) / (abs(want) + math.sqrt(c.k))
            worst = error if not error <= worst else worst
        return worst

    def close(self):
        for p in self.programs:
            p.close()
        self.bench.free(self.a.array, self.b.array, self.out)


# ---- sides: functions that make a launch ----

def graph_launch(p):
    program = CompiledGraph(p.bench.tile, graph_text(p.a, p.b))
    p.programs.append(program)
    return program.bind_to([p.a.packed(), p.b.packed()], [p.output()])


def tuned_launch(p, seconds):
    program = CompiledGraph(p.bench.tile, graph_text(p.a, p.b))
    p.programs.append(program)
    inputs, outputs = [p.a.packed(), p.b.packed()], [p.output()]
    choices = program.tune_for(inputs, outputs, seconds)
    put(p.case.name, dtype=p.dtype, side="graph_tuned", choices=choices)
    return program.bind_to(inputs, outputs)


KERNELS, PEERS = {}, {}


def tutorial_launch(p, config):
    c = p.case
    if config not in KERNELS:
        bm, bn, bk, warps, stages = config
        KERNELS[config] = p.bench.tile.kernel(PERSISTENT, "persistent_matmul", warps=warps, stages=stages, BLOCK_M=bm, BLOCK_N=bn, BLOCK_K=bk,
                                              GROUP_M=GROUP)
    programs = min(-(-c.m // config[0]) * -(-c.n // config[1]), max(1, p.bench.about.multiprocessors))
    return p.bench.tile.bind(KERNELS[config], (programs, 1, 1), p.a.array, p.b.array, p.out, c.m, c.n, c.k, p.a.strides[0], p.b.strides[0], c.n)


def triton_launch(p, config):
    """The tutorial's kernel, whose output type is f16 in the source."""
    c, (bm, bn, bk, warps, stages) = p.case, config
    if p.dtype not in PEERS:
        text = peer_file("03-matrix-multiplication.py", "# %%\n# Unit Test")
        kernel = load_module(text.replace("tl.float16", "tl.float16" if p.dtype == "f16" else "tl.bfloat16"), "peer_" + p.dtype).matmul_kernel
        PEERS[p.dtype] = getattr(kernel, "fn", kernel)
    a, b = p.a.tensor(), p.b.tensor()
    grid = (-(-c.m // bm) * -(-c.n // bn),)
    args = (a, b, p.out, c.m, c.n, c.k, *a.stride(), *b.stride(), c.n, 1)
    f = lambda: PEERS[p.dtype][grid](*args, BLOCK_SIZE_M=bm, BLOCK_SIZE_N=bn, BLOCK_SIZE_K=bk, GROUP_SIZE_M=GROUP, ACTIVATION="",
                                     num_warps=warps, num_stages=stages)
    f()
    return f


def triton_tma_launch(p):
    """The tutorial's persistent kernel with descriptors, tuned among a few of its own configurations. It allocates its result."""
    if "tma" not in PEERS:
        module = load_module(peer_file("09-persistent-matmul.py", "if __name__ =="), "peer_persistent")
        kernel = module.matmul_kernel_tma_persistent
        blocks = {g[:3] for g in CONFIGS}
        names = ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K")
        kernel.configs = [c for c in kernel.configs if tuple(c.kwargs[n] for n in names) in blocks][:6] or kernel.configs[:6]
        PEERS["tma"] = module.matmul_tma_persistent
    a = p.a.tensor().contiguous()
    b = p.b.tensor().t().contiguous()
    f = lambda: PEERS["tma"](a, b, False)
    f.check = lambda: p.out.copy_(f().reshape(-1))
    return f


def cublas_launch(p):
    a, b, out = p.a.tensor(), p.b.tensor(), p.out.view(p.shape)
    return lambda: p.bench.torch.matmul(a, b, out=out)


def launches_of(p, options, seconds):
    """{side: {configuration: function}}"""
    configs = {"x".join(map(str, g)): g for g in configs_of(options, CONFIGS)}
    c, sides = p.case, {"graph": {"chosen": lambda: graph_launch(p)}}
    if not options.no_tune:
        sides["graph_tuned"] = {"tuned": lambda: tuned_launch(p, seconds)}
    is_plain = c.batch == 1 and not c.a_is_transposed and not c.b_is_transposed
    if is_plain and p.dtype == "f16" and (c.k + c.pad) % 8 == 0 and (c.n + c.pad) % 8 == 0 and c.n % 8 == 0:
        sides["tutorial"] = {name: lambda g=g: tutorial_launch(p, g) for name, g in configs.items()}
    if p.bench.triton and c.batch == 1 and peer_file("03-matrix-multiplication.py", "# %%\n# Unit Test"):
        sides["triton"] = {name: lambda g=g: triton_launch(p, g) for name, g in configs.items()}
    if p.bench.triton and c.batch == 1 and c.k % 8 == 0 and c.n % 8 == 0 and peer_file("09-persistent-matmul.py", "if __name__ =="):
        sides["triton_tma"] = {"its own": lambda: triton_tma_launch(p)}
    if p.bench.torch and not options.no_peers:
        sides["cublas"] = {"torch.matmul": lambda: cublas_launch(p)}
    if options.sides:
        sides = {side: of for side, of in sides.items() if side in options.sides.split(",")}
    return sides


# ---- measuring ----

def same_bits(p, launch):
    first, torch = p.out.view(p.bench.torch.int16).clone(), p.bench.torch
    for _ in range(p.bench.options.repeats):
        p.bench.clear(p.out)
        launch()
        if not torch.equal(first, p.out.view(torch.int16)):
            return False
    return True


def quick(p, side, name, make):
    """The launch with its first median in ms; None if it is impossible or wrong."""
    bench = p.bench
    try:
        launch = make()
        bench.clear(p.out)
        getattr(launch, "check", launch)()
        error = p.error()
        problem = None if error < ERROR[p.dtype] else f"WRONG: error {error:.2e}"
        if not problem and bench.torch and side.startswith("graph") and not same_bits(p, launch):
            problem = "WRONG: another launch gives other bits"
        ms = None if problem else bench.alternate({name: launch}, 1, 3)[name][0]
    except Exception as e:  # too much shared memory, ...
        launch, error, ms, problem = None, None, None, (str(e).strip() or type(e).__name__)[:200]
    bench.is_wrong |= bool(problem) and (side == "graph" or problem.startswith("WRONG"))
    put(p.case.name, dtype=p.dtype, side=side, config=name, error=error and float(f"{error:.3g}"), problem=problem, quick_ms=ms)
    return (launch, ms) if ms else None


def rounds_until(bench, cases, end, reps):
    """All times of each case, which take turns until `end`; three rounds at least."""
    times = {name: [] for name in cases}
    rounds = 0
    while rounds < min(3, bench.options.rounds) or (rounds < bench.options.rounds and time.perf_counter() < end):
        for name, f in cases.items():
            start, stop = bench.events
            for _ in range(reps):
                bench.flush()
                bench.tile.record(start)
                f()
                bench.tile.record(stop)
                times[name].append(bench.tile.milliseconds(start, stop))
        rounds += 1
    return times


def measure(bench, case, dtype, end):
    p = Problem(bench, case, dtype)
    left = end - time.perf_counter()
    tune_seconds = min(bench.options.tune_seconds, max(0.5, 0.4 * left))
    best = {}
    for side, tries in launches_of(p, bench.options, tune_seconds).items():
        for name, make in tries.items():
            if side in best and time.perf_counter() > end:
                break
            found = quick(p, side, name, make)
            if found and (side not in best or found[1] < best[side][2]):
                best[side] = (name, *found)
    times = rounds_until(bench, {side: of[1] for side, of in best.items()}, end, bench.options.reps)
    rates, row = {}, {}
    for side, t in times.items():
        rates[side] = p.operations / statistics.median(t) * 1e-9
        row[side + "_config"] = best[side][0]
        put(case.name, dtype=dtype, side=side, config=best[side][0], launches=len(t), ms=statistics.median(t), p20=sorted(t)[len(t) // 5],
            p80=sorted(t)[len(t) * 4 // 5], tflops=rates[side])
    of = lambda *sides: rates["graph"] / max(rates[s] for s in sides if s in rates) if "graph" in rates and rates.keys() & set(sides) else None
    ratios = dict(of_cublas=of("cublas"), of_triton=of("triton", "triton_tma"), of_best_peer=of("cublas", "triton", "triton_tma"),
                  of_tuned=of("graph_tuned"))
    put(case.name, dtype=dtype, row="TFLOP/s", **rates, **row, **ratios)
    p.close()
    return ratios


def run(bench, options):
    wanted = [c for c in cases_of_issue() if not options.modes or any(m in c.name for m in options.modes)]
    if options.sizes:
        wanted = [] if not options.modes else wanted
        for size in options.sizes.split(","):
            n = [int(x) for x in size.split("x")]
            n = n * 3 if len(n) == 1 else n
            wanted += [Case(size, *n), Case(size + " nt", *n, b_is_transposed=True), Case(size + " tn", *n, a_is_transposed=True),
                       Case(size + " batch", *n, batch=3), Case(size + " heads", *n, batch=4, heads=2, b_is_transposed=True),
                       Case(size + " shared", *n, batch=2, shares_b=True), Case(size + " strided", *n, pad=8)]
    dtypes = options.dtypes.split(",") if bench.torch else ["f16"]
    todo = [(case, dtype) for case in wanted for dtype in dtypes]
    deadline = time.perf_counter() + options.seconds
    ratios, late = {}, []
    for i, (case, dtype) in enumerate(todo):
        now = time.perf_counter()
        if now > deadline:
            late.append(f"{case.name} {dtype}")
            continue
        for name, ratio in measure(bench, case, dtype, now + (deadline - now) / (len(todo) - i)).items():
            if ratio:
                ratios.setdefault(name, []).append((ratio, f"{case.name} {dtype}"))
    for name, of in ratios.items():
        put("geometric mean " + name, cases=len(of), ratio=statistics.geometric_mean(r for r, _ in of), least=min(of)[0], of=min(of)[1])
    if late:
        put("no time left", cases=late)


if __name__ == "__main__":
    p = parser(__doc__)
    p.add_argument("--sizes", help="N or MxNxK, joined by commas, in several forms; instead of the cases unless those are named")
    p.add_argument("--dtypes", default="f16,bf16")
    p.add_argument("--seconds", type=float, default=120, help="for all cases together")
    p.add_argument("--tune-seconds", type=float, default=5, help="at most, for a case")
    p.add_argument("--no-tune", action="store_true")
    p.add_argument("--repeats", type=int, default=5, help="launches of a graph that must give the same bits")
    options = p.parse_args()
    bench = Bench(options)
    bench.events = bench.tile.event(), bench.tile.event()
    run(bench, options)
    sys.exit(bench.is_wrong)
