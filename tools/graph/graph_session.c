// SPDX-License-Identifier: Apache-2.0
// A graph's program on a device: compiles and loads it, creates and uploads its arguments,
// downloads its results.
#include "base/clock.h"
#include "base/memory.h"
#include "graph/graph_compile.h"
#include "graph/ir/sizes.h"
#include "graph/reference/inputs.h"
#include "graph/run/run.h"
#include "tools/graph/graph_mismatch.h"
#include "tools/graph/graph_run.h"
#include "tools/graph/graph_tune.h"
#include "tools/graph/graph_weights.h"
#include "tools/launch/arg_spec.h"
#include "tools/progress.h"

#include <inttypes.h>
#include <stdlib.h>

static int out_of_memory(struct tool *t) {
  diag_error(t->diag, t->o.file_at, E0991, "out of memory for the graph's tensors");
  return EXIT_LIMIT;
}

// ---- sizes ----

static const struct assignment *find_arg(const struct tool *t, const char *name) {
  for (size_t i = 0; i < t->o.args.len; i++)
    if (strcmp(t->o.args.at[i].name, name) == 0)
      return &t->o.args.at[i];
  return NULL;
}

static bool is_input(const struct graph *g, const char *name) {
  for (size_t i = 0; i < g->inputs.len; i++)
    if (strcmp(g->inputs.at[i]->name, name) == 0)
      return true;
  for (size_t i = 0; i < g->symbols.len; i++)
    if (strcmp(g->symbols.at[i]->symbol->name, name) == 0)
      return true;
  return false;
}

// The value of `symbol` for which `size` is n; false if there is none or the size has others.
static bool solve(struct exprs *x, const struct expr *size, const struct expr *symbol, int64_t n,
                  int64_t *ret) {
  const struct expr *coefficient, *rest;
  int64_t c, r, value = 0;
  if (!expr_has_symbol(size, symbol))
    return false;
  if (!expr_linear(x, size, symbol, &coefficient, &rest))
    return size_grows(size, symbol) && (*ret = size_solve(size, 1, &symbol, &value, 0, n)) >= 0;
  if (!expr_is_const(coefficient, &c) || !expr_is_const(rest, &r) || c < 1 ||
      __builtin_sub_overflow(n, r, &n) || n % c != 0)
    return false;
  *ret = n / c;
  return true;
}

// Sizes that no --arg names, from the shape of an array that is given for `v`.
static int take_sizes_of(struct tool *t, struct graph *g, const struct value *v,
                         const int64_t *shape, struct span where) {
  for (size_t i = 0; i < g->symbols.len * v->rank; i++) {
    const struct expr *e = g->symbols.at[i / v->rank];
    const struct symbol *s = e->symbol;
    uint32_t d = (uint32_t)(i % v->rank);
    int64_t n;
    if (find_arg(t, s->name) || !solve(g->exprs, v->shape[d], e, shape[d], &n) ||
        graph_set_likely_size(g, s->name, n))
      continue;
    diag_error(t->diag, where, E0720,
               "dimension %u of `%s` makes %s %" PRId64 "; it is from %" PRId64 " to %" PRId64, d,
               v->name, s->name, n, s->lo, s->hi);
    return EXIT_WRONG;
  }
  return EXIT_DONE;
}

static int take_sizes_of_arg(struct tool *t, struct graph *g, const struct value *v,
                             const struct assignment *a) {
  struct arg_value value = {0};
  int64_t shape[GRAPH_MAX_RANK];
  if (!arg_spec_shape(t->arena, t->diag, a->where, a->value, v->dtype, &value))
    return tool_error_status(t);
  bool is_like = value.is_array && value.array.rank == v->rank;
  for (uint32_t d = 0; is_like && d < v->rank; d++)
    shape[d] = (int64_t)value.array.shape[d];
  array_finish(&value.array);
  return is_like ? take_sizes_of(t, g, v, shape, a->where) : EXIT_DONE;
}

// From the tensors of --weights.
static int take_sizes_of_weights(struct tool *t, struct graph *g) {
  tile_weights *w;
  int status = EXIT_DONE;
  if (g->symbols.len == 0 || !t->o.weights.value.ptr)
    return EXIT_DONE;
  if (!graph_weights_open(t, g, &w))
    return tool_error_status(t);
  for (size_t i = 0; i < g->inputs.len && status == EXIT_DONE; i++) {
    const struct value *v = g->inputs.at[i];
    tile_weight found;
    if (!find_arg(t, v->name) && tile_weights_find(w, v->name, &found) == TILE_OK &&
        found.rank == (int)v->rank)
      status = take_sizes_of(t, g, v, found.shape, t->o.weights.where);
  }
  tile_weights_close(w);
  return status;
}

