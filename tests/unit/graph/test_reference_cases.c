// SPDX-License-Identifier: Apache-2.0
// The interpreter against reference_cases.txt: every operator on small tensors, with results that
// PyTorch gave. Each case goes the whole way from text.
#include "base/file.h"
#include "graph/ir/operators.h"
#include "graph/read/fx.h"
#include "graph/reference/interpret.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

enum { CASE_TENSORS = 8, CASE_ELEMENTS = 256 };

struct listed {
  struct str type; // "f32[2, 3][1, 2]"; empty: None, a result that is left out
  int64_t count;
  union element at[CASE_ELEMENTS];
};

struct listed_case {
  struct str call;
  struct listed in[CASE_TENSORS], out[CASE_TENSORS];
  unsigned in_count, out_count;
};

// ---- reading the list ----

static struct str next_line(struct str *rest) {
  const char *end = memchr(rest->ptr, '\n', rest->len);
  struct str line = {rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len};
  size_t taken = line.len + (end != NULL);
  *rest = (struct str){rest->ptr + taken, rest->len - taken};
  return line;
}

// The type ends at the last bracket.
static void read_listed(struct str line, struct listed *ret) {
  char text[4096];
  *ret = (struct listed){0};
  if (str_is(line, "None"))
    return;
  ck_assert_uint_lt(line.len, sizeof text);
  memcpy(text, line.ptr, line.len);
  text[line.len] = 0;
  char *numbers = strrchr(text, ']');
  ck_assert_ptr_nonnull(numbers);
  ret->type = (struct str){line.ptr, (size_t)(numbers + 1 - text)};
  bool is_real = *text == 'f' || strncmp(text, "bf", 2) == 0;
  for (char *p = numbers + 1, *end; *p; p = end) {
    ck_assert_int_lt(ret->count, CASE_ELEMENTS);
    if (is_real)
      ret->at[ret->count++].real = strtod(p, &end);
    else
      ret->at[ret->count++].integer = strtoll(p, &end, 10);
    ck_assert_ptr_ne(end, p);
  }
}

// One case, up to the next call. False at the end.
static bool read_case(struct str *rest, struct listed_case *ret) {
  ret->in_count = ret->out_count = 0;
  do {
    if (rest->len == 0)
      return false;
    ret->call = next_line(rest);
  } while (ret->call.len == 0 || *ret->call.ptr == '#');
  while (rest->len > 0 && (*rest->ptr == ' ' || *rest->ptr == '=')) {
    struct str line = next_line(rest);
    bool is_result = *line.ptr == '=';
    struct listed *to = is_result ? &ret->out[ret->out_count++] : &ret->in[ret->in_count++];
    ck_assert_uint_le(ret->in_count, CASE_TENSORS);
    read_listed((struct str){line.ptr + 2, line.len - 2}, to);
  }
  return true;
}

// ---- running a case ----

static enum operator_id operator_of(const struct listed_case *c) {
  enum operator_id op;
  struct str name = {c->call.ptr,
                     (size_t)((const char *)memchr(c->call.ptr, '(', c->call.len) - c->call.ptr)};
  ck_assert_msg(operator_find(name, &op), "%.*s", STR_ARG(name));
  return op;
}

static bool has_tuple(const struct listed_case *c) {
  return operator_row(operator_of(c))->results != 1;
}

static void write_graph(const struct listed_case *c, struct strbuf *out) {
  strbuf_puts(out, "class case(torch.nn.Module):\n    def forward(self");
  for (unsigned i = 0; i < c->in_count; i++)
    strbuf_printf(out, ", a%u: \"%.*s\"", i, STR_ARG(c->in[i].type));
  strbuf_puts(out, "):\n");
  if (has_tuple(c)) {
    strbuf_printf(out, "        r = torch.ops.%.*s\n", STR_ARG(c->call));
    for (unsigned i = 0; i < c->out_count; i++)
      if (c->out[i].type.len)
        strbuf_printf(out, "        r%u: \"%.*s\" = r[%u]\n", i, STR_ARG(c->out[i].type), i);
  } else {
    strbuf_printf(out, "        r0: \"%.*s\" = torch.ops.%.*s\n", STR_ARG(c->out[0].type),
                  STR_ARG(c->call));
  }
  strbuf_puts(out, "        return (");
  for (unsigned i = 0; i < c->out_count; i++)
    strbuf_printf(out, c->out[i].type.len ? "r%u, " : "None, ", i);
  strbuf_puts(out, ")\n");
}

static struct tensor *tensor_of(const struct value *v, const struct listed *l) {
  int64_t shape[GRAPH_MAX_RANK];
  for (uint32_t d = 0; d < v->rank; d++)
    ck_assert(expr_is_const(v->shape[d], &shape[d]));
  struct tensor *t = tensor_create(v->dtype, v->rank, shape);
  ck_assert_ptr_nonnull(t);
  ck_assert_int_eq(t->numel, l->count);
  memcpy(t->at, l->at, (size_t)t->numel * sizeof *t->at);
  return t;
}

