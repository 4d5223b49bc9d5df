// SPDX-License-Identifier: Apache-2.0
// Affine facts: base + sum of coefficients * indices, through arithmetic and views.
// Recursion is the algorithm: the facts of a result follow from those of its operands.
#include "graph/passes/simplify.h"

static const struct fact none = {.kind = FACT_NONE};

bool fact_scale(struct fact *f, int64_t by) {
  bool overflows = __builtin_mul_overflow(f->base, by, &f->base);
  for (uint32_t i = 0; i < GRAPH_MAX_RANK; i++)
    overflows |= __builtin_mul_overflow(f->coefficient[i], by, &f->coefficient[i]);
  return !overflows;
}

bool fact_add(struct fact *f, const struct fact *g, int64_t sign) {
  struct fact scaled = *g;
  bool overflows =
      !fact_scale(&scaled, sign) || __builtin_add_overflow(f->base, scaled.base, &f->base);
  for (uint32_t i = 0; i < GRAPH_MAX_RANK; i++)
    overflows |=
        __builtin_add_overflow(f->coefficient[i], scaled.coefficient[i], &f->coefficient[i]);
  return !overflows;
}

bool fact_range(const struct fact *f, const struct value *shape, int64_t *ret_low,
                int64_t *ret_high) {
  *ret_low = *ret_high = f->base;
  for (uint32_t i = 0; i < shape->rank; i++) {
    int64_t c = f->coefficient[i], most = shape->shape[i]->hi, reach;
    if (c == 0)
      continue;
    if (most < 1 || most == INT64_MAX || __builtin_mul_overflow(c, most - 1, &reach))
      return false;
    int64_t *end = c < 0 ? ret_low : ret_high;
    if (__builtin_add_overflow(*end, reach, end))
      return false;
  }
  return f->kind == FACT_AFFINE;
}

bool fact_broadcast(const struct fact *f, const struct value *from, const struct value *to,
                    struct fact *ret) {
  *ret = *f;
  if (f->kind != FACT_AFFINE)
    return f->kind == FACT_REAL;
  uint32_t more = to->rank - from->rank;
  for (uint32_t i = 0; i < to->rank; i++)
    ret->coefficient[i] =
        i < more || expr_is(from->shape[i - more], 1) ? 0 : f->coefficient[i - more];
  for (uint32_t i = to->rank; i < GRAPH_MAX_RANK; i++)
    ret->coefficient[i] = 0;
  return true;
}

// ---- views ----

// The next run of dimensions, from *at on, with equal products of sizes on both sides: [6] and [2,
// 3].
struct group {
  uint32_t begin, end;
};

static void skip_ones(const struct value *v, uint32_t *at) {
  while (*at < v->rank && expr_is(v->shape[*at], 1))
    ++*at;
}

static bool next_group(struct exprs *x, const struct value *a, const struct value *b,
                       struct group *of_a, struct group *of_b) {
  const struct expr *size_a = a->shape[of_a->end], *size_b = b->shape[of_b->end];
  of_a->begin = of_a->end++;
  of_b->begin = of_b->end++;
  while (size_a != size_b) {
    int64_t na, nb;
    if (!expr_is_const(size_a, &na) || !expr_is_const(size_b, &nb))
      return false;
    if (na < nb && of_a->end < a->rank)
      size_a = expr_mul(x, size_a, a->shape[of_a->end++]);
    else if (nb < na && of_b->end < b->rank)
      size_b = expr_mul(x, size_b, b->shape[of_b->end++]);
    else
      return false;
  }
  return true;
}

// One group: the coefficients along `a` as one iota, if they are one, then along `b`.
static bool view_group(const struct fact *f, const struct value *a, const struct group *of_a,
                       const struct value *b, const struct group *of_b, struct fact *ret) {
  int64_t unit = 0, size = 1;
  bool is_first = true;
  for (uint32_t i = of_a->end; i-- > of_a->begin;) {
    int64_t n = 0;
    if (expr_is(a->shape[i], 1))
      continue;
    if (is_first)
      unit = f->coefficient[i];
    else if (f->coefficient[i] != unit * size)
      return false;
    is_first = false;
    if (!expr_is_const(a->shape[i], &n))
      return of_a->end == of_a->begin + 1 && (ret->coefficient[of_b->begin] = unit, true);
    if (__builtin_mul_overflow(size, n, &size))
      return false;
  }
  size = 1;
  for (uint32_t i = of_b->end; i-- > of_b->begin;) {
    int64_t n = 0;
    if (expr_is(b->shape[i], 1))
      continue;
    if (!expr_is_const(b->shape[i], &n) || __builtin_mul_overflow(unit, size, &ret->coefficient[i]))
      return false;
    size *= n;
  }
  return true;
}

static struct fact through_view(struct simplify *s, const struct fact *f, const struct value *a,
                                const struct value *b) {
  struct fact ret = {.kind = f->kind, .base = f->base, .real = f->real};
  struct group of_a = {0, 0}, of_b = {0, 0};
  if (fact_is_uniform(f))
    return ret;
  for (;;) {
    skip_ones(a, &of_a.end);
    skip_ones(b, &of_b.end);
    if (of_a.end == a->rank || of_b.end == b->rank)
      return of_a.end == a->rank && of_b.end == b->rank ? ret : none;
    if (!next_group(s->b.g->exprs, a, b, &of_a, &of_b) || !view_group(f, a, &of_a, b, &of_b, &ret))
      return none;
  }
}

