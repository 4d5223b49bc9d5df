// SPDX-License-Identifier: Apache-2.0
// Reading the text of graphs: captured graphs survive print and read, each form of the text is
// parsed.
#include "base/file.h"
#include "graph/ir/graph_operators.h"
#include "graph/ir/sizes.h"
#include "read_check.h"

#include <check.h>
#include <dirent.h>
#include <stdlib.h>

// ---- captured graphs ----

static void round_trip(struct str text, const char *name) {
  struct graph_fixture r = graph_fixture_read("graph.py", text);
  read_must(&r);
  struct strbuf first = {0}, second = {0};
  graph_print(r.graph, &first);
  struct graph_fixture again = graph_fixture_read("graph.py", (struct str){first.ptr, first.len});
  read_must(&again);
  graph_print(again.graph, &second);
  ck_assert_msg(strcmp(strbuf_cstr(&first), strbuf_cstr(&second)) == 0, "%s", name);
  ck_assert_uint_eq(r.graph->nodes.len, again.graph->nodes.len);
  ck_assert_uint_eq(r.graph->inputs.len, again.graph->inputs.len);
  ck_assert_uint_eq(r.graph->outputs.len, again.graph->outputs.len);
  ck_assert_uint_eq(r.graph->mutations.len, again.graph->mutations.len);
  for (size_t i = 0; i < r.graph->nodes.len; i++)
    ck_assert_int_eq(r.graph->nodes.at[i]->op, again.graph->nodes.at[i]->op);
  strbuf_finish(&first);
  strbuf_finish(&second);
  graph_fixture_end(&r);
  graph_fixture_end(&again);
}

static unsigned round_trip_folder(const char *folder) {
  unsigned count = 0;
  DIR *d = opendir(folder);
  ck_assert_ptr_nonnull(d);
  for (struct dirent *e; (e = readdir(d));) {
    struct arena *a = arena_create();
    struct str text;
    if (str_ends(str_from(e->d_name), ".py")) {
      ck_assert_int_eq(
          file_read(a, arena_printf(a, "%s/%s", folder, e->d_name), SOURCE_MAX_BYTES, &text), 0);
      round_trip(text, e->d_name);
      count++;
    }
    arena_destroy(a);
  }
  closedir(d);
  return count;
}

START_TEST(captures) { ck_assert_uint_eq(round_trip_folder(CAPTURES), 6); }
END_TEST

// More of them, where the environment names a folder.
START_TEST(more_captures) {
  const char *folder = getenv("TILE_GRAPHS");
  if (folder)
    ck_assert_uint_gt(round_trip_folder(folder), 0);
}
END_TEST

// ---- forms of the text ----

START_TEST(plain) {
  struct graph_fixture r =
      read_good(GRAPH("a: \"f32[2, 3][3, 1]cuda:0\", b: \"f32[3][1]cuda:0\"",
                      "# File: x.py:1 in f, code: a + b\n"
                      "        add: \"f32[2, 3][3, 1]cuda:0\" = "
                      "torch.ops.aten.add.Tensor(a, b, alpha = 2);  a = b = None\n\n"
                      "        return (add, None, add)"));
  ck_assert_str_eq(r.graph->name, "<lambda>");
  ck_assert_uint_eq(r.graph->inputs.len, 2);
  ck_assert_uint_eq(r.graph->nodes.len, 1);
  ck_assert_uint_eq(r.graph->outputs.len, 3);
  ck_assert_ptr_null(r.graph->outputs.at[1]);
  ck_assert_ptr_eq(r.graph->outputs.at[0], r.graph->outputs.at[2]);
  ck_assert_str_eq(r.graph->outputs.at[0]->name, "add");
  read_check_type(r.graph->outputs.at[0], "f32[2, 3][3, 1]");
  ck_assert_int_eq(node_int(r.graph->nodes.at[0], 2), 2);
  graph_fixture_end(&r);
}
END_TEST

// Without strides, quotes, class, annotations of results.
START_TEST(compact) {
  struct graph_fixture r = read_good("def forward(self, x: f32[256], y: bf16[4, 64]):\n"
                                     "    sin: f32[256] = torch.ops.aten.sin.default(x)\n"
                                     "    cos = torch.ops.aten.cos(sin)\n"
                                     "    return cos, y\n");
  read_check_type(r.graph->outputs.at[0], "f32[256][1]");
  read_check_type(r.graph->outputs.at[1], "bf16[4, 64][64, 1]");
  graph_fixture_end(&r);
}
END_TEST

