# SPDX-License-Identifier: Apache-2.0
"""Training steps of models in bf16, forward and backward: Tile compared with torch.compile, alternating in one process.

    python3 tests/bench/training.py [MODEL...] [--max-autotune] [--profile]

Needs PyTorch and a GPU. TILE_LIBRARY names libtile.so. The two graphs of a step are those that torch.compile gives its backend;
Tile records both on a stream and replays them, torch.compile's launches are queued behind a pause of the GPU. One JSON line a model:
medians of milliseconds, the largest relative error of a gradient, as a norm, to eager execution, and that of torch.compile. Models (random weights):
gpt2 (4 layers, 8x1024 tokens), vit (4 layers of 768, 64x200 tokens), llama (2 layers of 4096, 8 heads of keys, 1x2048 tokens).
--device cpu checks the script itself with a small model."""
import argparse
import ctypes as C
import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import torch
from graphs import Program
from models import Encoder, LanguageModel, Llama, alternate, kernels_of
from tile_ctypes import Tile


def models(device):
    make = lambda *shape: torch.randn(*shape, device=device).bfloat16()
    words = lambda *shape: torch.randint(0, 500, shape, device=device)
    if device == "cpu":
        return {"small": lambda: (LanguageModel(1, 64, 2, 32, 512), [words(2, 32)])}
    return {
        "gpt2": lambda: (LanguageModel(4, 768, 12, 1024, 50304), [words(8, 1024)]),
        "vit": lambda: (Encoder(4, 768, 12), [make(64, 200, 768)]),
        "llama": lambda: (Llama(2, 4096, 32, 8, 14336), [make(1, 2048, 4096), make(2048, 128), make(2048, 128)]),
    }


def graphs_of(model, tensors, inputs):
    """The graphs of torch.compile's forward and backward, and which tensors the first one takes."""
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd
    graphs, order = [], []

    def keep(module, _):
        graphs.append(module)
        return make_boxed_func(module.forward)

    def backend(module, taken):
        order[:] = [next(i for i, t in enumerate(tensors) if t is given) for given in taken]
        return aot_autograd(fw_compiler=keep, bw_compiler=keep)(module, taken)

    torch._dynamo.reset()
    out = torch.compile(lambda *all: model(*all[:len(inputs)]), backend=backend, fullgraph=True)(*tensors)
    torch.autograd.grad(out, list(model.parameters()), torch.ones_like(out))
    torch._dynamo.reset()
    return graphs, order


def text_of(module):
    text = module.print_readable(print_output=False, include_stride=True, include_device=True)
    return "\n".join(l for l in text.split("\n") if l.strip() and not l.lstrip().startswith("#")) + "\n"


def inputs_of(module):
    return [n.target for n in module.graph.nodes if n.op == "placeholder"]


VIEWS = {f"aten.{name}.default" for name in ("t", "permute", "view", "_unsafe_view", "detach", "alias", "unsqueeze", "expand", "as_strided")}
VIEWS |= {"aten.transpose.int", "aten.squeeze.dim", "aten.slice.Tensor", "aten.select.int"}


def base_of(node):
    """What the node is a view of, as torch.compile passes views on without copies."""
    while node.op == "call_function" and str(node.target) in VIEWS:
        node = node.args[0]
    return node


def value_of(node, known):
    if node not in known:
        known[node] = node.target(value_of(node.args[0], known), *node.args[1:], **node.kwargs)
    return known[node]


def reduce_outputs(module):
    """The module returns what its outputs are views of, each once and no inputs; the old outputs, and the new ones."""
    old = list(list(module.graph.nodes)[-1].args[0])
    bases = list(dict.fromkeys(base_of(n) for n in old if n is not None))
    new = [n for n in bases if n.op != "placeholder"]
    list(module.graph.nodes)[-1].args = (tuple(new),)
    module.recompile()
    return old, new


