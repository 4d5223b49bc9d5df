// SPDX-License-Identifier: Apache-2.0
// The graph of a step. Every number that changes from step to step is an input that the step
// writes, so that the host gives it nothing but the batch.
//
//   loss -> gradients -> optimizer -> parameters        with accumulation:
//    |         |                                          loss, gradients -> sums   (each batch)
//    +---------+-> history                                sums -> optimizer, history (each step)
#include "graph/train/trainer_internal.h"

#include <math.h>

struct build {
  tile_graph *g;
  const tile_trainer_options *o;
  tile_value *scale; // of the loss, f32; NULL: not scaled
};

static tile_value *number_input(tile_graph *g, const char *name, tile_type type) {
  return tile_graph_input(g, name, type, 0, NULL, NULL);
}

// A value in place of an input, at the end of the run. After an error nothing.
static void write(tile_graph *g, tile_value *input, tile_value *value) {
  if (input && value)
    tile_graph_write(g, input, value);
}

static tile_value *like(tile_graph *g, const tile_value *v, const char *name, tile_type type) {
  int64_t shape[TILE_WEIGHTS_MAX_RANK];
  for (int d = 0; d < tile_value_rank(v); d++)
    shape[d] = tile_value_size(v, d);
  return tile_graph_input(g, name, type, tile_value_rank(v), shape, NULL);
}

static tile_value *zeros_like(tile_graph *g, const tile_value *v) {
  int64_t shape[TILE_WEIGHTS_MAX_RANK];
  for (int d = 0; d < tile_value_rank(v); d++)
    shape[d] = tile_value_size(v, d);
  return tile_full(g, shape, (size_t)tile_value_rank(v), 0, TILE_F32);
}

// ---- the history ----

static tile_value *column(tile_value *columns, int which, tile_value *number, tile_value *other) {
  tile_value *wide = tile_convert(number, TILE_F64);
  return number ? tile_where(tile_eq_number(columns, which), wide, other) : other;
}

static void write_history(struct build *b, tile_value *step, tile_value *loss, tile_value *norm,
                          tile_value *rate, tile_value *skipped) {
  const int64_t shape[] = {HISTORY_ROWS, HISTORY_COLUMNS};
  tile_graph *g = b->g;
  tile_value *history = tile_graph_input(g, HISTORY_NAME, TILE_F64, 2, shape, NULL);
  tile_value *rows = tile_unsqueeze(tile_arange(g, HISTORY_ROWS), 1),
             *columns = tile_arange(g, HISTORY_COLUMNS);
  tile_value *row = tile_full(g, NULL, 0, 0, TILE_F64);
  row = column(columns, COLUMN_STEP, step, row);
  row = column(columns, COLUMN_LOSS, loss, row);
  row = column(columns, COLUMN_NORM, norm, row);
  row = column(columns, COLUMN_RATE, rate, row);
  row = column(columns, COLUMN_SCALE, b->scale, row);
  row = column(columns, COLUMN_SKIPPED, skipped, row);
  row = column(columns, COLUMN_STEP_AGAIN, step, row);
  tile_operand args[] = {tile_g_tensor(step), tile_g_int(HISTORY_ROWS)};
  tile_value *at = step ? tile_graph_apply(g, "aten.remainder.Scalar", args, 2) : NULL;
  write(g, history, tile_where(tile_eq(rows, at), row, history));
}

// ---- the scale of the loss ----

// Halved after a step that changed nothing, doubled after `scale_interval` others.
static void write_scale(struct build *b, tile_value *finite) {
  tile_graph *g = b->g;
  if (b->o->scale_interval <= 0)
    return;
  tile_value *good = number_input(g, "trainer_good_steps", TILE_I64);
  tile_value *next = tile_add_number(good, 1);
  tile_value *grows = tile_ge_number(next, (double)b->o->scale_interval);
  tile_value *none = tile_full(g, NULL, 0, 0, TILE_I64);
  write(g, b->scale,
        tile_where(finite, tile_where(grows, tile_mul_number(b->scale, 2), b->scale),
                   tile_mul_number(b->scale, 0.5)));
  write(g, good, tile_where(tile_logical_and(finite, tile_logical_not(grows)), next, none));
}

static tile_value *count_skipped(struct build *b, tile_value *finite) {
  tile_value *skipped = number_input(b->g, "trainer_skipped", TILE_I64);
  tile_value *sum = tile_add(skipped, tile_convert(tile_logical_not(finite), TILE_I64));
  write(b->g, skipped, sum);
  return sum;
}

// ---- the step ----

static tile_value *sum_of_squares(tile_value *const *gradients, size_t count) {
  tile_value *sum = NULL;
  for (size_t i = 0; i < count; i++) {
    tile_value *g = tile_convert(gradients[i], TILE_F32);
    tile_value *square = tile_sum(tile_mul(g, g), NULL, 0, 0);
    sum = sum ? tile_add(sum, square) : square;
  }
  return sum;
}

