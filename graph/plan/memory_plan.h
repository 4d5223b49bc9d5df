// SPDX-License-Identifier: Apache-2.0
// Shared by the files of the memory plan. A buffer is live from the first launch that writes it to
// the last that uses it. A storage is the memory of one buffer or, for in-place outputs, of several
// in a row.
#ifndef TILE_GRAPH_PLAN_MEMORY_PLAN_H
#define TILE_GRAPH_PLAN_MEMORY_PLAN_H

#include "graph/program/program.h"

enum { MEMORY_ALIGNMENT = 256 };

// The bytes of that many elements for likely sizes, rounded up; of symbolic sizes beyond any memory
// so many that sums of them do not overflow.
static inline int64_t memory_likely(const struct expr *elements, enum dtype t) {
  const int64_t most = INT64_C(1) << 45, count = expr_hint(elements), bytes = dtype_bytes(t);
  if (count > most / bytes)
    return most;
  return (count * bytes + MEMORY_ALIGNMENT - 1) / MEMORY_ALIGNMENT * MEMORY_ALIGNMENT;
}

struct life {
  struct buffer *buffer;
  size_t first, last;      // launches, by index in their order; of a storage: up to its end
  const struct expr *size; // in bytes, rounded up
  int64_t bytes;           // the same, for likely sizes
  int64_t offset;          // of a storage
  struct life *storage;    // itself, or the storage whose memory it uses
  bool is_given;           // an in-place output took over its memory
  bool is_counter;         // program.counters, which is live during the whole run
};

struct lives {
  size_t count;
  struct life **at; // by first launch
  size_t taken_count;
  const struct in_place *taken;
};

// ---- graph/plan/memory_reuse.c ----
// Lifetimes for this order of launches; NULL: the current one. With `reuses`, outputs are in place:
// in the memory of inputs whose lifetime ends at the same launch, where the launch allows it.
struct lives memory_lives(const struct program *p, struct arena *a, const uint32_t *order,
                          bool reuses);
// Inserts barriers in in-place kernels between their loads and stores.
void memory_order_kernels(struct program *p);

// ---- graph/plan/memory_plan.c ----
// Allocates every temporary.
void memory_plan(struct program *p);
// Allocates the storages for likely sizes; returns the end of the last one.
int64_t memory_place(struct arena *a, const struct lives *l);

// ---- graph/plan/memory_sweep.c ----
// The same in steps proportional to their number, for `n` storages by first launch.
int64_t memory_sweep(struct arena *a, struct life **order, size_t n);

// ---- graph/plan/launch_order.c ----
// Orders the launches to save memory; keeps the current order if no other saves enough.
void program_order_launches(struct program *p);

// ---- graph/plan/memory_eager.c ----
// The peak for likely sizes.
int64_t memory_eager_peak(const struct graph *g, struct arena *a);

#endif
