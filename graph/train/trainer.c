// SPDX-License-Identifier: Apache-2.0
// Trainers: their programs, their arrays, and steps.
#include "base/memory.h"
#include "graph/ir/subgraph.h"
#include "graph/train/trainer_internal.h"

#include <math.h>
#include <stdlib.h>

tile_trainer_options tile_trainer_options_default(tile_optimizer_kind kind) {
  return (tile_trainer_options){.optimizer = tile_optimizer_default(kind),
                                .schedule = {.rate = 1e-3}};
}

static tile_status out_of_memory(void) {
  return status_set(TILE_OUT_OF_MEMORY, "out of memory for a trainer");
}

// ---- arrays ----

static const struct graph_parameter *find_parameter(const tile_graph *g, const char *name) {
  for (size_t i = 0; i < g->parameters.len; i++)
    if (strcmp(g->parameters.at[i].value->v->name, name) == 0)
      return &g->parameters.at[i];
  return NULL;
}

static size_t find_slot(const tile_trainer *t, const char *name) {
  for (size_t i = 0; i < t->slot_count; i++)
    if (strcmp(t->slots[i].name, name) == 0)
      return i;
  return NO_SLOT;
}

static tile_status add_slot(tile_trainer *t, const tile_tensor_info *info) {
  struct slot *more = memory_resize(t->slots, (t->slot_count + 1) * sizeof *more);
  if (!more)
    return out_of_memory();
  t->slots = more;
  struct slot *s = &t->slots[t->slot_count];
  *s = (struct slot){.name = memory_strdup(info->name),
                     .bytes = dtype_bytes((enum dtype)info->type)};
  if (!s->name)
    return out_of_memory();
  t->slot_count++; // tile_trainer_destroy frees it
  s->tensor = (tile_tensor){.type = info->type, .rank = info->rank};
  for (int d = 0; d < info->rank; d++) {
    s->shape[d] = info->shape[d];
    s->bytes *= (size_t)info->shape[d];
  }
  return tile_malloc(t->device, s->bytes, &s->tensor.data);
}

// The first contents: of a parameter, the scale of the loss, or zeros.
static tile_status fill_slot(tile_trainer *t, const struct slot *s) {
  const struct graph_parameter *p = find_parameter(t->batch.graph, s->name);
  if (!p && strcmp(s->name, SCALE_NAME) != 0)
    return tile_memset(t->device, NULL, s->tensor.data, 0, s->bytes);
  void *host = memory_zeroed(1, s->bytes ? s->bytes : 1);
  if (!host)
    return out_of_memory();
  if (p)
    parameter_fill(p, t->options.seed, host);
  else
    dtype_store(DTYPE_F32, host, t->options.optimizer.loss_scale);
  tile_status status = tile_copy_to_device(t->device, NULL, s->tensor.data, host, s->bytes);
  free(host);
  return status;
}

// Slots for the program's inputs; the first `given` ones of the graph belong to the batch unless
// they are parameters.
static tile_status take_inputs(tile_trainer *t, struct trained_program *p, size_t given) {
  p->count = tile_program_input_count(p->program);
  p->slots = memory_zeroed(p->count + 1, sizeof *p->slots);
  p->inputs = memory_zeroed(p->count + 1, sizeof *p->inputs);
  p->addresses = memory_zeroed(p->count + 1, sizeof *p->addresses);
  if (!p->slots || !p->inputs || !p->addresses)
    return out_of_memory();
  for (size_t i = 0; i < p->count; i++) {
    tile_tensor_info info;
    tile_status s = tile_program_input(p->program, i, &info);
    if (s != TILE_OK)
      return s;
    bool is_batch = i < given && !find_parameter(p->graph, info.name);
    p->slots[i] = is_batch ? NO_SLOT : find_slot(t, info.name);
    t->batch_inputs += is_batch;
    if (is_batch || p->slots[i] != NO_SLOT)
      continue;
    p->slots[i] = t->slot_count;
    s = add_slot(t, &info);
    if (s == TILE_OK)
      s = fill_slot(t, &t->slots[p->slots[i]]);
    if (s != TILE_OK)
      return s;
  }
  return TILE_OK;
}

static void set_inputs(const tile_trainer *t, struct trained_program *p) {
  for (size_t i = 0; i < p->count; i++)
    if (p->slots[i] != NO_SLOT) {
      struct slot *s = &t->slots[p->slots[i]];
      s->tensor.shape = s->shape;
      p->inputs[i] = s->tensor;
    }
}

// ---- creation ----

static const char *wrong(const tile_graph *g, const tile_trainer_options *o) {
  if (g->parameters.len == 0)
    return "the graph has no parameters: tile_graph_parameter makes them";
  if (g->g->outputs.len)
    return "the graph of a trainer has no outputs: build another one for results";
  if (o->scale_interval < 0 || (o->scale_interval > 0 && !(o->optimizer.loss_scale > 0)))
    return "a scale of the loss that follows needs a first scale, optimizer.loss_scale, and a "
           "positive interval";
  if (o->accumulate > 1u << 20)
    return "at most 2^20 batches are accumulated";
  if (o->limits_saved && o->saved_bytes < 0)
    return "a negative number of saved bytes";
  return NULL;
}

