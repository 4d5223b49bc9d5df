// SPDX-License-Identifier: Apache-2.0
// Runs programs on the CPU with random inputs and compares them with the interpreter, which
// computes in double precision from the same rounded inputs.
#include "emit_check.h"

#include "graph/graph_compile.h"
#include "graph/plan/kernel_config.h"
#include "graph/plan/tier1.h"
#include "graph/read/fx.h"
#include "graph/reference/bounds.h"
#include "graph/reference/inputs.h"
#include "graph/run/run.h"
#include "graph/run/run_internal.h"
#include "graph_fixture.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

struct program *check_program(struct arena *a, const char *text, const struct program_options *o,
                              const char *name) {
  struct graph *g = graph_fixture_in(a, name, str_from(text));
  struct program *p = program_compile(g, o);
  graph_fixture_require(g->diag, p != NULL, name);
  return p;
}

static bool configure(struct program *p, struct graph_kernel *k, unsigned round, const char *name) {
  struct tune_space space;
  if (!k->space)
    return false;
  const char *why = kernel_space(p->arena, p, k, &space);
  ck_assert_msg(!why, "%s: %s: %s", name, k->name, why);
  size_t config = round * 2654435761u % space.count;
  struct tune_setting settings[TUNE_MAX_DIMS];
  for (size_t d = 0; d < space.dim_count; d++)
    settings[d] = (struct tune_setting){space.dims[d].name,
                                        space.dims[d].values[space.configs[config].at[d]]};
  ck_assert_msg(kernel_configure(p, k, settings, space.dim_count), "%s: %s: %s", name, k->name,
                k->space);
  ck_assert(kernel_has(p->arena, k, settings, space.dim_count));
  return config > 0;
}

unsigned check_configure(struct program *p, unsigned round, const char *name) {
  unsigned changed = 0;
  for (size_t i = 0; i < p->kernels.len; i++)
    changed += configure(p, p->kernels.at[i], round + (unsigned)i, name);
  return changed;
}

struct reference {
  const struct graph *g;
  struct tensor **in;
  struct bounds *bounds;
};

struct reference *check_reference(const struct graph *g, const int64_t *symbols, const char *name) {
  struct reference *r = calloc(1, sizeof *r);
  ck_assert_ptr_nonnull(r);
  r->g = g;
  r->in = calloc(g->inputs.len + 1, sizeof *r->in);
  ck_assert_ptr_nonnull(r->in);
  ck_assert(graph_make_inputs(g, symbols, 7, r->in));
  r->bounds = bounds_create(g, 5, symbols, r->in);
  ck_assert_msg(r->bounds != NULL, "%s: interpreting", name);
  return r;
}

void check_reference_destroy(struct reference *r) {
  for (size_t i = 0; i < r->g->inputs.len; i++)
    tensor_destroy(r->in[i]);
  bounds_destroy(r->bounds);
  free(r->in);
  free(r);
}

struct run {
  struct program *p;
  const int64_t *symbols;
  tile_device *device;
  struct tensor_view *inputs, *outputs;
  const struct reference *reference;
  struct tensor **want; // that of the reference's bounds
  const char *name;
};

static struct tensor_view view_of(struct run *r, const struct value *v) {
  const struct graph *g = r->p->graph;
  int64_t *shape = arena_array(g->arena, int64_t, v->rank + 1);
  int64_t *strides = arena_array(g->arena, int64_t, v->rank + 1);
  for (uint32_t i = 0; i < v->rank; i++) {
    ck_assert(expr_eval(v->shape[i], g->symbols.len, g->symbols.at, r->symbols, &shape[i]));
    ck_assert(expr_eval(v->strides[i], g->symbols.len, g->symbols.at, r->symbols, &strides[i]));
  }
  int64_t span = tensor_span(v->rank, shape, strides);
  struct tensor_view view = {
      .dtype = v->dtype, .rank = v->rank, .shape = shape, .strides = strides};
  size_t bytes = (size_t)span * dtype_bytes(v->dtype);
  ck_assert_int_eq(tile_malloc(r->device, bytes ? bytes : 1, &view.data), TILE_OK);
  memset(view.data, 0x5a, bytes);
  return view;
}

