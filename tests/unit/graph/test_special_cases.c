// SPDX-License-Identifier: Apache-2.0
// special_cases.txt by the interpreter, and by kernels on the CPU: NaN, infinities and integers as
// in PyTorch.
#include "base/file.h"
#include "graph/graph_compile.h"
#include "graph/program/program.h"
#include "graph/read/fx.h"
#include "graph/reference/interpret.h"
#include "graph/run/run.h"
#include "graph_fixture.h"
#include "listed_cases.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 32, RESULTS = BATCH * CASE_TENSORS };

struct batch {
  struct arena *arena;
  struct graph *g;
  const struct listed_case *cases[BATCH];
  unsigned count;
  struct tensor *in[RESULTS], *out[RESULTS];
};

static bool agree(const struct tensor *t, int64_t i, union element want, double relative) {
  if (!dtype_is_float(t->dtype))
    return t->at[i].integer == want.integer;
  double a = t->at[i].real, b = want.real;
  if (isnan(a) || isnan(b))
    return isnan(a) && isnan(b);
  if (isinf(a) && relative > 1e-6 && fabs(b) > (double)FLT_MAX) // the dtype's own overflow
    return (a > 0) == (b > 0);
  if (isinf(a) || isinf(b))
    return !(a < b) && !(a > b);
  return fabs(a - b) <= relative * fabs(b) + 1e-2 * relative;
}

static unsigned compare(const struct listed_case *c, unsigned i, const struct tensor *t,
                        double relative) {
  const struct listed *want = &c->out[i];
  unsigned wrong = 0;
  ck_assert_msg(t->numel == want->count, "%.*s: result %u", STR_ARG(c->call), i);
  for (int64_t k = 0; k < t->numel; k++) {
    if (agree(t, k, want->at[k], relative))
      continue;
    wrong++;
    printf("# %.*s (%.*s): result %u: element %lld is %.9g, not %.9g\n", STR_ARG(c->call),
           STR_ARG(c->in[0].type), i, (long long)k,
           dtype_is_float(t->dtype) ? t->at[k].real : (double)t->at[k].integer,
           dtype_is_float(t->dtype) ? want->at[k].real : (double)want->at[k].integer);
  }
  return wrong;
}

static unsigned compare_all(struct batch *b, double relative) {
  unsigned wrong = 0, at = 0;
  for (unsigned k = 0; k < b->count; k++)
    for (unsigned i = 0; i < b->cases[k]->out_count; i++, at++)
      if (b->cases[k]->out[i].type.len)
        wrong += compare(b->cases[k], i, b->out[at], relative);
  return wrong;
}

static unsigned interpret(struct batch *b) {
  const struct interpret_options options = {0};
  struct strbuf said = {0};
  bool ok = graph_interpret(b->g, &options, NULL, b->in, b->out);
  if (!ok)
    diag_render_text(b->g->diag, (struct diag_style){0}, &said);
  ck_assert_msg(ok, "%s", strbuf_cstr(&said));
  strbuf_finish(&said);
  return compare_all(b, 1e-7);
}

// ---- kernels ----

static struct tensor_view view_of(struct batch *b, tile_device *device, const struct value *v,
                                  const struct tensor *from) {
  int64_t *shape = arena_array(b->arena, int64_t, v->rank + 1);
  int64_t *strides = arena_array(b->arena, int64_t, v->rank + 1);
  for (uint32_t i = 0; i < v->rank; i++)
    ck_assert(expr_is_const(v->shape[i], &shape[i]) && expr_is_const(v->strides[i], &strides[i]));
  struct tensor_view view = {
      .dtype = v->dtype, .rank = v->rank, .shape = shape, .strides = strides};
  size_t bytes = (size_t)tensor_span(v->rank, shape, strides) * dtype_bytes(v->dtype);
  ck_assert_int_eq(tile_malloc(device, bytes ? bytes : 1, &view.data), TILE_OK);
  if (from)
    tensor_store(from, view.data, strides);
  return view;
}

