// SPDX-License-Identifier: Apache-2.0
// Writes to tensors. A name is bound to a value, the variable; after a write other values stand for
// it. A write to a view is a write to what it is a view of, and changes all other views of that:
//
//   row = select(x, 0, 1);  mul_ = mul_(row, 2)   ->  x' = select_scatter(x, mul(row, 2), 0, 1)
//   return (x, row, mul_)                         ->  x', mul(row, 2), mul(row, 2)
//
// Values that are not written to again cost nothing.
#include "graph/ir/complex.h"
#include "graph/ir/graph_build.h"
#include "graph/read/fx_reader.h"

enum { MAX_VIEWS = 1000 }; // of one another

// The value of a view while that of its base is `of`.
struct view_version {
  struct value *of, *is;
};

// A view by an operator that is composed of others: of the variable `base`, while its value is
// `of`.
struct composed_view {
  struct value *base, *of, *is;
  enum operator_id op;
  struct arg args[OPERATOR_MAX_PARAMETERS];
  size_t count;
};

static struct span here(const struct reader *r) { return fx_span(r, r->pos, r->pos + 1); }

// What v is a view of; NULL: it has memory of its own.
static struct value *base_of(const struct reader *r, const struct value *v) {
  return v->id < r->views.len ? r->views.at[v->id].base : NULL;
}

static struct value *root_of(const struct reader *r, struct value *v) {
  return base_of(r, v) ? r->views.at[v->id].root : v;
}

static bool is_whole(const struct value *v) {
  return v->def && (v->def->op == OP_ALIAS || v->def->op == OP_DETACH);
}

void fx_note_view(struct reader *r, const struct value *v, struct value *base) {
  while (r->views.len <= v->id)
    vec_push(r->arena, &r->views, ((struct fx_view){0}));
  if (base && is_whole(base) && base_of(r, base))
    base = base_of(r, base);
  r->views.at[v->id] = (struct fx_view){base, base ? root_of(r, base) : NULL};
}

void fx_note_composed_view(struct reader *r, const struct value *v, struct value *base,
                           enum operator_id op, const struct arg *args, size_t count) {
  struct composed_view *k = arena_new(r->arena, struct composed_view);
  *k = (struct composed_view){
      .base = base, .of = args[0].value, .is = NULL, .op = op, .count = count};
  for (size_t i = 0; i < count; i++)
    k->args[i] = args[i];
  ptrmap_put(r->arena, &r->composed_views, v, k);
}

struct value *fx_reshaped(const struct reader *r, struct value *v) {
  for (struct value *view; (view = ptrmap_get(&r->reshaped, v));)
    v = view;
  return v;
}

// ---- reading ----

static struct value *result_like(const struct value *v, const struct node *n) {
  for (uint32_t i = 0; i < n->result_count; i++)
    if (v->def->results[i] == v)
      return n->results[i];
  return NULL;
}

static void note_version(struct reader *r, struct value *v, struct value *of, struct value *is) {
  struct view_version *k = arena_new(r->arena, struct view_version);
  *k = (struct view_version){of, is};
  ptrmap_put(r->arena, &r->versions, v, k);
}

// The view v of the present value of its base.
static struct value *view_again(struct reader *r, struct value *v, struct value *base) {
  const struct view_version *k = ptrmap_get(&r->versions, v);
  if (k ? k->of == base : v->def->args[0].value == base)
    return k ? k->is : v;
  if (is_whole(v))
    return base;
  struct arg args[OPERATOR_MAX_PARAMETERS];
  for (uint32_t i = 0; i < v->def->arg_count; i++)
    args[i] = v->def->args[i];
  args[0] = ARG_V(base);
  const struct node *n = graph_append(r->g, v->def->op, args, v->def->arg_count, here(r));
  struct value *is = n ? result_like(v, n) : NULL;
  if (!is)
    return r->failed = true, NULL;
  note_version(r, v, base, is);
  return is;
}

// The present value of v, which is no view in the graph.
static struct value *root_now(struct reader *r, struct value *v) {
  struct composed_view *k = ptrmap_get(&r->composed_views, v);
  if (!k)
    return ptrmap_get(&r->latest, v);
  struct value *base = fx_current(r, k->base);
  if (base && base != k->of) {
    k->args[0] = ARG_V(base);
    k->is = graph_apply(r->g, k->op, k->args, k->count, here(r));
    k->of = base;
    r->failed |= !k->is;
  }
  return base ? k->is : NULL;
}

