// SPDX-License-Identifier: Apache-2.0
// Decomposes operators until only the primitives of graph/passes/lowering.def are left.
#include "graph/passes/decompose.h"

enum lowering { LOWERING_NONE, LOWERING_PRIMITIVE, LOWERING_NORMAL, LOWERING_DECOMPOSE };

static const struct {
  enum lowering kind;
  decompose_fn f;
} rows[OPERATOR_COUNT] = {
#define PRIMITIVE(id) [OP_##id] = {LOWERING_PRIMITIVE, NULL},
#define NORMAL(id, function) [OP_##id] = {LOWERING_NORMAL, decompose_##function},
#define DECOMPOSE(id, function) [OP_##id] = {LOWERING_DECOMPOSE, decompose_##function},
#include "graph/passes/lowering.def"
};

bool operator_is_primitive(enum operator_id id) { return rows[id].kind != LOWERING_DECOMPOSE; }

bool operator_has_lowering(enum operator_id id) { return rows[id].kind != LOWERING_NONE; }

bool decompose_keep(struct decompose *d) {
  d->keeps = true;
  return true;
}

// A decomposition has the shape of the original: where a size has another form, it is the same.
static void equate_shapes(struct value *v, const struct value *old) {
  for (uint32_t i = 0; v && v->def && v->rank == old->rank && i < v->rank; i++) {
    bool is_one = expr_is(v->shape[i], 1); // is broadcast
    if (v->shape[i] != old->shape[i] && !is_one)
      v->shape[i] = expr_equate(v->shape[i], old->shape[i]);
  }
}

bool decompose_give(struct decompose *d, const struct node *n, struct value **ret, uint32_t i,
                    struct value *v) {
  const struct value *old = n->results[i];
  if (!old)
    return true;
  equate_shapes(v, old);
  ret[i] = build_as(&d->b, build_convert(&d->b, v, old->dtype), old);
  return true;
}

// ---- arguments ----

bool node_is_word(const struct node *n, unsigned i, const char *word) {
  return i < n->arg_count && n->args[i].kind == ARG_STRING && str_is(n->args[i].string, word);
}

bool node_is_number(const struct node *n, unsigned i, double number) {
  const struct arg *a = &n->args[i];
  int64_t value = 0;
  switch (a->kind) {
  case ARG_FLOAT: return !(a->real < number) && !(a->real > number) && a->real - a->real == 0;
  case ARG_BOOL: return a->truth ? !(number < 1) && !(number > 1) : !(number < 0) && !(number > 0);
  case ARG_INT:
    return expr_is_const(a->number, &value) && !((double)value < number) &&
           !((double)value > number);
  default: return false;
  }
}

// ---- the walk ----

struct walk {
  unsigned flags;
  bool has_wgmma;
  const bool *is_live;
  uint32_t streams; // random operators so far: the first pass replaces and numbers all of them
  bool changed;
};

static bool take(struct rewrite *rw, const struct node *n, struct value **ret, uint32_t first_id) {
  for (uint32_t i = 0; i < n->result_count; i++) {
    if (!n->results[i])
      continue;
    if (!ret[i])
      return false;
    rewrite_name(rw, n->results[i], ret[i], first_id);
  }
  return true;
}

// All results are empty: nothing is computed, and a reduction over nothing may be undefined.
static bool is_empty(struct rewrite *rw, const struct node *n) {
  for (uint32_t i = 0; i < n->result_count; i++)
    if (n->results[i] && !expr_is(value_numel(rw->to->exprs, n->results[i]), 0))
      return false;
  return true;
}

// Sums over no elements, products with k = 0, gradients of no images: the neutral element, without
// a loop that would read out of bounds.
static bool combines_nothing(struct rewrite *rw, const struct node *n, double *ret_value) {
  *ret_value = 0;
  switch (n->op) {
  case OP_PROD:
  case OP_PROD_DIM:
  case OP_ALL:
  case OP_ALL_DIM: *ret_value = 1; break;
  case OP_SUM:
  case OP_SUM_DIM:
  case OP_ANY:
  case OP_ANY_DIM:
  case OP_ANY_DIMS:
  case OP_MM:
  case OP_TILE_FAST_MM:
  case OP_TILE_GROUPED_MM:
  case OP_BMM:
  case OP_CONVOLUTION_BACKWARD: break;
  default: return false;
  }
  return expr_is(value_numel(rw->to->exprs, node_value(n, 0)), 0);
}

// The results as uniform tensors.
static bool give_number(struct rewrite *rw, const struct node *n, double value) {
  struct build b = {rw->to, n->span};
  for (uint32_t i = 0; i < n->result_count; i++) {
    const struct value *v = n->results[i];
    if (!v)
      continue;
    struct value *full = build_full(&b, v->rank, v->shape, value, v->dtype);
    if (!full)
      return false;
    rewrite_name(rw, v, full, 0);
  }
  return true;
}

static bool decompose_node(struct rewrite *rw, const struct node *n) {
  struct walk *w = rw->user;
  uint32_t stream = n->random_number ? n->random_number - 1 : w->streams;
  if (operator_row(n->op)->class == CLASS_RANDOM)
    w->streams++;
  if (node_is_dead(w->is_live, n))
    return w->changed = true;
  if (n->op != OP_FULL && is_empty(rw, n))
    return (w->changed = true) && give_number(rw, n, 0);
  double value;
  if (combines_nothing(rw, n, &value))
    return (w->changed = true) && give_number(rw, n, value);
  if (!rows[n->op].f)
    return rewrite_copy(rw, n);
  struct decompose d = {
      .b = {rw->to, n->span}, .flags = w->flags, .has_wgmma = w->has_wgmma, .stream = stream};
  struct node mapped = *n;
  mapped.args = rewrite_args(rw, n);
  struct value **ret = arena_array(rw->to->arena, struct value *, n->result_count + 1);
  uint32_t first_id = rw->to->value_count;
  if (!rows[n->op].f(&d, &mapped, ret))
    return false;
  if (d.keeps)
    return rewrite_copy(rw, n);
  w->changed = true;
  return take(rw, n, ret, first_id);
}

bool graph_decompose_node(struct graph *g, const struct node *n, struct value **ret) {
  struct decompose d = {.b = {g, n->span}};
  if (!rows[n->op].f || !rows[n->op].f(&d, n, ret) || d.keeps)
    return false;
  for (uint32_t i = 0; i < n->result_count; i++)
    if (n->results[i] && !ret[i])
      return false;
  return true;
}

struct graph *graph_decompose(struct graph *g, unsigned flags, bool has_wgmma) {
  struct walk w = {.flags = flags, .has_wgmma = has_wgmma, .changed = true};
  while (g && w.changed) {
    w.changed = false;
    w.is_live = graph_live(g);
    g = graph_rewrite(g, decompose_node, &w);
  }
  return g;
}
