# SPDX-License-Identifier: Apache-2.0
"""The product of tutorials/06-matmul on the CPU against PyTorch (MKL for f32, oneDNN for bf16 and i8) in one process by turns: GFLOP/s, medians. With
one thread of its processor time, which other programs disturb less, else of wall time. Results are compared first.
usage: processor_products.py [LIBRARY] [--threads N] [--seconds S] [--types f32,bf16] [--sizes 256,...] [--blocks BMxBNxBK,...]"""
import os
import tempfile

import turns

parser = turns.parser(2, "row")
parser.add_argument("library", nargs="?")
parser.add_argument("--types", default="f32,bf16")
parser.add_argument("--sizes", default="256,512,1024,2048")
parser.add_argument("--blocks", default="128x128x64,128x256x64,256x256x128", help="the tutorial's own, one of its configurations, one for a processor")
options = turns.parse(parser)
import torch  # noqa: E402

from tile_ctypes import Tile  # noqa: E402

TUTORIAL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tutorials", "06-matmul", "matmul.tile")
TYPES = {"f32": (torch.float32, "tl.float32", 2e-5), "bf16": (torch.bfloat16, "tl.bfloat16", 1e-2), "f16": (torch.float16, "tl.float16", 2e-3),
         "i8": (torch.int8, "tl.int32", 0)}


def kernel_text(name):
    """The tutorial's kernel for matrices of another type; f32 without rounding to tf32."""
    text = open(TUTORIAL).read().replace("ptr[f16]", f"ptr[{name}]").replace("tl.float16", TYPES[name][1])
    if name == "i8":
        text = text.replace("c: ptr[i8]", "c: ptr[i32]").replace("tl.float32", "tl.int32")
    return text.replace("tl.dot(x, y, acc)", 'tl.dot(x, y, acc, input_precision="ieee")') if name == "f32" else text


def bind(tile, path, blocks, a, b, c, size):
    bm, bn, bk = (int(n) for n in blocks.split("x"))
    kernel = tile.kernel(path, "matmul", BLOCK_M=bm, BLOCK_N=bn, BLOCK_K=bk)
    grid = ((size + bm - 1) // bm * ((size + bn - 1) // bn), 1, 1)
    return tile.bind(kernel, grid, a, b, c, size, size, size, size, size, size)


def run(tile, path, name, size):
    dtype, _, bound = TYPES[name]
    if name == "i8":
        a, b = (torch.randint(-128, 128, (size, size), dtype=dtype) for _ in range(2))
    else:
        a, b = (torch.randn(size, size, dtype=dtype) for _ in range(2))
    multiply = torch._int_mm if name == "i8" else torch.matmul
    c, expected = torch.zeros_like(multiply(a, b)), a.double() @ b.double()
    calls = []
    for blocks in options.blocks.split(","):
        calls.append(bind(tile, path, blocks, a, b, c.zero_(), size))
        calls[-1]()
        worst = ((c.double() - expected).abs().max() / expected.abs().max()).item()
        if not worst <= bound:
            raise SystemExit(f"{name} {size} {blocks}: the results differ by {worst:.2e}")
    peer = torch.empty_like(c)
    calls.append(lambda: multiply(a, b, out=peer))
    calls[-1]()
    rates = [2 * size**3 / ms / 1e6 for ms in turns.medians(calls, options.seconds, options.threads)]
    print(f"{name:5} {size:5} {rates[-1]:9.1f}" + "".join(f" {r:9.1f} {r / rates[-1]:6.2f}x" for r in rates[:-1]), flush=True)


def main():
    tile = Tile(options.library, b"cpu")
    print(f"{options.threads} threads, PyTorch {torch.__version__}, GFLOP/s\n{'':11} {'PyTorch':>9}" + "".join(f"{b:>18}" for b in options.blocks.split(",")))
    with tempfile.TemporaryDirectory() as folder:
        for name in options.types.split(","):
            path = os.path.join(folder, f"matmul_{name}.tile")
            with open(path, "w") as f:
                f.write(kernel_text(name))
            for size in options.sizes.split(","):
                run(tile, path, name, int(size))


main()
