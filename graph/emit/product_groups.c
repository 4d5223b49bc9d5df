// SPDX-License-Identifier: Apache-2.0
// Groups of grouped products. Blocks of rows begin with each group. Their number is known before
// the ends of groups are: group g has the blocks from begin // BLOCK_M + g on, enough for its rows
// wherever it begins. A block finds its group by a binary search in the ends:
//
//   row_blocks = 4096 // BLOCK_M + 9
//   ...
//   group = 0                                     the groups whose blocks are all before this one
//   for i in tl.static_range(4):
//       middle = group + ((8 >> i) - 1)
//       v0 = tl.load(in2 + min(middle, 7))
//       group = tl.where((middle < 8) & (v0 // BLOCK_M + middle < block), middle + 1, group)
//
// Blocks behind the last group have zeros; some blocks have no rows.
#include "graph/emit/product_writer.h"

#include <inttypes.h>

enum { MOST_STEPS = 16 };

bool product_has_groups_of_rows(const struct product_writer *w) {
  return w->g->groups && w->g->groups->of_rows;
}

void product_write_row_blocks(struct product_writer *w) {
  if (!product_has_groups_of_rows(w))
    return;
  struct emitter *e = w->e;
  const struct expr *more = expr_addi(w->x, axis_extent(w->g->groups->group), 1);
  emit_line(e, 0, "row_blocks = %s // BLOCK_M + %s", emit_extent(e, axis_extent(w->g->m)),
            emit_extent(e, more));
}

// The end of the group with number `name`, which is defined in this scope, in 32 bits.
static const char *end_of(struct product_writer *w, const char *name, unsigned level) {
  struct emitter *e = w->e;
  const struct groups *g = w->g->groups;
  const struct expr *at = emit_axis_alias(e, g->group, name);
  emit_axis(e, at, name, NULL, level);
  const struct scalar *end = scalar_substitute(w->s, g->end, 1, &g->group, &at);
  emit_count(e, end);
  return arena_printf(e->arena, "%s.to(tl.int32)", emit_operand(e, end, PREC_ATOM));
}

// One more than the binary logarithm of the largest number of groups.
static unsigned steps_of(const struct expr *groups) {
  unsigned n = 1;
  while (n < MOST_STEPS && (INT64_C(1) << n) <= groups->hi)
    n++;
  return n;
}

static void search_group(struct product_writer *w, const char *count) {
  struct emitter *e = w->e;
  unsigned steps = steps_of(axis_extent(w->g->groups->group));
  emit_line(e, w->level, "group = 0");
  emit_open(e, arena_printf(e->arena, "for i in tl.static_range(%u):", steps));
  emit_line(e, w->level + 1, "middle = group + ((%u >> i) - 1)", 1u << (steps - 1));
  emit_line(e, w->level + 1, "clipped = min(middle, %s - 1)", count);
  const char *end = end_of(w, "clipped", w->level + 1);
  emit_line(e, w->level + 1,
            "group = tl.where((middle < %s) & (%s // BLOCK_M + middle < block), middle + 1, group)",
            count, end);
  emit_close(e);
}

void product_write_group_of_rows(struct product_writer *w) {
  struct emitter *e = w->e;
  const struct product *g = w->g;
  const char *count = emit_extent(e, axis_extent(g->groups->group)),
             *rows = emit_extent(e, axis_extent(g->m)), *k = emit_extent(e, axis_extent(g->k));
  unsigned level = w->level;
  search_group(w, count);
  emit_line(e, level, "before = max(group - 1, 0)");
  emit_line(e, level, "expert = min(group, %s - 1)", count);
  emit_line(e, level, "m_begin = tl.where(group > 0, %s, 0)", end_of(w, "before", level));
  emit_line(e, level, "m_end = min(tl.where(group < %s, %s, %s), %s)", count,
            end_of(w, "expert", level), rows, rows);
  emit_line(e, level, "m_first = m_begin + (block - m_begin // BLOCK_M - group) * BLOCK_M");
  emit_line(e, level, "k_end = tl.where((group < %s) & (m_first < m_end), %s, 0)", count, k);
  emit_axis(e, g->groups->group, "expert", NULL, level);
}

void product_write_group_of_inner(struct product_writer *w) {
  struct emitter *e = w->e;
  const char *k = emit_extent(e, axis_extent(w->g->k));
  const char *group = w->g->is_batched ? "batch" : "0";
  emit_line(e, w->level, "expert = %s", group);
  emit_line(e, w->level, "before = max(%s - 1, 0)", group);
  emit_line(e, w->level, "k_begin = tl.where(%s > 0, %s, 0)", group, end_of(w, "before", w->level));
  emit_line(e, w->level, "k_end = min(%s, %s)", end_of(w, "expert", w->level), k);
}
