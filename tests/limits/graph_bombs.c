// SPDX-License-Identifier: Apache-2.0
// Graphs, in the text that PyTorch prints.
#include "tests/limits/bombs.h"

#define ATEN "torch.ops.aten."

static void repeat(FILE *f, int count, const char *text) {
  for (int i = 0; i < count; i++)
    fputs(text, f);
}

static void head(FILE *f, const char *inputs) {
  fprintf(f, "class GraphModule(torch.nn.Module):\n    def forward(self, %s):\n", inputs);
}

// A chain: each line is `text` with the numbers of its value and of the two previous
// values.
static void chain(FILE *f, int size, const char *type, const char *text) {
  char input[256];
  snprintf(input, sizeof input, "v0: \"%s\"", type);
  head(f, input);
  fprintf(f, "        v1: \"%s\" = " ATEN "sin.default(v0)\n", type);
  for (int i = 2; i <= size; i++) {
    fprintf(f, "        v%d: \"%s\" = " ATEN, i, type);
    for (const char *c = text; *c; c++)
      if (*c == '#' || *c == '&')
        fprintf(f, "v%d", *c == '#' ? i - 1 : i - 2);
      else
        putc(*c, f);
    fputs("\n", f);
  }
  fprintf(f, "        return (v%d,)\n", size);
}

static void doubling(FILE *f, int size) { chain(f, size, "f32[64]", "add.Tensor(#, #)"); }
static void fibonacci(FILE *f, int size) { chain(f, size, "f32[64]", "mul.Tensor(#, &)"); }
static void maxima(FILE *f, int size) { chain(f, size, "f32[64]", "maximum.default(#, &)"); }
static void sines(FILE *f, int size) { chain(f, size, "f32[64]", "sin.default(#)"); }
static void reluses(FILE *f, int size) { chain(f, size, "f32[64]", "relu.default(#)"); }
static void integers(FILE *f, int size) {
  head(f, "v0: \"i64[64]\"");
  for (int i = 1; i <= size; i++)
    fprintf(f, "        v%d: \"i64[64]\" = " ATEN "add.Tensor(v%d, v%d)\n", i, i - 1, i - 1);
  fprintf(f, "        return (v%d,)\n", size);
}
static void clones(FILE *f, int size) { chain(f, size, "f32[64]", "clone.default(#)"); }
static void softmaxes(FILE *f, int size) {
  chain(f, size, "f32[16, 64]", "_softmax.default(#, 1, False)");
}
static void sums(FILE *f, int size) { chain(f, size, "f32[64]", "cumsum.default(#, 0)"); }
static void products(FILE *f, int size) { chain(f, size, "f32[32, 32]", "mm.default(#, #)"); }
static void permutes(FILE *f, int size) {
  chain(f, size, "f32[64, 64]", "permute.default(#, [1, 0])");
}
static void flips(FILE *f, int size) { chain(f, size, "f32[64, 64]", "flip.default(#, [0, 1])"); }
static void rolls(FILE *f, int size) {
  chain(f, size, "f32[64, 63]", "roll.default(#, [1, 5], [0, 1])");
}
static void sorts(FILE *f, int size) {
  head(f, "v0: \"f32[64]\"");
  for (int i = 1; i <= size; i++)
    fprintf(f, "        s%d = " ATEN "sort.default(v%d)\n        v%d: \"f32[64]\" = s%d[0]\n", i,
            i - 1, i, i);
  fprintf(f, "        return (v%d,)\n", size);
}

static void residuals_permuted(FILE *f, int size) {
  head(f, "v0: \"f32[64, 64]\"");
  for (int i = 1; i <= size; i++)
    fprintf(f,
            "        p%d: \"f32[64, 64]\" = " ATEN "permute.default(v%d, [1, 0])\n"
            "        v%d: \"f32[64, 64]\" = " ATEN "add.Tensor(v%d, p%d)\n",
            i, i - 1, i, i - 1, i);
  fprintf(f, "        return (v%d,)\n", size);
}

