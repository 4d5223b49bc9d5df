// SPDX-License-Identifier: Apache-2.0
// Aligns the loop dimensions of two groups. Where both access a buffer, loop dimensions of the same
// stride become the same axis; a loop dimension that corresponds to two of the other group is
// split:
//
//   a[64, 768]  at 768*i + j     and   a[64, 12, 64]  at 768*i + 64*h + d:    j = 64*h + d
#include "graph/fuse/fuse.h"

enum { MAX_CONNECTIONS = 64, FEW_PIECES = 16 };

static struct side side_create(struct fuser *f, struct group *g) {
  struct side s = {.g = g};
  s.value = arena_array(f->trials, const struct expr *, g->loop_dims.len + 1);
  for (size_t i = 0; i < g->loop_dims.len; i++) {
    struct piece *p = arena_new(f->trials, struct piece);
    p->axis = s.value[i] = g->loop_dims.at[i].axis;
    p->loop_dim = (uint32_t)i;
    vec_push(f->trials, &s.pieces, p);
  }
  return s;
}

// Expressed in the side's own pieces.
static const struct expr *on_pieces(struct fuser *f, const struct side *s, const struct expr *e) {
  struct group *g = s->g;
  if (s->pieces.len == g->loop_dims.len)
    return e; // none was split
  const struct expr **from = arena_array(f->trials, const struct expr *, g->loop_dims.len + 1);
  for (size_t i = 0; i < g->loop_dims.len; i++)
    from[i] = g->loop_dims.at[i].axis;
  return index_substitute(f->s, e, g->loop_dims.len, from, s->value);
}

const struct expr *side_offset(struct fuser *f, const struct side *s, const struct expr *e) {
  e = on_pieces(f, s, e);
  if (!s->is_candidate)
    return e;
  // Called for each pair of accesses: the arena would grow too much.
  const struct expr *few[2][FEW_PIECES], **from = few[0], **to = few[1];
  if (s->pieces.len > FEW_PIECES) {
    from = arena_array(f->trials, const struct expr *, s->pieces.len);
    to = arena_array(f->trials, const struct expr *, s->pieces.len);
  }
  size_t count = 0;
  for (size_t i = 0; i < s->pieces.len; i++)
    if (s->pieces.at[i]->match) {
      from[count] = s->pieces.at[i]->axis;
      to[count++] = s->pieces.at[i]->match->axis;
    }
  return index_substitute(f->s, e, count, from, to);
}

// ---- a tentative match, committed only if all of it succeeds ----

struct trial {
  struct side *side;
  struct piece **at;          // to match, outermost first
  const struct expr **stride; // NULL: match by extents only
  size_t len;
};

static void trial_add(struct trial *t, struct piece *p, const struct expr *stride) {
  size_t i = t->len++;
  int64_t size = stride ? expr_hint(stride) : 0;
  for (; stride && i > 0 && expr_hint(t->stride[i - 1]) < size; i--) {
    t->at[i] = t->at[i - 1];
    t->stride[i] = t->stride[i - 1];
  }
  t->at[i] = p;
  t->stride[i] = stride;
}

static struct trial trial_create(struct fuser *f, struct side *s) {
  struct trial t = {.side = s};
  t.at = arena_array(f->trials, struct piece *, s->pieces.len + 1);
  t.stride = arena_array(f->trials, const struct expr *, s->pieces.len + 1);
  return t;
}

struct pairs {
  VEC(struct piece *) anchor, candidate;
};