START_TEST(expanded) {
  struct graph_fixture r = read_good(
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(\n        self,\n        x: \"f32[8][1]cpu\",  # the input\n"
      "        s: \"b8[][]cpu\"\n    ) -> \"f32[8]\":\n"
      "        where: \"f32[8][1]cpu\" = torch.ops.aten.where.self(s, x, x);  s = x = None\n"
      "        return [where]\n");
  ck_assert_str_eq(r.graph->name, "GraphModule");
  ck_assert_int_eq(r.graph->inputs.at[1]->dtype, DTYPE_I1);
  ck_assert_uint_eq(r.graph->inputs.at[1]->rank, 0);
  graph_fixture_end(&r);
}
END_TEST

START_TEST(tuples) {
  struct graph_fixture r = read_good(
      GRAPH("x: \"f32[4, 6][6, 1]cpu\"",
            "split = torch.ops.aten.split.Tensor(x, 2, -1);  x = None\n"
            "        getitem: \"f32[4, 2][6, 1]cpu\" = split[0]\n"
            "        getitem_2: \"f32[4, 2][6, 1]cpu\" = split[2];  split = None\n"
            "        add: \"f32[4, 2][2, 1]cpu\" = torch.ops.aten.add.Tensor(getitem, getitem_2)\n"
            "        return (add,)"));
  const struct node *n = r.graph->nodes.at[0];
  ck_assert_uint_eq(n->result_count, 3);
  ck_assert_str_eq(n->name, "split");
  ck_assert_str_eq(n->results[2]->name, "getitem_2");
  read_check_type(n->results[0], "f32[4, 2][6, 1]");
  graph_fixture_end(&r);
}
END_TEST

START_TEST(literals) {
  struct graph_fixture r = read_good(GRAPH(
      "x: \"f32[4][1]cpu\"",
      "full = torch.ops.aten.full.default([2, 3], -inf, dtype = torch.float16, layout = "
      "torch.strided, device = "
      "device(type='cuda', index=0), pin_memory = False)\n"
      "        full_1 = torch.ops.aten.full.default([], 1e-05, dtype = torch.float32)\n"
      "        full_2 = torch.ops.aten.full.default((7,), nan)\n"
      "        slice_1 = torch.ops.aten.slice.Tensor(x, 0, 1, 9223372036854775807)\n"
      "        clone = torch.ops.aten.clone.default(x, memory_format = torch.contiguous_format)\n"
      "        gelu = torch.ops.aten.gelu.default(x, approximate = 'tanh')\n"
      "        clamp = torch.ops.aten.clamp.default(x, max = 2.5)\n"
      "        full_3 = torch.ops.aten.full.default([1], -9223372036854775808, dtype = "
      "torch.int64)\n"
      "        return (full, full_1, full_2, slice_1, clone, gelu, clamp, full_3)"));
  struct graph *g = r.graph;
  read_check_type(g->outputs.at[0], "f16[2, 3][3, 1]");
  ck_assert_double_lt(node_real(g->nodes.at[0], 1), -1e300);
  ck_assert_double_eq(node_real(g->nodes.at[1], 1), 1e-05);
  ck_assert(node_real(g->nodes.at[2], 1) != node_real(g->nodes.at[2], 1));
  read_check_type(g->outputs.at[2], "f32[7][1]");
  read_check_type(g->outputs.at[3], "f32[3][1]");
  ck_assert(str_is(g->nodes.at[5]->args[1].string, "tanh"));
  ck_assert(node_is_none(g->nodes.at[6], 1));
  ck_assert_double_eq(node_real(g->nodes.at[6], 2), 2.5);
  ck_assert_int_eq(node_int(g->nodes.at[7], 1), INT64_MIN);
  graph_fixture_end(&r);
}
END_TEST

START_TEST(attributes) {
  struct graph_fixture r = read_good(GRAPH(
      "x: \"f32[3][1]cpu\"",
      "_tensor_constant0: \"f32[3][1]cpu\" = self._tensor_constant0\n"
      "        add = torch.ops.aten.add.Tensor(x, _tensor_constant0);  _tensor_constant0 = None\n"
      "        return add"));
  ck_assert_uint_eq(r.graph->inputs.len, 2);
  ck_assert_str_eq(r.graph->inputs.at[1]->name, "_tensor_constant0");
  graph_fixture_end(&r);
}
END_TEST

START_TEST(writes) {
  struct graph_fixture r =
      read_good(GRAPH("m: \"f32[3][1]cpu\", x: \"f32[3][1]cpu\"",
                      "add: \"f32[3][1]cpu\" = torch.ops.aten.add.Tensor(m, x)\n"
                      "        copy_: \"f32[3][1]cpu\" = torch.ops.aten.copy_.default(m, "
                      "add);  add = copy_ = None\n"
                      "        mul: \"f32[3][1]cpu\" = torch.ops.aten.mul.Tensor(m, 2)\n"
                      "        return (mul,)"));
  ck_assert_uint_eq(r.graph->mutations.len, 1);
  ck_assert_ptr_eq(r.graph->mutations.at[0].input, r.graph->inputs.at[0]);
  ck_assert_str_eq(r.graph->mutations.at[0].value->name, "add");
  // What is read afterwards is what was written.
  ck_assert_ptr_eq(node_value(r.graph->nodes.at[1], 0), r.graph->mutations.at[0].value);
  graph_fixture_end(&r);
}
END_TEST

// In the dtype of the input; each operator sees what the one before it wrote.
START_TEST(writes_in_place) {
  struct graph_fixture r =
      read_good(GRAPH("m: \"f32[3][1]cpu\", x: \"f64[3][1]cpu\"",
                      "a: \"f32[3][1]cpu\" = torch.ops.aten.add_.Tensor(m, x)\n"
                      "        b: \"f32[3][1]cpu\" = torch.ops.aten.mul_.Tensor(m, 2)\n"
                      "        c = torch.ops.aten.zero_.default(x)\n"
                      "        return (a,)"));
  ck_assert_uint_eq(r.graph->mutations.len, 2);
  const struct value *last = r.graph->mutations.at[0].value;
  ck_assert_int_eq(last->def->op, OP_MUL_TENSOR);
  ck_assert_int_eq(node_value(last->def, 0)->dtype, DTYPE_F32);
  ck_assert_int_eq(node_value(last->def, 0)->def->op, OP_COPY);
  graph_fixture_end(&r);
}
END_TEST

// Colours of a terminal, an exported program with its signature.
START_TEST(wrappings) {
  struct graph_fixture r =
      read_good("\033[32mclass\033[0m <lambda>(torch.nn.Module):\n    def forward(self, x: "
                "\"f32\033[34m[3]\033[0m\"):\n"
                "        \033[2mneg\033[0m = torch.ops.aten.neg.default(x)\n        return neg\n");
  graph_fixture_end(&r);
  r = read_good(
      "ExportedProgram:\n    class GraphModule(torch.nn.Module):\n        def forward(self, "
      "p_w: \"f32[3]\", x: \"f32[3]\"):\n"
      "            mul: \"f32[3]\" = torch.ops.aten.mul.Tensor(x, p_w);  x = p_w = None\n     "
      "       return (mul,)\n\n"
      "Graph signature:\n    # inputs\n    p_w: PARAMETER target='w'\n    x: "
      "USER_INPUT\n\nRange constraints: {}\n");
  ck_assert_str_eq(r.graph->name, "GraphModule");
  graph_fixture_end(&r);
}
END_TEST

int main(void) {
  Suite *s = suite_create("read_fx");
  TCase *t;
  t = tcase_create("forms");
  tcase_add_test(t, plain);
  tcase_add_test(t, compact);
  tcase_add_test(t, expanded);
  tcase_add_test(t, tuples);
  tcase_add_test(t, literals);
  tcase_add_test(t, attributes);
  tcase_add_test(t, writes);
  tcase_add_test(t, writes_in_place);
  tcase_add_test(t, wrappings);
  suite_add_tcase(s, t);
  t = tcase_create("captures");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, captures);
  tcase_add_test(t, more_captures);
  suite_add_tcase(s, t);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
