# SPDX-License-Identifier: Apache-2.0
"""Fused graphs compared with PyTorch: eager, torch.compile, torch.compile(mode="max-autotune"), alternating in one process;
Tile as compiled and autotuned.

    python3 tests/bench/graphs.py [CASE...] [--no-max-autotune] [--dynamic] [--compile-times] [--write FOLDER]

Needs PyTorch and a GPU to measure. TILE_LIBRARY names libtile.so. The graph is PyTorch's trace, as text; outputs
are compared with the function in double precision. --dynamic makes dynamic sizes symbolic (DYNAMIC in
graph_cases.py), for torch.compile too. --write saves the texts to a folder. --compile-times measures only
compilation, each in a new process (graph_compile_times.py), also of "gpt2", which has twelve layers."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import torch
from graph_cases import CASES, MATRIX_CASES, make, mark_dynamic, text_of
from graph_compile_times import compile_times
from products import FLUSH, put
from tile_ctypes import BF16, F16, F32, I32, Tile
from tile_programs import CompiledGraph

I1, I64 = 0, 4
KINDS = {torch.bool: I1, torch.int32: I32, torch.int64: I64, torch.float16: F16, torch.bfloat16: BF16, torch.float32: F32}
DTYPES = {v: k for k, v in KINDS.items()}


def tensor_of(t):
    return t.data_ptr(), KINDS[t.dtype], t.shape, t.stride()


class Program(CompiledGraph):
    """A graph with outputs of its own, of the given shapes."""

    def __init__(self, tile, text, shapes, sizes, device="cuda"):
        super().__init__(tile, text, sizes)
        self.outputs = []
        for shape, info in zip(shapes, self.output_infos()):
            dense = torch.empty(shape, dtype=DTYPES[info.type], device=device)
            strides = tuple(info.strides[:info.rank])
            self.outputs.append(dense if -1 in strides else torch.empty_strided(shape, strides, dtype=dense.dtype, device=device))
        self.out = self.pack(self.outputs)

    def pack(self, tensors):
        self.keep += tensors
        return super().pack(list(map(tensor_of, tensors)))

    def bind(self, inputs):
        return self.bind_to(inputs, self.outputs)

    def tune(self, inputs, seconds):
        return self.tune_for(inputs, self.outputs, seconds)


def flat(result):
    return [t for t in (result if isinstance(result, (tuple, list)) else (result,))]


def error_of(got, want):
    """The largest error, in units of the largest value."""
    worst = 0.0
    for g, w in zip(got, want):
        g, w = g.double(), w.double()
        if not torch.isfinite(g).all():
            return float("nan")
        worst = max(worst, ((g - w).abs().max() / w.abs().max().clamp_min(1e-30)).item())
    return worst


def in_double(function, inputs):
    """The function in double precision: `.float()` inside would narrow it again, so it goes by rows where memory is short."""
    keep = torch.Tensor.float
    torch.Tensor.float = torch.Tensor.double
    try:
        return flat(function(*[t.double() if t.is_floating_point() else t for t in inputs]))
    finally:
        torch.Tensor.float = keep


def alternate(cases, rounds, reps, flush):
    times = {name: [] for name in cases}
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for f in cases.values():
        f(), f()
    for _ in range(rounds):
        for name, f in cases.items():
            for _ in range(reps):
                flush.zero_()
                start.record()
                f()
                stop.record()
                stop.synchronize()
                times[name].append(start.elapsed_time(stop))
    return {name: (statistics.median(t), sorted(t)[len(t) // 5], sorted(t)[len(t) * 4 // 5]) for name, t in times.items()}


def floor_of(name, inputs, outputs):
    """Bytes that have to move at the rate of a device copy, in ms."""
    return sum(t.numel() * t.element_size() for t in inputs + outputs) / 4.3e12 * 1e3


def measure(tile, name, options, flush):
    function, specs = CASES[name]
    inputs = [make(s, "cuda") for s in specs]
    with torch.no_grad():
        shapes = [t.shape for t in flat(function(*inputs))]
    if options.dynamic:
        mark_dynamic(name, inputs)
    text, order, sizes = text_of(function, inputs)
    try:
        program = Program(tile, text, shapes, sizes)
    except RuntimeError as e:
        put(name, problem=str(e)[:600])
        return None
    run = program.bind([inputs[i] for i in order])
    tuned = choices = None
    if not options.no_max_autotune:
        tuned = Program(tile, text, shapes, sizes)
        begin = time.perf_counter()
        choices = tuned.tune([inputs[i] for i in order], options.tune_seconds)
        tuned.compile_s += time.perf_counter() - begin
        run_tuned = tuned.bind([inputs[i] for i in order])
    for t in program.outputs:
        t.fill_(float("nan")) if t.is_floating_point() else t.zero_()
    run()
    torch.cuda.synchronize()
    with torch.no_grad():
        want = in_double(function, inputs)
        row = dict(kernels=program.counts.launches, arena=program.counts.arena_bytes, error=error_of(program.outputs, want),
                   eager_error=error_of(flat(function(*inputs)), want))
        cases = {"tile": run}
        seconds = {"tile": program.compile_s}
        if tuned:
            for t in tuned.outputs:
                t.fill_(float("nan")) if t.is_floating_point() else t.zero_()
            run_tuned()
            row.update(tuned_error=error_of(tuned.outputs, want), choices=choices)
            cases["tile_max_autotune"] = run_tuned
            seconds["tile_max_autotune"] = tuned.compile_s
        del want
        if not options.no_peers:
            cases["eager"] = lambda: function(*inputs)
            modes = {"compile": None} if options.no_max_autotune else {"compile": None, "max_autotune": "max-autotune-no-cudagraphs"}
            for key, mode in modes.items():
                torch._dynamo.reset()
                compiled = torch.compile(function, mode=mode) if mode else torch.compile(function)
                begin = time.perf_counter()
                compiled(*inputs)
                torch.cuda.synchronize()
                seconds[key] = time.perf_counter() - begin
                cases[key] = lambda f=compiled: f(*inputs)
        times = alternate(cases, options.rounds, options.reps, flush)
    for key, (median, low, high) in times.items():
        row[key + "_ms"] = median
    row.update({key + "_compile_s": s for key, s in seconds.items()})
    row["floor_ms"] = floor_of(name, inputs, program.outputs)
    best = min((row[k] for k in ("compile_ms", "max_autotune_ms") if k in row), default=None)
    row["against_compile"] = best and best / row["tile_ms"]
    if "tile_max_autotune_ms" in row:
        row["tuned_against_compile"] = best and best / row["tile_max_autotune_ms"]
    put(name, **row)
    return row


def write_texts(names, folder, dynamic=False):
    from torch._subclasses.fake_tensor import FakeTensorMode
    kinds = {"bf16": torch.bfloat16, "f32": torch.float32, "i64": torch.int64}
    os.makedirs(folder, exist_ok=True)
    for name in names:
        function, specs = CASES[name]
        with FakeTensorMode():
            inputs = [torch.empty(s[1], dtype=kinds[s[0]]) for s in specs]
            if dynamic:
                mark_dynamic(name, inputs)
            with open(os.path.join(folder, name + ".py"), "w") as f:
                f.write(text_of(function, inputs)[0])


def report_compile_times(names, options):
    """Text to loaded kernels, cold: a process each."""
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        if "gpt2" in names:
            with open(os.path.join(folder, "gpt2.py"), "w") as f:
                subprocess.run([sys.executable, os.path.join(HERE, "gpt2_graph.py"), "--layers", "12"], stdout=f, check=True)
        write_texts([name for name in names if name != "gpt2"], folder)
        for name in names:
            path, peers = os.path.join(folder, name + ".py"), name != "gpt2" and not options.no_peers
            rows[name] = compile_times(name, path, folder, options.rounds, peers)
            put("compile " + name, **(rows[name] or dict(problem="failed")))
    ratios = [r["ratio"] for r in rows.values() if r and "ratio" in r]
    if ratios:
        put("compile times against torch.compile", cases=len(ratios), ratio=statistics.geometric_mean(ratios), least=min(ratios))
    return int(None in rows.values())


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("cases", nargs="*")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--reps", type=int, default=8)
    p.add_argument("--no-peers", action="store_true")
    p.add_argument("--no-max-autotune", action="store_true")
    p.add_argument("--dynamic", action="store_true", help="sizes that differ from call to call are symbols")
    p.add_argument("--compile-times", action="store_true", help="measure compilation alone, cold")
    p.add_argument("--tune-seconds", type=float, default=60, help="for our own max-autotune of a case")
    p.add_argument("--write", help="leave the graphs' texts in this folder, and measure nothing")
    options = p.parse_args()
    names = options.cases or list(CASES)
    if options.write:
        write_texts(names, options.write, options.dynamic)
        return 0
    if options.compile_times:
        return report_compile_times(options.cases or ["gpt2", *CASES], options)
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", tempfile.mkdtemp())
    os.environ.setdefault("TILE_CACHE_DIR", "")
    torch.manual_seed(0)
    tile = Tile()
    put("device", model=torch.cuda.get_device_name(), torch=torch.__version__)
    flush = torch.empty(FLUSH, dtype=torch.int8, device="cuda")
    rows = {name: measure(tile, name, options, flush) for name in names}
    ratios = [r["against_compile"] for n, r in rows.items() if r and r.get("against_compile") and n not in MATRIX_CASES]
    if ratios:
        put("geomean against torch.compile", cases=len(ratios), ratio=statistics.geometric_mean(ratios), least=min(ratios))
    return int(any(r is None or not max(r["error"], r.get("tuned_error", 0)) < 0.02 for r in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
