// SPDX-License-Identifier: Apache-2.0
// Infer rules of operators, by lines of text: the result types, or the error. test_print.c compares
// the rules with PyTorch's annotations of whole models.
#include "graph/ir/graph_operators.h"
#include "graph/read/fx.h"

#include <check.h>
#include <stdlib.h>

static struct arena *arena;
static struct diag_engine *diag;

static void setup(void) {
  arena = arena_create();
  diag = diag_engine_create(arena);
}

static void teardown(void) { arena_destroy(arena); }

// One operator on these parameters; the results of tuples are all returned.
static struct graph *read(const char *parameters, const char *call, unsigned results) {
  struct strbuf text = {0};
  strbuf_printf(&text,
                "class G(torch.nn.Module):\n    def forward(self, %s):\n        r = torch.ops.%s\n",
                parameters, call);
  for (unsigned i = 0; results > 1 && i < results; i++)
    strbuf_printf(&text, "        r%u = r[%u]\n", i, i);
  strbuf_puts(&text, "        return (");
  for (unsigned i = 0; i < results; i++)
    if (results > 1)
      strbuf_printf(&text, "r%u, ", i);
    else
      strbuf_puts(&text, "r,");
  strbuf_puts(&text, ")\n");
  struct source *source = source_create(arena, "g.py", (struct str){text.ptr, text.len});
  strbuf_finish(&text);
  return graph_read_fx(arena, diag, source);
}

struct good {
  const char *parameters, *call;
  const char *types[3]; // of results
};