static void bring_back(struct batch *b, unsigned i, const struct tensor_view *view) {
  b->out[i] = tensor_create(view->dtype, view->rank, view->shape);
  ck_assert_ptr_nonnull(b->out[i]);
  tensor_load(b->out[i], view->data, view->strides);
}

static unsigned run_kernels(struct batch *b) {
  struct program_options options = {.target = "cpu"};
  struct program *p = program_compile(b->g, &options);
  ck_assert_ptr_nonnull(p);
  tile_device *device = NULL;
  struct loaded_program *loaded = NULL;
  struct tensor_view in[RESULTS], out[RESULTS] = {0};
  ck_assert_int_eq(tile_device_open("cpu", &device), TILE_OK);
  ck_assert_msg(program_load(p, device, &loaded) == TILE_OK, "%s", tile_error_message());
  for (unsigned i = 0; i < b->g->inputs.len; i++)
    in[i] = view_of(b, device, b->g->inputs.at[i], b->in[i]);
  for (unsigned i = 0; i < b->g->outputs.len; i++)
    if (b->g->outputs.at[i])
      out[i] = view_of(b, device, b->g->outputs.at[i], NULL);
  ck_assert_int_eq(program_run(loaded, NULL, 0, in, out), TILE_OK);
  for (unsigned i = 0; i < b->g->outputs.len; i++)
    if (b->g->outputs.at[i])
      bring_back(b, i, &out[i]);
  for (unsigned i = 0; i < b->g->inputs.len; i++)
    tile_free(device, in[i].data);
  for (unsigned i = 0; i < b->g->outputs.len; i++)
    tile_free(device, out[i].data);
  program_unload(loaded);
  tile_device_close(device);
  return compare_all(b, 4e-6);
}

// ---- batches ----

static unsigned run_batch(struct batch *b, unsigned (*how)(struct batch *b)) {
  struct strbuf text = {0};
  cases_write_graph(b->cases, b->count, &text);
  b->g = graph_fixture_in(b->arena, "cases.py", (struct str){strbuf_cstr(&text), text.len});
  for (unsigned k = 0, at = 0; k < b->count; k++)
    for (unsigned i = 0; i < b->cases[k]->in_count; i++, at++)
      b->in[at] = case_tensor(b->g->inputs.at[at], &b->cases[k]->in[i]);
  unsigned wrong = how(b);
  for (unsigned i = 0; i < RESULTS; i++) {
    tensor_destroy(b->in[i]);
    tensor_destroy(b->out[i]);
  }
  strbuf_finish(&text);
  return wrong;
}

static void run_all(unsigned (*how)(struct batch *b)) {
  struct arena *file = arena_create();
  struct case_reader reader = {0};
  ck_assert_int_eq(file_read(file, CASES, SOURCE_MAX_BYTES, &reader.rest), 0);
  unsigned count = 0, wrong = 0;
  for (bool more = true; more;) {
    struct batch b = {.arena = arena_create()};
    while (more && b.count < BATCH) {
      struct listed_case *c = arena_new(b.arena, struct listed_case);
      more = case_read(&reader, c);
      if (more)
        b.cases[b.count++] = c;
    }
    count += b.count;
    if (b.count)
      wrong += run_batch(&b, how);
    arena_destroy(b.arena);
  }
  ck_assert_uint_gt(count, 600);
  fflush(stdout);
  ck_assert_msg(wrong == 0, "%u elements are wrong", wrong);
  arena_destroy(file);
}

START_TEST(by_interpreter) { run_all(interpret); }
END_TEST

START_TEST(by_kernels) { run_all(run_kernels); }
END_TEST

int main(void) {
  Suite *s = suite_create("special-cases");
  TCase *t = tcase_create("special-cases");
  tcase_set_timeout(t, 300);
  tcase_add_test(t, by_interpreter);
  tcase_add_test(t, by_kernels);
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
