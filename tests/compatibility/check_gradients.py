# SPDX-License-Identifier: Apache-2.0
"""Compares the gradients that `tilec --grad` appends to graphs with those of PyTorch's autograd, on the CPU.

usage: check_gradients.py TILEC [FILE...]

Needs torch. Each file is an inference graph of ATen operators as PyTorch prints it (default: those of tests/graph/captures). PyTorch
runs the text; its first float output, weighted by random numbers, is differentiated by all float inputs. A line says for each
graph the largest difference, in parts of the largest element of its gradient."""
import glob
import os
import re
import subprocess
import sys
import tempfile

import numpy
import torch

DTYPES = {"f32": torch.float32, "f64": torch.float64, "i64": torch.int64, "i32": torch.int32, "b8": torch.bool}
# Parts of the largest element; and as often the error of PyTorch's own f32, which grows where a maximum or a relu is decided by rounding.
ALLOWED, TIMES = 1e-4, 3
NARROW = {"bf16[": "f32[", "f16[": "f32[", "torch.bfloat16": "torch.float32", "torch.float16": "torch.float32"}


def in_single_precision(text):
    """Both compute in f32, whatever the graph's dtypes are; on the CPU."""
    for old, new in NARROW.items():
        text = re.sub(rf"(?<![a-z\d]){re.escape(old)}", new, text)
    text = re.sub(r"device\(type ?= ?'cuda'(, index ?= ?\d+)?\)", "device(type = 'cpu')", text)
    return text.replace("cuda:0", "cpu")


def signature(text):
    """Names, dtypes and shapes of the inputs, and of the tensors of the module."""
    head = re.search(r"def forward\(self(.*?)\):\n", text, re.S)[1]
    found = re.findall(r"(\w+): \"(\w+)\[([\d, ]*)\]", head)
    found += re.findall(r"(?m)^ +(\w+): \"(\w+)\[([\d, ]*)\][^\n]* = self\.\w+", text)
    return [(name, DTYPES[dtype], [int(n) for n in shape.split(",") if n.strip()]) for name, dtype, shape in found]


def running_statistics(text):
    """Inputs that are means, and those that are variances, of batch norms: PyTorch does not differentiate by them."""
    calls = [call.split(", ") for call in re.findall(r"batch_norm\w*\.\w+\(([^)]*)\)", text)]
    return {call[3] for call in calls}, {call[4] for call in calls}


def make(name, dtype, shape, positive):
    if not dtype.is_floating_point:
        return torch.randint(0, 2, shape).to(dtype)
    fan_in = numpy.prod(shape[1:]) if len(shape) > 1 else 1
    x = torch.randn(shape, dtype=dtype) / fan_in**0.5 if len(shape) > 1 else 0.2 * torch.randn(shape, dtype=dtype) + 0.5
    return x.abs() + 0.5 if name in positive else x


def module_of(text, inputs):
    """The text as a module, with its tensors; and the names of its inputs."""
    scope = {"torch": torch, "device": torch.device, "inf": float("inf"), "nan": float("nan")}
    exec(text, scope)
    module = scope[re.search(r"class (\w+)", text)[1]]()
    head = re.search(r"def forward\(self(.*?)\):\n", text, re.S)[1]
    for attribute, name in re.findall(r"(?m)^ +(\w+): \"[^\n]* = self\.(\w+)", text):
        setattr(module, name, inputs[attribute])
    return module, [n for n in inputs if re.search(rf"\b{n}: ", head)]


def autograd(text, inputs, seed=None):
    """The name of the first float output, its weights, and the gradients."""
    module, parameters = module_of(text, inputs)
    outputs = module(*[inputs[n] for n in parameters])
    names = re.search(r"(?m)^ +return [(\[](.*?),?[)\]]", text)[1].split(", ")
    outputs = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    at = next(i for i, y in enumerate(outputs) if y is not None and y.is_floating_point() and y.requires_grad)
    seed = torch.randn_like(outputs[at]) if seed is None else seed
    by = {n: x for n, x in inputs.items() if x.requires_grad}
    grads = torch.autograd.grad(outputs[at], list(by.values()), seed, allow_unused=True)
    return names[at], seed, {n: g for n, g in zip(by, grads) if g is not None}


def in_double_precision(text, inputs, loss, seed):
    wide = {n: x.detach().double() if x.is_floating_point() else x for n, x in inputs.items()}
    for name, x in wide.items():
        x.requires_grad_(inputs[name].requires_grad)
    text = re.sub(r"(?<![a-z\d])f32\[", "f64[", text).replace("torch.float32", "torch.float64")
    return autograd(text, wide, seed.double())[2]


def difference(got, want, least):
    return float((got.double() - want).abs().max() / want.abs().max().clamp(min=least)) if want.numel() else 0.0


def check(tilec, path, folder):
    text = in_single_precision(open(path).read())
    text = text.replace("class <lambda>", "class GraphModule")
    torch.manual_seed(1)
    means, variances = running_statistics(text)
    inputs = {name: make(name, dtype, shape, variances) for name, dtype, shape in signature(text)}
    for name, x in inputs.items():
        x.requires_grad_(x.is_floating_point() and name not in means | variances)
    loss, seed, want = autograd(text, inputs)
    graph = os.path.join(folder, "graph.py")
    open(graph, "w").write(text)
    tensors = os.path.join(folder, "tensors")
    os.makedirs(tensors)
    for name, x in [*inputs.items(), (f"seed_{loss}", seed)]:
        numpy.save(os.path.join(tensors, name + ".npy"), x.detach().numpy())
    command = [tilec, "--graph", graph, "--grad", "--grad-seeds", "--loss", loss, "--wrt", ",".join(want), "--weights", tensors]
    command += ["--run", "--target", "cpu"]
    for name in want:
        command += ["--out", f"grad_{name}=@{folder}/{name}.npy"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return None, (done.stderr or done.stdout)[:1000]
    exact = in_double_precision(text, inputs, loss, seed)
    # The gradient of a bias of keys is 0: what is computed is rounding errors.
    least = 1e-4 * max(float(g.abs().max()) for g in exact.values() if g.numel())
    worst, excess, where = 0.0, 0.0, ""
    for name, g in exact.items():
        error = difference(torch.from_numpy(numpy.load(f"{folder}/{name}.npy")), g, least)
        allowed = ALLOWED + TIMES * difference(want[name], g, least)
        if not error <= worst:
            worst, where = error, name
        excess = max(excess, error / allowed if error == error else float("inf"))
    return excess, f"{len(want)} gradients, largest difference {worst:.2g} of the largest element ({where}), {excess:.2g} of what is allowed"


def main():
    tilec, files = os.path.abspath(sys.argv[1]), sys.argv[2:]
    here = os.path.dirname(os.path.abspath(__file__))
    files = files or sorted(glob.glob(os.path.join(here, "..", "graph", "captures", "*.infer.*.py")))
    failed = 0
    for path in files:
        with tempfile.TemporaryDirectory() as folder:
            try:
                worst, what = check(tilec, path, folder)
            except Exception as e:  # PyTorch does not run this text
                worst, what = None, f"{type(e).__name__}: {str(e)[:300]}"
        good = worst is not None and worst <= 1
        failed += not good
        print(f"{'ok' if good else 'not ok'} - {os.path.basename(path)}: {what}", flush=True)
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
