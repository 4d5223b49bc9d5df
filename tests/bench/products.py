# SPDX-License-Identifier: Apache-2.0
"""Shared parts of gemm.py and attention.py: options, normally distributed f16 arrays, checks, alternating cases, and
Triton as a peer. Works without PyTorch and Triton, whose columns are then missing, and on the CPU device."""
import argparse
import importlib.util
import json
import math
import os
import random
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
from tile_ctypes import Halves, Tile

FLUSH = 1 << 31  # bytes written before each launch: more than the L2 cache has, and time for the CPU to issue it


def put(what, **figures):
    figures = {k: round(v, 4) if isinstance(v, float) else v for k, v in figures.items() if v is not None}
    print(json.dumps({"what": what, **figures}), flush=True)


def parser(text):
    p = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("modes", nargs="*")
    p.add_argument("--device", default="cuda", help="cuda (skipped where there is none), or CPU to check the script itself")
    p.add_argument("--target", action="append", help="generate Tile's code for this GPU, sm_80 say; may be repeated; by default the device's own")
    p.add_argument("--configs", help="try these only: numbers joined by x, configurations by commas")
    p.add_argument("--rounds", type=int, default=7, help="rounds in which the cases are compared")
    p.add_argument("--reps", type=int, default=8, help="launches a round")
    p.add_argument("--no-peers", action="store_true", help="Tile alone")
    p.add_argument("--sides", help="only these, joined by commas")
    p.add_argument("--same-source", action="store_true", help="Triton compiles our kernel even if PEERS_DIR has its tutorial's")
    return p


def configs_of(options, all_of_them):
    if not options.configs:
        return all_of_them
    return [tuple(int(n) for n in c.split("x")) for c in options.configs.split(",")]


