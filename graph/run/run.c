// SPDX-License-Identifier: Apache-2.0
// Runs a program in process: kernels are compiled when it is loaded (load.c), the arena is
// allocated for the sizes of the first run, and a run executes the launches in order.
// Recursion is the algorithm: a launch may run the program of a subgraph (run_call.c).
#include "graph/run/run.h"

#include "base/memory.h"
#include "base/trace.h"
#include "graph/reference/interpret.h"
#include "graph/run/run_internal.h"
#include "graph/run/tensor_views.h"
#include "jit/jit.h"
#include "runtime/runtime_internal.h"

#include <stdlib.h>
#include <string.h>

// ---- loading ----

tile_status program_load(struct program *p, tile_device *device, struct loaded_program **ret) {
  struct loaded_program *l = memory_zeroed(1, sizeof *l);
  size_t buffers = 0; // all ids are below it
  for (size_t i = 0; i < p->buffer_count; i++)
    buffers = p->buffers[i]->id >= buffers ? p->buffers[i]->id + 1 : buffers;
  if (l)
    l->p = p;
  if (!l || !(l->kernels = memory_zeroed(p->kernels.len + 1, sizeof *l->kernels)) ||
      !(l->memory = memory_zeroed(buffers + 1, sizeof(void *))) ||
      !(l->sizes = memory_zeroed(p->graph->symbols.len + 1, sizeof(int64_t)))) {
    program_unload(l);
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a graph's program");
  }
  l->device = device;
  tile_status s = loaded_open_kernels(l);
  if (s == TILE_OK)
    s = loaded_open_calls(l);
  if (s != TILE_OK) {
    program_unload(l);
    return s;
  }
  loaded_begin_recompilation(l);
  *ret = l;
  return TILE_OK;
}

void program_unload(struct loaded_program *l) {
  if (!l)
    return;
  loaded_stop_recompilation(l);
  loaded_close_kernels(l);
  loaded_close_calls(l);
  if (l->arena)
    tile_free(l->device, l->arena);
  free(l->kernels);
  free(l->memory);
  free(l->sizes);
  free(l);
}

// ---- running ----

bool loaded_size(const struct loaded_program *l, const struct expr *e, int64_t *ret) {
  return expr_eval(e, l->p->graph->symbols.len, l->p->graph->symbols.at, l->sizes, ret);
}

static tile_status check_requirements(const struct loaded_program *l) {
  const struct graph *g = l->p->graph;
  for (size_t i = 0; i < g->requirements.len; i++) {
    int64_t slack;
    if (!loaded_size(l, g->requirements.at[i].slack, &slack) || slack < 0)
      return status_set(TILE_INVALID_ARGUMENT, "with the sizes of these inputs %s",
                        g->requirements.at[i].text);
  }
  return TILE_OK;
}

// Computes the symbols from the inputs; all extents and strides must match them.
static tile_status find_sizes(struct loaded_program *l, const struct tensor_view *inputs) {
  const struct graph *g = l->p->graph;
  tile_status s = tensor_views_sizes(g, inputs, l->sizes);
  if (s != TILE_OK)
    return s;
  for (size_t i = 0; i < g->inputs.len; i++) {
    const struct value *v = g->inputs.at[i];
    for (uint32_t d = 0; d < v->rank; d++) {
      int64_t want;
      if (!loaded_size(l, v->shape[d], &want) || want != inputs[i].shape[d])
        return status_set(TILE_INVALID_ARGUMENT,
                          "input `%s` has %lld elements along dimension %u, not %lld", v->name,
                          (long long)inputs[i].shape[d], d, (long long)want);
      if (inputs[i].strides && loaded_size(l, v->strides[d], &want) &&
          want != inputs[i].strides[d] && inputs[i].shape[d] > 1)
        return status_set(TILE_INVALID_ARGUMENT,
                          "input `%s` has stride %lld along dimension %u, not %lld", v->name,
                          (long long)inputs[i].strides[d], d, (long long)want);
    }
  }
  return check_requirements(l);
}

