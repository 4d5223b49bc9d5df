# SPDX-License-Identifier: Apache-2.0
"""Prints the bytes that a forward graph saves for the backward one: by `tilec --grad --explain-partition`, and by PyTorch's min-cut
partitioner. Inputs and outputs are not counted: they are kept anyway.

usage: compare_partitions.py TILEC [FILE...]

Needs torch. Files as for check_gradients.py."""
import glob
import os
import re
import subprocess
import sys
import tempfile

import torch
from functorch.compile import aot_function, min_cut_rematerialization_partition, nop
from check_gradients import in_single_precision, make, module_of, running_statistics, signature


VIEWS = ("permute", "t", "transpose", "view", "_unsafe_view", "expand", "unsqueeze", "squeeze", "slice", "select", "alias", "detach")


def base(node):
    """What a view is a view of: saving it takes no memory if that is kept."""
    while node.op == "call_function" and getattr(node.target, "__name__", "").split(".")[0] in VIEWS:
        node = node.args[0]
    return node


def of_pytorch(text, inputs):
    saved = []

    def look(gm, _):
        outputs = next(n for n in gm.graph.nodes if n.op == "output").args[0]
        kept = {base(outputs[0])} | {n for n in gm.graph.nodes if n.op == "placeholder"}
        saved.extend(n.meta["val"] for n in {base(n) for n in outputs[1:] if isinstance(n, torch.fx.Node)} - kept)
        return gm

    text = text.replace("aten.view.default(", "aten.reshape.default(")  # strides of attention differ between devices
    module, parameters = module_of(text, inputs)

    def loss(*tensors):
        outputs = module(*tensors)
        outputs = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
        return next(y for y in outputs if y is not None and y.is_floating_point())

    from torch._decomp import core_aten_decompositions
    f = aot_function(loss, look, nop, partition_fn=min_cut_rematerialization_partition, decompositions=core_aten_decompositions())
    f(*[inputs[n] for n in parameters])
    return sum(t.numel() * t.element_size() for t in saved if isinstance(t, torch.Tensor))


def main():
    tilec, files = os.path.abspath(sys.argv[1]), sys.argv[2:]
    here = os.path.dirname(os.path.abspath(__file__))
    for path in files or sorted(glob.glob(os.path.join(here, "..", "graph", "captures", "*.infer.*.py"))):
        text = in_single_precision(open(path).read()).replace("class <lambda>", "class GraphModule")
        means, variances = running_statistics(text)
        inputs = {name: make(name, dtype, shape, variances) for name, dtype, shape in signature(text)}
        for name, x in inputs.items():
            x.requires_grad_(x.is_floating_point() and name not in means | variances)
        wrt = ",".join(n for n, x in inputs.items() if x.requires_grad)
        with tempfile.NamedTemporaryFile("w", suffix=".py") as graph:
            graph.write(text)
            graph.flush()
            done = subprocess.run([tilec, "--graph", graph.name, "--grad", "--explain-partition", "--wrt", wrt], capture_output=True, text=True)
        found = re.match(r"saved: (\d+) values, (\d+) bytes; (\d+)", done.stdout)
        ours = found and f"{int(found[2]):,} (of {int(found[3]):,})" or done.stderr[:200]
        try:
            theirs = f"{of_pytorch(text, inputs):,}"
        except Exception as e:  # PyTorch does not trace this text
            theirs = f"{type(e).__name__}: {str(e)[:200]}"
        print(f"{os.path.basename(path)}: {ours} bytes; PyTorch {theirs}", flush=True)


if __name__ == "__main__":
    main()
