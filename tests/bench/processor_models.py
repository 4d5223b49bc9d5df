# SPDX-License-Identifier: Apache-2.0
"""Whole models on the CPU in f32, inference: torch.compile(backend="tile") against PyTorch, eager and compiled by TorchInductor, in one process
by turns: medians in milliseconds, with one thread of its processor time. The results are compared first.

    PYTHONPATH=python TILE_LIBRARY=build/libtile.so python3 tests/bench/processor_models.py [MODEL...] [--threads N] [--seconds S] [--no-compile]

Random weights. --profile FOLDER writes a trace of Tile's kernels for each model (Perfetto), and prints those that take most of the time."""
import json
import math
import os
import statistics
import sys
import time

import turns

parser = turns.parser(4, "model")
parser.add_argument("models", nargs="*")
parser.add_argument("--no-compile", action="store_true")
parser.add_argument("--profile")
options = turns.parse(parser)
import tile.torch  # noqa: E402,F401
import torch  # noqa: E402
from torch import nn  # noqa: E402

from processor_nets import MODELS  # noqa: E402



def profile(name, call):
    path = os.path.join(options.profile, f"{name}.json")
    lib = tile.binding.lib()
    lib.tile_trace_begin(path.encode())
    for _ in range(3):
        call()
    lib.tile_trace_end()
    sums = {}
    events = json.load(open(path))
    for e in events if isinstance(events, list) else events["traceEvents"]:
        if e.get("ph") == "X":
            sums.setdefault((e.get("cat", ""), e["name"]), []).append(e["dur"] / 3e3)
    for (category, kernel), ms in sorted(sums.items(), key=lambda item: -sum(item[1]))[:16]:
        print(f"    {sum(ms):9.3f} ms {len(ms) // 3:4} {category:10} {kernel}")


def run(name):
    torch.manual_seed(0)
    model, inputs = MODELS[name]()
    if isinstance(model, nn.Module):
        model.eval()
    torch._dynamo.reset()
    fast = torch.compile(model, backend="tile", dynamic=False)
    start = time.perf_counter()
    got = fast(*inputs)
    compile_time = time.perf_counter() - start
    want = model(*inputs)
    error = ((got - want).norm() / want.norm()).item()
    if not error < 1e-4:
        raise SystemExit(f"{name}: the results differ by {error:.2e}")
    calls = [lambda: fast(*inputs), lambda: model(*inputs)]
    if not options.no_compile:
        inductor = torch.compile(model, dynamic=False)
        inductor(*inputs)
        calls.append(lambda: inductor(*inputs))
    ms = turns.medians(calls, options.seconds, options.threads)
    print(f"{name:12} {ms[0]:9.3f}" + "".join(f" {m:9.3f} {m / ms[0]:6.2f}x" for m in ms[1:]) + f"   error {error:.1e}, compiled in {compile_time:.1f} s", flush=True)
    if options.profile:
        profile(name, calls[0])
    return [m / ms[0] for m in ms[1:]]


def main():
    print(f"{options.threads} threads, PyTorch {torch.__version__}\n{'':12} {'Tile':>9} {'eager':>17} {'compiled':>17}")
    with torch.no_grad():
        ratios = [run(name) for name in options.models or MODELS]
    means = [math.exp(statistics.mean(math.log(r[i]) for r in ratios)) for i in range(len(ratios[0]))]
    print("geometric mean of PyTorch / Tile: " + ", ".join(f"{m:.2f}" for m in means))


if __name__ == "__main__":
    sys.exit(main())
