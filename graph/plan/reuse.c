// SPDX-License-Identifier: Apache-2.0
// In-place outputs: which outputs of a launch can use the memory of one of its inputs. The elements
// of both have the same size, and each program reads an element of the input only before it writes
// the same element of the output.
#include "graph/plan/plan.h"

struct span_of_use {
  const struct expr *offset; // common to all accesses; NULL: they differ, or are unknown
  size_t first, last;        // in program order
  bool is_read, is_written;
};

static struct span_of_use use_of(const struct kernel_access *accesses, size_t count,
                                 const struct buffer *b) {
  struct span_of_use u = {0};
  for (size_t i = 0; i < count; i++) {
    const struct kernel_access *a = &accesses[i];
    if (a->buffer != b)
      continue;
    bool is_first = !u.is_read && !u.is_written;
    u.offset = is_first || u.offset == a->offset ? a->offset : NULL;
    u.first = is_first ? i : u.first;
    u.last = i;
    u.is_read |= !a->is_store;
    u.is_written |= a->is_store;
  }
  return u;
}

// Programs partition the region's axes; elements at an offset without one of them may be used by
// several.
static bool is_of_one_program(const struct region *r, const struct expr *offset) {
  for (uint32_t i = 0; i < r->rank; i++)
    if (!expr_is(axis_extent(r->axes[i]), 1) && !expr_has_symbol(offset, r->axes[i]))
      return false;
  return true;
}

static bool is_alike(const struct buffer *a, const struct buffer *b) {
  return a->numel == b->numel && dtype_bytes(a->dtype) == dtype_bytes(b->dtype);
}

static void find_reuses(struct arena *arena, const struct kernel_plan *k,
                        const struct kernel_access *accesses, size_t count, struct launch *l) {
  for (size_t i = 0; i < l->args.len; i++) {
    struct buffer *to = l->args.at[i].buffer;
    if (!to || to->role != BUFFER_TEMP || to->parts.len)
      continue;
    struct span_of_use out = use_of(accesses, count, to);
    if (!out.offset || out.is_read || !is_of_one_program(k->region, out.offset))
      continue;
    for (size_t j = 0; j < l->args.len; j++) {
      struct buffer *from = l->args.at[j].buffer;
      if (!from || from == to || from->role != BUFFER_TEMP || from->parts.len ||
          !is_alike(from, to))
        continue;
      struct span_of_use in = use_of(accesses, count, from);
      if (in.is_read && !in.is_written && in.offset == out.offset && in.last < out.first)
        vec_push(arena, &l->reuses, (struct launch_reuse){from, to});
    }
  }
}

void plan_find_reuses(struct program *p, const struct kernel_plan *k, struct launch *l) {
  VEC(struct kernel_access) all = {0};
  for (size_t i = 0; i < k->accesses.len; i++)
    vec_push(p->arena, &all, k->accesses.at[i]);
  for (size_t i = 0; k->last_block && i < k->last_block->accesses.len; i++)
    vec_push(p->arena, &all, (struct kernel_access){k->last_block->accesses.at[i].buffer});
  find_reuses(p->arena, k, all.at, all.len, l);
}

// ---- a launch before emission ----

static void add_buffer(struct arena *a, struct launch *l, struct buffer *b, bool is_written) {
  for (size_t i = 0; i < l->args.len; i++)
    if (l->args.at[i].buffer == b) {
      l->args.at[i].is_written |= is_written;
      return;
    }
  vec_push(a, &l->args, (struct launch_arg){LAUNCH_BUFFER, .buffer = b, .is_written = is_written});
}

static void add_buffers(struct arena *a, struct launch *l, const struct kernel_plan *k,
                        bool is_written) {
  for (size_t i = 0; i < k->accesses.len; i++)
    if (k->accesses.at[i].is_store == is_written)
      add_buffer(a, l, k->accesses.at[i].buffer, is_written);
}

struct launch plan_launch_of(struct program *p, const struct kernel_plan *k) {
  struct launch l = {.region = k->region, .clears = k->clears};
  for (int is_written = 0; is_written < 2; is_written++) {
    add_buffers(p->arena, &l, k, is_written);
    if (k->last_block)
      add_buffers(p->arena, &l, k->last_block, is_written);
  }
  if (k->last_block)
    add_buffer(p->arena, &l, p->counters, true);
  plan_find_reuses(p, k, &l);
  return l;
}
