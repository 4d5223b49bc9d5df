// SPDX-License-Identifier: Apache-2.0
// What the files of the memory plan share. A buffer lives from the first launch that writes it to
// the last that touches it. A storage is the memory of one buffer or, where an output takes the
// memory of an input that ends there, of several in a row.
#ifndef TILE_GRAPH_PLAN_MEMORY_PLAN_H
#define TILE_GRAPH_PLAN_MEMORY_PLAN_H

#include "graph/program/program.h"

enum { MEMORY_ALIGNMENT = 256 };

static inline int64_t memory_rounded(int64_t bytes) {
  return (bytes + MEMORY_ALIGNMENT - 1) / MEMORY_ALIGNMENT * MEMORY_ALIGNMENT;
}

struct life {
  struct buffer *buffer;
  size_t first, last;      // launches, by their indices in the order; a storage's up to its end
  const struct expr *size; // in bytes, rounded up
  int64_t bytes;           // the same, for likely sizes
  int64_t offset;          // of a storage
  struct life *storage;    // itself, or whose memory it has
  bool is_given;           // its memory went on to another
  bool is_counter;         // program.counters, which lives all the time
};

struct lives {
  size_t count;
  struct life **at; // in the order of their first launches
  size_t taken_count;
  const struct in_place *taken;
};

// ---- graph/plan/memory_reuse.c ----
// Lives when the launches run in this order; NULL: the one that they have. With `reuses`, outputs
// take the memory of inputs of the same launch that end there, where the launch says they can.
struct lives memory_lives(const struct program *p, struct arena *a, const uint32_t *order,
                          bool reuses);
// Makes kernels that write where they read do so when all of the program's threads have read.
void memory_order_kernels(struct program *p);

// ---- graph/plan/memory_plan.c ----
// Offsets every temporary.
void memory_plan(struct program *p);
// Offsets the storages for likely sizes; the end of the last one.
int64_t memory_place(struct arena *a, const struct lives *l);

// ---- graph/plan/launch_order.c ----
// Puts the launches in an order that needs little memory: the one they have, where no other needs
// less.
void program_order_launches(struct program *p);

// ---- graph/plan/memory_eager.c ----
// The peak for likely sizes.
int64_t memory_eager_peak(const struct graph *g, struct arena *a);

#endif
