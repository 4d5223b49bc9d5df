# SPDX-License-Identifier: Apache-2.0
"""GPT-2's inference graph as PyTorch prints it, of any depth, without PyTorch.

    python3 tests/bench/gpt2_graph.py [--layers 12] [--batch 8] [--tokens 1024] [--dtype bf16] > gpt2.py
    time tilec --graph gpt2.py --emit=ptx --target sm_90a -o gpt2.ptx

Small: --layers 3 --batch 2 --tokens 16 --width 64 --heads 2 --vocab 96 --dtype f32"""
import argparse
import sys


def dense(shape):
    strides, n = [], 1
    for extent in reversed(shape):
        strides.insert(0, n)
        n *= extent
    return tuple(strides)


class Value:
    def __init__(self, name, dtype, shape, strides=None):
        self.name, self.dtype, self.shape, self.strides = name, dtype, tuple(shape), tuple(strides or dense(shape))

    def annotation(self):
        return f'{self.name}: "{self.dtype}{list(self.shape)}{list(self.strides)}cuda:0"'

    def __repr__(self):
        return self.name


class Graph:
    def __init__(self):
        self.inputs, self.lines, self.used = [], [], {}

    def name(self, base):
        n = self.used[base] = self.used.get(base, -1) + 1
        return f"{base}_{n}" if n else base

    def input(self, dtype, *shape):
        self.inputs.append(Value(f"arg{len(self.inputs)}_1", dtype, shape))
        return self.inputs[-1]

    def call(self, op, arguments, *shape, dtype=None, strides=None):
        """One result of that shape; without strides it lies as a fresh tensor does."""
        v = Value(self.name(op.split(".")[0]), dtype or arguments[0].dtype, shape, strides)
        self.lines.append(f"{v.annotation()} = torch.ops.aten.{op}({', '.join(map(str, arguments))})")
        return v

    def parts(self, op, arguments, *results):
        """Of an operator with several results those that are used: (index, shape, strides)."""
        whole = self.name(op.split(".")[0])
        self.lines.append(f"{whole} = torch.ops.aten.{op}({', '.join(map(str, arguments))})")
        values = []
        for index, shape, strides in results:
            v = Value(self.name("getitem"), arguments[0].dtype, shape, strides)
            self.lines.append(f"{v.annotation()} = {whole}[{index}]")
            values.append(v)
        return values

    def text(self, result):
        taken = ", ".join(v.annotation() for v in self.inputs)
        body = "".join(f"        {line}\n" for line in self.lines)
        return f"class <lambda>(torch.nn.Module):\n    def forward(self, {taken}):\n{body}        return ({result},)\n"


def layer_norm(g, x, o):
    weight, bias = g.input(o.dtype, o.width), g.input(o.dtype, o.width)
    return g.parts("native_layer_norm.default", [x, [o.width], weight, bias, 1e-05], (0, x.shape, None))[0]


def linear(g, x, width):
    """GPT-2 keeps its weights with the outputs along rows."""
    bias, weight = g.input(x.dtype, width), g.input(x.dtype, x.shape[-1], width)
    rows = x.shape[0] * x.shape[1]
    flat = g.call("view.default", [x, [-1, x.shape[-1]]], rows, x.shape[-1])
    out = g.call("addmm.default", [bias, flat, weight], rows, width)
    return g.call("view.default", [out, [*x.shape[:2], width]], *x.shape[:2], width)


def attention(g, x, o):
    packed = linear(g, x, 3 * o.width)
    size, row = o.width // o.heads, 3 * o.width
    thirds = g.parts("split.Tensor", [packed, o.width, 2], *((i, x.shape, packed.strides) for i in range(3)))
    heads = []
    for third in thirds:
        v = g.call("view.default", [third, [o.batch, o.tokens, -1, size]], o.batch, o.tokens, o.heads, size,
                   strides=(o.tokens * row, row, size, 1))
        heads.append(g.call("transpose.int", [v, 1, 2], o.batch, o.heads, o.tokens, size, strides=(o.tokens * row, size, row, 1)))
    out, = g.parts("_scaled_dot_product_flash_attention.default", [*heads, 0.0, True, f"scale = {size ** -0.5}"],
                   (0, (o.batch, o.heads, o.tokens, size), (o.tokens * o.width, size, o.width, 1)))
    back = g.call("transpose.int", [out, 1, 2], o.batch, o.tokens, o.heads, size)
    return linear(g, g.call("view.default", [back, [o.batch, o.tokens, -1]], *x.shape), o.width)


def gelu(g, x):
    """The approximation by tanh, operator by operator, as GPT-2 has it."""
    half = g.call("mul.Tensor", [x, 0.5], *x.shape)
    cube = g.call("pow.Tensor_Scalar", [x, 3.0], *x.shape)
    inner = g.call("add.Tensor", [x, g.call("mul.Tensor", [cube, 0.044715], *x.shape)], *x.shape)
    tanh = g.call("tanh.default", [g.call("mul.Tensor", [inner, 0.7978845608028654], *x.shape)], *x.shape)
    return g.call("mul.Tensor", [half, g.call("add.Tensor", [tanh, 1.0], *x.shape)], *x.shape)


def gpt2(o):
    g = Graph()
    tokens, words, positions = g.input("i64", o.batch, o.tokens), g.input(o.dtype, o.vocab, o.width), g.input(o.dtype, o.tokens, o.width)
    word = g.call("embedding.default", [words, tokens], o.batch, o.tokens, o.width)
    position = g.call("arange.default", [o.tokens, "device = device(type='cuda', index=0)", "pin_memory = False"], o.tokens, dtype="i64")
    position = g.call("unsqueeze.default", [position, 0], 1, o.tokens, dtype="i64")
    x = g.call("add.Tensor", [word, g.call("embedding.default", [positions, position], 1, o.tokens, o.width)], *word.shape)
    for _ in range(o.layers):
        x = g.call("add.Tensor", [attention(g, layer_norm(g, x, o), o), x], *x.shape)
        inner = gelu(g, linear(g, layer_norm(g, x, o), 4 * o.width))
        x = g.call("add.Tensor", [x, linear(g, inner, o.width)], *x.shape)
    rows = o.batch * o.tokens
    flat = g.call("view.default", [layer_norm(g, x, o), [rows, o.width]], rows, o.width)
    turned = g.call("t.default", [words], o.width, o.vocab, strides=(1, o.width))
    out = g.call("mm.default", [flat, turned], rows, o.vocab)
    return g.text(g.call("view.default", [out, [o.batch, o.tokens, o.vocab]], o.batch, o.tokens, o.vocab))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("layers", 12), ("batch", 8), ("tokens", 1024), ("width", 768), ("heads", 12), ("vocab", 50257)):
        p.add_argument("--" + name, type=int, default=default)
    p.add_argument("--dtype", choices=("bf16", "f16", "f32"), default="bf16")
    sys.stdout.write(gpt2(p.parse_args()))


if __name__ == "__main__":
    main()