// Names of inputs are those of checkpoints.
static const char *twice(const tile_graph *g) {
  for (size_t i = 0; i < g->g->inputs.len; i++)
    for (size_t k = 0; k < i; k++)
      if (strcmp(g->g->inputs.at[i]->name, g->g->inputs.at[k]->name) == 0)
        return g->g->inputs.at[i]->name;
  return NULL;
}

static tile_status create(tile_trainer *t, tile_graph *graph, tile_value *loss) {
  size_t given = graph->g->inputs.len;
  bool accumulates = t->options.accumulate > 1;
  t->batch.graph = graph;
  tile_status s = accumulates ? tile_graph_create("update", &t->update.graph) : TILE_OK;
  if (s == TILE_OK)
    s = trainer_build(graph, loss, &t->options, t->update.graph);
  if (s == TILE_OK && twice(graph))
    s = status_set(TILE_INVALID_ARGUMENT, "two inputs of the graph have the name `%s`",
                   twice(graph));
  if (s == TILE_OK)
    s = tile_program_from_graph(t->device, graph, &t->batch.program);
  if (s == TILE_OK && accumulates)
    s = tile_program_from_graph(t->device, t->update.graph, &t->update.program);
  if (s == TILE_OK)
    s = take_inputs(t, &t->batch, given);
  if (s == TILE_OK && accumulates)
    s = take_inputs(t, &t->update, 0);
  if (s != TILE_OK)
    return s;
  t->may_replay = !graph_has_class(graph->g, CLASS_RANDOM) && graph->g->symbols.len == 0;
  set_inputs(t, &t->batch);
  set_inputs(t, &t->update);
  return tile_stream_create(t->device, &t->side);
}

tile_status tile_trainer_create(tile_device *device, tile_graph *graph, tile_value *loss,
                                const tile_trainer_options *options, tile_trainer **ret_trainer) {
  if (!device || !graph || !options || !ret_trainer)
    return status_set(TILE_INVALID_ARGUMENT,
                      "a trainer needs a device, a graph, options and a pointer for the result");
  if (!capture_is_open(graph) || !capture_is_own(graph, loss, "the loss"))
    return tile_graph_status(graph);
  const char *why = wrong(graph, options);
  if (why)
    return status_set(TILE_INVALID_ARGUMENT, "%s", why);
  tile_trainer *t = memory_zeroed(1, sizeof *t);
  if (!t)
    return out_of_memory();
  t->device = device;
  t->options = *options;
  tile_status s = create(t, graph, loss);
  if (s != TILE_OK)
    tile_trainer_destroy(t);
  else
    *ret_trainer = t;
  return s;
}

void tile_trainer_destroy(tile_trainer *t) {
  if (!t)
    return;
  trained_finish(&t->batch);
  trained_finish(&t->update);
  tile_graph_destroy(t->update.graph);
  for (size_t i = 0; i < t->slot_count; i++) {
    tile_free(t->device, t->slots[i].tensor.data);
    free(t->slots[i].name);
  }
  free(t->slots);
  tile_stream_destroy(t->side);
  free(t);
}

// ---- steps ----

static tile_status step(tile_trainer *t, tile_stream *stream, const tile_tensor *inputs,
                        size_t count, const char **report) {
  if (!t || (count && !inputs))
    return status_set(TILE_INVALID_ARGUMENT, "a step needs a trainer and its inputs");
  if (count != t->batch_inputs)
    return status_set(TILE_INVALID_ARGUMENT, "a batch has %zu inputs here, not %zu",
                      t->batch_inputs, count);
  for (size_t i = 0, k = 0; i < t->batch.count; i++)
    if (t->batch.slots[i] == NO_SLOT)
      t->batch.inputs[i] = inputs[k++];
  tile_status s = trained_run(t, &t->batch, stream, report);
  if (s != TILE_OK)
    return s;
  t->calls++;
  unsigned n = t->options.accumulate;
  return n > 1 && t->calls % n == 0 ? trained_run(t, &t->update, stream, NULL) : TILE_OK;
}

tile_status tile_trainer_step(tile_trainer *t, tile_stream *stream, const tile_tensor *inputs,
                              size_t count) {
  return step(t, stream, inputs, count, NULL);
}

tile_status tile_trainer_find_nan(tile_trainer *t, tile_stream *stream, const tile_tensor *inputs,
                                  size_t count, const char **ret_report) {
  if (!ret_report)
    return status_set(TILE_INVALID_ARGUMENT, "a report needs a pointer");
  return step(t, stream, inputs, count, ret_report);
}

tile_program *tile_trainer_program(tile_trainer *t) { return t ? t->batch.program : NULL; }

int64_t tile_trainer_steps(const tile_trainer *t) { return t ? t->calls : 0; }

tile_status tile_trainer_parameter(tile_trainer *t, const char *name, tile_tensor *ret) {
  if (!t || !name || !ret)
    return status_set(TILE_INVALID_ARGUMENT, "a parameter needs a trainer, a name and a result");
  size_t i = find_slot(t, name);
  if (i == NO_SLOT || !find_parameter(t->batch.graph, name))
    return status_set(TILE_NOT_FOUND, "there is no parameter `%s`", name);
  *ret = t->slots[i].tensor;
  return TILE_OK;
}