class Step:
    """Both graphs compiled by libtile; the second takes what the first one leaves for it."""

    def __init__(self, tile, model, inputs, grad, stream):
        tensors = inputs + list(model.parameters())
        (forward, backward), order = graphs_of(model, tensors, inputs)
        start = time.perf_counter()
        self.tile, self.stream, self.replays = tile, C.c_void_p(), []
        values = dict(zip(inputs_of(forward), (tensors[i] for i in order)))
        saved = self.add(forward, values)
        self.out = saved[0][1]
        values.update({name: t for name, t in saved if name})
        values.update({name: grad for name in inputs_of(backward) if name.startswith("tangents")})
        grads = [t for _, t in self.add(backward, values)]
        self.compile_s = time.perf_counter() - start
        # Of the inputs that have one, by the parameter.
        of = {order[i]: g for i, g in enumerate(grads) if g is not None}
        self.grads = [of[len(inputs) + i] for i in range(len(tensors) - len(inputs))]
        if stream is not None:
            tile.call("tile_stream_from_handle", tile.device, C.c_void_p(stream.cuda_stream), C.byref(self.stream))
            self.record()

    def add(self, module, values):
        """Compiles the graph; names and tensors of its outputs, without a name those that are None."""
        inputs = [values[name] for name in inputs_of(module)]
        old, new = reduce_outputs(module)
        program = Program(self.tile, text_of(module), [tuple(n.meta["val"].shape) for n in new], {}, inputs[0].device)
        known = dict(zip(new, program.outputs))
        known.update({n: values[n.target] for n in module.graph.nodes if n.op == "placeholder"})
        self.replays.append((program, inputs))
        return [(n and n.name, n and value_of(n, known)) for n in old]

    def record(self, pdl=1):
        """Without programmatic dependent launch, kernels do not wait for others in their own time."""
        self.recorded = []
        for program, inputs in self.replays:
            self.tile.call("tile_program_set_pdl", program.handle, C.c_int(pdl))
            replay = C.c_void_p()
            self.tile.call("tile_program_record", program.handle, self.stream, C.c_uint64(0), program.pack(inputs), C.c_size_t(len(inputs)),
                           program.out, C.c_size_t(len(program.outputs)), C.byref(replay))
            self.recorded.append(replay)

    def launches(self):
        return [program.counts.launches for program, _ in self.replays]

    def __call__(self):
        if not self.stream:
            for program, inputs in self.replays:
                program.bind(inputs)()
            return
        for replay in self.recorded:
            self.tile.call("tile_replay_run", replay, self.stream)


def largest_error(got, want):
    return max(((g.double() - w.double()).norm() / w.double().norm().clamp_min(1e-30)).item() for g, w in zip(got, want))


def measure(tile, name, make, options):
    torch.manual_seed(0)
    model, inputs = make()
    model = model.to(options.device).to(torch.bfloat16)
    on_gpu = options.device == "cuda"
    stream = torch.cuda.Stream() if on_gpu else None
    out = model(*inputs)
    grad = torch.randn_like(out) / out.numel() ** 0.5
    parameters = list(model.parameters())
    want = torch.autograd.grad(out, parameters, grad)
    step = Step(tile, model, inputs, grad, stream)
    for g in step.grads:
        g.fill_(float("nan"))
    step()
    if on_gpu:
        torch.cuda.synchronize()
    line = dict(what=name, error=round(largest_error(step.grads, want), 4), launches=step.launches(), compile_s=round(step.compile_s, 2))
    if on_gpu:
        sides = {"tile": step}
        for mode in ("compile", "max_autotune") if options.max_autotune else ("compile",):
            torch._dynamo.reset()
            compiled = torch.compile(model, mode=None if mode == "compile" else "max-autotune-no-cudagraphs")
            sides[mode] = lambda compiled=compiled: torch.autograd.grad(compiled(*inputs), parameters, grad)
            with torch.cuda.stream(stream):
                line[mode + "_error"] = round(largest_error(sides[mode](), want), 4)
        with torch.cuda.stream(stream):
            times = alternate(sides, stream)
        best = min(t for side, t in times.items() if side != "tile")
        line.update(against_best=round(best / times["tile"], 3), **{side + "_ms": round(t, 3) for side, t in times.items()})
        if options.profile:
            step.record(pdl=0)
            line["kernels"] = {side: kernels_of(run) for side, run in sides.items()}
    print(json.dumps(line), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help="all by default")
    parser.add_argument("--max-autotune", action="store_true", help="also torch.compile's mode")
    parser.add_argument("--profile", action="store_true", help="the kernels of each side")
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    tile = Tile(device=options.device.encode())
    for name, make in models(options.device).items():
        if not options.models or name in options.models:
            measure(tile, name, make, options)


if __name__ == "__main__":
    main()