static bool agree(const struct tensor *t, int64_t i, union element want) {
  if (!dtype_is_float(t->dtype))
    return t->at[i].integer == want.integer;
  double a = t->at[i].real, b = want.real;
  if (isnan(a) || isnan(b) || isinf(a) || isinf(b))
    return (isnan(a) && isnan(b)) || (!isnan(a) && !isnan(b) && !(a < b) && !(a > b));
  return fabs(a - b) <= 2e-6 * (1 + fabs(b));
}

static void compare(const struct listed_case *c, unsigned i, const struct tensor *t) {
  const struct listed *want = &c->out[i];
  ck_assert_msg(t->numel == want->count, "%.*s: result %u", STR_ARG(c->call), i);
  bool is_real = dtype_is_float(t->dtype);
  for (int64_t k = 0; k < t->numel; k++)
    ck_assert_msg(agree(t, k, want->at[k]), "%.*s: result %u: element %lld is %.9g, not %.9g",
                  STR_ARG(c->call), i, (long long)k,
                  is_real ? t->at[k].real : (double)t->at[k].integer,
                  is_real ? want->at[k].real : (double)want->at[k].integer);
}

static enum operator_id run_case(const struct listed_case *c) {
  struct arena *a = arena_create();
  struct diag_engine *diag = diag_engine_create(a);
  struct strbuf text = {0}, said = {0};
  write_graph(c, &text);
  struct graph *g = graph_read_fx(
      a, diag, source_create(a, "case.py", (struct str){strbuf_cstr(&text), text.len}));
  struct tensor *in[CASE_TENSORS] = {0}, *out[CASE_TENSORS] = {0};
  for (unsigned i = 0; g && i < c->in_count; i++)
    in[i] = tensor_of(g->inputs.at[i], &c->in[i]);
  const struct interpret_options options = {0};
  bool ok = g && graph_interpret(g, &options, NULL, in, out);
  if (!ok)
    diag_render_text(diag, (struct diag_style){0}, &said);
  ck_assert_msg(ok, "%.*s: %s", STR_ARG(c->call), strbuf_cstr(&said));
  for (unsigned i = 0; i < c->out_count; i++)
    if (c->out[i].type.len)
      compare(c, i, out[i]);
  for (unsigned i = 0; i < CASE_TENSORS; i++) {
    tensor_destroy(in[i]);
    tensor_destroy(out[i]);
  }
  strbuf_finish(&text);
  strbuf_finish(&said);
  arena_destroy(a);
  return operator_of(c);
}

// Operators whose results are not PyTorch's to say, or depend on the machine.
static bool is_tested_elsewhere(enum operator_id op) {
  switch (op) {
  case OP_COPY_:
  case OP_EMPTY:
  case OP_EMPTY_LIKE:
  case OP_SDPA_FLASH:
  case OP_SDPA_EFFICIENT:
  case OP_SDPA_CUDNN:
  case OP_NEW_EMPTY:
  case OP_NEW_EMPTY_STRIDED:
  case OP_EMPTY_STRIDED:
  case OP_EMPTY_PERMUTED:
  case OP_RAND_LIKE:
  case OP_RANDN_LIKE:
  case OP_RANDINT:
  case OP_RANDINT_LOW:
  case OP_RANDINT_LIKE:
  case OP_RANDINT_LIKE_LOW:
  case OP_BERNOULLI:
  case OP_UNIFORM:
  case OP_NORMAL_FUNCTIONAL:
  case OP_EXPONENTIAL:
  case OP_SDPA_FLASH_BACKWARD: // test_compose.c
  case OP_SDPA_EFFICIENT_BACKWARD:
  case OP_SDPA_CUDNN_BACKWARD:
  case OP_MAX_POOL_OFFSETS:
  case OP_MAX_POOL_INDICES: return true;
  default:
    return operator_row(op)->class == CLASS_RANDOM ||
           strncmp(operator_row(op)->name, "tile.", 5) == 0;
  }
}

START_TEST(cases) {
  struct arena *a = arena_create();
  struct str rest;
  ck_assert_int_eq(file_read(a, CASES, SOURCE_MAX_BYTES, &rest), 0);
  struct listed_case *c = arena_new(a, struct listed_case);
  bool seen[OPERATOR_ALL] = {false};
  unsigned count = 0;
  for (; read_case(&rest, c); count++)
    seen[run_case(c)] = true;
  ck_assert_uint_gt(count, 500);
  for (unsigned op = 0; op < OPERATOR_ALL; op++)
    ck_assert_msg(seen[op] || is_tested_elsewhere((enum operator_id)op), "%s has no case",
                  operator_row((enum operator_id)op)->name);
  arena_destroy(a);
}
END_TEST

START_TEST(every_operator_has_a_function) {
  for (unsigned op = 0; op < OPERATOR_COUNT; op++)
    ck_assert_msg((operator_reference((enum operator_id)op) == NULL) == (op == OP_COPY_), "%s",
                  operator_row((enum operator_id)op)->name);
}
END_TEST

int main(void) {
  Suite *s = suite_create("reference-cases");
  TCase *t = tcase_create("reference-cases");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, cases);
  tcase_add_test(t, every_operator_has_a_function);
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
