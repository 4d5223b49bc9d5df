// SPDX-License-Identifier: Apache-2.0
// Loops shared by the reference functions: nests over strided tensors, and tensors as lines.
#include "base/memory.h"
#include "graph/reference/reference.h"

#include <stdlib.h>

void dense_strides(uint32_t rank, const int64_t *shape, int64_t *ret) {
  int64_t stride = 1;
  for (uint32_t d = rank; d-- > 0;) {
    ret[d] = stride;
    stride *= shape[d];
  }
}

uint32_t call_dims(const struct reference_call *c, unsigned i, uint32_t rank) {
  int64_t dims[GRAPH_MAX_RANK];
  uint32_t count = node_is_none(c->node, i) ? 0 : call_ints(c, i, dims), bits = 0;
  for (uint32_t k = 0; k < count; k++)
    bits |= 1u << (dims[k] < 0 ? dims[k] + rank : dims[k]);
  return count ? bits : (1u << rank) - 1;
}

// ---- nests ----

void walk_init(struct walk *w, uint32_t rank, const int64_t *shape) {
  *w = (struct walk){.rank = rank};
  for (uint32_t d = 0; d < rank; d++)
    w->shape[d] = shape[d];
}

void walk_add(struct walk *w, int64_t start, const int64_t *strides) {
  w->start[w->count] = start;
  for (uint32_t d = 0; d < w->rank; d++)
    w->strides[w->count][d] = strides[d];
  w->count++;
}

void walk_add_broadcast(struct walk *w, const struct tensor *t) {
  int64_t dense[GRAPH_MAX_RANK], strides[GRAPH_MAX_RANK] = {0};
  dense_strides(t->rank, t->shape, dense);
  uint32_t skipped = w->rank - t->rank;
  for (uint32_t d = 0; d < t->rank; d++)
    strides[skipped + d] = t->shape[d] == 1 ? 0 : dense[d];
  walk_add(w, 0, strides);
}

// Merges dimension d into the one before it, p.
static bool can_merge(const struct walk *w, uint32_t p, uint32_t d) {
  for (unsigned k = 0; k < w->count; k++)
    if (w->strides[k][p] != w->strides[k][d] * w->shape[d])
      return false;
  return true;
}

static void move_dim(struct walk *w, uint32_t to, uint32_t from) {
  w->shape[to] = w->shape[from];
  for (unsigned k = 0; k < w->count; k++)
    w->strides[k][to] = w->strides[k][from];
}

static void merge(struct walk *w) {
  uint32_t rank = 0;
  for (uint32_t d = 0; d < w->rank; d++) {
    if (w->shape[d] == 1)
      continue;
    if (rank > 0 && can_merge(w, rank - 1, d)) {
      int64_t outer = w->shape[rank - 1];
      move_dim(w, rank - 1, d);
      w->shape[rank - 1] *= outer;
    } else {
      move_dim(w, rank++, d);
    }
  }
  w->rank = rank;
}

enum { BATCH = 1 << 14 };

struct walk_job {
  const struct walk *w;
  walk_fn body;
  void *user;
  int64_t rows, inner, pieces, rows_at_once;
};

static void run_row(const struct walk_job *job, int64_t row, int64_t from, int64_t length) {
  const struct walk *w = job->w;
  int64_t at[WALK_MAX], step[WALK_MAX];
  const uint32_t last = w->rank ? w->rank - 1 : 0;
  for (unsigned k = 0; k < w->count; k++) {
    step[k] = w->rank ? w->strides[k][last] : 0;
    at[k] = w->start[k] + from * step[k];
  }
  for (uint32_t d = last; d-- > 0;) {
    int64_t index = row % w->shape[d];
    row /= w->shape[d];
    for (unsigned k = 0; k < w->count; k++)
      at[k] += index * w->strides[k][d];
  }
  job->body(job->user, at, step, length);
}

static void run_batch(void *user, int64_t i) {
  const struct walk_job *job = user;
  if (job->pieces > 1) {
    int64_t from = i % job->pieces * BATCH, rest = job->inner - from;
    run_row(job, i / job->pieces, from, rest < BATCH ? rest : BATCH);
    return;
  }
  int64_t end = (i + 1) * job->rows_at_once;
  for (int64_t row = i * job->rows_at_once; row < end && row < job->rows; row++)
    run_row(job, row, 0, job->inner);
}

