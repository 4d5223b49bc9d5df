// SPDX-License-Identifier: Apache-2.0
// Reductions and scans. Those of a few elements are unrolled.
#include "graph/loops/loops_internal.h"

struct reduction {
  enum reduce_op op;
  const struct scalar *body; // over the result's axes and `over`
  size_t count;
  const struct expr *over[GRAPH_MAX_RANK]; // coordinates along reduced dimensions: axes, or 0
  bool comes_back; // the result is combined with the operand: one kernel shall read the row once
};

static enum reduce_op reduce_op_of(const struct node *n) {
  bool truth = node_value(n, 0)->dtype == DTYPE_I1;
  switch (n->op) {
  case OP_PROD_DIM: return REDUCE_PROD;
  case OP_AMAX: return truth ? REDUCE_ANY : REDUCE_MAX;
  case OP_AMIN: return truth ? REDUCE_ALL : REDUCE_MIN;
  case OP_ANY_DIMS: return REDUCE_ANY;
  case OP_ARGMAX: return REDUCE_ARGMAX;
  case OP_ARGMIN: return REDUCE_ARGMIN;
  default: return REDUCE_SUM;
  }
}

enum scalar_op reduce_scalar_op(enum reduce_op op) {
  switch (op) {
  case REDUCE_SUM: return SCALAR_ADD;
  case REDUCE_PROD: return SCALAR_MUL;
  case REDUCE_MAX: return SCALAR_MAXIMUM;
  case REDUCE_MIN: return SCALAR_MINIMUM;
  case REDUCE_ANY: return SCALAR_OR;
  case REDUCE_ALL: return SCALAR_AND;
  case REDUCE_ARGMAX:
  case REDUCE_ARGMIN: break;
  }
  return SCALAR_NONE;
}

static void count_load(void *user, const struct scalar *load) {
  (void)load;
  ++*(unsigned *)user;
}

// The number of elements per result if it is small and the unrolled tree stays short; else 0. A
// softmax of five elements is left to a rows kernel: unrolled, it would be several kernels, each of
// which reads five elements and recomputes what the one before computed.
static int64_t unrolled_count(const struct reduction *r) {
  int64_t count = 1;
  if (reduce_scalar_op(r->op) == SCALAR_NONE || r->comes_back)
    return 0;
  for (size_t i = 0; i < r->count; i++)
    if (r->over[i]->kind == EXPR_SYMBOL) {
      int64_t extent;
      if (!expr_is_const(axis_extent(r->over[i]), &extent) || extent < 1 ||
          extent > LOOPS_MAX_UNROLL)
        return 0;
      count *= extent;
    }
  unsigned loads = 0;
  scalar_loads(r->body, count_load, &loads);
  bool short_enough =
      count <= LOOPS_MAX_UNROLL && (count + 1) * scalar_cost(r->body) <= 64 && count * loads <= 16;
  return short_enough ? count : 0;
}

static const struct scalar *unroll(struct builder *b, const struct reduction *r, int64_t count,
                                   enum dtype t) {
  const struct scalar *all = NULL;
  for (int64_t k = 0; k < count; k++) {
    const struct expr *from[GRAPH_MAX_RANK], *to[GRAPH_MAX_RANK];
    size_t n = 0;
    int64_t rest = k;
    for (size_t i = r->count; i-- > 0;)
      if (r->over[i]->kind == EXPR_SYMBOL) {
        int64_t extent = axis_extent(r->over[i])->value;
        from[n] = r->over[i];
        to[n++] = expr_const(b->x, rest % extent);
        rest /= extent;
      }
    const struct scalar *one = scalar_substitute(b->s, r->body, n, from, to);
    all = all ? loops_binary(b, reduce_scalar_op(r->op), t, all, one) : one;
  }
  return all;
}

// The stage writes the result.
static void store(struct builder *b, const struct node *n, struct deferred *z, struct stage *s,
                  const struct assignment *h) {
  s->out = h->buffer;
  s->offset = loops_offset(b, h, z->at);
  loops_inherit(b, z, n);
  loops_take_origins(b, z, s);
  loops_stored(b, z, h);
}

static bool reduce(struct builder *b, const struct node *n, struct deferred *z,
                   const struct reduction *r) {
  int64_t count = unrolled_count(r);
  if (count)
    return loops_define(b, n, z, unroll(b, r, count, r->body->dtype));
  bool done = false;
  if (r->op == REDUCE_SUM && !loops_variance(b, n, z, r->body, r->count, r->over, &done))
    return false;
  if (done)
    return true;
  struct assignment h = loops_assign(b, z->value);
  struct stage *s = loops_stage(b, STAGE_REDUCE, n);
  loops_add_axes(b, s, z->value->rank, z->at, false);
  loops_add_axes(b, s, r->count, r->over, true);
  s->body = r->body;
  s->op = r->op;
  s->dtype = r->body->dtype;
  store(b, n, z, s, &h);
  return true;
}

static bool is_reduced(const struct node *n, uint32_t rank, uint32_t dim) {
  const struct arg *dims = &n->args[1];
  size_t count = 1;
  if (dims->kind == ARG_LIST)
    count = node_list(n, 1, &dims);
  for (size_t i = 0; i < count; i++) {
    int64_t d = dims[i].kind == ARG_INT ? dims[i].number->value : 0;
    if ((d < 0 ? d + rank : d) == dim)
      return true;
  }
  return false;
}

// ---- uses of the result ----

enum { REACH = 24 }; // operators after the reduction that are searched

