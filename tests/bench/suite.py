# SPDX-License-Identifier: Apache-2.0
"""The model suite through torch.compile: backend="tile" beside eager mode and Inductor's modes, alternating in one process for each model.

    TILE_LIBRARY=libtile.so PYTHONPATH=python python3 tests/bench/suite.py [MODEL...] [--latency] [--train] [--sides tile,eager,default,...]

One JSON line a model: milliseconds of a call back to back (wall), of the GPU alone (gpu), seconds of the first call (first), MiB at the peak, and
the error, as a norm relative to float32 (of a training step: of all gradients). Sides: tile, tile:reduce-overhead (the same for other modes), eager, default, reduce-overhead, max-autotune.
Several models compile at a time; they are measured one at a time. --table FILE... prints what such lines say, with geometric means."""
import argparse
import fcntl
import json
import math
import os
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
INDUCTOR = ("default", "reduce-overhead", "max-autotune")


def step_of(call, model, inputs, train):
    import torch
    if not train:
        def run():
            with torch.no_grad():
                return [call(*inputs)]
        return run
    parameters = [p for p in model.parameters() if p.requires_grad]

    def run():
        out = call(*inputs)
        return torch.autograd.grad(out.float().square().mean() + out.float().mean(), parameters, allow_unused=True)

    return run


def compiled(side, model):
    import torch
    if side == "eager":
        return model
    if side.startswith("tile"):
        import tile.torch  # noqa: F401
        return torch.compile(model, backend="tile", mode=side[5:] or None)
    return torch.compile(model, mode=None if side == "default" else side)


def error_of(got, want):
    pairs = [(g.double(), w.double()) for g, w in zip(got, want) if w is not None]
    difference = sum((g - w).square().sum() for g, w in pairs)
    return (difference / sum(w.square().sum() for _, w in pairs)).sqrt().item()


def wall_ms(run, seconds=0.15):
    import torch
    run()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    run()
    torch.cuda.synchronize()
    count = max(3, int(seconds / (time.perf_counter() - begin)))
    begin = time.perf_counter()
    for _ in range(count):
        run()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / count * 1e3


def gpu_ms(run):
    import torch
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda._sleep(20_000_000)  # launches are queued meanwhile
    begin.record()
    run()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end)


def measure(name, options):
    import torch
    from zoo.suite import SUITE
    make, batch, single = SUITE[name]
    torch.manual_seed(0)
    model, inputs = make(single if options.latency else batch)
    model = model.cuda().train(options.train)
    wide = [t.float() if t.is_floating_point() else t for t in inputs]
    want = step_of(model, model, wide, options.train)() if options.reference else None
    model = model.bfloat16()
    line = dict(what=name, mode=("train" if options.train else "infer") + ("1" if options.latency else ""))
    runs = {}
    for side in options.sides.split(","):
        run = step_of(compiled(side, model), model, inputs, options.train)
        torch.cuda.reset_peak_memory_stats()
        try:
            begin = time.perf_counter()
            got = run()
            torch.cuda.synchronize()
            line[side] = dict(first=round(time.perf_counter() - begin, 2))
            if want is not None:
                line[side]["error"] = float("%.2g" % error_of(got, want))
            del got
            for _ in range(3):
                run()
            torch.cuda.synchronize()
            runs[side] = run
        except Exception as problem:  # a side that fails is a result
            line[side] = dict(failed=(type(problem).__name__ + ": " + str(problem))[:400])
    with open("/tmp/suite.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        walls, gpus = {s: [] for s in runs}, {s: [] for s in runs}
        for _ in range(options.rounds):
            for side, run in runs.items():
                walls[side].append(wall_ms(run))
                gpus[side].append(gpu_ms(run))
        for side, run in runs.items():
            torch.cuda.reset_peak_memory_stats()
            run()
            torch.cuda.synchronize()
            line[side].update(wall=round(statistics.median(walls[side]), 4), gpu=round(statistics.median(gpus[side]), 4),
                              peak=torch.cuda.max_memory_allocated() >> 20)
    if options.profile:
        from models import kernels_of
        line["kernels"] = {side: kernels_of(run) for side, run in runs.items()}
    print(json.dumps(line), flush=True)


def best_of(line, key):
    values = [line[s][key] for s in INDUCTOR if key in line.get(s, {})]
    return min(values) if values else None


def table(files):
    lines = [json.loads(l) for f in files for l in open(f) if l.startswith("{")]
    ratios = {}
    for line in lines:
        tiles = [v for k, v in line.items() if k.startswith("tile") and "wall" in v]
        tile = min(tiles, key=lambda v: v["wall"]) if tiles else line.get("tile", {})
        eager = line.get("eager", {})
        if "wall" not in tile:
            print("| %s %s | %s |" % (line["what"], line["mode"], tile.get("failed", "not measured")))
            continue
        row = {key: best_of(line, key) / tile[key] if best_of(line, key) else None for key in ("wall", "gpu", "first")}
        ratios.setdefault(line["mode"], []).append(row)
        text = ["%.3f" % tile["wall"], "%.3f" % tile["gpu"]] + ["%.2f" % row[k] if row[k] else "-" for k in ("wall", "gpu", "first")]
        text += ["%.2f" % (eager["wall"] / tile["wall"]) if eager else "-", "%s / %s" % (tile.get("error"), eager.get("error"))]
        print("| %s %s | %s |" % (line["what"], line["mode"], " | ".join(text)))
    for mode, rows in ratios.items():
        for key in ("wall", "gpu", "first"):
            values = [r[key] for r in rows if r[key]]
            if values:
                print("%s: best of Inductor / tile, %s: %.3f over %d" % (mode, key, math.exp(sum(map(math.log, values)) / len(values)), len(values)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help="all by default")
    parser.add_argument("--sides", default="tile,eager,default,reduce-overhead")
    parser.add_argument("--latency", action="store_true", help="batch 1")
    parser.add_argument("--train", action="store_true", help="forward and backward")
    parser.add_argument("--reference", action=argparse.BooleanOptionalAction, default=True, help="errors")
    parser.add_argument("--profile", action="store_true", help="the kernels of each side")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=4, help="models that compile at a time")
    parser.add_argument("--timeout", type=float, default=240, help="seconds a model")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--table", nargs="+")
    options = parser.parse_args()
    if options.table:
        return table(options.table)
    if options.one:
        return measure(options.models[0], options)
    from zoo.suite import SUITE
    waiting, running = list(options.models or SUITE), []
    rest = [a for a in sys.argv[1:] if a not in SUITE]
    while waiting or running:
        while waiting and len(running) < options.jobs:
            name = waiting.pop(0)
            running.append((name, time.time(), subprocess.Popen([sys.executable, __file__, name, "--one"] + rest)))
        time.sleep(0.2)
        for entry in list(running):
            name, begin, process = entry
            if process.poll() is None and time.time() - begin > options.timeout:
                process.kill()
                print(json.dumps(dict(what=name, mode="", tile=dict(failed="no result in %g seconds" % options.timeout))), flush=True)
            if process.poll() is not None:
                running.remove(entry)


if __name__ == "__main__":
    main()