void walk_run(const struct reference_call *c, struct walk *w, walk_fn body, void *user) {
  int64_t rows = 1;
  merge(w);
  for (uint32_t d = 0; d < w->rank; d++) {
    if (w->shape[d] == 0)
      return;
    rows *= d + 1 < w->rank ? w->shape[d] : 1;
  }
  struct walk_job job = {.w = w, .body = body, .user = user, .rows = rows, .rows_at_once = 1};
  job.inner = w->rank ? w->shape[w->rank - 1] : 1;
  job.pieces = (job.inner + BATCH - 1) / BATCH;
  if (job.pieces == 1)
    job.rows_at_once = (BATCH + job.inner - 1) / job.inner;
  int64_t batches = (rows + job.rows_at_once - 1) / job.rows_at_once * job.pieces;
  call_for(c, batches, BATCH, run_batch, &job);
}

// ---- copies ----

struct copy {
  union element *to;
  const union element *from;
  enum dtype from_type, to_type;
};

static void copy_run(void *user, const int64_t *at, const int64_t *step, int64_t length) {
  const struct copy *job = user;
  union element *to = job->to + at[0];
  const union element *from = job->from + at[1];
  if (job->from_type == job->to_type)
    for (int64_t i = 0; i < length; i++)
      to[i * step[0]] = from[i * step[1]];
  else
    for (int64_t i = 0; i < length; i++)
      to[i * step[0]] = element_convert(from[i * step[1]], job->from_type, job->to_type);
}

static void copy(const struct reference_call *c, struct walk *w, struct tensor *out,
                 const struct tensor *in) {
  struct copy job = {out->at, in->at, in->dtype, out->dtype};
  walk_run(c, w, copy_run, &job);
}

void copy_strided(const struct reference_call *c, struct tensor *out, const struct tensor *in,
                  int64_t start, const int64_t *strides) {
  struct walk w;
  int64_t dense[GRAPH_MAX_RANK];
  dense_strides(out->rank, out->shape, dense);
  walk_init(&w, out->rank, out->shape);
  walk_add(&w, 0, dense);
  walk_add(&w, start, strides);
  copy(c, &w, out, in);
}

void place_strided(const struct reference_call *c, struct tensor *out, int64_t start,
                   const int64_t *strides, const struct tensor *in) {
  struct walk w;
  int64_t dense[GRAPH_MAX_RANK];
  dense_strides(in->rank, in->shape, dense);
  walk_init(&w, in->rank, in->shape);
  walk_add(&w, start, strides);
  walk_add(&w, 0, dense);
  copy(c, &w, out, in);
}

// ---- lines ----

bool lines_init(struct lines *l, const struct tensor *t, uint32_t along) {
  int64_t dense[GRAPH_MAX_RANK];
  struct walk inner = {.count = 1};
  dense_strides(t->rank, t->shape, dense);
  *l = (struct lines){.count = 1, .length = 1};
  for (uint32_t d = 0; d < t->rank; d++) {
    if (along >> d & 1) {
      inner.shape[inner.rank] = t->shape[d];
      inner.strides[0][inner.rank++] = dense[d];
      l->length *= t->shape[d];
    } else {
      l->shape[l->rank] = t->shape[d];
      l->strides[l->rank++] = dense[d];
      l->count *= t->shape[d];
    }
  }
  merge(&inner);
  l->step = inner.rank ? inner.strides[0][inner.rank - 1] : 0;
  if (inner.rank < 2 || l->length == 0)
    return true;
  l->offsets = memory_alloc((size_t)l->length * sizeof *l->offsets);
  for (int64_t j = 0; l->offsets && j < l->length; j++) {
    int64_t offset = 0, rest = j;
    for (uint32_t d = inner.rank; d-- > 0; rest /= inner.shape[d])
      offset += rest % inner.shape[d] * inner.strides[0][d];
    l->offsets[j] = offset;
  }
  return l->offsets != NULL;
}

void lines_free(struct lines *l) { free(l->offsets); }

int64_t line_start(const struct lines *l, int64_t i) {
  int64_t offset = 0;
  for (uint32_t d = l->rank; d-- > 0; i /= l->shape[d])
    offset += i % l->shape[d] * l->strides[d];
  return offset;
}