// Splits the last piece of the match into an outer part, which becomes the last, and an inner one
// of the extent.
static struct piece *split_last(struct fuser *f, struct trial *t, const struct expr *outer_extent,
                                const struct expr *extent) {
  struct side *s = t->side;
  struct piece *whole = t->at[t->len - 1];
  struct piece *outer = arena_new(f->trials, struct piece),
               *inner = arena_new(f->trials, struct piece);
  outer->axis = axis_create(f, "a", outer_extent);
  inner->axis = axis_create(f, "a", extent);
  outer->loop_dim = inner->loop_dim = whole->loop_dim;
  const struct expr *sum = expr_add(f->x, expr_mul(f->x, outer->axis, extent), inner->axis);
  s->value[whole->loop_dim] =
      expr_substitute(f->x, s->value[whole->loop_dim], 1, &whole->axis, &sum);
  size_t at = 0;
  while (s->pieces.at[at] != whole)
    at++;
  s->pieces.at[at] = outer;
  vec_push(f->trials, &s->pieces, inner);
  memmove(&s->pieces.at[at + 2], &s->pieces.at[at + 1],
          (s->pieces.len - at - 2) * sizeof *s->pieces.at);
  s->pieces.at[at + 1] = inner;
  t->at[t->len - 1] = outer;
  if (t->stride[t->len - 1])
    t->stride[t->len - 1] = expr_mul(f->x, t->stride[t->len - 1], extent);
  return inner;
}

// Matches the last pieces of both; false if their strides or extents do not fit.
static bool match_last(struct fuser *f, struct trial *h, struct trial *g, struct pairs *pairs) {
  struct piece *a = h->at[h->len - 1], *b = g->at[g->len - 1];
  if (h->stride[h->len - 1] != g->stride[g->len - 1])
    return false;
  const struct expr *ea = axis_extent(a->axis), *eb = axis_extent(b->axis), *q;
  if (ea == eb) {
    h->len--;
    g->len--;
  } else if ((q = expr_exact_quotient(f, ea, eb))) {
    a = split_last(f, h, q, eb);
    g->len--;
  } else if ((q = expr_exact_quotient(f, eb, ea))) {
    b = split_last(f, g, q, ea);
    h->len--;
  } else {
    return false;
  }
  vec_push(f->trials, &pairs->anchor, a);
  vec_push(f->trials, &pairs->candidate, b);
  return true;
}

static struct side side_copy(struct fuser *f, const struct side *s) {
  struct side copy = {.g = s->g, .is_candidate = s->is_candidate};
  copy.value = arena_dup(f->trials, s->value, (s->g->loop_dims.len + 1) * sizeof *s->value,
                         _Alignof(const struct expr *));
  for (size_t i = 0; i < s->pieces.len; i++)
    vec_push(f->trials, &copy.pieces, s->pieces.at[i]);
  return copy;
}

static bool match_all(struct fuser *f, struct trial *h, struct trial *g, struct pairs *pairs) {
  while (h->len && g->len)
    if (!match_last(f, h, g, pairs))
      return false;
  return !h->len && !g->len;
}

// Matches all pieces of both and commits the result, or changes nothing.
static void trial_finish(struct fuser *f, struct trial *h, struct trial *g) {
  struct side *anchor = h->side, *candidate = g->side;
  struct side before[2] = {side_copy(f, anchor), side_copy(f, candidate)};
  struct pairs pairs = {0};
  if (!match_all(f, h, g, &pairs)) {
    *anchor = before[0];
    *candidate = before[1];
    return;
  }
  for (size_t i = 0; i < pairs.anchor.len; i++) {
    pairs.anchor.at[i]->match = pairs.candidate.at[i];
    pairs.candidate.at[i]->match = pairs.anchor.at[i];
  }
}

// ---- matching by buffers ----

// The unmatched pieces, with their strides in the offset; false if the offset is not linear.
static bool add_open_pieces(struct fuser *f, struct side *s, const struct expr *offset,
                            struct trial *t) {
  for (size_t i = 0; i < s->pieces.len; i++) {
    struct piece *p = s->pieces.at[i];
    const struct expr *stride = offset_stride(f, offset, p->axis);
    if (!stride)
      return false;
    if (!p->match && !expr_is(stride, 0) && !expr_is(axis_extent(p->axis), 1))
      trial_add(t, p, stride);
  }
  return true;
}

static void connect(struct fuser *f, struct side *anchor, struct side *candidate,
                    const struct access *a, const struct access *b) {
  struct trial h = trial_create(f, anchor), g = trial_create(f, candidate);
  if (add_open_pieces(f, anchor, on_pieces(f, anchor, a->offset), &h) &&
      add_open_pieces(f, candidate, on_pieces(f, candidate, b->offset), &g) && h.len && g.len)
    trial_finish(f, &h, &g);
}

