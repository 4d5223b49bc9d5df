# SPDX-License-Identifier: Apache-2.0
"""Compares graphs of PyTorch models, compiled for the CPU, with PyTorch's own results.

usage: check_graphs.py TILEC [NAME...] [--forms exported,...] [--keep FOLDER] [--check] [--list] [--store FOLDER]

Needs torch, and for some models timm, torchvision and transformers. Each model of graph_models.py and models_*.py is printed in several forms:
  exported    torch.export.export with a plain Dim, as print(exported_program) shows it
  decomposed  the same with strict=True, after run_decompositions()
  automatic   with Dim.AUTO, after run_decompositions()
  captured    the inference graph that torch.compile(dynamic=True) gives a backend of aot_autograd
  trained     the forward and the backward graph of a training step
and runs at each of its sizes (1 among them, and 0 where PyTorch takes it) with the inputs that PyTorch gets. A line
says for each model and form how many calls agree; failures print tilec's message or the difference. --store writes the
graphs of STORED, with inputs and PyTorch's results, for tests/cli/checks/exported_graphs.sh."""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import warnings

import numpy
import torch
import models_attention  # noqa: F401 (they add to MODELS)
import models_flex  # noqa: F401
import models_idioms  # noqa: F401
import models_losses  # noqa: F401
import models_vision  # noqa: F401
from graph_models import MODELS

FORMS = ("exported", "decomposed", "automatic", "captured", "trained")
NUMPY_LACKS = {torch.bfloat16}
# PyTorch's kernels and operators that its own compiler decomposes too.
ALLOWED = {torch.float32: 1.0, torch.float16: 20.0, torch.bfloat16: 100.0, torch.float64: 1.0}


# Model, form, index of the graph: small ones, with names of this repository alone.
STORED = (("unet_sides", "decomposed", 0), ("windows_sides", "captured", 0), ("lstm_loop", "captured", 0), ("graph_net", "decomposed", 0),
          ("speech", "captured", 0), ("static_cache", "exported", 0), ("state_space", "trained", 1), ("experts", "captured", 0),
          ("pools_sides", "captured", 0), ("boxes", "exported", 0), ("ragged", "captured", 0), ("long_convolution", "captured", 0),
          ("spectrogram", "exported", 0), ("running", "decomposed", 0), ("patches", "captured", 0), ("halves", "captured", 0), ("item", "exported", 0),
          ("grid_attention", "trained", 1), ("positions_bicubic", "captured", 0), ("quantiles", "exported", 0), ("shapes_in_place", "exported", 0),
          ("views_written", "exported", 0), ("norms_in_training", "exported", 0), ("volumes", "trained", 1), ("spectra", "exported", 0),
          ("pairs_of_any", "captured", 0), ("pixel_centres", "captured", 0), ("branches", "exported", 0), ("prefixes", "captured", 0), ("flex_soft_cap", "trained", 1),
          ("flex_slopes", "trained", 1), ("flex_documents", "trained", 1))


class Graph:
    """One printed graph, and the calls of it with PyTorch's results."""

    def __init__(self, text, names):
        self.text, self.names, self.calls = text, names, []


# ---- printing ----


def placeholders(gm):
    return [n.name for n in gm.graph.nodes if n.op == "placeholder"]


def attributes(gm):
    """Tensors of the module that the graph reads, by the name of the input that they become."""
    found = {}
    for n in gm.graph.nodes:
        if n.op == "get_attr" and isinstance(value := getattr(gm, n.target, None), torch.Tensor):
            found[n.name] = value
    return found


def dims(model, dynamic):
    names = {}

    def one(name):
        if "*" in name:
            return int(name.split("*")[0]) * one(name.split("*")[1])
        return names.setdefault(name, torch.export.Dim(name, min=model.low))

    return [None if axes is None else {i: dynamic or one(name) for i, name in axes.items()} for axes in model.axes]


def exported(model, form):
    first = model.inputs(model.sizes[0])
    dynamic = torch.export.Dim.AUTO if form == "automatic" else None
    program = torch.export.export(Wrapped(model.module, len(first)), first, dynamic_shapes=tuple(dims(model, dynamic)), strict=form == "decomposed")
    if form != "exported":
        program = program.run_decompositions()
    graph = Graph(str(program), placeholders(program.graph_module))
    state = {**program.state_dict, **program.constants}
    targets = [s.target for s in program.graph_signature.input_specs]
    for size in sizes_of(model):
        inputs = model.inputs(size)
        if not in_range(program, inputs, model.axes):
            continue
        users = iter(inputs)
        args = [(state[t] if t is not None else next(users)).clone() for t in targets]  # the program may write to them
        with torch.no_grad():
            results = program.module()(*inputs)
        results = list(results) if isinstance(results, (tuple, list)) else [results]
        written = len(program.graph_signature.output_specs) - len(results)
        graph.calls.append((size, list(zip(graph.names, args)) + list(attributes(program.graph_module).items()), [None] * written + results))
    return [graph]


