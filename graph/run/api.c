// SPDX-License-Identifier: Apache-2.0
// The public calls on programs: a session (arena, diagnostics) around program_compile and
// program_load.
#include "base/file.h"
#include "base/memory.h"
#include "graph/graph_compile.h"
#include "graph/ir/sizes.h"
#include "graph/program/program.h"
#include "graph/read/fx.h"
#include "graph/run/handle.h"
#include "graph/run/run.h"
#include "graph/run/run_internal.h"
#include "graph/run/run_tune.h"
#include "graph/run/tensor_views.h"
#include "jit/jit_kernel.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static tile_status null_argument(const char *call, const char *name) {
  return status_set(TILE_INVALID_ARGUMENT, "%s: `%s` is NULL", call, name);
}

// ---- opening ----

tile_program *program_handle_create(void) {
  tile_program *p = memory_zeroed(1, sizeof *p);
  if (p && !(p->arena = arena_create())) {
    free(p);
    p = NULL;
  }
  if (!p)
    status_set(TILE_OUT_OF_MEMORY, "out of memory for a program");
  else
    pthread_mutex_init(&p->lock, NULL);
  return p;
}

tile_status program_handle_load(tile_program *p, struct graph *g, tile_device *device) {
  struct program_options options = program_options_of(device);
  p->device = device;
  p->program = program_compile(g, &options);
  if (!p->program)
    return jit_diag_failure(g->diag, false);
  return program_load(p->program, device, &p->loaded);
}

struct likely_list {
  const tile_likely_size *at;
  size_t count;
  tile_status status;
};

static bool take_likely(struct graph *g, void *user) {
  struct likely_list *l = user;
  for (size_t i = 0; i < l->count && l->status == TILE_OK; i++)
    if (!l->at[i].name)
      l->status = null_argument("tile_program_from_text_likely", "likely[].name");
    else if (!graph_set_likely_size(g, l->at[i].name, l->at[i].size))
      l->status =
          status_set(TILE_INVALID_ARGUMENT, "the graph has no size `%s` that may be %" PRId64,
                     l->at[i].name, l->at[i].size);
  return l->status == TILE_OK;
}

static tile_status read_and_load(tile_program *p, tile_device *device, struct source *source,
                                 const tile_likely_size *likely, size_t likely_count) {
  struct diag_engine *diag = diag_engine_create(p->arena);
  struct likely_list list = {likely, likely_count, TILE_OK};
  struct graph *g = graph_read_fx_likely(p->arena, diag, source, take_likely, &list);
  if (list.status != TILE_OK)
    return list.status;
  return g ? program_handle_load(p, g, device) : jit_diag_failure(diag, false);
}

tile_status tile_program_from_text(tile_device *device, const char *file_name, const char *text,
                                   size_t size, tile_program **ret_program) {
  return tile_program_from_text_likely(device, file_name, text, size, NULL, 0, ret_program);
}

tile_status tile_program_from_text_likely(tile_device *device, const char *file_name,
                                          const char *text, size_t size,
                                          const tile_likely_size *likely, size_t likely_count,
                                          tile_program **ret_program) {
  if (!device || !text || !ret_program || (likely_count && !likely))
    return null_argument("tile_program_from_text", !device        ? "device"
                                                   : !text        ? "text"
                                                   : !ret_program ? "ret_program"
                                                                  : "likely");
  if (size > SOURCE_MAX_BYTES)
    return status_set(TILE_LIMIT, "a graph's text may have %u bytes", SOURCE_MAX_BYTES);
  tile_program *p = program_handle_create();
  if (!p)
    return TILE_OUT_OF_MEMORY;
  jmp_buf oom;
  tile_status s;
  if (setjmp(oom)) {
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory while a graph was compiled");
  } else {
    arena_set_oom(p->arena, &oom);
    struct source *source =
        source_create(p->arena, file_name ? file_name : "<graph>", (struct str){text, size});
    s = read_and_load(p, device, source, likely, likely_count);
  }
  arena_set_oom(p->arena, NULL);
  if (s != TILE_OK)
    tile_program_close(p);
  else
    *ret_program = p;
  return s;
}

tile_status tile_program_open(tile_device *device, const char *path, tile_program **ret_program) {
  if (!path)
    return null_argument("tile_program_open", "path");
  struct arena *a = arena_create();
  if (!a)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a graph");
  struct str text = {0};
  tile_status s = jit_read_file(a, path, &text);
  if (s == TILE_OK)
    s = tile_program_from_text(device, path, text.ptr, text.len, ret_program);
  arena_destroy(a);
  return s;
}

void tile_program_close(tile_program *p) {
  if (!p)
    return;
  program_unload(p->loaded);
  arena_destroy(p->arena);
  pthread_mutex_destroy(&p->lock);
  free(p);
}

