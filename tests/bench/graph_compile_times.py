# SPDX-License-Identifier: Apache-2.0
"""Times from a graph's text to loaded kernels, compared with torch.compile's first call. Each figure is from a new process that
has opened the device and allocated its inputs, with every cache empty: `first` until the graph can run, `best` until each
kernel runs optimized code. `again` repeats `first` in that process, with caches emptied again. Used by
graphs.py --compile-times."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


def seconds(f):
    start = time.perf_counter()
    f()
    return time.perf_counter() - start


# ---- the measured process ----

def tile_times(path):
    """Without PyTorch: libtile and the text alone."""
    import ctypes as C
    from tile_ctypes import Tile
    with open(path, "rb") as f:
        text = f.read()

    def compile_graph():
        program = C.c_void_p()
        tile.call("tile_program_from_text", tile.device, b"graph.py", text, C.c_size_t(len(text)), C.byref(program))
        tile.call("tile_stream_synchronize", tile.device, None)
        programs.append(program)

    def recompile():
        tile.call("tile_program_wait_optimized", programs[-1])

    programs = []
    begin = time.perf_counter()
    tile = Tile(device=os.environ.get("TILE_BENCH_DEVICE", "cuda").encode())
    opened = time.perf_counter() - begin
    first = seconds(compile_graph)
    best = first + seconds(recompile)
    os.environ["TILE_CACHE_DIR"] = ""
    again = seconds(compile_graph)
    recompile()
    for program in programs:
        tile.lib.tile_program_close(program)
    return dict(open_s=opened, first_s=first, best_s=best, again_s=again)


def torch_times(case):
    begin = time.perf_counter()
    import torch
    from torch._inductor import utils
    from graph_cases import CASES, make
    function, specs = CASES[case]
    inputs = [make(s, "cuda") for s in specs]
    torch.cuda.synchronize()
    opened = time.perf_counter() - begin
    fresh = getattr(utils, "fresh_cache", None) or utils.fresh_inductor_cache

    def run(f):
        f(*inputs)
        torch.cuda.synchronize()

    with torch.no_grad():
        run(function)  # cuBLAS and eager kernels are loaded by now
        compiled = torch.compile(function)
        first, then = seconds(lambda: run(compiled)), seconds(lambda: run(compiled))
        torch._dynamo.reset()
        with fresh():
            again = seconds(lambda: run(torch.compile(function)))
    return dict(open_s=opened, first_s=first - then, again_s=again - then)


# ---- running it ----

def ask(side, argument, folder):
    """The child's figures; None where it failed, with why on standard error."""
    def empty(name):
        return tempfile.mkdtemp(prefix=name, dir=folder)

    env = dict(os.environ, TILE_CACHE_DIR=empty("tile"), CUDA_CACHE_DISABLE="1", TORCHINDUCTOR_CACHE_DIR=empty("inductor"),
               TRITON_CACHE_DIR=empty("triton"), TORCHINDUCTOR_FORCE_DISABLE_CACHES="1")
    p = subprocess.run([sys.executable, os.path.abspath(__file__), side, argument], env=env, capture_output=True, text=True)
    lines = [line for line in p.stdout.splitlines() if line.startswith("{")]
    if p.returncode or not lines:
        sys.stderr.write(p.stderr[-2000:])
        return None
    return json.loads(lines[-1])


def compile_times(case, path, folder, rounds, peers):
    """One row: medians of Tile's processes, one process of torch.compile, and how many times as long that took."""
    ours = [ask("tile", path, folder) for _ in range(rounds)]
    if None in ours:
        return None
    row = {f"tile_{key}": statistics.median(o[key] for o in ours) for key in ours[0]}
    theirs = ask("compile", case, folder) if peers else None
    if theirs:
        row.update({f"compile_{key}": value for key, value in theirs.items()})
        row.update(ratio=theirs["first_s"] / row["tile_first_s"], ratio_again=theirs["again_s"] / row["tile_again_s"])
    return row


if __name__ == "__main__":
    print(json.dumps(tile_times(sys.argv[2]) if sys.argv[1] == "tile" else torch_times(sys.argv[2])))