class Bench:
    """A device with what is measured on it."""

    def __init__(self, options):
        self.options = options
        self.torch = self.triton = None
        self.is_wrong = False  # the exit status
        try:
            self.tile = Tile(device=options.device.encode())
        except RuntimeError as problem:
            put("skipped", why=str(problem))
            sys.exit(0)
        self.about = self.tile.properties()
        if not self.about.is_cpu:
            self.find_peers()
        put("device", model=self.about.name.decode(), target=self.about.target.decode(),
            torch=getattr(self.torch, "__version__", None), triton=getattr(self.triton, "__version__", None))
        self.targets = options.target or [None]

    def find_peers(self):
        try:
            import torch
            if torch.cuda.is_available():
                self.torch = torch
                torch.manual_seed(0)
        except ImportError:
            return
        if self.torch and not self.options.no_peers:
            try:
                import triton
                self.triton = triton
            except ImportError:
                pass
        self.flush_buffer = torch.empty(FLUSH, dtype=torch.int8, device="cuda") if self.torch else None

    # ---- arrays ----

    def normal(self, *shape):
        if self.torch:
            return self.torch.randn(*shape, device="cuda", dtype=self.torch.float16)
        count = math.prod(shape)
        # Drawing in Python is slow: a large array is periodic, with an odd period.
        period = min(count, 1000003)
        values = [random.gauss(0, 1) for _ in range(period)]
        values = struct.unpack(f"<{period}e", struct.pack(f"<{period}e", *values))
        a = Halves(self.tile, count)
        data = struct.pack(f"<{period}e", *values)
        a.write((data * -(-count // period))[:2 * count])
        a.at = lambda i: values[i % period]
        return a

    def empty(self, *shape):
        """Filled with what is not a number."""
        if self.torch:
            return self.torch.full(shape, math.nan, device="cuda", dtype=self.torch.float16)
        a = Halves(self.tile, math.prod(shape))
        a.write(b"\xff" * (2 * a.count))
        return a

    def clear(self, a):
        if self.torch:
            a.fill_(math.nan)
        else:
            a.write(b"\xff" * (2 * a.count))

    def free(self, *arrays):
        for a in arrays:
            if not self.torch:
                a.free()

    # ---- time ----

    def flush(self):
        if self.about.is_cpu:
            return
        if self.torch:
            self.flush_buffer.zero_()
            return
        if not hasattr(self, "flush_halves"):
            self.flush_halves = Halves(self.tile, FLUSH // 2)
        import ctypes
        self.tile.call("tile_memset", self.tile.device, None, self.flush_halves.pointer, 0, ctypes.c_size_t(FLUSH))

    def alternate(self, cases, rounds, reps):
        """Median, 20th and 80th percentile in ms of each case. Cases take turns; the L2 cache is flushed before each
        launch, which takes so long that the CPU has issued the launch before the device comes to it."""
        times = {name: [] for name in cases}
        start, stop = self.tile.event(), self.tile.event()
        for f in cases.values():
            f()
        for _ in range(rounds):
            for name, f in cases.items():
                for _ in range(reps):
                    self.flush()
                    self.tile.record(start)
                    f()
                    self.tile.record(stop)
                    times[name].append(self.tile.milliseconds(start, stop))
        out = {}
        for name, t in times.items():
            t.sort()
            out[name] = (t[len(t) // 2], t[len(t) // 5], t[len(t) * 4 // 5])
        return out

    # ---- one problem ----

    def instruction_of(self, launch):
        return instruction(self.tile.code(launch)) if hasattr(launch, "kernel") and not self.about.is_cpu else None

    def compare(self, what, operations, candidates, check):
        """`candidates`: {side: {name: function that makes a launch, or raises}}. Each is checked, then tried for a short
        time; the two best of each side take turns in the end, and the best of those is its result."""
        finalists, sides = {}, {}
        if self.options.sides:
            candidates = {side: tries for side, tries in candidates.items() if side in self.options.sides.split(",")}
        for side, tries in candidates.items():
            quick = {}
            for name, make in tries.items():
                which = None
                try:
                    launch = make()
                    which = launch.instruction if hasattr(launch, "instruction") else self.instruction_of(launch)
                    problem = check(launch)
                    median = None if problem else self.alternate({name: launch}, 1, 5)[name][0]
                except Exception as e:  # no such instruction, too much shared memory, ...
                    lines = str(e).strip().split("\n")  # warnings of the compiler may stand before its error
                    problem, median = ([l for l in lines if "error" in l] + lines)[0][:200] or type(e).__name__, None
                if problem and (self.about.is_cpu or problem.startswith("WRONG")):
                    self.is_wrong = True
                put(what, side=side, case=name, instruction=which, problem=problem, quick_ms=median, tflops=median and operations / median * 1e-9)
                if median:
                    quick[name] = (median, launch)
            for name in sorted(quick, key=lambda n: quick[n][0])[:2]:
                finalists[side + " " + name] = quick[name][1]
                sides[side + " " + name] = side
        times = self.alternate(finalists, self.options.rounds, self.options.reps) if finalists else {}
        best = {}
        for key, (median, low, high) in times.items():
            side = sides[key]
            put(what, side=side, case=key[len(side) + 1:], ms=median, p20=low, p80=high, tflops=operations / median * 1e-9)
            if side not in best or median < best[side][0]:
                best[side] = (median, key[len(side) + 1:])
        row = {}
        for side, (median, name) in best.items():
            row[side] = operations / median * 1e-9
            row[side + "_config"] = name
        put(what, row="best of each, TFLOP/s", **row)


# ---- Triton ----

def load_module(text, name):
    """A module of this text, anew at each call, as Triton keeps what it compiled with the module's functions."""
    path = os.path.join(tempfile.mkdtemp(), name + ".py")
    with open(path, "w") as f:
        f.write(text)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def peer_file(name, cut):
    """The text of a file of PEERS_DIR up to `cut`, or None."""
    path = os.path.join(os.environ.get("PEERS_DIR", ""), name)
    return open(path).read().split(cut)[0] if os.path.exists(path) else None


def as_triton(path):
    """Our kernel as Triton takes it: without the types of parameters, which are Tile's own."""
    text = open(path).read()
    return re.sub(r"(\w+): (?:(?:const_)?ptr\[\w+\]|[iuf]\d+)(?: % \d+)?(?=[,)])", r"\1", text)


class OnlyMmaV2:
    """While this is entered, Triton compiles for mma.sync even where there is wgmma."""

    def __init__(self, on):
        self.on = on

    def __enter__(self):
        if self.on:
            os.environ["DISABLE_MMA_V3"] = "1"

    def __exit__(self, *_):
        os.environ.pop("DISABLE_MMA_V3", None)


def instruction(code):
    """Which matrix instructions a text of PTX has."""
    if isinstance(code, bytes):
        code = code.decode(errors="replace")
    return "wgmma" if "wgmma.mma_async" in code else "mma.sync" if "mma.sync" in code else "none"


# ---- first calls ----

def first_calls(script, options, times=5):
    """Source to finished kernel with empty caches, each in a process of its own; medians and extremes in ms. False: failed."""
    results, rest = [], [a for a in sys.argv[1:] if a not in options.modes]
    for _ in range(times):
        env = dict(os.environ, TILE_CACHE_DIR=tempfile.mkdtemp(), TRITON_CACHE_DIR=tempfile.mkdtemp(), CUDA_CACHE_PATH=tempfile.mkdtemp())
        p = subprocess.run([sys.executable, script, "first_call_once"] + rest, env=env, capture_output=True, text=True)
        if p.returncode:
            put("first_call", problem=[l for l in p.stderr.split("\n") if l[:1].strip()][-1][:160])
            return False
        results += [r for r in map(json.loads, p.stdout.splitlines()) if r["what"] == "first_call_once"]
    for side in results[0] if results else ():
        if side.endswith("_ms"):
            t = [r[side] for r in results]
            put("first_call", case=side[:-3], ms=statistics.median(t), least=min(t), most=max(t))
    return bool(results)


def timed_once(bench, f):
    if bench.torch:
        bench.torch.cuda.synchronize()
    start = time.perf_counter()
    f()
    bench.tile.call("tile_stream_synchronize", bench.tile.device, None)
    return (time.perf_counter() - start) * 1e3
