# SPDX-License-Identifier: Apache-2.0
"""Counts the kernels of graphs: Tile's and torch.compile's, one line per graph.

    python3 tests/bench/graph_kernels.py FOLDER|FILE.py... [--tilec PROGRAM] [--device cpu] [--processes N] [--seconds S]

The files are graphs as PyTorch prints them. Inductor compiles each as far as its wrapper, in which launches of its own
kernels and calls of library kernels (cuBLAS, cuDNN, attention) are counted; nothing is run. Ours are those of
`tilec --graph FILE --emit=plan --target sm_90a`. Exits 1 where ours are more."""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import time

DTYPES = {"f32": "float32", "f16": "float16", "bf16": "bfloat16", "f64": "float64", "i64": "int64", "i32": "int32",
          "i16": "int16", "i8": "int8", "u8": "uint8", "b8": "bool"}
ATTENTION = "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu"
# Statements of Inductor's wrapper that launch a generated kernel, or call a library.
OWN = re.compile(r"^\s*(?:triton|cpp)\w*(?:\.run)?\(", re.M)
OTHER = re.compile(r"^\s*(?:[\w, ()]+ = )?((?:extern_kernels|aten)\.\w[\w.]*|torch\.ops\.(?!inductor\._reinterpret)\w+\.\w[\w.]*)\(", re.M)


class Enough(Exception):
    pass


# ---- Inductor, in a separate process ----

def attention(q, k, v, dropout_p=0.0, is_causal=False, *, attn_mask=None, scale=None):
    """What a GPU has in place of the operator of CPUs."""
    import torch
    return torch.ops.aten._scaled_dot_product_efficient_attention.default(
        q, k, v, attn_mask, True, dropout_p, is_causal, scale=scale)[:2]


def attention_backward(grad, q, k, v, out, lse, dropout_p, is_causal, *, attn_mask=None, scale=None):
    import torch
    zero = torch.zeros((), dtype=torch.int64, device=q.device)
    return torch.ops.aten._scaled_dot_product_efficient_attention_backward.default(
        grad, q, k, v, attn_mask, out, lse, zero, zero, dropout_p, [True, True, True, False], is_causal, scale=scale)[:3]


def module_of(path, device):
    import torch
    text = open(path).read()
    text = re.sub(r"class \S+?\(torch\.nn\.Module\)", "class Graph(torch.nn.Module)", text)
    names = {"torch": torch, "device": torch.device, "inf": float("inf"), "nan": float("nan")}
    if device != "cpu":
        text = text.replace("type='cpu'", f"type='{device}', index=0")
        text = text.replace(ATTENTION + "_backward.default", "attention_backward").replace(ATTENTION + ".default", "attention")
        names.update(attention=attention, attention_backward=attention_backward)
    exec(compile(text, path, "exec"), names)
    return names["Graph"]()


def inputs_of(module, device):
    import torch
    tensors = []
    for text in module.forward.__annotations__.values():
        kind, shape, strides = re.match(r"(\w+)\[([^\]]*)\](?:\[([^\]]*)\])?", text).groups()
        sizes = [int(n) for n in shape.split(",") if n.strip()]
        steps = [int(n) for n in (strides or "").split(",") if n.strip()]
        t = torch.empty_strided(sizes, steps, dtype=getattr(torch, DTYPES[kind]), device=device) if len(steps) == len(sizes) \
            else torch.empty(sizes, dtype=getattr(torch, DTYPES[kind]), device=device)
        tensors.append(t)
    return tensors


def count(path, device):
    import torch
    from torch._inductor.graph import GraphLowering
    codes = []

    def stop(code, *rest):
        codes.append(code)
        raise Enough

    GraphLowering.save_output_code = staticmethod(stop)
    torch._dynamo.reset()
    module = module_of(path, device)
    problem = None
    try:
        with torch.no_grad():
            torch.compile(module, fullgraph=True)(*inputs_of(module, device))
    except Exception as e:
        problem = f"{type(e).__name__}: {e}"[:300]
    if not codes:
        return dict(problem=problem or "no code")
    calls = codes[-1][codes[-1].find("def call("):]
    own, other = OWN.findall(calls), OTHER.findall(calls)
    by_name = {}
    for name in other:
        by_name[name] = by_name.get(name, 0) + 1
    return dict(own=len(own), library=len(other), total=len(own) + len(other), calls=by_name)


def work(paths, device):
    import torch
    import torch._inductor.config
    torch._inductor.config.fx_graph_cache = False
    torch._inductor.config.compile_threads = 1
    torch._functorch.config.enable_autograd_cache = False
    for path in paths:
        start = time.time()
        try:
            row = count(path, device)
        except Exception as e:
            row = dict(problem=f"{type(e).__name__}: {e}"[:300])
        print(json.dumps(dict(file=path, seconds=round(time.time() - start, 1), **row)), flush=True)


# ---- both, as a table ----

def ours(tilec, path):
    done = subprocess.run([tilec, "--graph", path, "--emit=plan", "--target", "sm_90a"], capture_output=True, text=True)
    found = re.search(r": (\d+) kernels, (\d+) launches", done.stdout)
    return (int(found[1]), int(found[2])) if found else None


def line(path, theirs, mine):
    name = os.path.basename(path)[:-3]
    text = "-" if not theirs else theirs.get("problem") or f"{theirs['total']:4} ({theirs['own']} own, {theirs['library']} library)"
    says = ""
    if theirs and "total" in theirs and mine:
        says = "above" if mine[1] > theirs["total"] else "equal" if mine[1] == theirs["total"] else "below"
    print(f"{name:32} ours {mine[1] if mine else '-':>4}  {says:5}  inductor {text}", flush=True)
    return says == "above"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("paths", nargs="+")
    p.add_argument("--tilec", default=os.environ.get("TILEC", "build/tilec"))
    p.add_argument("--device", default="cuda")
    p.add_argument("--processes", type=int, default=os.cpu_count())
    p.add_argument("--seconds", type=float, default=600)
    p.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    o = p.parse_args()
    if o.worker:
        return work(o.paths, o.device)
    files = [f for path in o.paths for f in (sorted(glob.glob(os.path.join(path, "*.py"))) if os.path.isdir(path) else [path])]
    files.sort(key=lambda f: (".train." in f, os.path.getsize(f)))
    n = max(1, min(o.processes, len(files)))
    end = time.time() + o.seconds
    with tempfile.TemporaryDirectory() as folder:
        outs = [open(os.path.join(folder, str(i)), "w+") for i in range(n)]
        workers = [subprocess.Popen([sys.executable, __file__, "--worker", "--device", o.device, *files[i::n]], stdout=outs[i],
                                    stderr=subprocess.DEVNULL) for i in range(n)]
        mine = {f: ours(o.tilec, f) for f in files}
        for w in workers:
            try:
                w.wait(max(0.1, end - time.time()))
            except subprocess.TimeoutExpired:
                w.kill()
        rows = {}
        for out in outs:
            out.seek(0)
            rows.update((r["file"], r) for r in map(json.loads, filter(lambda s: s.endswith("}\n"), out)))
    above = [f for f in files if line(f, rows.get(f), mine[f])]
    print(f"{len(rows)} of {len(files)} compiled by Inductor; ours are more in {len(above)}")
    return int(bool(above))


if __name__ == "__main__":
    sys.exit(main())