struct connection {
  const struct access *anchor, *candidate;
  int64_t elements;
};

// The number of distinct elements of an offset; values passed between the groups count first.
static int64_t weight(struct fuser *f, const struct group *g, const struct access *a, bool passes) {
  double count = passes ? 2 : 1;
  for (size_t i = 0; i < g->loop_dims.len; i++)
    if (offset_has_axis(f, a->offset, g->loop_dims.at[i].axis))
      count *= (double)expr_hint(axis_extent(g->loop_dims.at[i].axis));
  return count < 1e18 ? (int64_t)count : INT64_MAX;
}

static size_t find_connections(struct fuser *f, const struct side *anchor,
                               const struct side *candidate, struct connection *ret) {
  size_t count = 0;
  for (size_t i = 0; i < anchor->g->accesses.len; i++)
    for (size_t j = 0; j < candidate->g->accesses.len && count < MAX_CONNECTIONS; j++) {
      const struct access *a = &anchor->g->accesses.at[i], *b = &candidate->g->accesses.at[j];
      if (a->buffer != b->buffer)
        continue;
      struct connection c = {a, b, weight(f, candidate->g, b, a->is_store || b->is_store)};
      size_t k = count++;
      for (; k > 0 && ret[k - 1].elements < c.elements; k--)
        ret[k] = ret[k - 1];
      ret[k] = c;
    }
  return count;
}

static const struct expr *open_extent(struct fuser *f, const struct side *s, bool reduced) {
  const struct expr *n = expr_const(f->x, 1);
  for (size_t i = 0; i < s->pieces.len; i++)
    if (!s->pieces.at[i]->match &&
        s->g->loop_dims.at[s->pieces.at[i]->loop_dim].is_reduced == reduced)
      n = expr_mul(f->x, n, axis_extent(s->pieces.at[i]->axis));
  return n;
}

// Pieces that no buffer connects are matched by memory order.
static void match_rest(struct fuser *f, struct side *anchor, struct side *candidate, bool of_anchor,
                       bool of_candidate) {
  const struct expr *n = open_extent(f, anchor, of_anchor);
  if (n != open_extent(f, candidate, of_candidate) || expr_is(n, 1))
    return;
  struct trial t[2] = {trial_create(f, anchor), trial_create(f, candidate)};
  for (int k = 0; k < 2; k++) {
    struct side *s = k ? candidate : anchor;
    const struct access *lead = group_leading_access(f, s->g);
    const struct expr *offset = lead ? on_pieces(f, s, lead->offset) : NULL;
    for (size_t i = 0; i < s->pieces.len; i++) {
      struct piece *p = s->pieces.at[i];
      if (p->match || expr_is(axis_extent(p->axis), 1) ||
          s->g->loop_dims.at[p->loop_dim].is_reduced != (k ? of_candidate : of_anchor))
        continue;
      const struct expr *stride = offset ? offset_stride(f, offset, p->axis) : NULL;
      trial_add(&t[k], p, stride ? stride : expr_const(f->x, 0));
    }
    for (size_t i = 0; i < t[k].len; i++)
      t[k].stride[i] = NULL;
  }
  trial_finish(f, &t[0], &t[1]);
}

void groups_align(struct fuser *f, struct side *anchor, struct side *candidate) {
  struct group *h = anchor->g, *g = candidate->g;
  *anchor = side_create(f, h);
  *candidate = side_create(f, g);
  candidate->is_candidate = true;
  struct connection c[MAX_CONNECTIONS];
  size_t count = find_connections(f, anchor, candidate, c);
  for (size_t i = 0; i < count; i++)
    connect(f, anchor, candidate, c[i].anchor, c[i].candidate);
  match_rest(f, anchor, candidate, true, true);
  match_rest(f, anchor, candidate, false, false);
  match_rest(f, anchor, candidate, true, false);
}