tile_status tile_program_wait_optimized(tile_program *p) {
  if (!p)
    return null_argument("tile_program_wait_optimized", "program");
  pthread_mutex_lock(&p->lock);
  program_await_best_code(p->loaded);
  pthread_mutex_unlock(&p->lock);
  return TILE_OK;
}

// ---- inputs and outputs ----

static int64_t size_or_dynamic(const struct expr *e) {
  int64_t n;
  return expr_is_const(e, &n) ? n : -1;
}

static void describe(const struct value *v, tile_tensor_info *ret) {
  memset(ret, 0, sizeof *ret);
  ret->rank = v ? (int)v->rank : -1;
  ret->name = v ? v->name : "";
  for (uint32_t d = 0; v && d < v->rank; d++) {
    ret->shape[d] = size_or_dynamic(v->shape[d]);
    ret->strides[d] = size_or_dynamic(v->strides[d]);
  }
  ret->type = v ? (tile_type)v->dtype : TILE_F32;
}

size_t tile_program_input_count(const tile_program *p) {
  return p ? p->program->graph->inputs.len : 0;
}

size_t tile_program_output_count(const tile_program *p) {
  return p ? p->program->graph->outputs.len : 0;
}

tile_status tile_program_input(const tile_program *p, size_t index, tile_tensor_info *ret_info) {
  if (!p || !ret_info)
    return null_argument("tile_program_input", p ? "ret_info" : "program");
  if (index >= p->program->graph->inputs.len)
    return status_set(TILE_NOT_FOUND, "the program has %zu inputs", p->program->graph->inputs.len);
  describe(p->program->graph->inputs.at[index], ret_info);
  return TILE_OK;
}

tile_status tile_program_output(const tile_program *p, size_t index, tile_tensor_info *ret_info) {
  if (!p || !ret_info)
    return null_argument("tile_program_output", p ? "ret_info" : "program");
  if (index >= p->program->graph->outputs.len)
    return status_set(TILE_NOT_FOUND, "the program has %zu outputs",
                      p->program->graph->outputs.len);
  describe(p->program->graph->outputs.at[index], ret_info);
  return TILE_OK;
}

tile_status tile_program_get_properties(const tile_program *p, tile_program_properties *ret) {
  if (!p || !ret)
    return null_argument("tile_program_get_properties", p ? "ret" : "program");
  *ret = (tile_program_properties){.kernels = program_kernel_count(p->program),
                                   .launches = p->program->launches.len,
                                   .arena_bytes = expr_hint(p->program->arena_bytes),
                                   .eager_bytes = expr_hint(p->program->eager_bytes),
                                   .saved_bytes = p->program->saved_bytes};
  return TILE_OK;
}

// ---- running ----

// Normalises the caller's tensors and checks them against the graph.
static tile_status take(tile_program *p, const tile_tensor *inputs, size_t input_count,
                        const tile_tensor *outputs, size_t output_count, struct tensor_views *ret) {
  tile_status s = tensor_views_create(inputs, input_count, outputs, output_count, ret);
  return s == TILE_OK ? tensor_views_check(p->program->graph, ret, true) : s;
}

tile_status tile_program_run(tile_program *p, tile_stream *stream, uint64_t seed,
                             const tile_tensor *inputs, size_t input_count,
                             const tile_tensor *outputs, size_t output_count) {
  if (!p)
    return null_argument("tile_program_run", "program");
  struct tensor_views v;
  struct loaded_program *l = p->loaded;
  tile_status s = tensor_views_create(inputs, input_count, outputs, output_count, &v);
  pthread_mutex_lock(&p->lock);
  if (s == TILE_OK)
    s = tensor_views_check_into(p->program->graph, &v, true, l->sizes);
  if (s == TILE_OK)
    s = program_run_within(l, l->sizes, stream, seed, v.at, v.at + v.input_count);
  pthread_mutex_unlock(&p->lock);
  tensor_views_finish(&v);
  return s;
}

static tile_status find_nan(tile_program *p, tile_stream *stream, uint64_t seed,
                            const struct tensor_views *v, const char **ret) {
  struct strbuf report = {.arena = p->program->arena};
  jmp_buf out_of_memory;
  tile_status s;
  if (setjmp(out_of_memory)) {
    p->loaded->watch = NULL;
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory for a report");
  } else {
    arena_set_oom(p->program->arena, &out_of_memory);
    s = program_find_nan(p->loaded, stream, seed, v->at, v->at + v->input_count, &report);
    *ret = report.len ? strbuf_cstr(&report) : NULL;
  }
  arena_set_oom(p->program->arena, NULL);
  return s;
}