static bool takes(const struct node *n, const struct value *v) {
  for (uint32_t i = 0; i < n->arg_count; i++)
    if (n->args[i].kind == ARG_VALUE && loops_behind_views(n->args[i].value) == v)
      return true;
  return false;
}

// Is the result combined with the operand, through views and pointwise operators?
static bool comes_back(const struct builder *b, const struct node *n) {
  const struct value *of = loops_behind_views(node_value(n, 0)), *made[REACH + 1] = {n->results[0]};
  size_t count = 1, at = n->id < b->g->nodes.len ? n->id : b->g->nodes.len - 1;
  while (at > 0 && b->g->nodes.at[at] != n)
    at--;
  for (size_t i = at + 1; i < b->g->nodes.len && i <= at + REACH; i++) {
    const struct node *next = b->g->nodes.at[i];
    if (operator_row(next->op)->class != CLASS_POINTWISE)
      continue;
    bool follows = false;
    for (size_t k = 0; k < count && !follows; k++)
      follows = takes(next, made[k]);
    if (follows && takes(next, of))
      return true;
    if (follows)
      made[count++] = next->results[0];
  }
  return false;
}

bool loops_lower_reduction(struct builder *b, const struct node *n) {
  switch (n->op) {
  case OP_SUM_DIM:
  case OP_PROD_DIM:
  case OP_AMAX:
  case OP_AMIN:
  case OP_ANY_DIMS:
  case OP_ARGMAX:
  case OP_ARGMIN: break;
  default: return loops_refuse(b, n, "it should have been decomposed");
  }
  const struct value *of = node_value(n, 0);
  struct deferred *z = loops_deferred(b, n->results[0]);
  struct reduction r = {.op = reduce_op_of(n)};
  const struct expr *at[GRAPH_MAX_RANK];
  bool keeps = z->value->rank == of->rank;
  for (uint32_t d = 0, j = 0; d < of->rank; d++)
    if (is_reduced(n, of->rank, d))
      at[d] = r.over[r.count] = loops_axis(b, 'r', (unsigned)r.count, of->shape[d]), r.count++;
    else
      at[d] = z->at[keeps ? d : j++];
  r.body = loops_element(b, of, at);
  r.comes_back = b->uses[of->id].count > 1 && comes_back(b, n);
  bool compares = r.op == REDUCE_ARGMAX || r.op == REDUCE_ARGMIN;
  if (compares && r.count == 1 && r.over[0]->kind == EXPR_CONST)
    return loops_define(b, n, z, scalar_int(b->s, DTYPE_I64, 0));
  if (compares && r.body->dtype == DTYPE_I1)
    r.body = scalar_convert(b->s, r.body, DTYPE_I32);
  if (!compares)
    r.body = scalar_convert(b->s, r.body, dtype_to_compute(z->value->dtype));
  return reduce(b, n, z, &r);
}

bool loops_sum_product(struct builder *b, const struct node *n, struct deferred *z,
                       const struct scalar *x, const struct scalar *y, size_t reduced,
                       const struct expr *const *over) {
  struct reduction r = {.op = REDUCE_SUM, .count = reduced};
  for (size_t i = 0; i < reduced; i++)
    r.over[i] = over[i];
  r.body = loops_binary(b, SCALAR_MUL, dtype_to_compute(z->value->dtype), x, y);
  return reduce(b, n, z, &r);
}

bool loops_sum_taps(struct builder *b, const struct node *n, struct deferred *z,
                    const struct scalar *x, const struct scalar *y, size_t reduced,
                    const struct expr *const *over) {
  enum dtype t = dtype_to_compute(z->value->dtype);
  const struct scalar *body = loops_binary(b, SCALAR_MUL, t, x, y);
  struct assignment h = loops_assign(b, z->value);
  struct stage *s = loops_stage(b, STAGE_MAP, n);
  loops_add_axes(b, s, z->value->rank, z->at, false);
  s->body = loops_tap_terms(b, node_value(n, 1), body, reduced, over);
  s->dtype = t;
  s->sums_taps = true;
  store(b, n, z, s, &h);
  return true;
}

bool loops_lower_scan(struct builder *b, const struct node *n) {
  const struct value *of = node_value(n, 0);
  struct deferred *z = loops_deferred(b, n->results[0]);
  enum dtype t = dtype_to_compute(z->value->dtype);
  uint32_t dim = of->rank ? node_dim(n, 1, of->rank) : 0;
  if (of->rank == 0 || expr_is(of->shape[dim], 1))
    return loops_define(b, n, z, scalar_convert(b->s, loops_element(b, of, z->at), t));
  const struct expr **at = loops_coordinates(b, of->rank), **rest = loops_coordinates(b, of->rank);
  for (uint32_t i = 0; i < of->rank; i++) {
    at[i] = i == dim ? loops_axis(b, 'r', 0, of->shape[i]) : z->at[i];
    rest[i] = i == dim ? expr_const(b->x, 0) : z->at[i];
  }
  struct assignment h = loops_assign(b, z->value);
  struct stage *s = loops_stage(b, STAGE_SCAN, n);
  loops_add_axes(b, s, of->rank, rest, false);
  loops_add_axes(b, s, 1, &at[dim], true);
  s->body = scalar_convert(b->s, loops_element(b, of, at), t);
  s->op = REDUCE_SUM;
  s->dtype = t;
  s->out = h.buffer;
  s->offset = loops_offset(b, &h, at);
  loops_inherit(b, z, n);
  loops_take_origins(b, z, s);
  loops_stored(b, z, &h);
  return true;
}
