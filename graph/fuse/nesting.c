// SPDX-License-Identifier: Apache-2.0
// The nesting level of a candidate's stages in the loop dimensions of its anchor: per element, per
// row, or over columns.
#include "graph/fuse/fuse.h"

enum {
  MAX_COLUMNS = 16384, // a row of partial sums must fit in registers
  LONG_INSIDE = 1024,  // k of a product that may be worth splitting
  FEW_RESULTS = 1 << 18,
  MANY_RESULTS = 1 << 19 // as many as fill a device with blocks
};

struct relation {
  // Matched pieces, by the candidate's side and the anchor's: parallel or reduced.
  unsigned matched[2][2];
  // Unmatched pieces of the anchor, by side.
  unsigned open[2];
};

static bool count_matches(const struct join *j, struct relation *r) {
  const struct side *h = &j->anchor_side, *g = &j->candidate_side;
  for (size_t i = 0; i < g->pieces.len; i++) {
    const struct piece *p = g->pieces.at[i];
    if (!p->match && !expr_is(axis_extent(p->axis), 1))
      return false;
    if (p->match)
      r->matched[g->g->loop_dims.at[p->loop_dim].is_reduced]
                [h->g->loop_dims.at[p->match->loop_dim].is_reduced]++;
  }
  for (size_t i = 0; i < h->pieces.len; i++) {
    const struct piece *p = h->pieces.at[i];
    if (!p->match && !expr_is(axis_extent(p->axis), 1))
      r->open[h->g->loop_dims.at[p->loop_dim].is_reduced]++;
  }
  return true;
}

static void keep_axes(struct join *j) {
  for (int p = 0; p <= MEMBER_COLUMN; p++)
    j->levels[p] = (enum nesting_level)p;
}

// Rows of the candidate are columns of the anchor: needs reductions whose partial results can be
// combined, and memory that lies along the anchor's rows (a second matrix times the results of the
// first one, a vector, does not: 1.5 ms instead of 0.1 for 14336 x 4096).
static bool becomes_columns(struct fuser *f, struct join *j, bool is_once) {
  if (j->candidate->kind != REGION_ROWS || !is_rows(j->anchor->kind))
    return false;
  for (size_t i = 0; i < j->candidate->members.len; i++) {
    const struct stage *s = j->candidate->members.at[i]->stage;
    if (s->kind == STAGE_REDUCE && s->op != REDUCE_SUM && s->op != REDUCE_MAX &&
        s->op != REDUCE_MIN)
      return false;
  }
  keep_axes(j);
  j->kind = REGION_ROW_COLUMN;
  j->levels[MEMBER_ROW_REDUCTION] = MEMBER_COLUMN_REDUCTION;
  j->levels[MEMBER_ROW] = MEMBER_COLUMN;
  j->is_once = is_once;
  return is_once || (group_is_inner(f, j->anchor) && !group_reads_rows(f, j->candidate) &&
                     expr_hint(j->anchor->numel[1]) <= MAX_COLUMNS);
}

static bool nest_map(struct join *j, const struct relation *r) {
  keep_axes(j);
  j->kind = j->anchor->kind;
  if (!r->open[0] && !r->open[1])
    return true;
  switch (j->anchor->kind) {
  case REGION_PRODUCT: return !r->open[0] && !r->matched[0][1];
  case REGION_ROWS:
  case REGION_ROW_COLUMN:
    if (!r->open[0] && !r->matched[0][1]) {
      j->levels[MEMBER_FULL] = MEMBER_ROW;
      return true;
    }
    j->levels[MEMBER_FULL] = MEMBER_COLUMN;
    j->is_once = r->open[1] && !r->matched[0][0] && !r->matched[0][1];
    return j->anchor->kind == REGION_ROW_COLUMN && !r->matched[0][0] && (j->is_once || !r->open[1]);
  default: return false;
  }
}

