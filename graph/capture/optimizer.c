// SPDX-License-Identifier: Apache-2.0
// Steps of optimizers, built by the public calls. These accept NULL, and the graph keeps its first
// error, so that a step needs no checks.
#include "graph/capture/capture.h"

#include <tile/optimizer.h>

#include <math.h>

struct step {
  tile_graph *g;
  const tile_optimizer *o;
  tile_value *rate;
  tile_value *scale;  // of all gradients; NULL: 1
  tile_value *finite; // boolean: all gradients are; NULL: not asked
  tile_value *count;  // of this run, from 1; NULL: not used
};

tile_optimizer tile_optimizer_default(tile_optimizer_kind kind) {
  tile_optimizer o = {.kind = kind, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8};
  if (kind == TILE_ADAMW || kind == TILE_MUON)
    o.weight_decay = kind == TILE_MUON ? 0.1 : 0.01;
  if (kind == TILE_LION)
    o.beta2 = 0.99;
  if (kind == TILE_MUON)
    o.momentum = 0.95, o.nesterov = 1;
  return o;
}

// ---- values ----

static tile_value *f32(tile_value *x) { return tile_convert(x, TILE_F32); }

// a + (b - a) * by
static tile_value *lerp(tile_value *a, tile_value *b, double by) {
  return tile_add(tile_mul_number(a, 1 - by), tile_mul_number(b, by));
}

// What a run remembers for the next: an input like the parameter.
static tile_value *memory(struct step *s, tile_value *parameter, const char *suffix) {
  int64_t shape[GRAPH_MAX_RANK];
  if (s->g->status != TILE_OK)
    return NULL;
  const char *name = arena_printf(s->g->arena, "%s_%s", parameter->v->name, suffix);
  for (int d = 0; d < tile_value_rank(parameter); d++)
    shape[d] = tile_value_size(parameter, d);
  return tile_graph_input(s->g, name, TILE_F32, tile_value_rank(parameter), shape, NULL);
}

// Writes a new value, unless gradients are not finite.
static void write(struct step *s, tile_value *input, tile_value *value) {
  if (s->finite)
    value = tile_where(s->finite, value, f32(input));
  value = tile_convert(value, tile_value_dtype(input));
  if (value)
    tile_graph_write(s->g, input, value);
}

// ---- all gradients: their norm ----

static void scale_all(struct step *s, tile_value *const *gradients, size_t count) {
  tile_value *sum = NULL;
  double unscale = s->o->loss_scale > 0 ? 1 / s->o->loss_scale : 1;
  for (size_t i = 0; i < count; i++) {
    tile_value *g = f32(gradients[i]);
    g = unscale < 1 || unscale > 1 ? tile_mul_number(g, unscale) : g;
    tile_value *square = tile_sum(tile_mul(g, g), NULL, 0, 0);
    sum = sum ? tile_add(sum, square) : square;
  }
  if (s->o->loss_scale > 0)
    s->finite = tile_eq_number(tile_sub(sum, sum), 0);
  if (s->o->clip_norm <= 0)
    return;
  tile_value *norm = tile_add_number(tile_sqrt(sum), 1e-6);
  s->scale = tile_clamp(tile_mul_number(tile_reciprocal(norm), s->o->clip_norm), 0, 1);
}

static tile_value *scaled(struct step *s, tile_value *gradient) {
  tile_value *g = f32(gradient);
  if (s->o->loss_scale > 0 && (s->o->loss_scale < 1 || s->o->loss_scale > 1))
    g = tile_mul_number(g, 1 / s->o->loss_scale);
  return s->scale ? tile_mul(g, s->scale) : g;
}

// ---- the steps: p is the parameter in f32, g its gradient ----

static tile_value *decayed(struct step *s, tile_value *p) {
  tile_value *part = tile_mul_number(s->rate, s->o->weight_decay);
  return s->o->weight_decay > 0 ? tile_sub(p, tile_mul(p, part)) : p;
}