struct value *fx_current(struct reader *r, struct value *v) {
  struct value *root = root_of(r, v), *now = root_now(r, root);
  VEC(struct value *) chain = {0};
  if (!now || root == v)
    return now ? now : v;
  for (struct value *w = v; w != root; w = base_of(r, w)) {
    if (chain.len == MAX_VIEWS) {
      fx_error(r, here(r), E1009, "more than %d views of one another, of a tensor written to",
               MAX_VIEWS);
      return NULL;
    }
    vec_push(r->arena, &chain, w);
  }
  for (size_t i = chain.len; now && i-- > 0;)
    now = view_again(r, chain.at[i], now);
  return now;
}

// ---- writing ----

#define APPLY(op, ...)                                                                             \
  graph_apply(r->g, (op), (struct arg[]){__VA_ARGS__},                                             \
              sizeof((struct arg[]){__VA_ARGS__}) / sizeof(struct arg), at)

// Where part `i` of a split begins.
static const struct expr *part_start(struct reader *r, const struct node *n, uint32_t i) {
  struct exprs *x = r->g->exprs;
  if (n->op == OP_SPLIT)
    return expr_mul(x, node_expr(n, 1), expr_const(x, i));
  const struct expr *sum = expr_const(x, 0);
  for (uint32_t k = 0; k < i; k++)
    sum = expr_add(x, sum, n->args[1].list.at[k].number);
  return sum;
}

static struct value *write_part(struct reader *r, const struct value *v, struct value *whole,
                                struct value *src, struct span at) {
  const struct node *n = v->def;
  uint32_t i = 0;
  while (n->results[i] != v)
    i++;
  if (n->op == OP_UNBIND)
    return APPLY(OP_SELECT_SCATTER, ARG_V(whole), ARG_V(src), n->args[1], arg_int(r->g, i));
  int64_t dim = node_int(n, 2);
  const struct expr *start = part_start(r, n, i),
                    *size = src->shape[dim < 0 ? dim + src->rank : dim];
  return APPLY(OP_SLICE_SCATTER, ARG_V(whole), ARG_V(src), n->args[2], ARG_E(start),
               ARG_E(expr_add(r->g->exprs, start, size)));
}

static struct value *permute_back(struct reader *r, const struct node *n, struct value *src,
                                  struct span at) {
  struct dims order = {.count = src->rank};
  for (uint32_t d = 0; d < src->rank; d++) {
    int64_t from = 0;
    expr_is_const(n->args[1].list.at[d].number, &from);
    order.at[from < 0 ? from + src->rank : from] = d;
  }
  struct build b = {r->g, at};
  return build_permute(&b, src, &order);
}

// All elements of an expanded dimension are one.
static struct value *write_expanded(struct reader *r, const struct value *v, struct value *whole,
                                    struct value *src, struct span at) {
  struct build b = {r->g, at};
  uint32_t more = v->rank - whole->rank;
  const struct expr *zero = expr_const(r->g->exprs, 0), *one = expr_const(r->g->exprs, 1);
  for (uint32_t d = 0; d < v->rank; d++)
    if (d < more || v->shape[d] != whole->shape[d - more])
      src = build_slice(&b, src, d, zero, one, 1);
  return build_view(&b, src, whole->rank, whole->shape);
}

static bool refuse(struct reader *r, enum operator_id op, struct span at) {
  diag_help(fx_error(r, at, E1008, "a write to a view by `%s`", operator_row(op)->name),
            "make the graph functional, as `run_decompositions()` does");
  return false;
}