static tile_status clear(struct loaded_program *l, tile_stream *stream, const struct buffer *b) {
  int64_t n = 0;
  if (!b)
    return TILE_OK;
  if (!loaded_size(l, b->numel, &n))
    return status_set(TILE_INVALID_ARGUMENT, "a size does not fit 64 bits");
  return tile_memset(l->device, stream, l->memory[b->id], 0, (size_t)n * dtype_bytes(b->dtype));
}

// Launches reset counters to zero, so these are cleared only when the arena is new or after a
// failed run.
static tile_status clear_counters(struct loaded_program *l) {
  if (l->has_zeros || !l->p->counters)
    return TILE_OK;
  tile_status s = clear(l, NULL, l->p->counters);
  if (s == TILE_OK)
    s = tile_stream_synchronize(l->device, NULL);
  l->has_zeros = s == TILE_OK;
  return s;
}

// Grows the arena for the sizes of this run.
static tile_status place_buffers(struct loaded_program *l) {
  int64_t bytes = 0, offset = 0;
  if (!loaded_size(l, l->p->arena_bytes, &bytes))
    return status_set(TILE_INVALID_ARGUMENT, "the sizes of the inputs overflow 64 bits");
  if (bytes > l->arena_bytes) {
    tile_status s = l->arena ? tile_stream_synchronize(l->device, NULL) : TILE_OK;
    tile_free(l->device, l->arena);
    l->arena = NULL;
    l->arena_bytes = 0;
    s = s == TILE_OK ? tile_malloc(l->device, (size_t)bytes, (void **)&l->arena) : s;
    if (s != TILE_OK)
      return s;
    l->arena_bytes = bytes;
    l->has_zeros = false;
  }
  for (size_t i = 0; i < l->p->placements.len; i++) {
    const struct placement *at = &l->p->placements.at[i];
    if (!loaded_size(l, at->offset, &offset))
      return status_set(TILE_INVALID_ARGUMENT, "the sizes of the inputs overflow 64 bits");
    l->memory[at->buffer->id] = l->arena + offset;
  }
  return clear_counters(l);
}

static void bind_tensors(struct loaded_program *l, const struct tensor_view *inputs,
                         const struct tensor_view *outputs) {
  for (size_t i = 0; i < l->p->buffer_count; i++) {
    const struct buffer *b = l->p->buffers[i];
    if (b->role == BUFFER_INPUT)
      l->memory[b->id] = inputs[b->index].data;
    else if (b->role == BUFFER_OUTPUT)
      l->memory[b->id] = outputs[b->index].data;
  }
}

static tile_status bind_slices(struct loaded_program *l) {
  for (size_t i = 0; i < l->p->buffer_count; i++) {
    const struct buffer *b = l->p->buffers[i];
    int64_t start = 0;
    if (b->role != BUFFER_SLICE)
      continue;
    if (!loaded_size(l, b->start, &start))
      return status_set(TILE_INVALID_ARGUMENT, "the sizes of the inputs overflow 64 bits");
    char *home = l->memory[b->home->id];
    l->memory[b->id] = home ? home + start * (int64_t)dtype_bytes(b->dtype) : NULL;
  }
  return TILE_OK;
}

static tile_status place_and_bind(struct loaded_program *l, const struct tensor_view *inputs,
                                  const struct tensor_view *outputs) {
  tile_status s = place_buffers(l);
  if (s != TILE_OK)
    return s;
  bind_tensors(l, inputs, outputs);
  return bind_slices(l);
}

uint64_t program_seed(uint64_t seed, uint32_t which) {
  return seed + (uint64_t)which * RANDOM_STRIDE;
}

tile_status loaded_clear(struct loaded_program *l, tile_stream *stream,
                         const struct launch *launch) {
  return clear(l, stream, launch->clears);
}