static double error_of(const struct tensor *have, const struct tensor *want, int64_t i) {
  if (!dtype_is_float(want->dtype))
    return have->at[i].integer == want->at[i].integer ? 0 : HUGE_VAL;
  double a = have->at[i].real, b = want->at[i].real;
  if (a == b || (isnan(a) && isnan(b)))
    return 0;
  double error = fabs(a - b);
  return isnan(error) ? HUGE_VAL : error;
}

static struct tensor *result_of(const struct run *r, size_t output) {
  const struct tensor *want = r->want[output];
  const struct tensor_view *view = &r->outputs[output];
  struct tensor *have = tensor_create(want->dtype, want->rank, want->shape);
  ck_assert_ptr_nonnull(have);
  tensor_load(have, view->data, view->strides);
  return have;
}

static struct bound_verdict judge(const struct run *r, size_t output, const struct tensor *have) {
  const struct bound_options strict = {.largest = -1};
  return bounds_judge(r->reference->bounds, output, have, &strict);
}

static void compare(const struct run *r, size_t output, double tolerance) {
  const struct tensor *want = r->want[output];
  struct tensor *have = result_of(r, output);
  double largest = 0;
  for (int64_t i = 0; i < want->numel && dtype_is_float(want->dtype); i++)
    if (isfinite(want->at[i].real))
      largest = fmax(largest, fabs(want->at[i].real));
  for (int64_t i = 0; i < want->numel; i++)
    // Not ck_assert_msg: Check writes a mark to a file for each assertion that holds.
    if (!(error_of(have, want, i) <= tolerance * largest))
      ck_abort_msg("%s: output %zu, element %lld of %lld: %g for %g (largest %g)", r->name, output,
                   (long long)i, (long long)want->numel, have->at[i].real, want->at[i].real,
                   largest);
  struct bound_verdict v = judge(r, output, have);
  ck_assert_msg(v.wrong == 0,
                "%s: output %zu: %lld of %lld elements are beyond their bounds; element %lld is "
                "%.9g, not %.9g within %.3g",
                r->name, output, (long long)v.wrong, (long long)want->numel, (long long)v.first,
                v.got, v.want, v.bound);
  tensor_destroy(have);
}

static void spoil_outputs(const struct run *r) {
  for (size_t i = 0; i < r->p->graph->outputs.len; i++)
    if (r->outputs[i].data)
      memset(r->outputs[i].data, 0x5a,
             (size_t)r->want[i]->numel * dtype_bytes(r->outputs[i].dtype));
}

// Launches reset their counters: a second run, a recording and its second replay give the same
// results.
static void run_again(struct run *r, struct loaded_program *loaded) {
  tile_stream *stream = NULL;
  tile_replay *replay = NULL;
  spoil_outputs(r);
  ck_assert_int_eq(tile_stream_create(r->device, &stream), TILE_OK);
  // As after a failed run.
  memset(loaded->memory[r->p->counters->id], 1, dtype_bytes(r->p->counters->dtype));
  loaded->has_zeros = false;
  ck_assert_int_eq(program_run(loaded, stream, 5, r->inputs, r->outputs), TILE_OK);
  spoil_outputs(r);
  tile_status s = program_record(loaded, stream, 5, r->inputs, r->outputs, &replay);
  ck_assert_msg(s == TILE_OK, "%s: recording: %s", r->name, tile_error_message());
  for (int i = 0; i < 2; i++) {
    spoil_outputs(r);
    ck_assert_int_eq(tile_replay_run(replay, stream), TILE_OK);
    ck_assert_int_eq(tile_stream_synchronize(r->device, stream), TILE_OK);
  }
  tile_replay_destroy(replay);
  tile_stream_destroy(stream);
}