static struct fact through_permute(const struct node *n, const struct fact *f) {
  struct fact ret = {.kind = f->kind, .base = f->base, .real = f->real};
  const struct arg *list;
  size_t count = node_list(n, 1, &list);
  for (size_t i = 0; i < count; i++) {
    int64_t dim = 0;
    expr_is_const(list[i].number, &dim);
    ret.coefficient[i] = f->coefficient[dim < 0 ? dim + (int64_t)count : dim];
  }
  return ret;
}

static void drop_ones(struct fact *f, const struct value *v) {
  for (uint32_t i = 0; i < v->rank; i++)
    if (expr_is(v->shape[i], 1))
      f->coefficient[i] = 0;
}

static struct fact through_slice(const struct node *n, const struct fact *f,
                                 const struct value *x) {
  struct fact ret = *f;
  uint32_t dim = node_dim(n, 1, x->rank);
  int64_t start = 0, by = 0, reach;
  bool is_select = n->op == OP_SELECT;
  if (fact_is_uniform(f))
    return ret;
  if (node_is_none(n, 2) || !expr_is_const(node_expr(n, 2), &start) || start < 0)
    return none;
  if (__builtin_mul_overflow(f->coefficient[dim], start, &reach) ||
      __builtin_add_overflow(ret.base, reach, &ret.base))
    return none;
  if (is_select) {
    memmove(ret.coefficient + dim, ret.coefficient + dim + 1,
            (GRAPH_MAX_RANK - 1 - dim) * sizeof(int64_t));
    ret.coefficient[GRAPH_MAX_RANK - 1] = 0;
    return ret;
  }
  if (!expr_is_const(node_expr(n, 4), &by) ||
      __builtin_mul_overflow(ret.coefficient[dim], by, &ret.coefficient[dim]))
    return none;
  drop_ones(&ret, n->results[0]);
  return ret;
}

static struct fact through_flip(const struct node *n, const struct fact *f, const struct value *x) {
  struct fact ret = *f;
  struct dims dims = dims_of(n, 1, x->rank);
  for (uint32_t i = 0; i < dims.count; i++) {
    int64_t size = 0, c = f->coefficient[dims.at[i]], reach;
    if (c == 0)
      continue;
    if (!expr_is_const(x->shape[dims.at[i]], &size) ||
        __builtin_mul_overflow(c, size - 1, &reach) ||
        __builtin_add_overflow(ret.base, reach, &ret.base))
      return none;
    ret.coefficient[dims.at[i]] = -c;
  }
  return ret;
}

// Operands of a cat that continue one another.
static struct fact through_cat(struct simplify *s, const struct node *n) {
  const struct value *v = n->results[0];
  const struct arg *list;
  size_t count = node_list(n, 0, &list);
  uint32_t dim = node_dim(n, 1, v->rank);
  struct fact ret = none;
  int64_t at = 0, step = 0;
  bool has_step = false;
  for (size_t i = 0; i < count; i++) {
    const struct value *piece = list[i].value;
    struct fact f = *fact_of(s, piece);
    int64_t size = 0, expected = 0;
    if (f.kind == FACT_NONE || piece->dtype != v->dtype || piece->rank != v->rank)
      return none;
    if (!expr_is_const(piece->shape[dim], &size))
      return none;
    if (i == 0)
      ret = f;
    else if (f.kind == FACT_REAL && memcmp(&f.real, &ret.real, sizeof f.real) != 0)
      return none;
    if (!has_step && i > 0)
      step = f.base - ret.base, has_step = at == 1;
    if (size > 1) {
      if (has_step && f.coefficient[dim] != step)
        return none;
      step = f.coefficient[dim], has_step = true;
    }
    if (f.kind != FACT_REAL &&
        (__builtin_mul_overflow(step, at, &expected) || f.base != ret.base + expected))
      return none;
    for (uint32_t k = 0; k < v->rank; k++)
      if (k != dim && f.coefficient[k] != ret.coefficient[k])
        return none;
    at += size;
  }
  if (ret.kind == FACT_AFFINE)
    ret.coefficient[dim] = at > 1 ? step : 0;
  return ret;
}

struct fact fact_of_view(struct simplify *s, const struct node *n) {
  if (n->op == OP_CAT)
    return through_cat(s, n);
  const struct value *x = node_value(n, 0);
  const struct fact *f = fact_of(s, x);
  if (f->kind == FACT_NONE)
    return none;
  struct fact ret;
  switch (n->op) {
  case OP_VIEW:
  case OP_UNSQUEEZE:
  case OP_SQUEEZE_DIMS: return through_view(s, f, x, n->results[0]);
  case OP_EXPAND: return fact_broadcast(f, x, n->results[0], &ret) ? ret : none;
  case OP_PERMUTE: return through_permute(n, f);
  case OP_SELECT:
  case OP_SLICE: return through_slice(n, f, x);
  case OP_FLIP: return through_flip(n, f, x);
  case OP_ALIAS:
  case OP_DETACH: return *f;
  default: // also as_strided and diagonal: any element of a uniform value is that number
    return fact_is_uniform(f) ? *f : none;
  }
}
