// SPDX-License-Identifier: Apache-2.0
// First and second derivatives of every operator with a rule against central differences: the cases
// of reference_cases.txt, and calls over sizes of 1, 2, 3 and 17, broadcasts and views.
#include "base/file.h"
#include "central_differences.h"
#include "gradient_shapes.h"
#include "graph/autodiff/gradient.h"
#include "graph_fixture.h"
#include "listed_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct totals {
  unsigned checked[2][OPERATOR_ALL], skipped, wrong;
};

static bool prints(void) { return getenv("TILE_TEST_PRINT") != NULL; }

// ---- in double precision ----

// The text with f64 instead of other floats.
static struct str widened(struct arena *a, struct str text) {
  static const char *const from[] = {"bf16[",         "f16[",          "f32[",
                                     "torch.float32", "torch.float16", "torch.bfloat16"},
                           *const to[] = {"f64[",          "f64[",          "f64[",
                                          "torch.float64", "torch.float64", "torch.float64"};
  struct strbuf out = {.arena = a};
  for (size_t i = 0; i < text.len;) {
    size_t k = 0;
    struct str rest = {text.ptr + i, text.len - i};
    while (k < COUNT_OF(from) && !str_starts(rest, from[k]))
      k++;
    if (k < COUNT_OF(from)) {
      strbuf_puts(&out, to[k]);
      i += strlen(from[k]);
    } else
      strbuf_putc(&out, text.ptr[i++]);
  }
  return (struct str){strbuf_cstr(&out), out.len};
}

// Some results are f32 whatever the operands are: then the text stays as it is.
static struct graph_fixture read_wide(struct str text) {
  struct graph_fixture f = {.arena = arena_create()};
  f.diag = diag_engine_create(f.arena);
  struct str wide = widened(f.arena, text);
  f.graph = graph_read_fx(f.arena, f.diag, source_create(f.arena, "case.py", wide));
  if (f.graph)
    return f;
  graph_fixture_end(&f);
  return graph_fixture_read("case.py", text);
}

static void say(struct totals *t, struct str call, unsigned order, const char *what) {
  printf("# %.*s: derivative %u: %s\n", STR_ARG(call), order + 1, what);
  t->wrong++;
}

static void take(struct totals *t, enum operator_id op, bool ok, struct str call,
                 const struct difference_report *r, struct diag_engine *diag) {
  struct strbuf out = {0};
  diag_render_text(diag, (struct diag_style){0}, &out);
  if (!ok && !strstr(strbuf_cstr(&out), "E1012"))
    say(t, call, 0, strbuf_cstr(&out));
  strbuf_finish(&out);
  for (unsigned order = 0; order < 2; order++) {
    t->checked[order][op] += r[order].checked;
    t->skipped += r[order].skipped;
    if (*r[order].wrong)
      say(t, call, order, r[order].wrong);
  }
}

// ---- the cases of the interpreter ----

// The gradient is another by definition, or there are steps that differences run over.
static bool is_not_its_derivative(const struct listed_case *c) {
  enum operator_id op = case_operator(c);
  bool is_complex = c->in_count && *c->in[0].type.ptr == 'c';
  switch (op) {
  case OP_SQRT:                                 // at 0
  case OP_POW_TENSOR_SCALAR: return is_complex; // its second derivative where the parts are equal
  case OP_POISSON_NLL_LOSS:                     // by a target of 0, which has a logarithm
    return str_is(c->call, "aten.poisson_nll_loss.default(a0, a1, True, True, 1e-08, 1)");
  case OP_DETACH:
  case OP_DETACH_COPY:
  case OP_DIV_TENSOR_MODE:
  case OP_DIV_SCALAR_MODE:
  case OP_ROUND_DECIMALS:
  case OP_VIEW_DTYPE:
  case OP_VIEW_COPY_DTYPE:
  case OP_POLYGAMMA: // rounds to f32
  case OP_SCALED_MM: // rounds to 8 bits
  case OP_SCALED_MM_V2:
  case OP_SCALED_GROUPED_MM: return true;
  // The row of padding_idx has no gradient.
  case OP_EMBEDDING: return str_is(c->call, "aten.embedding.default(a0, a1, 0)");
  default: return false;
  }
}