static const struct good goods[] = {
    // pointwise: broadcasting, promotion, order of dimensions
    {"a: \"f32[2, 1, 3]\", b: \"f32[4, 1]\"", "aten.add.Tensor(a, b)", {"f32[2, 4, 3][12, 3, 1]"}},
    {"a: \"i64[3]\", b: \"bf16[2, 3]\"", "aten.mul.Tensor(a, b)", {"bf16[2, 3][3, 1]"}},
    {"a: \"f16[3]\", b: \"bf16[3]\"", "aten.mul.Tensor(a, b)", {"f32[3][1]"}},
    {"a: \"bf16[3]\", b: \"f32[]\"", "aten.mul.Tensor(a, b)", {"bf16[3][1]"}},
    {"a: \"i64[3]\", b: \"f64[]\"", "aten.mul.Tensor(a, b)", {"f64[3][1]"}},
    {"a: \"b8[3]\", b: \"f32[3]\"", "aten.mul.Tensor(a, b)", {"f32[3][1]"}},
    {"a: \"i32[3]\"", "aten.add.Tensor(a, 1)", {"i32[3][1]"}},
    {"a: \"i32[3]\"", "aten.mul.Tensor(a, 1.5)", {"f32[3][1]"}},
    {"a: \"b8[3]\"", "aten.mul.Tensor(a, 2)", {"i64[3][1]"}},
    {"a: \"b8[3]\", b: \"b8[3]\"", "aten.add.Tensor(a, b)", {"b8[3][1]"}},
    {"a: \"u8[3]\", b: \"i8[3]\"", "aten.add.Tensor(a, b)", {"i16[3][1]"}},
    {"a: \"i64[3]\", b: \"i64[3]\"", "aten.div.Tensor(a, b)", {"f32[3][1]"}},
    {"a: \"i64[3]\", b: \"i64[3]\"",
     "aten.div.Tensor_mode(a, b, rounding_mode = 'floor')",
     {"i64[3][1]"}},
    {"a: \"i64[3]\"", "aten.exp.default(a)", {"f32[3][1]"}},
    {"a: \"f32[3]\"", "aten.gt.Scalar(a, 0)", {"b8[3][1]"}},
    {"a: \"f32[2, 3][1, 2]\"", "aten.neg.default(a)", {"f32[2, 3][1, 2]"}},
    {"a: \"f32[2, 3][1, 2]\", b: \"f32[3]\"", "aten.add.Tensor(a, b)", {"f32[2, 3][1, 2]"}},
    {"a: \"f32[2, 3][1, 2]\", b: \"f32[2, 3]\"", "aten.add.Tensor(a, b)", {"f32[2, 3][1, 2]"}},
    {"a: \"f32[2, 3][6, 2]\"", "aten.neg.default(a)", {"f32[2, 3][3, 1]"}},
    {"a: \"f32[2, 3][0, 1]\"", "aten.clone.default(a)", {"f32[2, 3][3, 1]"}},
    {"a: \"f32[2, 3][1, 2]\"",
     "aten.clone.default(a, memory_format = torch.contiguous_format)",
     {"f32[2, 3][3, 1]"}},
    {"a: \"f32[2, 3, 4, 5]\"",
     "aten.clone.default(a, memory_format = torch.channels_last)",
     {"f32[2, 3, 4, 5][60, 1, 15, 3]"}},
    {"a: \"f32[2, 3, 4, 5, 6]\"",
     "aten.clone.default(a, memory_format = torch.channels_last_3d)",
     {"f32[2, 3, 4, 5, 6][360, 1, 90, 18, 3]"}},
    {"a: \"f32[2, 3]\"", "aten._to_copy.default(a, dtype = torch.int32)", {"i32[2, 3][3, 1]"}},
    {"a: \"f16[2, 3][1, 2]\"", "tile.to_bits.default(a)", {"i16[2, 3][1, 2]"}},
    {"a: \"i8[2, 3]\"", "tile.from_bits.default(a, torch.float8_e5m2)", {"f8e5m2[2, 3][3, 1]"}},
    {"a: \"f32[s0, 4]\"", "aten.view.dtype(a, torch.int8)", {"i8[s0, 16][16, 1]"}},
    // more steps than a list takes
    {"x: \"f32[2100, 1, 2]\", h: \"f32[1, 1, 2]\", w: \"f32[2, 2]\"",
     "aten.rnn_relu.input(x, h, [w, w], False, 1, 0.0, False, False, False)",
     {"f32[2100, 1, 2][2, 2, 1]", "f32[1, 1, 2][2, 2, 1]"}},
    {"a: \"u8[3, 4*s0]\"", "aten.view.dtype(a, torch.float32)", {"f32[3, s0][s0, 1]"}},
    {"q: \"f32[2, 4, s0, 8]\", k: \"f32[2, 1, s0, 8]\"",
     "aten.scaled_dot_product_attention.default(q, k, k)",
     {"f32[2, 4, s0, 8][32*s0, 8*s0, 8, 1]"}},
    {"c: \"b8[3]\", a: \"f32[]\", b: \"f16[2, 3]\"",
     "aten.where.self(c, a, b)",
     {"f16[2, 3][3, 1]"}},
    {"a: \"f32[s0, 3]\", b: \"f32[s0, 1]\"", "aten.add.Tensor(a, b)", {"f32[s0, 3][3, 1]"}},
    // reductions
    {"a: \"f32[2, 3, 4]\"", "aten.sum.dim_IntList(a, [0, -1], True)", {"f32[1, 3, 1][3, 1, 1]"}},
    {"a: \"b8[2, 3]\"", "aten.sum.default(a)", {"i64[][]"}},
    {"a: \"f32[2, 3]\"", "aten.mean.dim(a, None)", {"f32[][]"}},
    {"a: \"i32[2, 3]\"", "aten.mean.dim(a, [1], dtype = torch.float32)", {"f32[2][1]"}},
    {"a: \"f32[2, 3]\"", "aten.amax.default(a)", {"f32[][]"}},
    {"a: \"f32[2, 3]\"", "aten.max.dim(a, 1)", {"f32[2][1]", "i64[2][1]"}},
    {"a: \"f32[2, 3]\"", "aten.argmax.default(a)", {"i64[][]"}},
    {"a: \"f32[2, 3]\"", "aten.any.dim(a, 1, True)", {"b8[2, 1][1, 1]"}},
    {"a: \"f32[2, 3]\"",
     "aten.var_mean.correction(a, [1], correction = 0, keepdim = True)",
     {"f32[2, 1][1, 1]", "f32[2, 1][1, 1]"}},
    // views
    {"a: \"f32[2, 3, 4]\"", "aten.view.default(a, [-1, 4])", {"f32[6, 4][4, 1]"}},
    {"a: \"f32[2, 3, 4][4, 8, 1]\"",
     "aten.view.default(a, [2, 3, 2, 2])",
     {"f32[2, 3, 2, 2][4, 8, 2, 1]"}},
    {"a: \"f32[2, 3][1, 2]\"", "aten.reshape.default(a, [6])", {"f32[6][1]"}},
    {"a: \"f32[s0, 3, 4]\"", "aten.view.default(a, [-1, 12])", {"f32[s0, 12][12, 1]"}},
    {"a: \"f32[s0, 3, 4]\"", "aten.view.default(a, [-1])", {"f32[12*s0][1]"}},
    {"a: \"f32[2, 3, 4]\"", "aten.permute.default(a, [2, 0, -2])", {"f32[4, 2, 3][1, 12, 4]"}},
    {"a: \"f32[2, 3, 4]\"", "aten.transpose.int(a, -1, -2)", {"f32[2, 4, 3][12, 1, 4]"}},
    {"a: \"f32[3]\"", "aten.t.default(a)", {"f32[3][1]"}},
    {"a: \"f32[3, 1]\"", "aten.expand.default(a, [2, -1, 4])", {"f32[2, 3, 4][0, 1, 0]"}},
    {"a: \"f32[3, 4]\"", "aten.unsqueeze.default(a, -1)", {"f32[3, 4, 1][4, 1, 1]"}},
    {"a: \"f32[3, 4]\"", "aten.unsqueeze.default(a, 0)", {"f32[1, 3, 4][12, 4, 1]"}},
    {"a: \"f32[1, 3, 1]\"", "aten.squeeze.dims(a, [0, 1])", {"f32[3, 1][1, 1]"}},
    {"a: \"f32[1, 3, 1]\"", "aten.squeeze.default(a)", {"f32[3][1]"}},
    {"a: \"f32[3, 4]\"", "aten.select.int(a, 1, -1)", {"f32[3][4]"}},
    {"a: \"f32[10, 4]\"",
     "aten.slice.Tensor(a, 0, 1, 9223372036854775807, 2)",
     {"f32[5, 4][8, 1]"}},
    {"a: \"f32[10]\"", "aten.slice.Tensor(a, 0, -3)", {"f32[3][1]"}},
    {"a: \"f32[10]\"", "aten.slice.Tensor(a, 0, 8, 2)", {"f32[0][1]"}},
    {"a: \"f32[10, 4]\"",
     "aten.split.Tensor(a, 4)",
     {"f32[4, 4][4, 1]", "f32[4, 4][4, 1]", "f32[2, 4][4, 1]"}},
    {"a: \"f32[10]\"", "aten.split_with_sizes.default(a, [3, 7])", {"f32[3][1]", "f32[7][1]"}},
    {"a: \"f32[2, 3]\"", "aten.unbind.int(a, 1)", {"f32[2][3]", "f32[2][3]", "f32[2][3]"}},
    {"a: \"f32[4, 5]\"", "aten.diagonal.default(a, 2)", {"f32[3][6]"}},
    // movement and creation
    {"a: \"f32[2, 3]\", b: \"i64[2, 1]\"", "aten.cat.default([a, b], -1)", {"f32[2, 4][4, 1]"}},
    {"a: \"f32[0]\", b: \"f32[2, 1]\"", "aten.cat.default([a, b], 1)", {"f32[2, 1][1, 1]"}},
    {"a: \"f32[s0, 3]\", b: \"f32[2, 3]\"", "aten.cat.default([a, b])", {"f32[s0 + 2, 3][3, 1]"}},
    {"a: \"f32[2, 3]\", b: \"f32[2, 3]\"",
     "aten.stack.default([a, b], 1)",
     {"f32[2, 2, 3][6, 3, 1]"}},
    {"a: \"f32[2, 3]\"", "aten.constant_pad_nd.default(a, [1, -1, 2, 0])", {"f32[4, 3][3, 1]"}},
    {"a: \"f32[2, 3]\"", "aten.repeat.default(a, [4, 1, 2])", {"f32[4, 2, 6][12, 6, 1]"}},
    {"a: \"f32[2]\"", "aten.full.default([2, 3], 1)", {"i64[2, 3][3, 1]"}},
    {"a: \"f32[2]\"", "aten.full.default([], -inf, dtype = torch.float16)", {"f16[][]"}},
    {"a: \"f32[2]\"", "aten.arange.start_step(1, 10, 4)", {"i64[3][1]"}},
    {"a: \"f32[2]\"", "aten.arange.default(2.5)", {"f32[3][1]"}},
    {"a: \"f32[2]\"", "aten.arange.start_step(5, 0, -2)", {"i64[3][1]"}},
    // gather and scatter
    {"w: \"f32[10, 8]\", i: \"i64[2, 3]\"",
     "aten.embedding.default(w, i)",
     {"f32[2, 3, 8][24, 8, 1]"}},
    {"a: \"f32[4, 5, 6]\", i: \"i64[2, 1]\", j: \"i64[3]\"",
     "aten.index.Tensor(a, [None, i, j])",
     {"f32[4, 2, 3][6, 3, 1]"}},
    {"a: \"f32[4, 5, 6]\", i: \"i64[2]\"",
     "aten.index.Tensor(a, [i, None, i])",
     {"f32[2, 5][5, 1]"}},
    {"a: \"f32[4, 5]\", i: \"i64[4, 2]\"", "aten.gather.default(a, 1, i)", {"f32[4, 2][2, 1]"}},
    {"a: \"b8[4]\"", "aten.cumsum.default(a, 0)", {"i64[4][1]"}},
    // products
    {"a: \"f32[2, 3]\", b: \"f32[3, 4][1, 3]\"", "aten.mm.default(a, b)", {"f32[2, 4][4, 1]"}},
    {"a: \"f32[2, 3]\"", "tile.prod_others.default(a, [1])", {"f32[2, 3][3, 1]"}},
    {"a: \"f32[2, 3]\", b: \"f32[3, 4]\"", "tile.fast_mm.default(a, b)", {"f32[2, 4][4, 1]"}},
    {"a: \"f16[5, 3]\", b: \"f16[2, 3, 4]\", c: \"i32[2]\"",
     "tile.grouped_mm.default(a, b, c)",
     {"f16[5, 4][4, 1]"}},
    {"a: \"f16[5, 3]\", b: \"f16[3, 4]\", c: \"i64[2]\"",
     "tile.grouped_mm.default(a, b, c)",
     {"f16[2, 5, 4][20, 4, 1]"}},
    {"a: \"f32[4]\", b: \"f32[2, 3]\", c: \"f32[3, 4]\"",
     "aten.addmm.default(a, b, c)",
     {"f32[2, 4][4, 1]"}},
    {"a: \"f32[5, 1, 2, 3]\", b: \"f32[7, 3, 4]\"",
     "aten.matmul.default(a, b)",
     {"f32[5, 7, 2, 4][56, 8, 4, 1]"}},
    {"a: \"f32[3]\", b: \"f32[3]\"", "aten.matmul.default(a, b)", {"f32[][]"}},
    {"a: \"f32[3]\", b: \"f32[7, 3, 4]\"", "aten.matmul.default(a, b)", {"f32[7, 4][4, 1]"}},
    {"x: \"f16[2, 5, 3]\", w: \"f16[4, 3]\"",
     "aten.linear.default(x, w)",
     {"f16[2, 5, 4][20, 4, 1]"}},
    {"x: \"f32[1, 4, 9, 9]\", w: \"f32[6, 2, 3, 3]\"",
     "aten.convolution.default(x, w, None, [2, 2], [1, 1], [1, 1], False, [0, 0], 2)",
     {"f32[1, 6, 5, 5][150, 25, 5, 1]"}},
    {"x: \"f32[1, 4, 5, 5]\", w: \"f32[4, 3, 3, 3]\"",
     "aten.convolution.default(x, w, None, [2, 2], [1, 1], [1, 1], True, [1, 1], 1)",
     {"f32[1, 3, 10, 10][300, 100, 10, 1]"}},
    // norms, attention, pooling
    {"a: \"f16[2, 3]\"", "aten._softmax.default(a, 1, True)", {"f32[2, 3][3, 1]"}},
    {"a: \"bf16[2, 3, 4]\"",
     "aten.native_layer_norm.default(a, [4], None, None, 1e-05)",
     {"bf16[2, 3, 4][12, 4, 1]", "f32[2, 3, 1][3, 1, 1]", "f32[2, 3, 1][3, 1, 1]"}},
    {"a: \"f32[2, 3]\", t: \"i64[2]\"",
     "aten.nll_loss_forward.default(a, t, None, 1, -100)",
     {"f32[][]", "f32[][]"}},
    {"q: \"f16[2, 4, 8, 16]\", k: \"f16[2, 2, 9, 16]\"",
     "aten.scaled_dot_product_attention.default(q, k, k, enable_gqa = True)",
     {"f16[2, 4, 8, 16][512, 128, 16, 1]"}},
    {"a: \"f32[1, 2, 8, 8]\"",
     "aten.max_pool2d_with_indices.default(a, [3, 3], [2, 2], [1, 1])",
     {"f32[1, 2, 4, 4][32, 16, 4, 1]", "i64[1, 2, 4, 4][32, 16, 4, 1]"}},
    {"a: \"f32[1, 2, 6, 6]\"",
     "aten.avg_pool2d.default(a, [2], [3], [0], True)",
     {"f32[1, 2, 2, 2][8, 4, 2, 1]"}},
};