// The momentum is not damped: from zeros, the first one is the first gradient.
static void step_sgd(struct step *s, tile_value *parameter, tile_value *g) {
  tile_value *p = f32(parameter);
  if (s->o->weight_decay > 0)
    g = tile_add(g, tile_mul_number(p, s->o->weight_decay));
  if (s->o->momentum > 0) {
    tile_value *old = memory(s, parameter, "moment1");
    tile_value *moment = tile_add(tile_mul_number(old, s->o->momentum), g);
    write(s, old, moment);
    g = s->o->nesterov ? tile_add(g, tile_mul_number(moment, s->o->momentum)) : moment;
  }
  write(s, parameter, tile_sub(p, tile_mul(g, s->rate)));
}

// 1 - beta^count
static tile_value *correction(struct step *s, double beta) {
  tile_value *power = tile_exp(tile_mul_number(s->count, log(beta)));
  return tile_add_number(tile_neg(power), 1);
}

static void step_adam(struct step *s, tile_value *parameter, tile_value *g, bool decouples) {
  const tile_optimizer *o = s->o;
  tile_value *p = f32(parameter);
  if (decouples)
    p = decayed(s, p);
  else if (o->weight_decay > 0)
    g = tile_add(g, tile_mul_number(p, o->weight_decay));
  tile_value *first = memory(s, parameter, "moment1"), *second = memory(s, parameter, "moment2");
  tile_value *mean = lerp(first, g, 1 - o->beta1),
             *square = lerp(second, tile_mul(g, g), 1 - o->beta2);
  write(s, first, mean);
  write(s, second, square);
  tile_value *root = tile_sqrt(tile_div(square, correction(s, o->beta2)));
  tile_value *way =
      tile_div(tile_div(mean, correction(s, o->beta1)), tile_add_number(root, o->epsilon));
  write(s, parameter, tile_sub(p, tile_mul(way, s->rate)));
}

static tile_value *sign(tile_graph *g, tile_value *x) {
  tile_operand arg = tile_g_tensor(x);
  return x ? tile_graph_apply(g, "aten.sign.default", &arg, 1) : NULL;
}

static void step_lion(struct step *s, tile_value *parameter, tile_value *g) {
  tile_value *moment = memory(s, parameter, "moment1");
  tile_value *way = sign(s->g, lerp(moment, g, 1 - s->o->beta1));
  write(s, moment, lerp(moment, g, 1 - s->o->beta2));
  write(s, parameter, tile_sub(decayed(s, f32(parameter)), tile_mul(way, s->rate)));
}

// A matrix whose singular values are about 1, by five steps of a quintic Newton-Schulz iteration.
static tile_value *orthogonal(tile_value *x, bool is_tall) {
  enum { STEPS = 5 };
  static const double a = 3.4445, b = -4.7750, c = 2.0315;
  x = is_tall ? tile_transpose(x, 0, 1) : x;
  tile_value *norm = tile_sqrt(tile_sum(tile_mul(x, x), NULL, 0, 0));
  x = tile_div(x, tile_clamp(norm, 1e-7, INFINITY));
  for (int i = 0; i < STEPS; i++) {
    tile_value *gram = tile_matmul(x, tile_transpose(x, 0, 1));
    tile_value *mixed =
        tile_add(tile_mul_number(gram, b), tile_mul_number(tile_matmul(gram, gram), c));
    x = tile_add(tile_mul_number(x, a), tile_matmul(mixed, x));
  }
  return is_tall ? tile_transpose(x, 0, 1) : x;
}

static void step_muon(struct step *s, tile_value *parameter, tile_value *g) {
  int64_t rows = tile_value_size(parameter, 0), columns = tile_value_size(parameter, 1);
  tile_value *old = memory(s, parameter, "moment1");
  tile_value *moment = lerp(old, g, 1 - s->o->momentum);
  write(s, old, moment);
  g = s->o->nesterov ? lerp(g, moment, s->o->momentum) : moment;
  bool is_tall = rows > columns; // of symbolic sizes: right, but not the cheaper way
  double adjust = is_tall && columns > 0 ? sqrt((double)rows / (double)columns) : 1;
  tile_value *way = tile_mul_number(orthogonal(g, is_tall), adjust);
  write(s, parameter, tile_sub(decayed(s, f32(parameter)), tile_mul(way, s->rate)));
}