tile_status loaded_launch(struct loaded_program *l, tile_stream *stream, uint64_t seed,
                          const struct launch *launch, enum launch_order order,
                          bool *ret_launches) {
  tile_arg args[LAUNCH_MOST_ARGS];
  unsigned grid[3] = {1, 1, 1};
  *ret_launches = false; // behind a call other launches wait for all of it
  if (launch->call)
    return loaded_call(l, stream, seed, launch);
  for (size_t i = 0; i < launch->args.len; i++) {
    const struct launch_arg *a = &launch->args.at[i];
    int64_t value = 0;
    if (a->kind == LAUNCH_SIZE && !loaded_size(l, a->size, &value))
      return status_set(TILE_INVALID_ARGUMENT, "a size does not fit 64 bits");
    if (a->kind == LAUNCH_SEED)
      value = (int64_t)program_seed(seed, a->which);
    args[i] = a->kind == LAUNCH_BUFFER
                  ? tile_arg_pointer(l->memory[a->buffer->id], (tile_type)a->buffer->dtype)
                  : tile_arg_int((tile_type)a->dtype, value);
  }
  for (int d = 0; d < 3; d++) {
    int64_t n = 1;
    if (launch->grid[d] && !loaded_size(l, launch->grid[d], &n))
      return status_set(TILE_INVALID_ARGUMENT, "a size does not fit 64 bits");
    if (n == 0)
      return TILE_OK;
    grid[d] = (unsigned)n;
  }
  struct loaded_kernel *k = &l->kernels[launch->kernel->id];
  bool is_tier1 = k->tier1 && !atomic_load_explicit(&k->is_there, memory_order_acquire);
  bool is_behind = l->is_in_order || order == LAUNCH_BEHIND_OTHERS || launch->kernel->is_alone;
  const tile_launch_options options = {.in_order = is_behind};
  *ret_launches = true;
  return tile_launch_with(is_tier1 ? k->tier1 : k->kernel, stream,
                          (tile_grid){grid[0], grid[1], grid[2]}, args, launch->args.len, &options);
}

void program_set_pdl(struct loaded_program *l, bool on) {
  l->is_in_order = !on;
  loaded_each_body(l, program_set_pdl, on);
}

tile_status loaded_get_ready(struct loaded_program *l, const struct tensor_view *inputs,
                             const struct tensor_view *outputs) {
  tile_status s = find_sizes(l, inputs);
  return s == TILE_OK ? place_and_bind(l, inputs, outputs) : s;
}

// Outputs that alias inputs or other outputs. No copy if the caller gives them the same memory.
static tile_status copy_outputs(struct loaded_program *l, tile_stream *stream,
                                enum buffer_role from) {
  tile_status s = TILE_OK;
  for (size_t i = 0; s == TILE_OK && i < l->p->copies.len; i++) {
    const struct program_copy *c = &l->p->copies.at[i];
    int64_t offset = 0, bytes = 0;
    if (c->from->role != from)
      continue;
    if (!loaded_size(l, c->offset, &offset) || !loaded_size(l, c->bytes, &bytes))
      return status_set(TILE_INVALID_ARGUMENT, "a size does not fit 64 bits");
    const char *source = (const char *)l->memory[c->from->id] + offset;
    if (bytes > 0 && source != l->memory[c->to->id])
      s = tile_copy_on_device(l->device, stream, l->memory[c->to->id], source, (size_t)bytes);
  }
  return s;
}