START_TEST(types) {
  const struct good *c = &goods[_i];
  unsigned results = c->types[1] ? c->types[2] ? 3 : 2 : 1;
  struct graph *g = read(c->parameters, c->call, results);
  struct strbuf b = {0};
  if (!g)
    diag_render_text(diag, (struct diag_style){0}, &b);
  ck_assert_msg(g != NULL, "%s: %s", c->call, strbuf_cstr(&b));
  ck_assert(graph_verify(g));
  for (unsigned i = 0; i < results; i++) {
    strbuf_clear(&b);
    value_type_print(g->outputs.at[i], true, &b);
    ck_assert_msg(str_is(str_from(strbuf_cstr(&b)), c->types[i]), "%s: %s, not %s", c->call,
                  strbuf_cstr(&b), c->types[i]);
  }
  strbuf_finish(&b);
}
END_TEST

struct bad {
  const char *parameters, *call;
  enum diag_code code;
  const char *says;
};

static const struct bad bads[] = {
    {"a: \"f32[2, 3]\", b: \"f32[4, 3, 2]\", c: \"i32[5]\"", "tile.grouped_mm.default(a, b, c)",
     E1004, "f32[2, 3] and f32[4, 3, 2] cannot be multiplied"},
    {"a: \"f32[2, 3]\", b: \"f32[2]\"", "aten.add.Tensor(a, b)", E1004, "[2, 3] and [2]"},
    {"a: \"f32[2, 3]\", b: \"f32[2, 3]\"", "aten.mm.default(a, b)", E1004,
     "f32[2, 3] and f32[2, 3] cannot be multiplied"},
    {"a: \"f32[2, 3]\", b: \"f16[3, 2]\"", "aten.mm.default(a, b)", E1005,
     "f32[2, 3] and f16[3, 2]"},
    {"a: \"f32[2, 3]\"", "aten.view.default(a, [4, -1])", E1004,
     "f32[2, 3] cannot be viewed as [4, -1]"},
    {"a: \"f32[2, 3]\"", "aten.view.default(a, [-1, -1])", E1004, "one size"},
    {"a: \"f32[2, 3]\"", "aten.view.default(a, [-3, -2])", E1004, "[-3, -2]"},
    {"a: \"f32[2, 3]\"", "aten.permute.default(a, [0, 0])", E1004, "twice"},
    {"a: \"f32[2, 3]\"", "aten.permute.default(a, [0])", E1004, "1 dimensions for f32[2, 3]"},
    {"a: \"f32[2, 3]\"", "aten.sum.dim_IntList(a, [2])", E1004, "no dimension 2"},
    {"a: \"f32[2, 3]\"", "aten.sum.dim_IntList(a, [1, -1])", E1004, "reduced twice"},
    {"a: \"i64[2, 3]\"", "aten.mean.default(a)", E1005, "floats"},
    {"a: \"f32[2, 3]\"", "aten.expand.default(a, [4, 3])", E1004,
     "f32[2, 3] cannot be expanded to [4, 3]"},
    {"a: \"f32[2, 3]\"", "aten.expand.default(a, [3])", E1004, "fewer"},
    {"a: \"f32[2, 3]\"", "aten.select.int(a, 0, 2)", E1004, "index 2"},
    {"a: \"f32[2, 3]\"", "aten.slice.Tensor(a, 0, 0, 2, 0)", E1004, "step"},
    {"a: \"f32[4]\"", "aten.split_with_sizes.default(a, [1, 2])", E1004, "add up"},
    {"a: \"f32[4]\"", "aten.split.Tensor(a, 0)", E1004, "split"},
    {"a: \"f32[2, 3]\", b: \"f32[3, 3]\"", "aten.cat.default([a, b], 1)", E1004,
     "f32[2, 3] and f32[3, 3]"},
    {"a: \"f32[2]\"", "aten.bitwise_not.default(a)", E1005, "integers"},
    {"a: \"f32[2]\", b: \"f32[2]\"", "aten.where.self(a, b, b)", E1005, "bool"},
    {"a: \"f32[2]\", i: \"f32[2]\"", "aten.index.Tensor(a, [i])", E1005, "integers"},
    {"a: \"f32[2]\", i: \"b8[2]\"", "aten.index.Tensor(a, [i])", E1005, "contents"},
    {"a: \"f32[2]\"", "aten.neg.default([a])", E1003, "a tensor, not a list"},
    {"a: \"f32[2]\"", "aten.sum.dim_IntList(a, [0.5])", E1003, "a float"},
    {"a: \"f32[2]\"", "aten.mul.Tensor(1, 2)", E1003, "tensor"},
    {"a: \"f32[2]\"", "aten.div.Tensor_mode(a, a, rounding_mode = 'up')", E1003, "'up'"},
    {"a: \"f32[2]\"", "aten.full.default([1000000000000, 1000000], 0.0)", E0911, "too large"},
    {"a: \"f32[2]\"", "aten.full.default([9223372036854775807, 9223372036854775807], 0.0)", E0911,
     "too large"},
    {"a: \"f32[2]\"", "aten.full.default([-2], 0.0)", E1004, "[-2]"},
    {"a: \"f32[2]\"", "aten.arange.default(inf)", E1004, "number of elements"},
    {"a: \"f32[2]\"", "aten.arange.start_step(0, 1, 0)", E1004, "number of elements"},
    {"a: \"f32[2]\"", "aten.repeat.default(a, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1])",
     E1009, "17"},
    {"x: \"f32[1, 4, 9, 9]\", w: \"f32[6, 3, 3, 3]\"",
     "aten.convolution.default(x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)", E1004,
     "f32[6, 3, 3, 3]"},
    {"x: \"f32[1, 4, 9, 9]\", w: \"f32[6, 4, 3, 3]\"",
     "aten.convolution.default(x, w, None, [0, 1], [1, 1], [1, 1], False, [0, 0], 1)", E1004,
     "positive"},
    {"a: \"f32[2, 3]\"", "aten.native_layer_norm.default(a, [2], None, None, 1e-05)", E1004, "[2]"},
};