static void step_one(struct step *s, tile_value *parameter, tile_value *gradient) {
  tile_value *g = scaled(s, gradient);
  switch (s->o->kind) {
  case TILE_SGD: step_sgd(s, parameter, g); break;
  case TILE_LION: step_lion(s, parameter, g); break;
  case TILE_MUON:
    if (tile_value_rank(parameter) == 2)
      step_muon(s, parameter, g);
    else
      step_adam(s, parameter, g, true);
    break;
  default: step_adam(s, parameter, g, s->o->kind == TILE_ADAMW); break;
  }
}

// ---- arguments ----

static bool is_share(double x) { return x >= 0 && x < 1; }

static const char *wrong(const tile_optimizer *o, const tile_value *rate) {
  if ((unsigned)o->kind > TILE_MUON)
    return "no such optimizer";
  if (!is_share(o->momentum) || !is_share(o->beta1) || !is_share(o->beta2))
    return "momentum, beta1 and beta2 are from 0 to below 1";
  if (o->kind != TILE_SGD && (o->beta1 <= 0 || o->beta2 <= 0))
    return "beta1 and beta2 are above 0";
  if (!(o->epsilon >= 0) || !(o->weight_decay >= 0) || !(o->clip_norm >= 0) ||
      !(o->loss_scale >= 0))
    return "epsilon, weight_decay, clip_norm and loss_scale are not negative";
  if (tile_value_rank(rate) != 0 || tile_value_dtype(rate) != TILE_F32)
    return "the learning rate is an f32 value of rank 0";
  return NULL;
}

static bool fits(tile_graph *g, const tile_value *parameter, const tile_value *gradient) {
  return capture_is_own(g, parameter, "a parameter") && capture_is_own(g, gradient, "a gradient") &&
         (!parameter->v->def && dtype_is_float(parameter->v->dtype) &&
          value_same_shape(parameter->v, gradient->v));
}

tile_status tile_graph_optimize(tile_graph *g, const tile_optimizer *o, tile_value *learning_rate,
                                tile_value *const *parameters, tile_value *const *gradients,
                                size_t count) {
  if (!g || !o || !parameters || !gradients)
    return status_set(TILE_INVALID_ARGUMENT,
                      "a step needs a graph, an optimizer, parameters and gradients");
  if (!capture_is_open(g) || !capture_is_own(g, learning_rate, "the learning rate"))
    return g->status;
  GUARDED(g, out_of_memory, TILE_OUT_OF_MEMORY);
  const char *why = wrong(o, learning_rate);
  if (why)
    return capture_fail(g, TILE_INVALID_ARGUMENT, "%s", why);
  for (size_t i = 0; i < count; i++)
    if (!fits(g, parameters[i], gradients[i]))
      return g->status != TILE_OK
                 ? g->status
                 : capture_fail(g, TILE_INVALID_ARGUMENT,
                                "parameter %zu is no input of a float dtype, or its gradient has "
                                "another shape",
                                i);
  struct step s = {.g = g, .o = o, .rate = learning_rate};
  if (o->loss_scale > 0 || o->clip_norm > 0)
    scale_all(&s, gradients, count);
  if (o->kind == TILE_ADAM || o->kind == TILE_ADAMW || o->kind == TILE_MUON) {
    tile_value *before = tile_graph_input(g, "step_count", TILE_F32, 0, NULL, NULL);
    s.count = tile_add_number(before, 1);
    write(&s, before, s.count);
  }
  for (size_t i = 0; i < count; i++)
    step_one(&s, parameters[i], gradients[i]);
  return tile_graph_status(g);
}
