// SPDX-License-Identifier: Apache-2.0
// Compares results with the reference's: equal bytes first, then within a tolerance by dtype.
// Configurations sum in different orders, and where large terms cancel the error scales with the
// terms, not with the sum: unless the user gives tolerances, they are relative to the larger of the
// element and the root mean square of the array. Arrays are compared in chunks on all cores.
#include "autotune/worker/bench.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

#define SAMPLED_ELEMENTS 65536u

struct check {
  bool is_reference;
  pthread_mutex_t lock;     // guards what follows
  struct comparison *found; // one per buffer
};

// Relative to the larger of the element and the array's scale.
static double tolerance(enum dtype t) {
  switch (t) {
  case DTYPE_F64: return 1e-10;
  case DTYPE_F32: return 1e-4;
  case DTYPE_F16: return 2e-3;
  case DTYPE_BF16: return 1.6e-2;
  case DTYPE_F8E4NV:
  case DTYPE_F8E4B15: return 0.13;
  case DTYPE_F8E5: return 0.26;
  default: return 0;
  }
}

static void tolerances(const struct bench *b, const struct bench_buffer *n, double *ret_rtol,
                       double *ret_atol) {
  double rtol, atol;
  compare_defaults(n->type, &rtol, &atol);
  double wide = tolerance(n->type);
  bool given = b->problem->rtol >= 0 || b->problem->atol >= 0;
  *ret_rtol = b->problem->rtol >= 0 ? b->problem->rtol : given ? rtol : wide;
  *ret_atol = b->problem->atol >= 0 ? b->problem->atol : given ? atol : fmax(atol, wide * n->scale);
}

// The root mean square of the finite elements, from a sample.
static double scale_of(const struct bench_buffer *n, const char *reference) {
  unsigned size = dtype_bytes(n->type);
  uint64_t count = n->array.bytes / size, step = count / SAMPLED_ELEMENTS + 1, used = 0;
  double sum = 0;
  for (uint64_t i = 0; i < count; i += step) {
    double v = dtype_load(n->type, reference + i * size);
    if (!isfinite(v))
      continue;
    sum += v * v;
    used++;
  }
  return used ? sqrt(sum / (double)used) : 0;
}

// The expected contents: the user's, else the reference's results.
static const char *wanted(const struct bench *b, const struct bench_buffer *n) {
  return n->array.has_expected ? b->data + n->array.expected : b->reference + n->array.offset;
}

static void compare_chunk(struct bench *b, struct check *k, const struct bench_chunk *c,
                          const void *actual) {
  const struct bench_buffer *n = &b->buffers[c->buffer];
  const char *reference = wanted(b, n) + c->offset;
  if (memcmp(actual, reference, c->bytes) == 0)
    return;
  unsigned size = dtype_bytes(n->type);
  double rtol, atol;
  tolerances(b, n, &rtol, &atol);
  uint64_t count = c->bytes / size;
  // Compared, not written.
  struct array expected = {n->type, 1, {count}, count, NULL}, results = expected;
  memcpy(&expected.data, &reference, sizeof reference);
  memcpy(&results.data, &actual, sizeof actual);
  struct comparison found = compare_arrays(&results, &expected, rtol, atol);
  pthread_mutex_lock(&k->lock);
  comparison_add(&k->found[c->buffer], &found, c->offset / size);
  pthread_mutex_unlock(&k->lock);
}

static tile_status check_chunk(struct bench *b, void *user, const struct bench_chunk *c) {
  struct check *k = user;
  const struct bench_buffer *n = &b->buffers[c->buffer];
  const char *actual = (const char *)n->device + c->offset;
  if (c->staging) {
    tile_status s = tile_copy_to_host(b->device, NULL, c->staging, actual, c->bytes);
    if (s != TILE_OK)
      return s;
    actual = c->staging;
  }
  if (k->is_reference && !n->array.has_expected)
    memcpy(b->reference + n->array.offset + c->offset, actual, c->bytes);
  else
    compare_chunk(b, k, c, actual);
  return TILE_OK;
}

static void find_scales(struct bench *b) {
  for (size_t i = 0; i < b->buffer_count; i++)
    if (dtype_is_float(b->buffers[i].type))
      b->buffers[i].scale = scale_of(&b->buffers[i], wanted(b, &b->buffers[i]));
  b->has_scales = true;
}

// "`out`[17] is 3.5, the reference has 1.25; 12 of 64 elements differ"
static void describe(const struct bench *b, size_t buffer, const struct comparison *c,
                     struct tune_reply *reply) {
  const struct bench_buffer *n = &b->buffers[buffer];
  unsigned size = dtype_bytes(n->type);
  char actual[16];
  const char *expected = wanted(b, n) + c->worst * size;
  const char *at = (const char *)n->device + c->worst * size;
  if (tile_copy_to_host(b->device, NULL, actual, at, size) != TILE_OK)
    memset(actual, 0, sizeof actual);
  snprintf(reply->reason, sizeof reply->reason,
           "`%s`[%llu] is %.9g, %s %.9g; %llu of %llu elements differ", n->name,
           (unsigned long long)c->worst, dtype_load(n->type, actual),
           n->array.has_expected ? "expected is" : "the reference has",
           dtype_load(n->type, expected), (unsigned long long)c->mismatches,
           (unsigned long long)(n->array.bytes / size));
}

static void judge(struct bench *b, const struct comparison *found, struct tune_reply *reply,
                  bool *ret_same) {
  *ret_same = true;
  for (size_t i = 0; i < b->buffer_count; i++) {
    reply->max_abs = fmax(reply->max_abs, found[i].max_abs);
    reply->max_rel = fmax(reply->max_rel, found[i].max_rel);
    if (found[i].mismatches && *ret_same)
      describe(b, i, &found[i], reply);
    *ret_same &= found[i].mismatches == 0;
  }
}

tile_status bench_compare(struct bench *b, bool is_reference, struct tune_reply *reply,
                          bool *ret_same) {
  struct comparison found[BENCH_MAX_PARAMS] = {0};
  struct check k = {.is_reference = is_reference, .found = found};
  if (!b->has_scales)
    find_scales(b);
  pthread_mutex_init(&k.lock, NULL);
  tile_status s = bench_for_chunks(b, check_chunk, &k);
  pthread_mutex_destroy(&k.lock);
  if (s != TILE_OK)
    return s;
  judge(b, found, reply, ret_same);
  if (is_reference) {
    b->has_reference = *ret_same;
    b->has_scales = false; // to be computed from the new results
  }
  return TILE_OK;
}