// `gradients` are overwritten: those that are not scaled.
static tile_status append_step(struct build *b, tile_value *loss, tile_value *const *parameters,
                               tile_value **gradients, size_t count) {
  tile_graph *g = b->g;
  tile_optimizer optimizer = b->o->optimizer;
  tile_value *before = number_input(g, "trainer_step", TILE_I64);
  tile_value *step = tile_add_number(before, 1), *skipped = NULL;
  tile_value *rate = tile_graph_rate(g, &b->o->schedule, before);
  write(g, before, step);
  for (size_t i = 0; i < count && b->scale; i++)
    gradients[i] = tile_mul(tile_convert(gradients[i], TILE_F32), tile_reciprocal(b->scale));
  optimizer.loss_scale = b->scale ? 1 : 0; // asks whether gradients are finite
  tile_value *sum = sum_of_squares(gradients, count);
  if (b->scale) {
    tile_value *finite = tile_eq_number(tile_sub(sum, sum), 0);
    write_scale(b, finite);
    skipped = count_skipped(b, finite);
  }
  write_history(b, step, loss, tile_sqrt(sum), rate, skipped);
  if (tile_graph_status(g) != TILE_OK)
    return tile_graph_status(g);
  return tile_graph_optimize(g, &optimizer, rate, parameters, gradients, count);
}

// ---- accumulation ----

static const char *sum_name(tile_graph *g, const struct graph_parameter *p) {
  return arena_printf(g->arena, "%s_gradient", p->value->v->name);
}

// Adds to sums in `b->g`, and appends the step of the sums to `update`.
static tile_status accumulate(struct build *b, tile_graph *update, tile_value *loss,
                              tile_value *const *parameters, tile_value **gradients, size_t count) {
  tile_graph *g = b->g;
  struct build later = {update, b->o, NULL};
  tile_value **to = arena_array(g->arena, tile_value *, count + 1),
             **sums = arena_array(g->arena, tile_value *, count + 1);
  for (size_t i = 0; i < count; i++) {
    const char *name = sum_name(g, &g->parameters.at[i]);
    tile_value *sum = like(g, parameters[i], name, TILE_F32);
    write(g, sum, tile_add(sum, tile_convert(gradients[i], TILE_F32)));
    to[i] = like(update, parameters[i], parameters[i]->v->name, tile_value_dtype(parameters[i]));
    sums[i] = like(update, parameters[i], name, TILE_F32);
    write(update, sums[i], zeros_like(update, sums[i]));
  }
  tile_value *total = number_input(g, "trainer_loss", TILE_F32),
             *mean = number_input(update, "trainer_loss", TILE_F32);
  write(g, total, tile_add(total, tile_mul_number(loss, 1.0 / b->o->accumulate)));
  write(update, mean, tile_full(update, NULL, 0, 0, TILE_F32));
  if (b->scale)
    later.scale = number_input(update, SCALE_NAME, TILE_F32);
  if (tile_graph_status(g) != TILE_OK)
    return tile_graph_status(g);
  return append_step(&later, mean, to, sums, count);
}

// ---- all ----

static tile_status build(struct build *b, tile_value *loss, tile_graph *update) {
  tile_graph *g = b->g;
  size_t count = g->parameters.len;
  tile_value **parameters = arena_array(g->arena, tile_value *, count + 1),
             **gradients = arena_array(g->arena, tile_value *, count + 1);
  for (size_t i = 0; i < count; i++)
    parameters[i] = g->parameters.at[i].value;
  if (b->o->is_deterministic)
    tile_graph_set_deterministic(g, 1);
  if (b->o->limits_saved && tile_graph_limit_saved(g, b->o->saved_bytes) != TILE_OK)
    return tile_graph_status(g);
  tile_value *wide = tile_view(tile_convert(loss, TILE_F32), NULL, 0), *of = wide;
  if (b->o->optimizer.loss_scale > 0) {
    b->scale = number_input(g, SCALE_NAME, TILE_F32);
    of = tile_mul(of, b->scale);
  }
  if (update)
    of = tile_mul_number(of, 1.0 / b->o->accumulate);
  if (tile_graph_status(g) != TILE_OK)
    return tile_graph_status(g);
  tile_status s = tile_graph_gradient(g, &of, 1, NULL, parameters, count, gradients);
  if (s != TILE_OK)
    return s;
  return update ? accumulate(b, update, wide, parameters, gradients, count)
                : append_step(b, wide, parameters, gradients, count);
}

tile_status trainer_build(tile_graph *graph, tile_value *loss, const tile_trainer_options *o,
                          tile_graph *update) {
  struct build b = {.g = graph, .o = o};
  GUARDED(graph, out_of_memory, TILE_OUT_OF_MEMORY);
  return build(&b, loss, update);
}