def in_range(program, inputs, axes):
    """Whether the sizes are in the ranges that the export found: Dim.AUTO leaves out 0 and 1."""
    tensors = {s.arg.name for s in program.graph_signature.input_specs if s.kind.name == "USER_INPUT"}
    nodes = [n for n in program.graph_module.graph.nodes if n.op == "placeholder" and n.name in tensors]
    for node, x in zip(nodes, inputs):
        for want, size in zip(node.meta["val"].shape, x.shape):
            bounds = program.range_constraints.get(want.node.expr) if isinstance(want, torch.SymInt) else None
            if bounds and not bounds.lower <= size <= bounds.upper:
                return False
    return True


class Wrapped(torch.nn.Module):
    """With as many parameters as the model has inputs, which the names of dynamic shapes need."""

    def __init__(self, inner, count):
        super().__init__()
        self.inner = inner
        self.forward = {1: self.one, 2: self.two, 3: self.three}[count]

    def one(self, a):
        return self.inner(a)

    def two(self, a, b):
        return self.inner(a, b)

    def three(self, a, b, c):
        return self.inner(a, b, c)


def captured(model, form):
    from torch._dynamo.backends.common import aot_autograd
    from functorch.compile import make_boxed_func
    graphs = []

    def compiler(gm, example):
        graph = Graph(gm.print_readable(print_output=False, include_stride=True, include_device=True), placeholders(gm))
        graphs.append(graph)

        def run(*args):
            before = [a.clone() if isinstance(a, torch.Tensor) else a for a in args]
            results = gm(*args)
            kept = [r.clone() if isinstance(r, torch.Tensor) else r for r in results]  # later graphs may write to them
            graph.calls.append((captured.size, list(zip(graph.names, before)) + list(attributes(gm).items()), kept))
            return results

        return make_boxed_func(run)

    torch._dynamo.reset()
    compiled = torch.compile(model.module, backend=aot_autograd(fw_compiler=compiler, bw_compiler=compiler), dynamic=True)
    for size in sizes_of(model):
        captured.size = size
        inputs = model.inputs(size)
        if form == "captured":
            with torch.no_grad():
                compiled(*inputs)
            continue
        results = compiled(*[x.requires_grad_() if x.is_floating_point() else x for x in inputs])
        results = results if isinstance(results, (tuple, list)) else [results]
        loss = sum((r * r).mean() for r in results if isinstance(r, torch.Tensor) and r.requires_grad)
        if isinstance(loss, torch.Tensor):
            loss.backward()
    return graphs


def sizes_of(model):
    return model.sizes + ((0,) if model.zero else ())


def without_comments(text):
    return re.sub(r"\n\s*\n+", "\n", re.sub(r"(?m)^\s*# (?!inputs|outputs).*$", "", text))


# ---- running ----


def outputs_of(text):
    """The names that the graph returns; None for what is no tensor of a name."""
    line = re.search(r"(?m)^ *return \(?(.*?)\)? *$", text)[1]  # those of subgraphs follow
    return [n if n and n != "None" else None for n in (part.strip() for part in line.split(","))]


def as_pairs(value):
    """Complex tensors are pairs of real ones."""
    return torch.view_as_real(value.resolve_conj()) if value.is_complex() else value


def save(folder, name, value):
    path = os.path.join(folder, name + ".npy")
    value = as_pairs(value.detach()).contiguous()
    value = value.view(torch.uint16) if value.dtype in NUMPY_LACKS else value
    numpy.save(path, value.numpy())
    return path


def size_as_arg(text, name, value):
    """The `--arg` of an integer input, by the name of its symbol; "" if it is a number."""
    symbol = re.search(r"\b%s: \"Sym\((\w+)\)\"" % re.escape(name), text)
    return f"{symbol[1]}={value}" if symbol and not symbol[1].isdigit() else ""


def difference(got, want, tolerance):
    want = as_pairs(want.detach())
    got = torch.from_numpy(got)
    if want.dtype in NUMPY_LACKS:
        got = got.view(want.dtype)
    if tuple(got.shape) != tuple(want.shape):
        return f"shape {tuple(got.shape)}, not {tuple(want.shape)}"
    if not want.dtype.is_floating_point:
        wrong = int((got.to(torch.int64) != want.to(torch.int64)).sum())
        return f"{wrong} of {want.numel()} elements" if wrong else None
    got, want, allowed = got.double(), want.double(), tolerance * ALLOWED[want.dtype]
    same = torch.isclose(got, want, rtol=allowed, atol=allowed * max(1.0, float(want[want.isfinite()].abs().mean()) if want.isfinite().any() else 1.0),
                         equal_nan=True)
    return None if bool(same.all()) else f"{int((~same).sum())} of {want.numel()} elements, by up to {float((got - want).abs().nan_to_num().max()):.3g}"


