// SPDX-License-Identifier: Apache-2.0
// Block sizes of running sums, across rows and along a row.
#include "graph/plan/scan_plan.h"

#include "graph/plan/accesses.h"

static unsigned block_of(const struct expr *axis, unsigned most) {
  int64_t n = expr_hint(axis_extent(axis));
  unsigned block = 2;
  while (block < most && (n <= 0 || block < n))
    block *= 2;
  return block;
}

static const char *space_of(struct planner *pl, const struct scan_plan *s) {
  struct strbuf out = {.arena = pl->arena};
  if (!s->is_row)
    space_put_blocks(&out, "XBLOCK", axis_extent(s->x), s->x_block, 4, 128);
  space_put_blocks(&out, "RBLOCK", axis_extent(s->r), s->r_block, s->is_row ? 256 : 4,
                   s->is_row ? 4096 : 128);
  space_put_powers(&out, "num_warps", 4, 1, 8);
  return space_end(pl->arena, &out);
}

static void note_accesses(struct planner *pl, const struct scan_plan *s, struct kernel_plan *k) {
  struct access_walk w = {.arena = pl->arena, .k = k, .loop_axes = {s->r}};
  for (size_t i = 0; i < s->parts.reductions.len; i++) {
    access_value(&w, s->parts.reductions.at[i].body);
    access_given(&w, s->parts.reductions.at[i].result);
  }
  for (size_t i = 0; i < s->parts.writes.len; i++)
    access_write(&w, &s->parts.writes.at[i]);
}

bool plan_scan(struct program *p, const struct region *r, const struct program_options *o) {
  struct planner pl = planner_of(p, r, o);
  struct scan_plan *s = arena_new(p->arena, struct scan_plan);
  struct kernel_plan *k = plan_kernel(p, KERNEL_SCAN, r, NULL);
  *s = (struct scan_plan){.parts = region_parts_of(p, r), .x = r->axes[0], .r = r->axes[1]};
  s->is_row = r->is_inner;
  s->x_block = block_of(s->x, 64);
  s->r_block = block_of(s->r, s->is_row ? 2048 : 32);
  k->grid[0] = axis_extent(s->x);
  if (!s->is_row)
    k->grid[0] = expr_cdiv(pl.x, k->grid[0], plan_constant(p, k, "XBLOCK", s->x_block));
  plan_constant(p, k, "RBLOCK", s->r_block);
  note_accesses(&pl, s, k);
  k->scan = s;
  k->num_warps = 4;
  k->space = space_of(&pl, s);
  plan_launch(p, k);
  return true;
}