static void residuals_reshaped(FILE *f, int size) {
  head(f, "v0: \"f32[12, 60]\"");
  for (int i = 1; i <= size; i++)
    fprintf(f,
            "        q%d: \"f32[60, 12]\" = " ATEN "view.default(v%d, [60, 12])\n"
            "        p%d: \"f32[12, 60]\" = " ATEN "permute.default(q%d, [1, 0])\n"
            "        v%d: \"f32[12, 60]\" = " ATEN "add.Tensor(v%d, p%d)\n",
            i, i - 1, i, i, i, i - 1, i);
  fprintf(f, "        return (v%d,)\n", size);
}

static void views_zigzag(FILE *f, int size) {
  head(f, "v0: \"f32[12, 60]\"");
  for (int i = 1; i <= size; i++)
    fprintf(f,
            "        q%d: \"f32[60, 12]\" = " ATEN "view.default(v%d, [60, 12])\n"
            "        p%d: \"f32[12, 60]\" = " ATEN "permute.default(q%d, [1, 0])\n"
            "        v%d: \"f32[12, 60]\" = " ATEN "clone.default(p%d)\n",
            i, i - 1, i, i, i, i);
  fprintf(f, "        w: \"f32[12, 60]\" = " ATEN "sin.default(v%d)\n        return (w,)\n", size);
}

static void selects(FILE *f, int size) {
  head(f, "v0: \"f32[64, 64]\"");
  fputs("        u0: \"f32[64]\" = " ATEN "select.int(v0, 0, 0)\n", f);
  for (int i = 1; i <= size; i++)
    fprintf(f,
            "        s%d: \"f32[64]\" = " ATEN "select.int(v0, 0, %d)\n"
            "        u%d: \"f32[64]\" = " ATEN "add.Tensor(u%d, s%d)\n",
            i, i % 64, i, i - 1, i);
  fprintf(f, "        return (u%d,)\n", size);
}

// Sums that read one input at many offsets.
static void slices_added(FILE *f, int size) {
  head(f, "x: \"f32[64, 128]\"");
  fputs("        v0: \"f32[64, 64]\" = " ATEN "slice.Tensor(x, 1, 0, 64)\n", f);
  for (int i = 1; i <= size; i++)
    fprintf(f,
            "        p%d: \"f32[64, 64]\" = " ATEN "permute.default(v%d, [1, 0])\n"
            "        s%d: \"f32[64, 64]\" = " ATEN "slice.Tensor(x, 1, %d, %d)\n"
            "        v%d: \"f32[64, 64]\" = " ATEN "add.Tensor(p%d, s%d)\n",
            i, i - 1, i, i % 64, i % 64 + 64, i, i, i);
  fprintf(f, "        return (v%d,)\n", size);
}

// Blocks of 128 layers: each concatenates the results of all before it in its block.
static void dense_blocks(FILE *f, int size) {
  enum { LAYERS = 128 };
  int first = 0;
  head(f, "v0: \"f32[64, 8]\"");
  for (int i = 1; i <= size; i++) {
    int parts = i - first;
    fprintf(f, "        c%d: \"f32[64, %d]\" = " ATEN "cat.default([v%d", i, 8 * parts, first);
    for (int k = first + 1; k < i; k++)
      fprintf(f, ", v%d", k);
    fprintf(f,
            "], 1)\n        s%d: \"f32[64, 1]\" = " ATEN "sum.dim_IntList(c%d, [1], True)\n"
            "        v%d: \"f32[64, 8]\" = " ATEN "mul.Tensor(s%d, v0)\n",
            i, i, i, i);
    first = parts == LAYERS ? i : first;
  }
  fprintf(f, "        return (v%d,)\n", size);
}