int graph_take_sizes(struct tool *t, struct graph *g) {
  int weights = take_sizes_of_weights(t, g);
  if (weights != EXIT_DONE)
    return weights;
  for (size_t i = 0; i < g->inputs.len; i++) {
    const struct assignment *a = find_arg(t, g->inputs.at[i]->name);
    int status = a ? take_sizes_of_arg(t, g, g->inputs.at[i], a) : EXIT_DONE;
    if (status != EXIT_DONE)
      return status;
  }
  for (size_t i = 0; i < g->symbols.len; i++) {
    const struct symbol *s = g->symbols.at[i]->symbol;
    const struct assignment *a = find_arg(t, s->name);
    int64_t n;
    if (a && !(str_to_i64(a->value, &n) && graph_set_likely_size(g, s->name, n))) {
      diag_error(t->diag, a->where, E0720, "`%.*s` is not a size: from %" PRId64 " to %" PRId64,
                 STR_ARG(a->value), s->lo, s->hi);
      return EXIT_WRONG;
    }
  }
  return EXIT_DONE;
}

static void unknown_input(struct tool *t, const struct graph *g, const struct assignment *a) {
  enum { MOST_SHOWN = 12 };
  size_t n = 0;
  const char **names = arena_array(t->arena, const char *, g->inputs.len + g->symbols.len + 1);
  for (size_t i = 0; i < g->inputs.len; i++)
    names[n++] = g->inputs.at[i]->name;
  for (size_t i = 0; i < g->symbols.len; i++)
    names[n++] = g->symbols.at[i]->symbol->name;
  struct diag *d = diag_error(t->diag, tool_name_span(a->where, a->name), E0721,
                              "the graph has no input `%s`", a->name);
  const char *near = str_nearest(str_from(a->name), names, n);
  if (near)
    diag_did_you_mean(d, tool_name_span(a->where, a->name), near);
  struct strbuf list = {.arena = t->arena};
  for (size_t i = 0; i < n && i < MOST_SHOWN; i++)
    strbuf_printf(&list, "%s`%s`", i ? ", " : "", names[i]);
  if (n > MOST_SHOWN)
    strbuf_printf(&list, " and %zu more", n - MOST_SHOWN);
  if (n)
    diag_note(d, SPAN_NONE, "its inputs are %s", strbuf_cstr(&list));
  strbuf_finish(&list);
}

static int find_sizes(struct tool *t, struct graph *g, int64_t *sizes) {
  for (size_t i = 0; i < t->o.args.len; i++)
    if (!is_input(g, t->o.args.at[i].name)) {
      unknown_input(t, g, &t->o.args.at[i]);
      return EXIT_WRONG;
    }
  for (size_t i = 0; i < g->symbols.len; i++) {
    sizes[i] = expr_hint(g->symbols.at[i]);
    graph_give_size(g, g->symbols.at[i]->symbol->name, sizes[i]);
  }
  return EXIT_DONE;
}

// ---- inputs ----

static bool extents(const struct graph *g, const int64_t *sizes, uint32_t rank,
                    const struct expr **of, int64_t *ret) {
  for (uint32_t d = 0; d < rank; d++)
    if (!expr_eval(of[d], g->symbols.len, g->symbols.at, sizes, &ret[d]))
      return false;
  return true;
}

// --arg for an input, instead of the generated tensor.
static int take_arg(struct tool *t, const struct graph *g, const struct value *v,
                    const struct assignment *a, struct tensor *into) {
  struct arg_value value = {0};
  if (!arg_spec_parse(t->arena, t->diag, a->where, a->value, v->dtype, &value))
    return tool_error_status(t);
  bool fits = value.is_array && value.array.dtype == v->dtype && value.array.rank == v->rank;
  int64_t dense[GRAPH_MAX_RANK], stride = 1;
  for (uint32_t d = v->rank; fits && d-- > 0;) {
    fits = (int64_t)value.array.shape[d] == into->shape[d];
    dense[d] = stride;
    stride *= into->shape[d];
  }
  if (fits) {
    tensor_load(into, value.array.data, dense);
  } else {
    graph_report_mismatch(t, g, v, a, &value, into->shape);
  }
  array_finish(&value.array);
  return fits ? EXIT_DONE : EXIT_WRONG;
}