START_TEST(errors) {
  const struct bad *c = &bads[_i];
  struct graph *g = read(c->parameters, c->call, 1);
  ck_assert_msg(g == NULL, "%s", c->call);
  const char *text = diag_first_error(diag);
  ck_assert_msg(diag_first_error_code(diag) == c->code && strstr(text, c->says), "%s: %s %s",
                c->call, diag_code_name(diag_first_error_code(diag)), text);
}
END_TEST

// ---- the table ----

START_TEST(rows) {
  for (unsigned id = 0; id < OPERATOR_COUNT; id++) {
    const struct operator_row *row = operator_row((enum operator_id)id);
    enum operator_id found;
    size_t count, many;
    ck_assert(row->id == id && row->infer);
    ck_assert(operator_find(str_from(row->name), &found) && found == id);
    const struct parameter *p = operator_parameters(row->id, &count);
    ck_assert_uint_le(count, OPERATOR_MAX_PARAMETERS);
    for (size_t i = 0; i < count; i++) {
      ck_assert(p[i].name.len > 0 && strchr("TNSifbsdGA", p[i].type));
      for (size_t k = 0; k < i; k++)
        ck_assert(!str_eq(p[i].name, p[k].name));
      if (i > 0 && !p[i].by_name) // what comes after a default has one
        ck_assert(!p[i - 1].by_name && (p[i].has_default || !p[i - 1].has_default));
    }
    ck_assert_ptr_eq(operator_parameters(row->id, &many), p);
  }
  enum operator_id id;
  ck_assert(!operator_find(STR("aten.add.tensor"), &id) && !operator_find(STR(""), &id));
  ck_assert_str_eq(operator_nearest(STR("aten.add.Tenor")), "aten.add.Tensor");
}
END_TEST

