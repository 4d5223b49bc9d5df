// SPDX-License-Identifier: Apache-2.0
// Parameters by name, and their first elements.
#include "graph/reference/interpret.h"
#include "graph/train/trainer_internal.h"

#include <math.h>

tile_initial tile_initial_constant(double value) {
  return (tile_initial){TILE_INITIAL_CONSTANT, value};
}
tile_initial tile_initial_uniform(double bound) {
  return (tile_initial){TILE_INITIAL_UNIFORM, bound};
}
tile_initial tile_initial_normal(double deviation) {
  return (tile_initial){TILE_INITIAL_NORMAL, deviation};
}

static const char *wrong(tile_graph *g, const char *name, tile_type dtype, int rank,
                         const int64_t *shape, tile_initial initial) {
  if (!name || !*name)
    return "a parameter needs a name";
  if ((unsigned)dtype >= DTYPE_COUNT || !dtype_is_float((enum dtype)dtype))
    return "a parameter is a float tensor";
  if (rank < 0 || rank > TILE_WEIGHTS_MAX_RANK || (rank && !shape))
    return "a parameter has at most 8 sizes";
  for (int d = 0; d < rank; d++)
    if (shape[d] < 0)
      return "the sizes of a parameter are numbers from 0 on";
  for (size_t i = 0; i < g->parameters.len; i++)
    if (strcmp(g->parameters.at[i].value->v->name, name) == 0)
      return "a parameter of this name is there";
  if ((unsigned)initial.kind > TILE_INITIAL_NORMAL ||
      (initial.kind != TILE_INITIAL_CONSTANT && !(initial.size >= 0 && isfinite(initial.size))))
    return "the bound and the deviation of a parameter's first elements are not negative";
  return NULL;
}

tile_value *tile_graph_parameter(tile_graph *g, const char *name, tile_type dtype, int rank,
                                 const int64_t *shape, tile_initial initial) {
  if (!g || !capture_is_open(g))
    return NULL;
  const char *why = wrong(g, name, dtype, rank, shape, initial);
  if (why) {
    capture_fail(g, TILE_INVALID_ARGUMENT, "%s: `%s`", why, name ? name : "");
    return NULL;
  }
  tile_value *v = tile_graph_input(g, name, dtype, rank, shape, NULL);
  GUARDED(g, out_of_memory, NULL);
  if (v)
    vec_push(g->arena, &g->parameters, (struct graph_parameter){v, initial});
  return v;
}

// ---- first elements ----

// The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
uint64_t train_mix(uint64_t a, uint64_t b) {
  uint64_t x = a + 0x9e3779b97f4a7c15u * (b + 1);
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static uint64_t key_of(const struct graph_parameter *p, uint64_t seed) {
  uint64_t key = seed;
  for (const char *c = p->value->v->name; *c; c++)
    key = train_mix(key, (unsigned char)*c);
  return key;
}

static double first_element(const tile_initial *initial, uint64_t key, uint64_t i) {
  switch (initial->kind) {
  case TILE_INITIAL_UNIFORM: return initial->size * (2 * (double)random_uniform(key, 0, i) - 1);
  case TILE_INITIAL_NORMAL: return initial->size * random_normal(key, 0, i);
  default: return initial->size;
  }
}

void parameter_fill(const struct graph_parameter *p, uint64_t seed, void *to) {
  const struct value *v = p->value->v;
  uint64_t key = key_of(p, seed);
  int64_t count = 1, size = 0;
  for (uint32_t d = 0; d < v->rank; d++)
    count *= expr_is_const(v->shape[d], &size) ? size : 0;
  for (int64_t i = 0; i < count; i++)
    dtype_store(v->dtype, (char *)to + (size_t)i * dtype_bytes(v->dtype),
                first_element(&p->initial, key, (uint64_t)i));
}