// The tensor's storage on the device; NULL: filled with NaN, for elements that a run does not
// write.
static int upload(struct tool *t, const struct graph_session *s, const struct tensor *from,
                  const struct tensor_view *to) {
  size_t bytes = (size_t)tensor_span(to->rank, to->shape, to->strides) * dtype_bytes(to->dtype);
  void *staging = memory_alloc(bytes ? bytes : 1);
  if (!staging)
    return out_of_memory(t);
  memset(staging, 0xff, bytes);
  if (from)
    tensor_store(from, staging, to->strides);
  int status =
      graph_session_failed(t, tile_copy_to_device(s->device, NULL, to->data, staging, bytes));
  free(staging);
  return status;
}

// Allocates a tensor on the device with the graph's strides, filled from `from`, if given.
static int bind_tensor(struct tool *t, struct graph_session *s, const struct value *v,
                       struct tensor *from, struct tensor_view *ret) {
  const struct graph *g = s->program->graph;
  int64_t *shape = arena_array(t->arena, int64_t, v->rank + 1),
          *strides = arena_array(t->arena, int64_t, v->rank + 1);
  if (!extents(g, s->sizes, v->rank, v->shape, shape) ||
      !extents(g, s->sizes, v->rank, v->strides, strides)) {
    diag_error(t->diag, t->o.file_at, E0911, "the sizes of `%s` do not fit 64 bits", v->name);
    return EXIT_LIMIT;
  }
  *ret =
      (struct tensor_view){.dtype = v->dtype, .rank = v->rank, .shape = shape, .strides = strides};
  size_t bytes = (size_t)tensor_span(v->rank, shape, strides) * dtype_bytes(v->dtype);
  int status = graph_session_failed(t, tile_malloc(s->device, bytes ? bytes : 1, &ret->data));
  if (status != EXIT_DONE)
    return status;
  status = upload(t, s, from, ret);
  if (status == EXIT_DONE && from) { // where elements share memory, the last one counts for all
    void *staging = memory_alloc(bytes ? bytes : 1);
    if (!staging)
      return out_of_memory(t);
    tensor_store(from, staging, strides);
    tensor_load(from, staging, strides);
    free(staging);
  }
  return status;
}

// From --arg, else --weights, instead of the generated tensor.
static int fill_inputs(struct tool *t, struct graph_session *s, tile_weights *weights) {
  const struct graph *g = s->program->graph;
  struct strbuf made_up = {.arena = t->arena};
  int status = EXIT_DONE;
  for (size_t i = 0; status == EXIT_DONE && i < g->inputs.len; i++) {
    const struct value *v = g->inputs.at[i];
    const struct assignment *a = find_arg(t, v->name);
    bool found = a != NULL;
    if (a)
      status = take_arg(t, g, v, a, s->inputs[i]);
    else if (!graph_weights_take(t, weights, v, s->inputs[i], &found))
      status = tool_error_status(t);
    if (!found)
      strbuf_printf(&made_up, "%s%s", made_up.len ? ", " : "", v->name);
    if (status == EXIT_DONE)
      status = bind_tensor(t, s, v, s->inputs[i], &s->in[i]);
  }
  if (weights)
    s->made_up = arena_strdup(t->arena, made_up.len ? strbuf_cstr(&made_up) : "");
  strbuf_finish(&made_up);
  return status;
}

static int make_arguments(struct tool *t, struct graph_session *s) {
  struct graph *g = s->program->graph;
  tile_weights *weights = NULL;
  int status = find_sizes(t, g, s->sizes);
  if (status != EXIT_DONE)
    return status;
  if (!graph_make_inputs(g, s->sizes, t->o.seed, s->inputs))
    return out_of_memory(t);
  status = graph_weights_open(t, g, &weights) ? fill_inputs(t, s, weights) : EXIT_WRONG;
  tile_weights_close(weights);
  for (size_t i = 0; status == EXIT_DONE && i < g->outputs.len; i++)
    if (g->outputs.at[i])
      status = bind_tensor(t, s, g->outputs.at[i], NULL, &s->out[i]);
  return status;
}

// ---- opening ----

// Restores the inputs: tuning runs the program once, which may write to them.
static int tune(struct tool *t, struct graph_session *s) {
  const struct graph *g = s->program->graph;
  int status = graph_tune(t, s);
  for (size_t i = 0; status == EXIT_DONE && i < g->inputs.len; i++)
    for (size_t m = 0; status == EXIT_DONE && m < g->mutations.len; m++)
      if (g->mutations.at[m].input == g->inputs.at[i])
        status = upload(t, s, s->inputs[i], &s->in[i]);
  return status;
}