static void run_case(const struct listed_case *c, struct totals *t) {
  struct strbuf text = {0};
  enum operator_id op = case_operator(c);
  if (is_not_its_derivative(c))
    return;
  cases_write_graph(&c, 1, &text);
  struct graph_fixture f = read_wide((struct str){strbuf_cstr(&text), text.len});
  struct tensor *in[CASE_TENSORS] = {0};
  struct difference_report r[2];
  ck_assert_ptr_nonnull(f.graph);
  for (unsigned i = 0; i < c->in_count; i++)
    in[i] = case_tensor(f.graph->inputs.at[i], &c->in[i]);
  take(t, op, check_differences(f.graph, in, r), c->call, r, f.diag);
  for (unsigned i = 0; i < CASE_TENSORS; i++)
    tensor_destroy(in[i]);
  strbuf_finish(&text);
  graph_fixture_end(&f);
}

// ---- shapes ----

static void write_shapes(const struct gradient_shape *s, struct strbuf *out) {
  strbuf_puts(out, "class case(torch.nn.Module):\n    def forward(self");
  for (unsigned i = 0; i < COUNT_OF(s->types) && s->types[i]; i++)
    strbuf_printf(out, ", a%u: \"%s\"", i, s->types[i]);
  int length = (int)strcspn(s->call, "#"); // a tuple, of which the first result counts
  strbuf_printf(out, "):\n        y = torch.ops.%.*s\n", length, s->call);
  strbuf_puts(out, s->call[length] ? "        z = y[0]\n        return (z,)\n"
                                   : "        return (y,)\n");
}

static double value_of(const struct gradient_shape *s, unsigned i, int64_t k) {
  double u = sin(12.9898 * (double)(k + 1) + 78.233 * (i + 1)) * 43758.5453;
  u -= floor(u);
  return s->is_positive ? 0.2 + 0.7 * u : 3 * u - 1.5;
}

static struct tensor *shape_tensor(const struct gradient_shape *s, unsigned i,
                                   const struct value *v) {
  int64_t shape[GRAPH_MAX_RANK];
  for (uint32_t d = 0; d < v->rank; d++)
    ck_assert(expr_is_const(v->shape[d], &shape[d]));
  struct tensor *t = tensor_create(v->dtype, v->rank, shape);
  for (int64_t k = 0; k < t->numel; k++)
    if (dtype_is_float(v->dtype))
      t->at[k].real = value_of(s, i, k);
    else
      t->at[k].integer = v->dtype == DTYPE_I1 ? k % 2 : (7 * k + 1) % s->below;
  return t;
}

static void run_shape(const struct gradient_shape *s, struct totals *t) {
  struct strbuf text = {0};
  write_shapes(s, &text);
  struct graph_fixture f =
      graph_fixture_read("shapes.py", (struct str){strbuf_cstr(&text), text.len});
  struct tensor *in[COUNT_OF(s->types)] = {0};
  struct difference_report r[2];
  struct str call = str_from(s->call), name = {call.ptr, strcspn(s->call, "(")};
  enum operator_id op = OP_COPY_;
  graph_fixture_require(f.diag, f.graph && operator_find(name, &op), s->call);
  for (unsigned i = 0; i < f.graph->inputs.len; i++)
    in[i] = shape_tensor(s, i, f.graph->inputs.at[i]);
  take(t, op, check_differences(f.graph, in, r), call, r, f.diag);
  ck_assert_msg(r[0].checked > 0, "%s: nothing was checked", s->call);
  for (unsigned i = 0; i < COUNT_OF(s->types); i++)
    tensor_destroy(in[i]);
  strbuf_finish(&text);
  graph_fixture_end(&f);
}

// ---- graphs ----