START_TEST(builder) {
  struct graph *g = graph_create(arena, diag, exprs_create(arena), "G");
  const struct expr *shape[2] = {expr_const(g->exprs, 2), expr_const(g->exprs, 3)};
  struct value *v = graph_add_input(g, "x", DTYPE_F32, 2, shape, NULL, SPAN_NONE);
  struct node *n =
      graph_append(g, OP_SUM_DIM, (struct arg[]){ARG_V(v), arg_int(g, -1)}, 2, SPAN_NONE);
  ck_assert(n && n->arg_count == 4 && !node_truth(n, 2) && node_is_none(n, 3));
  const struct arg *list;
  ck_assert_uint_eq(node_list(n, 1, &list), 1); // one number for a list of one
  struct value *sum = n->results[0];
  ck_assert(sum->rank == 1 && sum->def == n && value_is_contiguous(g->exprs, sum));
  ck_assert_ptr_null(graph_apply(g, OP_SUM_DIM, (struct arg[]){ARG_V(v)}, 1, SPAN_NONE));
  ck_assert(strstr(diag_first_error(diag), "needs an argument `dim`"));
  struct value *twice =
      graph_apply(g, OP_ADD_TENSOR, (struct arg[]){ARG_V(sum), ARG_V(sum)}, 2, SPAN_NONE);
  graph_add_output(g, twice);
  graph_add_output(g, NULL);
  uint32_t *uses = graph_count_uses(g, arena);
  ck_assert(uses[v->id] == 1 && uses[sum->id] == 2 && uses[twice->id] == 1);
  ck_assert(graph_verify(g));
}
END_TEST