int graph_session_open(struct tool *t, struct graph *g, struct graph_session *s) {
  int status = graph_session_failed(t, tile_device_open(tool_device_name(t), &s->device));
  if (status != EXIT_DONE)
    return status;
  tile_device_get_properties(s->device, &s->properties);
  if (!graph_tune_check(t, s->properties.target))
    return EXIT_USAGE;
  double start = clock_ms();
  progress_stage(t, arena_printf(t->arena, "compiling %s for %s", g->name, s->properties.target));
  struct program_options options = program_options_of(s->device);
  options.no_pdl = t->o.no_pdl;
  s->program = program_compile(g, &options);
  if (!s->program)
    return tool_error_status(t);
  s->compile_ms = clock_ms() - start;
  if (!graph_take_tunings(t, s->program, s->properties.name, s->properties.target,
                          &s->tunings.from_file))
    return EXIT_WRONG;
  start = clock_ms();
  progress_stage(t, arena_printf(t->arena, "loading %zu kernels of %s",
                                 program_kernel_count(s->program), g->name));
  status = graph_session_failed(t, program_load(s->program, s->device, &s->loaded));
  s->load_ms = clock_ms() - start;
  s->sizes = arena_array(t->arena, int64_t, g->symbols.len + 1);
  s->inputs = arena_array(t->arena, struct tensor *, g->inputs.len + 1);
  s->outputs = arena_array(t->arena, struct tensor *, g->outputs.len + g->mutations.len + 1);
  s->in = arena_array(t->arena, struct tensor_view, g->inputs.len + 1);
  s->out = arena_array(t->arena, struct tensor_view, g->outputs.len + 1);
  if (status == EXIT_DONE)
    status = make_arguments(t, s);
  return status == EXIT_DONE && t->o.max_autotune ? tune(t, s) : status;
}

void graph_session_close(struct graph_session *s) {
  const struct graph *g = s->program ? s->program->graph : NULL;
  for (size_t i = 0; g && s->in && i < g->inputs.len; i++) {
    tensor_destroy(s->inputs[i]);
    tile_free(s->device, s->in[i].data);
  }
  for (size_t i = 0; g && s->out && i < g->outputs.len; i++) {
    tensor_destroy(s->outputs[i]);
    tile_free(s->device, s->out[i].data);
  }
  for (size_t i = 0; g && s->outputs && i < g->mutations.len; i++)
    tensor_destroy(s->outputs[g->outputs.len + i]);
  program_unload(s->loaded);
  tile_device_close(s->device);
}

// ---- running ----

static int bring_back(struct tool *t, struct graph_session *s, const struct tensor_view *v,
                      size_t i) {
  size_t bytes = (size_t)tensor_span(v->rank, v->shape, v->strides) * dtype_bytes(v->dtype);
  void *staging = memory_alloc(bytes ? bytes : 1);
  tensor_destroy(s->outputs[i]);
  s->outputs[i] = tensor_create(v->dtype, v->rank, v->shape);
  int status = EXIT_DONE;
  if (!staging || !s->outputs[i])
    status = out_of_memory(t);
  if (status == EXIT_DONE)
    status = graph_session_failed(t, tile_copy_to_host(s->device, NULL, staging, v->data, bytes));
  if (status == EXIT_DONE)
    tensor_load(s->outputs[i], staging, v->strides);
  free(staging);
  return status;
}

// Inputs that the run wrote to, after the outputs.
static int bring_back_inputs(struct tool *t, struct graph_session *s) {
  const struct graph *g = s->program->graph;
  int status = EXIT_DONE;
  for (size_t m = 0; status == EXIT_DONE && m < g->mutations.len; m++)
    for (size_t i = 0; status == EXIT_DONE && i < g->inputs.len; i++)
      if (g->inputs.at[i] == g->mutations.at[m].input)
        status = bring_back(t, s, &s->in[i], g->outputs.len + m);
  return status;
}

int graph_session_run(struct tool *t, struct graph_session *s) {
  progress_stage(t, arena_printf(t->arena, "%s %s", t->o.simulate ? "simulating" : "running",
                                 s->program->graph->name));
  s->nans = (struct strbuf){.arena = t->arena};
  int status = graph_session_failed(
      t, t->o.find_nan ? program_find_nan(s->loaded, NULL, t->o.seed, s->in, s->out, &s->nans)
                       : program_run(s->loaded, NULL, t->o.seed, s->in, s->out));
  if (status == EXIT_DONE)
    status = graph_session_failed(t, tile_stream_synchronize(s->device, NULL));
  for (size_t i = 0; status == EXIT_DONE && i < s->program->graph->outputs.len; i++)
    if (s->program->graph->outputs.at[i])
      status = bring_back(t, s, &s->out[i], i);
  return status == EXIT_DONE ? bring_back_inputs(t, s) : status;
}
