// SPDX-License-Identifier: Apache-2.0
// The generator hashes seed and index with the finaliser of SplitMix64 (Steele, Lea, Flood 2014),
// which passes the usual statistical tests on consecutive counters. Large arrays are filled on all
// cores.
#include "tools/launch/array_fill.h"

#include "base/thread_pool.h"

#include <math.h>

#define BLOCK_ELEMENTS 65536

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Independent streams for the same seed and index.
static uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t index) {
  uint64_t key = mix(seed * 2 + stream + 0x9e3779b97f4a7c15u);
  return mix(key + index * 0x9e3779b97f4a7c15u);
}

static double unit_interval(uint64_t bits) { return (double)(bits >> 11) * 0x1p-53; }

double fill_uniform(uint64_t seed, uint64_t index) {
  return unit_interval(random_bits(seed, 0, index));
}

double fill_normal(uint64_t seed, uint64_t index) {
  // Box-Muller; 1 - u is in (0, 1], so the logarithm is finite.
  double radius = sqrt(-2.0 * log(1.0 - unit_interval(random_bits(seed, 0, index))));
  return radius * cos(6.283185307179586 * unit_interval(random_bits(seed, 1, index)));
}

struct fill_job {
  struct array *array;
  const struct fill *fill;
  unsigned element_bytes;
};

static double element_value(const struct fill *f, uint64_t i) {
  switch (f->kind) {
  case FILL_VALUE: return f->a;
  case FILL_IOTA: return (double)i;
  case FILL_EMPTY: break;
  case FILL_UNIFORM: return f->a + (f->b - f->a) * fill_uniform(f->seed, i);
  case FILL_NORMAL: return f->a + f->b * fill_normal(f->seed, i);
  }
  return 0;
}

static void fill_block(void *user, uint64_t block, unsigned worker) {
  (void)worker;
  const struct fill_job *job = user;
  const struct fill *f = job->fill;
  enum dtype type = job->array->dtype;
  uint64_t begin = block * BLOCK_ELEMENTS, end = begin + BLOCK_ELEMENTS;
  if (end > job->array->count)
    end = job->array->count;
  char *p = (char *)job->array->data + begin * job->element_bytes;
  for (uint64_t i = begin; i < end; i++, p += job->element_bytes) {
    double v = element_value(f, i);
    if (f->kind == FILL_UNIFORM && dtype_is_int(type))
      v = floor(v);
    dtype_store(type, p, v);
    if (f->kind == FILL_UNIFORM && f->a < f->b && dtype_load(type, p) >= f->b)
      dtype_store(type, p, f->a);
  }
}

void array_fill(struct array *array, const struct fill *fill) {
  struct fill_job job = {array, fill, dtype_bytes(array->dtype)};
  uint64_t blocks = (array->count + BLOCK_ELEMENTS - 1) / BLOCK_ELEMENTS;
  if (fill->kind == FILL_VALUE && fill->a == 0 && !signbit(fill->a)) {
    memset(array->data, 0, array->count * job.element_bytes);
    return;
  }
  if (fill->kind == FILL_EMPTY) { // the poison of the CPU and of simulated devices
    memset(array->data, 0xff, array->count * job.element_bytes);
    return;
  }
  struct thread_pool *pool = blocks >= 16 ? thread_pool_create(0) : NULL;
  if (pool)
    thread_pool_for(pool, blocks, fill_block, &job);
  else
    for (uint64_t i = 0; i < blocks; i++)
      fill_block(&job, i, 0);
  thread_pool_destroy(pool);
}