// Lists of results add up.
START_TEST(many_results) {
  struct graph *g = graph_create(arena, diag, exprs_create(arena), "G");
  const struct expr *shape[1] = {expr_const(g->exprs, 1 << 16)};
  struct value *v = graph_add_input(g, "x", DTYPE_F32, 1, shape, NULL, SPAN_NONE);
  int made = 0;
  while (graph_append(g, OP_UNBIND, (struct arg[]){ARG_V(v)}, 1, SPAN_NONE))
    made++;
  ck_assert_int_eq(made, GRAPH_MAX_VALUES / (1 << 16) - 1);
  ck_assert_int_eq(diag_first_error_code(diag), E1009);
}
END_TEST

// What the verifier is for: graphs that a pass broke.
START_TEST(broken) {
  struct graph *g = graph_create(arena, diag, exprs_create(arena), "G");
  const struct expr *shape[1] = {expr_const(g->exprs, 4)};
  struct value *v = graph_add_input(g, "x", DTYPE_F32, 1, shape, NULL, SPAN_NONE);
  struct value *a = graph_apply(g, OP_NEG, (struct arg[]){ARG_V(v)}, 1, SPAN_NONE);
  struct value *b = graph_apply(g, OP_EXP, (struct arg[]){ARG_V(a)}, 1, SPAN_NONE);
  graph_add_output(g, b);
  struct node *first = g->nodes.at[0];
  switch (_i) {
  case 0: // order
    g->nodes.at[0] = g->nodes.at[1];
    g->nodes.at[1] = first;
    break;
  case 1: // a cycle
    first->args[0].value = b;
    break;
  case 2: // another dtype than the rule's
    a->dtype = DTYPE_F16;
    break;
  case 3: // another size
    a->shape[0] = expr_const(g->exprs, 5);
    break;
  case 4: // of another graph
    v = graph_add_input(graph_create(arena, diag, g->exprs, "H"), "y", DTYPE_F32, 1, shape, NULL,
                        SPAN_NONE);
    first->args[0].value = v;
    break;
  case 5: // two of one number
    b->id = a->id;
    break;
  default: // a write to what is no input
    graph_add_mutation(g, a, b);
    break;
  }
  ck_assert(!graph_verify(g));
  ck_assert_uint_eq(diag_error_count(diag), 1);
}
END_TEST

int main(void) {
  Suite *s = suite_create("infer");
  TCase *t = tcase_create("infer");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, types, 0, COUNT_OF(goods));
  tcase_add_loop_test(t, errors, 0, COUNT_OF(bads));
  tcase_add_test(t, rows);
  tcase_add_test(t, builder);
  tcase_add_test(t, many_results);
  tcase_add_loop_test(t, broken, 0, 7);
  suite_add_tcase(s, t);
  SRunner *runner = srunner_create(s);
  srunner_set_fork_status(runner, CK_NOFORK);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