def run_call(tilec, folder, text, call, tolerance, check):
    size, inputs, results = call
    args = [tilec, "--graph", os.path.join(folder, "graph.py"), "--run", "--target", "cpu", "--color", "never"] + ["--check"] * check
    wanted = {}
    with tempfile.TemporaryDirectory(dir=folder) as room:
        for name, value in inputs:
            if isinstance(value, torch.Tensor):
                args += ["--arg", f"{name}=@{save(room, name, value)}"]
            elif (size_arg := size_as_arg(text, name, value)) not in args:
                args += ["--arg", size_arg] * bool(size_arg)
        for name, value in zip(outputs_of(text), results):
            if name and name not in wanted and isinstance(value, torch.Tensor):
                wanted[name] = value
                args += ["--out", f"{name}=@{room}/out.{name}.npy"]
        ran = subprocess.run(args, capture_output=True, text=True, timeout=600)
        if ran.returncode:
            return f"size {size}: " + (ran.stderr or f"exit status {ran.returncode}").strip()
        for name, value in wanted.items():
            wrong = difference(numpy.load(f"{room}/out.{name}.npy"), value, tolerance)
            if wrong:
                return f"size {size}: `{name}` differs: {wrong}"
    return None


def check(tilec, name, form, keep, verify):
    """(passed, total, messages) of one model in one form."""
    torch.manual_seed(0)
    model = MODELS[name]()
    try:
        graphs = (exported if form in ("exported", "decomposed", "automatic") else captured)(model, form)
    except Exception as e:
        return 0, 0, [f"PyTorch cannot print it: {type(e).__name__}: {str(e).splitlines()[0][:150]}"]
    passed = total = 0
    messages, seen = [], set()
    for i, graph in enumerate(graphs):
        with tempfile.TemporaryDirectory() as folder:
            text = without_comments(graph.text)
            for path in [folder + "/graph.py"] + ([f"{keep}/{name}.{form}.{i}.py"] if keep else []):
                with open(path, "w") as f:
                    f.write(text)
            for call in graph.calls:
                total += 1
                wrong = run_call(tilec, folder, text, call, model.tolerance, verify)
                passed += wrong is None
                said = re.sub(r"/tmp\S*?/graph", "graph", (wrong or "").partition(": ")[2])
                if wrong and said in seen:
                    messages.append(f"graph {i}, size {call[0]}: as before")
                elif wrong:
                    seen.add(said)
                    messages.append(f"graph {i}, {wrong}")
    return passed, total, messages


def store(folder, name, form, index):
    """The graph, the inputs of its first call, PyTorch's results, and the sizes of integer inputs."""
    from safetensors.torch import save_file
    torch.manual_seed(0)
    model = MODELS[name]()
    graph = (exported if form in ("exported", "decomposed", "automatic") else captured)(model, form)[index]
    room, text = f"{folder}/{name}.{form}", without_comments(graph.text)
    os.makedirs(room, exist_ok=True)
    with open(f"{room}/graph.py", "w") as f:
        f.write(text)
    _, inputs, results = graph.calls[0]
    save_file({n: v.detach().contiguous() for n, v in inputs if isinstance(v, torch.Tensor)}, f"{room}/inputs.safetensors")
    args = []
    for n, v in inputs:
        if not isinstance(v, torch.Tensor) and (arg := size_as_arg(text, n, v)) and arg not in args:
            args.append(arg)
    with open(f"{room}/sizes", "w") as f:
        f.write("".join(a + "\n" for a in args))
    for n, v in zip(outputs_of(text), results):
        if n and isinstance(v, torch.Tensor):
            save(room, n, v)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][7:])
    parser.add_argument("tilec")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--forms", default=",".join(FORMS))
    parser.add_argument("--keep")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--store")
    o = parser.parse_args()
    if o.list:
        return print("\n".join(MODELS))
    warnings.filterwarnings("ignore")
    if o.store:
        return [store(o.store, *s) for s in STORED] and None
    if o.keep:
        os.makedirs(o.keep, exist_ok=True)
    failed = 0
    for name in o.names or MODELS:
        for form in o.forms.split(","):
            passed, total, messages = check(os.path.abspath(o.tilec), name, form, o.keep, o.check)
            failed += passed < total
            print(f"{'ok  ' if passed == total and total else 'FAIL' if total else 'none'} {name} {form}: {passed} of {total} calls", flush=True)
            for m in messages:
                print("     " + m.replace("\n", "\n       "), flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