static bool nest_rows(struct fuser *f, struct join *j, const struct relation *r) {
  bool whole = !r->open[0] && !r->open[1];
  if (whole && !r->matched[0][1] && !r->matched[1][0]) {
    keep_axes(j);
    j->kind = j->anchor->kind;
    return true;
  }
  if (j->candidate->kind == REGION_ROW_COLUMN)
    return false;
  if (whole && !r->matched[0][0] && !r->matched[1][1])
    return becomes_columns(f, j, false);
  // A reduction of values per row.
  if (!r->open[0] && r->open[1] && !r->matched[0][0] && !r->matched[0][1] && !r->matched[1][1] &&
      becomes_columns(f, j, true)) {
    j->levels[MEMBER_FULL] = MEMBER_ROW;
    return true;
  }
  return false;
}

// ---- products ----

static unsigned count_products(const struct group *g) {
  unsigned n = 0;
  for (size_t i = 0; i < g->members.len; i++)
    n += g->members.at[i]->stage->kind == STAGE_PRODUCT;
  return n;
}

static const struct stage *first_product(const struct group *g) {
  size_t i = 0;
  while (g->members.at[i]->stage->kind != STAGE_PRODUCT)
    i++;
  return g->members.at[i]->stage;
}

// Is the access an operand of a product that depends on its rows, or its columns?
static bool is_operand(struct fuser *f, const struct group *g, const struct access *a,
                       uint8_t dim) {
  if (a->is_store || a->member->stage->kind != STAGE_PRODUCT)
    return false;
  for (size_t i = 0; i < g->loop_dims.len; i++)
    if (g->loop_dims.at[i].dim == dim && offset_has_axis(f, a->offset, g->loop_dims.at[i].axis))
      return true;
  return false;
}

static bool share_operand(struct fuser *f, const struct join *j) {
  const struct side *h = &j->anchor_side, *g = &j->candidate_side;
  for (size_t i = 0; i < g->g->accesses.len; i++)
    for (size_t k = 0; k < h->g->accesses.len; k++) {
      const struct access *a = &g->g->accesses.at[i], *b = &h->g->accesses.at[k];
      if (a->buffer != b->buffer || side_offset(f, g, a->offset) != side_offset(f, h, b->offset))
        continue;
      for (uint8_t dim = DIM_M; dim <= DIM_N; dim++)
        if (is_operand(f, g->g, a, dim) && is_operand(f, h->g, b, dim))
          return true;
    }
  return false;
}

// Two products of the same size share a loop over k if they have a common operand: the rows of gate
// and up projections, the columns of their weight gradients. A product with few blocks and a long k
// stays alone: its k is split.
static bool nest_product(struct fuser *f, struct join *j, const struct relation *r) {
  const struct side *h = &j->anchor_side, *g = &j->candidate_side;
  if (r->open[0] || r->open[1])
    return false;
  for (size_t i = 0; i < g->pieces.len; i++) {
    const struct piece *p = g->pieces.at[i];
    if (p->match &&
        g->g->loop_dims.at[p->loop_dim].dim != h->g->loop_dims.at[p->match->loop_dim].dim)
      return false;
  }
  j->reason = "products of integers and of floats";
  const struct stage *p = first_product(g->g), *q = first_product(h->g);
  if (p->dtype != q->dtype)
    return false;
  j->reason = "products of different groups";
  if (!groups_are_same(p->groups, q->groups))
    return false;
  j->reason = "two products without a common operand";
  if (!share_operand(f, j))
    return false;
  j->reason = "a kernel can have two products, or three small ones";
  unsigned most = expr_hint(j->anchor->numel[0]) > FEW_RESULTS ? 2 : 3;
  if (count_products(j->anchor) + count_products(j->candidate) > most)
    return false;
  j->reason = "products with a long k are split, each in its own kernel";
  keep_axes(j);
  j->kind = REGION_PRODUCT;
  return expr_hint(j->anchor->numel[1]) <= LONG_INSIDE ||
         expr_hint(j->anchor->numel[0]) >= MANY_RESULTS;
}

// ---- the decision ----

static const struct expr *all_elements(struct fuser *f, const struct group *g) {
  return expr_mul(f->x, g->numel[0], g->numel[1]);
}