static void row_sums(FILE *f, int size) {
  head(f, "x: \"f32[16, 64]\"");
  for (int i = 0; i < size; i++)
    fprintf(f,
            "        t%d: \"f32[16, 64]\" = " ATEN "mul.Tensor(x, %d.5)\n"
            "        s%d: \"f32[16]\" = " ATEN "sum.dim_IntList(t%d, [1])\n",
            i, i, i, i);
  fputs("        return (s0", f);
  for (int i = 1; i < size; i++)
    fprintf(f, ", s%d", i);
  fputs(",)\n", f);
}

static void wheres(FILE *f, int size) {
  head(f, "v0: \"f32[64]\", c: \"b8[64]\"");
  for (int i = 1; i <= size; i++)
    fprintf(f,
            "        n%d: \"f32[64]\" = " ATEN "neg.default(v%d)\n"
            "        v%d: \"f32[64]\" = " ATEN "where.self(c, v%d, n%d)\n",
            i, i - 1, i, i - 1, i);
  fprintf(f, "        return (v%d,)\n", size);
}

static void conditions(FILE *f, int size) {
  head(f, "v0: \"f32[64]\"");
  for (int i = 1; i <= size; i++)
    fprintf(f,
            "        c%d: \"b8[64]\" = " ATEN "gt.Scalar(v%d, %d)\n"
            "        s%d: \"f32[64]\" = " ATEN "cos.default(v%d)\n"
            "        v%d: \"f32[64]\" = " ATEN "where.self(c%d, v%d, s%d)\n",
            i, i - 1, i, i, i - 1, i, i, i - 1, i);
  fprintf(f, "        return (v%d,)\n", size);
}

static void pads(FILE *f, int size) {
  head(f, "v0: \"f32[64]\"");
  for (int i = 1; i <= size; i++)
    fprintf(f, "        v%d: \"f32[%d]\" = " ATEN "constant_pad_nd.default(v%d, [1, 1], 0.5)\n", i,
            64 + 2 * i, i - 1);
  fprintf(f, "        return (v%d,)\n", size);
}

static void slices(FILE *f, int size) {
  head(f, "v0: \"f32[200000]\"");
  for (int i = 1; i <= size; i++)
    fprintf(f, "        v%d: \"f32[%d]\" = " ATEN "slice.Tensor(v%d, 0, 1, 9223372036854775807)\n",
            i, 200000 - i, i - 1);
  fprintf(f, "        w: \"f32[%d]\" = " ATEN "sin.default(v%d)\n        return (w,)\n",
          200000 - size, size);
}

// h = tanh(h @ w + x[t])
static void recurrence(FILE *f, int size) {
  char inputs[128];
  snprintf(inputs, sizeof inputs, "v0: \"f32[4, 64]\", w: \"f32[64, 64]\", x: \"f32[%d, 4, 64]\"",
           size);
  head(f, inputs);
  for (int i = 1; i <= size; i++)
    fprintf(f,
            "        x%d: \"f32[4, 64]\" = " ATEN "select.int(x, 0, %d)\n"
            "        m%d: \"f32[4, 64]\" = " ATEN "mm.default(v%d, w)\n"
            "        a%d: \"f32[4, 64]\" = " ATEN "add.Tensor(m%d, x%d)\n"
            "        v%d: \"f32[4, 64]\" = " ATEN "tanh.default(a%d)\n",
            i, i - 1, i, i - 1, i, i, i, i, i);
  fprintf(f, "        return (v%d,)\n", size);
}

// Normalisations, products and residuals, as in a model of many layers.
static void layers(FILE *f, int size) {
  head(f, "v0: \"f32[16, 64]\", w: \"f32[64, 64]\"");
  for (int i = 1; i <= size; i++)
    fprintf(f,
            "        s%d: \"f32[16, 64]\" = " ATEN "_softmax.default(v%d, 1, False)\n"
            "        m%d: \"f32[16, 64]\" = " ATEN "mm.default(s%d, w)\n"
            "        r%d: \"f32[16, 64]\" = " ATEN "relu.default(m%d)\n"
            "        v%d: \"f32[16, 64]\" = " ATEN "add.Tensor(r%d, v%d)\n",
            i, i - 1, i, i, i, i, i, i, i - 1);
  fprintf(f, "        return (v%d,)\n", size);
}

