// SPDX-License-Identifier: Apache-2.0
// Which outputs of a launch can be put where one of its inputs was. The elements of both are of the
// same size, and each program reads those of the input where it writes those of the output, before
// it does: then nobody misses what is overwritten.
#include "graph/emit/emit.h"

struct span_of_use {
  const struct expr *place; // of all of them; NULL: they differ, or are not known
  size_t first, last;       // in the order of the text
  bool is_read, is_written;
};

static struct span_of_use use_of(const struct emitter *e, const struct buffer *b) {
  struct span_of_use u = {0};
  for (size_t i = 0; i < e->accesses.len; i++) {
    const struct emit_access *a = &e->accesses.at[i];
    if (a->buffer != b)
      continue;
    bool is_first = !u.is_read && !u.is_written;
    u.place = is_first || u.place == a->place ? a->place : NULL;
    u.first = is_first ? i : u.first;
    u.last = i;
    u.is_read |= !a->is_store;
    u.is_written |= a->is_store;
  }
  return u;
}

// Programs share out the region's axes; a place without one of them may be that of several.
static bool is_of_one_program(const struct emitter *e, const struct expr *place) {
  for (uint32_t i = 0; i < e->region->rank; i++)
    if (!expr_is(e->region->axes[i]->symbol->limit, 1) &&
        !expr_has_symbol(place, e->region->axes[i]))
      return false;
  return true;
}

static bool is_alike(const struct buffer *a, const struct buffer *b) {
  return a->numel == b->numel && dtype_bytes(a->dtype) == dtype_bytes(b->dtype);
}

void emit_find_reuses(struct emitter *e) {
  for (size_t i = 0; i < e->launch.args.len; i++) {
    struct buffer *to = e->launch.args.at[i].buffer;
    if (!to || to->role != BUFFER_TEMP)
      continue;
    struct span_of_use out = use_of(e, to);
    if (!out.place || out.is_read || !is_of_one_program(e, out.place))
      continue;
    for (size_t j = 0; j < e->launch.args.len; j++) {
      struct buffer *from = e->launch.args.at[j].buffer;
      if (!from || from == to || from->role != BUFFER_TEMP || !is_alike(from, to))
        continue;
      struct span_of_use in = use_of(e, from);
      if (in.is_read && !in.is_written && in.place == out.place && in.last < out.first)
        vec_push(e->arena, &e->launch.reuses, (struct launch_reuse){from, to});
    }
  }
}