tile_status tile_program_find_nan(tile_program *p, tile_stream *stream, uint64_t seed,
                                  const tile_tensor *inputs, size_t input_count,
                                  const tile_tensor *outputs, size_t output_count,
                                  const char **ret_report) {
  if (!p || !ret_report)
    return null_argument("tile_program_find_nan", p ? "ret_report" : "program");
  struct tensor_views v;
  *ret_report = NULL;
  pthread_mutex_lock(&p->lock);
  tile_status s = take(p, inputs, input_count, outputs, output_count, &v);
  if (s == TILE_OK)
    s = find_nan(p, stream, seed, &v, ret_report);
  pthread_mutex_unlock(&p->lock);
  tensor_views_finish(&v);
  return s;
}

tile_status tile_program_record(tile_program *p, tile_stream *stream, uint64_t seed,
                                const tile_tensor *inputs, size_t input_count,
                                const tile_tensor *outputs, size_t output_count,
                                tile_replay **ret_replay) {
  if (!p || !ret_replay)
    return null_argument("tile_program_record", p ? "ret_replay" : "program");
  struct tensor_views v;
  pthread_mutex_lock(&p->lock);
  tile_status s = take(p, inputs, input_count, outputs, output_count, &v);
  if (s == TILE_OK)
    s = program_record(p->loaded, stream, seed, v.at, v.at + v.input_count, ret_replay);
  pthread_mutex_unlock(&p->lock);
  tensor_views_finish(&v);
  return s;
}

tile_status tile_program_set_size(tile_program *p, const char *name, int64_t size) {
  if (!p || !name)
    return null_argument("tile_program_set_size", p ? "name" : "program");
  pthread_mutex_lock(&p->lock);
  bool is_given = graph_give_size(p->program->graph, name, size);
  pthread_mutex_unlock(&p->lock);
  if (is_given)
    return TILE_OK;
  return status_set(TILE_INVALID_ARGUMENT,
                    "the graph has no size `%s` that may be %" PRId64
                    " and that the inputs leave open",
                    name, size);
}

tile_status tile_program_set_pdl(tile_program *p, int on) {
  if (!p)
    return null_argument("tile_program_set_pdl", "program");
  pthread_mutex_lock(&p->lock);
  program_set_pdl(p->loaded, on != 0);
  pthread_mutex_unlock(&p->lock);
  return TILE_OK;
}

// ---- block sizes ----

static void tell(void *user, const struct kernel_choice *c) {
  const tile_program_tuning *t = user;
  const tile_program_choice choice = {.kernel = c->kernel->name,
                                      .config = c->config,
                                      .ms = c->ms,
                                      .default_ms = c->default_ms,
                                      .is_measured = c->is_measured,
                                      .is_from_file = c->is_from_file,
                                      .why = c->why};
  t->told(t->user, &choice);
}

tile_status program_handle_tune(tile_program *p, tile_stream *stream, uint64_t seed,
                                const struct tensor_views *v, const tile_program_tuning *t) {
  struct program_tune_options o = {.file = t->file,
                                   .measures = !t->measures_nothing,
                                   .seconds = t->seconds > 0 ? t->seconds : PROGRAM_TUNE_SECONDS,
                                   .effort = TUNE_EFFORT_QUICK,
                                   .candidates = t->candidates,
                                   .resume = true,
                                   .told = t->told ? tell : NULL,
                                   .user = (void *)(uintptr_t)t};
  if (!(t->seconds >= 0))
    return status_set(TILE_INVALID_ARGUMENT, "a tuning takes at least 0 seconds");
  jmp_buf out_of_memory;
  volatile tile_status s;
  if (setjmp(out_of_memory)) {
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory for a tuning");
  } else {
    arena_set_oom(p->program->arena, &out_of_memory);
    s = program_tune(p->loaded, stream, seed, v->at, v->at + v->input_count, &o, NULL);
  }
  arena_set_oom(p->program->arena, NULL);
  return s;
}

tile_status tile_program_tune(tile_program *p, tile_stream *stream, uint64_t seed,
                              const tile_tensor *inputs, size_t input_count,
                              const tile_tensor *outputs, size_t output_count,
                              const tile_program_tuning *tuning) {
  if (!p || !tuning)
    return null_argument("tile_program_tune", p ? "tuning" : "program");
  struct tensor_views v;
  pthread_mutex_lock(&p->lock);
  tile_status s = take(p, inputs, input_count, outputs, output_count, &v);
  if (s == TILE_OK)
    s = program_handle_tune(p, stream, seed, &v, tuning);
  pthread_mutex_unlock(&p->lock);
  tensor_views_finish(&v);
  return s;
}