// Every value has several users, up to 40 operators later.
static void fan_out(FILE *f, int size) {
  unsigned seed = 1;
  head(f, "v0: \"f32[64]\", v1: \"f32[64]\"");
  for (int i = 2; i <= size; i++) {
    seed = seed * 1103515245u + 12345u;
    int reach = i < 40 ? i : 40, other = i - 1 - (int)(seed >> 16) % reach;
    fprintf(f, "        v%d: \"f32[64]\" = " ATEN "%s(v%d, v%d)\n", i,
            i % 3 ? "add.Tensor" : "maximum.default", i - 1, other);
  }
  fprintf(f, "        return (v%d,)\n", size);
}

// 128 parts each, all of the one before.
static void stacks(FILE *f, int size) {
  enum { PARTS = 128 };
  head(f, "v0: \"f32[128, 64]\"");
  for (int i = 1; i <= size; i++) {
    for (int k = 0; k < PARTS; k++)
      fprintf(f, "        s%d_%d: \"f32[64]\" = " ATEN "select.int(v%d, 0, %d)\n", i, k, i - 1,
              (k * 37 + 1) % PARTS);
    fprintf(f, "        v%d: \"f32[128, 64]\" = " ATEN "stack.default([s%d_0", i, i);
    for (int k = 1; k < PARTS; k++)
      fprintf(f, ", s%d_%d", i, k);
    fputs("])\n", f);
  }
  fprintf(f, "        return (v%d,)\n", size);
}

static void cat(FILE *f, int size) {
  head(f, "x: \"f32[64]\"");
  fputs("        y: \"f32[", f);
  fprintf(f, "%d]\" = " ATEN "cat.default([x", 64 * size);
  repeat(f, size - 1, ", x");
  fputs("])\n        return (y,)\n", f);
}

static void cat_distinct(FILE *f, int size) {
  head(f, "x: \"f32[64]\"");
  for (int i = 0; i < size; i++)
    fprintf(f, "        s%d: \"f32[64]\" = " ATEN "mul.Tensor(x, %d)\n", i, i);
  fprintf(f, "        y: \"f32[%d]\" = " ATEN "cat.default([s0", 64 * size);
  for (int i = 1; i < size; i++)
    fprintf(f, ", s%d", i);
  fputs("])\n        return (y,)\n", f);
}

static void cats(FILE *f, int size) {
  head(f, "v0: \"f32[64]\"");
  for (int i = 1; i <= size; i++)
    fprintf(f, "        v%d: \"f32[%d]\" = " ATEN "cat.default([v%d, v0])\n", i, 64 * (i + 1),
            i - 1);
  fprintf(f, "        return (v%d,)\n", size);
}

static void cats_doubling(FILE *f, int size) {
  head(f, "v0: \"f32[1]\"");
  for (int i = 1; i <= size; i++)
    fprintf(f, "        v%d: \"f32[%lld]\" = " ATEN "cat.default([v%d, v%d])\n", i, 1ll << i, i - 1,
            i - 1);
  fprintf(f, "        return (v%d,)\n", size);
}

static void stack(FILE *f, int size) {
  head(f, "x: \"f32[64]\"");
  fprintf(f, "        y: \"f32[%d, 64]\" = " ATEN "stack.default([x", size);
  repeat(f, size - 1, ", x");
  fputs("])\n        return (y,)\n", f);
}

static void wide(FILE *f, int size) {
  head(f, "x: \"f32[64]\"");
  for (int i = 0; i < size; i++)
    fprintf(f, "        s%d: \"f32[64]\" = " ATEN "mul.Tensor(x, %d.5)\n", i, i);
  fputs("        return (s0", f);
  for (int i = 1; i < size; i++)
    fprintf(f, ", s%d", i);
  fputs(",)\n", f);
}