static void run_on_cpu(struct run *r) {
  struct loaded_program *loaded = NULL;
  tile_status s = program_load(r->p, r->device, &loaded);
  ck_assert_msg(s == TILE_OK, "%s: loading: %s", r->name, tile_error_message());
  s = program_run(loaded, NULL, 5, r->inputs, r->outputs);
  ck_assert_msg(s == TILE_OK, "%s: running: %s", r->name, tile_error_message());
  if (r->p->counters && r->p->graph->mutations.len == 0)
    run_again(r, loaded);
  program_unload(loaded);
}

static void begin(struct run *r, const struct reference *reference) {
  const struct graph *g = r->p->graph;
  size_t outputs = g->outputs.len + g->mutations.len;
  r->inputs = calloc(g->inputs.len + 1, sizeof *r->inputs);
  r->outputs = calloc(outputs + 1, sizeof *r->outputs);
  ck_assert(r->inputs && r->outputs);
  r->reference = reference;
  r->want = reference->bounds->want;
  ck_assert_int_eq(tile_device_open("cpu", &r->device), TILE_OK);
  for (size_t i = 0; i < g->inputs.len; i++) {
    r->inputs[i] = view_of(r, g->inputs.at[i]);
    tensor_store(reference->in[i], r->inputs[i].data, r->inputs[i].strides);
  }
  for (size_t i = 0; i < g->outputs.len; i++)
    if (g->outputs.at[i])
      r->outputs[i] = view_of(r, g->outputs.at[i]);
}

static void end(struct run *r) {
  const struct graph *g = r->p->graph;
  for (size_t i = 0; i < g->inputs.len; i++)
    tile_free(r->device, r->inputs[i].data);
  for (size_t i = 0; i < g->outputs.len + g->mutations.len; i++) {
    tile_free(r->device, r->outputs[i].data);
  }
  tile_device_close(r->device);
  free(r->inputs);
  free(r->outputs);
}

void check_agrees_with(const struct reference *reference, struct program *p, const int64_t *symbols,
                       double tolerance, const char *name) {
  struct run r = {.p = p, .symbols = symbols, .name = name};
  begin(&r, reference);
  run_on_cpu(&r);
  for (size_t i = 0; i < p->graph->outputs.len; i++)
    if (p->graph->outputs.at[i])
      compare(&r, i, tolerance);
  end(&r);
}

void check_agrees(struct program *p, const int64_t *symbols, double tolerance, const char *name) {
  struct reference *reference = check_reference(p->graph, symbols, name);
  check_agrees_with(reference, p, symbols, tolerance, name);
  check_reference_destroy(reference);
}

int64_t check_wrong_elements(struct program *p, const char *name) {
  struct run r = {.p = p, .name = name};
  int64_t wrong = 0;
  struct reference *reference = check_reference(p->graph, NULL, name);
  begin(&r, reference);
  run_on_cpu(&r);
  for (size_t i = 0; i < p->graph->outputs.len; i++)
    if (p->graph->outputs.at[i]) {
      struct tensor *have = result_of(&r, i);
      wrong += judge(&r, i, have).wrong;
      tensor_destroy(have);
    }
  end(&r);
  check_reference_destroy(reference);
  return wrong;
}

unsigned check_tier1_forms(struct program *p, double tolerance, const char *name) {
  struct run r = {.p = p, .name = name};
  unsigned changed = 0;
  struct reference *reference = check_reference(p->graph, NULL, name);
  begin(&r, reference);
  run_on_cpu(&r);
  compare(&r, 0, tolerance);
  size_t bytes = (size_t)r.want[0]->numel * dtype_bytes(r.outputs[0].dtype);
  void *first = malloc(bytes);
  ck_assert_ptr_nonnull(first);
  memcpy(first, r.outputs[0].data, bytes);
  for (size_t i = 0; i < p->kernels.len; i++) {
    struct graph_kernel tier1;
    bool has = kernel_tier1_form(p->arena, p->kernels.at[i], &tier1);
    *p->kernels.at[i] = tier1;
    changed += has;
  }
  spoil_outputs(&r);
  run_on_cpu(&r);
  ck_assert_msg(memcmp(first, r.outputs[0].data, bytes) == 0, "%s: other bits", name);
  free(first);
  end(&r);
  check_reference_destroy(reference);
  return changed;
}