// `whole`, of which v is a view, with the elements of `src` where v has its own.
static struct value *write_view(struct reader *r, const struct value *v, struct value *whole,
                                struct value *src, struct span at) {
  const struct node *n = v->def;
  const struct arg *a = n->args;
  switch (n->op) {
  case OP_ALIAS:
  case OP_DETACH: return src;
  case OP_VIEW:
  case OP_UNSAFE_VIEW:
  case OP_RESHAPE:
  case OP_UNSQUEEZE:
  case OP_SQUEEZE:
  case OP_SQUEEZE_DIM:
  case OP_SQUEEZE_DIMS:
    return APPLY(OP_RESHAPE, ARG_V(src), arg_exprs(r->g, whole->rank, whole->shape));
  case OP_PERMUTE: return permute_back(r, n, src, at);
  case OP_TRANSPOSE: return APPLY(OP_TRANSPOSE, ARG_V(src), a[1], a[2]);
  case OP_T: return APPLY(OP_T, ARG_V(src));
  case OP_SELECT: return APPLY(OP_SELECT_SCATTER, ARG_V(whole), ARG_V(src), a[1], a[2]);
  case OP_SLICE: return APPLY(OP_SLICE_SCATTER, ARG_V(whole), ARG_V(src), a[1], a[2], a[3], a[4]);
  case OP_DIAGONAL: return APPLY(OP_DIAGONAL_SCATTER, ARG_V(whole), ARG_V(src), a[1], a[2], a[3]);
  case OP_SPLIT:
  case OP_SPLIT_WITH_SIZES:
  case OP_UNBIND: return write_part(r, v, whole, src, at);
  case OP_EXPAND: return write_expanded(r, v, whole, src, at);
  case OP_AS_STRIDED:
    return APPLY(OP_AS_STRIDED_SCATTER, ARG_V(whole), ARG_V(src), a[1], a[2], a[3]);
  default: break;
  }
  refuse(r, n->op, at);
  return NULL;
}

// Each window has the elements of the dimension from a multiple of the step on.
static struct value *write_windows(struct reader *r, const struct composed_view *k,
                                   struct value *whole, struct value *src, struct span at) {
  int64_t dim = 0, step = 1;
  const struct expr *strides[GRAPH_MAX_RANK];
  expr_is_const(k->args[1].number, &dim);
  expr_is_const(k->args[3].number, &step);
  dim += dim < 0 ? whole->rank : 0;
  for (uint32_t d = 0; d < whole->rank; d++)
    strides[d] = d == dim ? expr_muli(r->g->exprs, whole->strides[d], step) : whole->strides[d];
  strides[whole->rank] = whole->strides[dim];
  return APPLY(OP_AS_STRIDED_SCATTER, ARG_V(whole), ARG_V(src),
               arg_exprs(r->g, src->rank, src->shape), arg_exprs(r->g, src->rank, strides));
}

// The variable, of which v is a view, gets the elements of `new` where v has its own.
static struct value *write_composed(struct reader *r, struct composed_view *k, struct value *new,
                                    struct span at) {
  struct value *whole = fx_current(r, k->base), *next = NULL;
  if (!whole || k->op != OP_UNFOLD || whole->rank == 0)
    return whole && refuse(r, k->op, at) ? whole : NULL;
  next = write_windows(r, k, whole, new, at);
  k->of = next, k->is = new;
  return next;
}

bool fx_write(struct reader *r, struct value *v, struct value *new, struct span at) {
  for (;;) {
    struct value *base = base_of(r, v), *next = NULL;
    struct composed_view *k = base ? NULL : ptrmap_get(&r->composed_views, v);
    if (!base && !k)
      break;
    if (k) {
      next = write_composed(r, k, new, at);
      base = k->base;
    } else {
      struct value *whole = fx_current(r, base);
      next = whole ? write_view(r, v, whole, new, at) : NULL;
      note_version(r, v, next, new);
    }
    if (!next)
      return r->failed = true, false;
    new = next, v = base;
  }
  if (v->complex) {
    diag_help(fx_error(r, at, E1008, "a write to a complex tensor"),
              "return the new value instead, and copy it after the run");
    return false;
  }
  ptrmap_put(r->arena, &r->latest, v, new);
  if (v->def)
    return true;
  size_t index = (size_t)(uintptr_t)ptrmap_get(&r->written, v);
  if (index) {
    r->g->mutations.at[index - 1].value = new;
  } else {
    graph_add_mutation(r->g, v, new);
    ptrmap_put(r->arena, &r->written, v, (void *)(uintptr_t)r->g->mutations.len);
  }
  return true;
}