static void inputs(FILE *f, int size) {
  fputs("class GraphModule(torch.nn.Module):\n    def forward(self", f);
  for (int i = 0; i < size; i++)
    fprintf(f, ", a%d: \"f32[64]\"", i);
  fputs("):\n", f);
  for (int i = 1; i < size; i++)
    fprintf(f, "        v%d: \"f32[64]\" = " ATEN "add.Tensor(%s%d, a%d)\n", i, i == 1 ? "a" : "v",
            i - 1, i);
  fprintf(f, "        return (v%d,)\n", size - 1);
}

static void unused(FILE *f, int size) {
  head(f, "x: \"f32[64]\"");
  for (int i = 0; i < size; i++)
    fprintf(f, "        s%d: \"f32[64]\" = " ATEN "exp.default(x)\n", i);
  fputs("        return (s0,)\n", f);
}

static void symbols(FILE *f, int size) {
  fputs("class GraphModule(torch.nn.Module):\n    def forward(self", f);
  for (int i = 0; i < size; i++)
    fprintf(f, ", s%d: \"Sym(s%d)\", a%d: \"f32[s%d]\"", i, i, i, i);
  fputs("):\n        y: \"f32[s0]\" = " ATEN "sin.default(a0)\n        return (y,)\n", f);
}

static void sizes_product(FILE *f, int size) {
  head(f, "s0: \"Sym(s0)\", x: \"f32[s0]\"");
  fputs("        n0: \"Sym(s0 + 1)\" = s0 + 1\n", f);
  for (int i = 1; i <= size; i++)
    fprintf(f, "        n%d = n%d * n%d\n", i, i - 1, i - 1);
  fprintf(f,
          "        y = " ATEN
          "full.default([n%d], 1.0, dtype = torch.float32)\n        return (y,)\n",
          size);
}

static void sizes_products(FILE *f, int size) {
  fputs("class GraphModule(torch.nn.Module):\n    def forward(self", f);
  for (int i = 0; i < size; i++)
    fprintf(f, ", s%d: \"Sym(s%d)\", a%d: \"f32[s%d]\"", i, i, i, i);
  fputs("):\n        m0 = s0 + 1\n", f);
  for (int i = 1; i < size; i++)
    fprintf(f, "        n%d = s%d + 1\n        m%d = m%d * n%d\n", i, i, i, i - 1, i);
  fprintf(f,
          "        y = " ATEN
          "full.default([m%d], 1.0, dtype = torch.float32)\n        return (y,)\n",
          size - 1);
}

static void sizes_quotients(FILE *f, int size) {
  head(f, "s0: \"Sym(s0)\", x: \"f32[s0]\"");
  fputs("        n0 = s0 + 7\n", f);
  for (int i = 1; i <= size; i++)
    fprintf(f, "        m%d = n%d // %d\n        n%d = m%d + n%d\n", i, i - 1, 2 + i % 5, i, i,
            i - 1);
  fprintf(f,
          "        y = " ATEN
          "full.default([n%d], 1.0, dtype = torch.float32)\n        return (y,)\n",
          size);
}

static void sizes_text(FILE *f, int size) {
  fputs("class GraphModule(torch.nn.Module):\n    def forward(self, s0: \"Sym(s0)\", x: \"f32[", f);
  repeat(f, size, "(");
  fputs("s0", f);
  repeat(f, size, " + 1)*(s0 + 1)");
  fputs("]\"):\n        return (x,)\n", f);
}

static void cats_symbolic(FILE *f, int size) {
  head(f, "s0: \"Sym(s0)\", v0: \"f32[s0]\"");
  for (int i = 1; i <= size; i++)
    fprintf(f, "        v%d: \"f32[%d*s0]\" = " ATEN "cat.default([v%d, v0])\n", i, i + 1, i - 1);
  fprintf(f, "        return (v%d,)\n", size);
}