static void run_graph(struct str text, struct totals *t) {
  struct graph_fixture f = graph_fixture_read("gradient_graphs.txt", text);
  graph_fixture_require(f.diag, f.graph != NULL, "gradient_graphs.txt");
  struct tensor *in[8] = {0};
  struct difference_report r[2];
  static const struct gradient_shape any = {.below = 2};
  ck_assert_uint_le(f.graph->inputs.len, COUNT_OF(in));
  for (unsigned i = 0; i < f.graph->inputs.len; i++)
    in[i] = shape_tensor(&any, i, f.graph->inputs.at[i]);
  take(t, OP_COPY_, check_differences(f.graph, in, r), str_from(f.graph->name), r, f.diag);
  ck_assert_msg(r[0].checked > 0 && r[1].checked > 0, "%s: nothing was checked", f.graph->name);
  for (unsigned i = 0; i < COUNT_OF(in); i++)
    tensor_destroy(in[i]);
  graph_fixture_end(&f);
}

START_TEST(graphs) {
  struct arena *a = arena_create();
  struct str text, one;
  struct totals *t = calloc(1, sizeof *t);
  unsigned count = 0;
  ck_assert_int_eq(file_read(a, GRAPHS, SOURCE_MAX_BYTES, &text), 0);
  for (const char *end; text.len; count++) {
    end = strstr(text.ptr, "---\n");
    one = (struct str){text.ptr, end ? (size_t)(end - text.ptr) : text.len};
    text.len -= one.len + (end ? 4 : 0);
    text.ptr += one.len + (end ? 4 : 0);
    run_graph(one, t);
  }
  ck_assert_uint_ge(count, 9);
  ck_assert_uint_eq(t->wrong, 0);
  free(t);
  arena_destroy(a);
}
END_TEST

// ---- tests ----

// Random, or written by passes only.
static bool has_no_case(enum operator_id op) {
  const char *name = operator_row(op)->name;
  return op == OP_CUSTOM || strncmp(name, "tile.", 5) == 0 || // test_gradient.c
         strncmp(name, "higher_order.", 13) == 0 || op == OP_SDPA_FLASH ||
         op == OP_SDPA_EFFICIENT || op == OP_SDPA_CUDNN || operator_row(op)->class == CLASS_RANDOM;
}

START_TEST(cases) {
  struct arena *a = arena_create();
  struct case_reader reader = {0};
  struct totals *t = calloc(1, sizeof *t);
  ck_assert_int_eq(file_read(a, CASES, SOURCE_MAX_BYTES, &reader.rest), 0);
  struct listed_case *c = arena_new(a, struct listed_case);
  while (case_read(&reader, c))
    run_case(c, t);
  for (size_t i = 0; i < COUNT_OF(gradient_shapes); i++)
    run_shape(&gradient_shapes[i], t);
  unsigned twice = 0;
  for (unsigned op = 0; op < OPERATOR_ALL; op++) {
    twice += t->checked[1][op] > 0;
    if (op >= OPERATOR_COUNT)
      continue;
    enum gradient_kind kind = gradient_kind_of((enum operator_id)op);
    bool has_rule = kind == GRADIENT_RULE || kind == GRADIENT_EXPANDED;
    if (has_rule && !t->checked[0][op] && !has_no_case((enum operator_id)op))
      say(t, str_from(operator_row((enum operator_id)op)->name), 0, "the rule was not checked");
  }
  if (prints())
    printf("# second derivatives of %u operators; %u elements at kinks or not finite\n", twice,
           t->skipped);
  ck_assert_uint_ge(twice, 40);
  ck_assert_uint_eq(t->wrong, 0);
  free(t);
  arena_destroy(a);
}
END_TEST

START_TEST(every_operator_has_a_row) {
  for (unsigned op = 0; op < OPERATOR_COUNT; op++) {
    enum gradient_kind kind = gradient_kind_of((enum operator_id)op);
    ck_assert_msg(kind != GRADIENT_MISSING, "%s", operator_row((enum operator_id)op)->name);
    ck_assert_int_eq(kind == GRADIENT_NONE || op == OP_CUSTOM,
                     gradient_refusal((enum operator_id)op) != NULL);
  }
}
END_TEST

int main(void) {
  Suite *s = suite_create("gradient-cases");
  TCase *t = tcase_create("gradient-cases");
  tcase_set_timeout(t, 600);
  tcase_add_test(t, cases);
  tcase_add_test(t, graphs);
  tcase_add_test(t, every_operator_has_a_row);
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