// The first launch follows work of others: a kernel among it may let ours begin without having
// waited for its own predecessor, and only kernels of this run are known to wait.
static tile_status run_launches(struct loaded_program *l, tile_stream *stream, uint64_t seed) {
  tile_status s = copy_outputs(l, stream, BUFFER_INPUT);
  enum launch_order order = LAUNCH_BEHIND_OTHERS;
  for (size_t i = 0; s == TILE_OK && i < l->p->launches.len; i++) {
    const struct launch *launch = &l->p->launches.at[i];
    bool launches = false;
    if (l->watch)
      s = l->watch->before(l->watch->user, launch, i);
    if (s == TILE_OK)
      s = loaded_clear(l, stream, launch);
    order = launch->clears ? LAUNCH_BEHIND_OTHERS : order;
    if (s == TILE_OK)
      s = loaded_launch(l, stream, seed, launch, order, &launches);
    if (s == TILE_OK && l->watch)
      s = l->watch->after(l->watch->user, launch, i);
    order = launch->call ? LAUNCH_BEHIND_OTHERS : launches ? LAUNCH_BEHIND_KERNEL : order;
  }
  return s == TILE_OK ? copy_outputs(l, stream, BUFFER_OUTPUT) : s;
}

static tile_status run_ready(struct loaded_program *l, tile_stream *stream, uint64_t seed) {
  struct trace_slice slice =
      trace_begin(TRACE_GRAPH, l->p->graph->name ? l->p->graph->name : "graph");
  device_begin_launches(l->device);
  tile_status s = run_launches(l, stream, seed);
  device_end_launches(l->device);
  trace_end(&slice, NULL);
  if (s != TILE_OK) {
    tile_stream_synchronize(l->device, stream); // before the counters are cleared
    l->has_zeros = false;
  }
  return s;
}

tile_status program_run(struct loaded_program *l, tile_stream *stream, uint64_t seed,
                        const struct tensor_view *inputs, const struct tensor_view *outputs) {
  tile_status s = loaded_get_ready(l, inputs, outputs);
  return s == TILE_OK ? run_ready(l, stream, seed) : s;
}

tile_status program_reserve_within(struct loaded_program *l, const int64_t *sizes) {
  for (size_t i = 0; i < l->p->graph->symbols.len; i++)
    l->sizes[i] = sizes[i];
  tile_status s = place_buffers(l);
  return s == TILE_OK ? loaded_reserve_calls(l) : s;
}

tile_status program_run_within(struct loaded_program *l, const int64_t *sizes, tile_stream *stream,
                               uint64_t seed, const struct tensor_view *inputs,
                               const struct tensor_view *outputs) {
  for (size_t i = 0; i < l->p->graph->symbols.len; i++)
    l->sizes[i] = sizes[i];
  tile_status s = check_requirements(l);
  if (s == TILE_OK)
    s = place_and_bind(l, inputs, outputs);
  return s == TILE_OK ? run_ready(l, stream, seed) : s;
}

// On the CPU a launch of a replay may fail, and the next replay starts from that state.
static tile_status record_zeros(struct loaded_program *l, tile_stream *stream) {
  tile_device_properties properties;
  tile_status s = tile_device_get_properties(l->device, &properties);
  return s == TILE_OK && properties.is_cpu ? clear(l, stream, l->p->counters) : s;
}

tile_status program_record(struct loaded_program *l, tile_stream *stream, uint64_t seed,
                           const struct tensor_view *inputs, const struct tensor_view *outputs,
                           tile_replay **ret) {
  if (program_decides_on_host(l->p))
    return status_set(TILE_INVALID_ARGUMENT,
                      "a graph with `cond` or `while_loop` cannot be recorded: the host reads its "
                      "predicates during a run; use tile_program_run");
  program_await_best_code(l); // recordings keep the code that they were made with
  tile_status s = loaded_get_ready(l, inputs, outputs);
  if (s == TILE_OK)
    s = loaded_reserve_calls(l);
  if (s == TILE_OK)
    s = tile_replay_begin(l->device, stream);
  if (s != TILE_OK)
    return s;
  tile_status run = record_zeros(l, stream);
  if (run == TILE_OK)
    run = run_launches(l, stream, seed);
  tile_replay *replay = NULL;
  tile_status ended = tile_replay_end(l->device, stream, &replay);
  if (run != TILE_OK) {
    tile_replay_destroy(ended == TILE_OK ? replay : NULL);
    return run;
  }
  if (ended == TILE_OK)
    *ret = replay;
  return ended;
}