// A cheap test: can their sizes fit at all?
static bool sizes_fit(struct fuser *f, const struct group *h, const struct group *g) {
  if (g->kind == REGION_MAP || g->kind == REGION_SCATTER) {
    const struct expr *n = g->numel[0];
    if (h->kind == REGION_PRODUCT)
      return n == h->numel[0];
    if (is_rows(h->kind) && (n == h->numel[0] || n == h->numel[1] || expr_is(n, 1)))
      return true;
    return n == all_elements(f, h);
  }
  if (g->numel[0] == h->numel[0] && g->numel[1] == h->numel[1])
    return true;
  return g->kind == REGION_ROWS && is_rows(h->kind) && g->numel[1] == h->numel[0] &&
         (g->numel[0] == h->numel[1] || expr_is(g->numel[0], 1));
}

static bool kinds_fit(struct join *j) {
  const struct group *h = j->anchor, *g = j->candidate;
  if (h->kind == REGION_CALL) {
    j->reason = "a call reads and writes whole tensors";
    return false;
  }
  if (g->kind == REGION_MAP && h->kind != REGION_ATTENTION)
    return true;
  if (g->kind == REGION_SCATTER && h->kind == REGION_PRODUCT)
    return true;
  if ((is_rows(g->kind) && is_rows(h->kind)) ||
      (g->kind == REGION_PRODUCT && h->kind == REGION_PRODUCT))
    return true;
  if (h->kind == REGION_PRODUCT || h->kind == REGION_ATTENTION)
    j->reason = g->kind >= REGION_PRODUCT   ? "attention cannot share a kernel with a product"
                : g->position < h->position ? read_many_times
                : g->kind == REGION_MAP     ? "this map cannot be an epilogue of attention"
                                            : "a block of a product does not have whole rows";
  else
    j->reason = "no kind of kernel can run both";
  return false;
}

// Do the candidate's reduced axes have the same order in the anchor?
static bool is_in_order(const struct join *j) {
  size_t at = 0;
  for (size_t i = 0; i < j->anchor_side.pieces.len; i++) {
    const struct piece *p = j->anchor_side.pieces.at[i]->match;
    if (!p || !j->candidate->loop_dims.at[p->loop_dim].is_reduced)
      continue;
    while (at < j->candidate_side.pieces.len && j->candidate_side.pieces.at[at] != p)
      at++;
    if (at == j->candidate_side.pieces.len)
      return false;
  }
  return true;
}

// What is computed again would be computed too early beside the forward graph.
static bool parts_fit(const struct fuser *f, const struct group *a, const struct group *b) {
  const unsigned forward = 1u << PART_FORWARD;
  unsigned apart = 1u << PART_AGAIN | (f->l->parts_stay_apart ? 1u << PART_BACKWARD : 0);
  return !((a->parts | b->parts) & forward) || !((a->parts | b->parts) & apart);
}

bool candidate_fits(struct fuser *f, struct join *j) {
  j->never = true;
  j->reason = "one is computed again for gradients";
  if (!parts_fit(f, j->anchor, j->candidate))
    return false;
  if (!kinds_fit(j))
    return false;
  j->reason = "a sum of taps keeps the axes of its image, which only maps do";
  if ((j->anchor->sums_taps || j->candidate->sums_taps) && j->anchor->kind != REGION_MAP)
    return false;
  j->reason = "their iteration spaces differ in size";
  if (!sizes_fit(f, j->anchor, j->candidate))
    return false;
  j->never = false;
  return true;
}

bool candidate_align(struct fuser *f, struct join *j) {
  j->anchor_side.g = j->anchor;
  j->candidate_side.g = j->candidate;
  groups_align(f, &j->anchor_side, &j->candidate_side);
  struct relation r = {0};
  j->reason = "their axes cannot be aligned";
  if (!count_matches(j, &r))
    return false;
  if (j->candidate->keeps_order && (j->anchor->keeps_order || !is_in_order(j)))
    return false;
  if (j->candidate->kind == REGION_PRODUCT)
    return nest_product(f, j, &r);
  return is_rows(j->candidate->kind) ? nest_rows(f, j, &r) : nest_map(j, &r);
}