static void views_symbolic(FILE *f, int size) {
  head(f, "s0: \"Sym(s0)\", s1: \"Sym(s1)\", v0: \"f32[s0, s1]\"");
  for (int i = 1; i <= size; i++)
    fprintf(f,
            "        q%d: \"f32[s1, s0]\" = " ATEN "view.default(v%d, [s1, s0])\n"
            "        p%d: \"f32[s0, s1]\" = " ATEN "permute.default(q%d, [1, 0])\n"
            "        v%d: \"f32[s0, s1]\" = " ATEN "clone.default(p%d)\n",
            i, i - 1, i, i, i, i);
  fprintf(f, "        w: \"f32[s0, s1]\" = " ATEN "sin.default(v%d)\n        return (w,)\n", size);
}

static void rank(FILE *f, int size) {
  fputs("class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[2", f);
  repeat(f, size - 1, ", 2");
  fputs("]\"):\n        y: \"f32[]\" = " ATEN "sum.default(x)\n        return (y,)\n", f);
}

static void list_nested(FILE *f, int size) {
  head(f, "x: \"f32[64]\"");
  fputs("        y = " ATEN "cat.default(", f);
  repeat(f, size, "[");
  fputs("x", f);
  repeat(f, size, "]");
  fputs(")\n        return (y,)\n", f);
}

static void list_long(FILE *f, int size) {
  head(f, "x: \"f32[64]\"");
  fputs("        y = " ATEN "view.default(x, [64", f);
  repeat(f, size, ", 1");
  fputs("])\n        return (y,)\n", f);
}

static void pool_far(FILE *f, int size) {
  fprintf(f,
          "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[1, 1, %d, %d]\"):\n"
          "        y: \"f32[1, 1, 1, 1]\" = " ATEN
          "avg_pool2d.default(x, [%d, %d])\n        return (y,)\n",
          size, size, size, size);
}

static void sort_long(FILE *f, int size) {
  fprintf(f,
          "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[%d]\"):\n"
          "        s = " ATEN
          "sort.default(x)\n        y: \"f32[%d]\" = s[0]\n        return (y,)\n",
          size, size);
}

static void topk(FILE *f, int size) {
  fprintf(f,
          "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[%d]\"):\n"
          "        s = " ATEN
          "topk.default(x, %d)\n        y: \"f32[%d]\" = s[0]\n        return (y,)\n",
          size, size / 2, size / 2);
}

static void power(FILE *f, int size) {
  head(f, "x: \"f32[64]\"");
  fprintf(f, "        y: \"f32[64]\" = " ATEN "pow.Tensor_Scalar(x, %d)\n        return (y,)\n",
          size);
}

static void errors(FILE *f, int size) {
  head(f, "x: \"f32[64]\"");
  for (int i = 0; i < size; i++)
    fprintf(f, "        v%d: \"f32[64]\" = " ATEN "sine.default(x)\n", i);
  fputs("        return (x,)\n", f);
}

static void name_long(FILE *f, int size) {
  head(f, "x: \"f32[64]\"");
  fputs("        y", f);
  repeat(f, size, "y");
  fputs(": \"f32[64]\" = " ATEN "sin.default(x)\n        return (x,)\n", f);
}

#define PTX "--graph @ --emit=ptx --target=sm_90a"
#define TILE "--graph @ --emit=tile --target=sm_90a"
#define RUN "--graph @ --run --check --target=cpu"
const struct bomb graph_bombs[] = {
    {"doubling-60.py", doubling, 60, RUN, ""},
    {"doubling.py", doubling, 5000, TILE, ""},
    {"fibonacci-60.py", fibonacci, 60, RUN, ""},
    {"fibonacci.py", fibonacci, 3000, TILE, ""},
    {"maxima.py", maxima, 3000, TILE, ""},
    {"sines.py", sines, 3000, TILE, ""},
    {"relus.py", reluses, 5000, TILE, ""},
    {"integers.py", integers, 3000, TILE, ""},
    {"sines-100000.py", sines, 100000, TILE, ""},
    {"selects-5000.py", selects, 5000, TILE, ""},
    {"products-50000.py", products, 50000, TILE, ""},
    {"slices-added-30000.py", slices_added, 30000, TILE, ""},
    {"dense-blocks-5000.py", dense_blocks, 5000, TILE, ""},
    {"row-sums-8000.py", row_sums, 8000, TILE, ""},
    {"recurrence-5000.py", recurrence, 5000, TILE, ""},
    {"layers-5000.py", layers, 5000, TILE, ""},
    {"fan-out-10000.py", fan_out, 10000, TILE, ""},
    {"stacks-64.py", stacks, 64, TILE, ""},
    {"products-140000.py", products, 140000, TILE, "E0950"},
    {"clones.py", clones, 5000, TILE, ""},
    {"softmaxes.py", softmaxes, 200, TILE, ""},
    {"cumsums.py", sums, 200, TILE, ""},
    {"products.py", products, 500, TILE, ""},
    {"permutes.py", permutes, 10000, TILE, ""},
    {"flips.py", flips, 2000, TILE, ""},
    {"rolls.py", rolls, 60, TILE, ""},
    {"sorts.py", sorts, 10, TILE, ""},
    {"residuals-permuted.py", residuals_permuted, 64, RUN, ""},
    {"residuals-permuted-500.py", residuals_permuted, 500, TILE, ""},
    {"residuals-reshaped.py", residuals_reshaped, 64, TILE, ""},
    {"views-zigzag.py", views_zigzag, 100, TILE, ""},
    {"selects.py", selects, 2000, TILE, ""},
    {"wheres.py", wheres, 100, RUN, ""},
    {"wheres-2000.py", wheres, 2000, TILE, ""},
    {"conditions.py", conditions, 500, TILE, ""},
    {"pads.py", pads, 200, TILE, ""},
    {"slices.py", slices, 5000, TILE, ""},
    {"cat.py", cat, 20000, TILE, "E0950"},
    {"cat-200.py", cat, 200, TILE, ""},
    {"cat-distinct.py", cat_distinct, 500, TILE, ""},
    {"cats.py", cats, 200, TILE, ""},
    {"cats-doubling.py", cats_doubling, 30, TILE, ""},
    {"stack.py", stack, 20000, TILE, "E0950"},
    {"wide.py", wide, 1000, TILE, ""},
    {"wide-100000.py", wide, 100000, TILE, "E0950"},
    {"inputs.py", inputs, 500, TILE, ""},
    {"inputs-50000.py", inputs, 50000, TILE, "E0950"},
    {"unused.py", unused, 100000, TILE, ""},
    {"symbols.py", symbols, 10000, TILE, ""},
    {"sizes-product.py", sizes_product, 60, TILE, "E1009"},
    {"sizes-products.py", sizes_products, 40, TILE, "E1009"},
    {"sizes-quotients.py", sizes_quotients, 60, TILE, "E1009"},
    {"sizes-text.py", sizes_text, 1000, TILE, "E0902"},
    {"cats-symbolic.py", cats_symbolic, 100, TILE, ""},
    {"views-symbolic.py", views_symbolic, 30, TILE, ""},
    {"rank.py", rank, 64, TILE, "E1009"},
    {"list-nested.py", list_nested, 100000, TILE, "E0902"},
    {"list-long.py", list_long, 100000, TILE, "E0950"},
    {"pool-far.py", pool_far, 3000, TILE, ""},
    {"sort-long.py", sort_long, 100000, TILE, "E1008"},
    {"topk.py", topk, 4096, TILE, ""},
    {"power.py", power, 1000000000, PTX, ""},
    {"errors.py", errors, 50000, TILE, "E1002"},
    {"name-long.py", name_long, 1000000, TILE, ""},
    {NULL, NULL, 0, NULL, NULL},
};
