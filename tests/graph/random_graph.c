// SPDX-License-Identifier: Apache-2.0
// Generates random graphs from a seed.
#include "random_graph.h"

#include "graph/ir/graph_build.h"

#include <stdlib.h>

enum { MAX_POOL = 256, MAX_RANK = 5 };

// A value that later operators may use.
struct candidate {
  struct value *v;
  double bound; // about how large it gets
  bool exact; // inputs and what is made of them without computing: any two ways have the same bits
};

struct maker {
  struct build b;
  struct exprs *x;
  const struct random_graph_options *o;
  uint64_t state;
  struct candidate pool[MAX_POOL];
  unsigned count, inputs;
  int64_t limit;
};

static uint64_t below(struct maker *m, uint64_t n) {
  m->state = m->state * 6364136223846793005u + 1442695040888963407u;
  return (m->state >> 33) % n;
}

static bool chance(struct maker *m, unsigned in) { return below(m, in) == 0; }

static const struct expr *number(struct maker *m, int64_t v) { return expr_const(m->x, v); }

static bool put(struct maker *m, struct value *v, double bound, bool exact) {
  if (!v)
    return false;
  if (m->count < MAX_POOL)
    m->pool[m->count++] = (struct candidate){v, bound, exact};
  return true;
}

static bool fits(struct maker *m, const struct expr *numel) { return expr_hint(numel) <= m->limit; }

// Prefers recent values, so that chains grow.
static struct candidate pick(struct maker *m) {
  unsigned recent = m->count < 6 ? m->count : 6;
  return m->pool[chance(m, 3) ? below(m, m->count) : m->count - 1 - below(m, recent)];
}

// A float value, clamped if it may be large.
static struct candidate pick_float(struct maker *m) {
  struct candidate c = pick(m);
  if (c.v->dtype == DTYPE_I1 || dtype_is_int(c.v->dtype)) {
    c.v = build_convert(&m->b, c.v, DTYPE_F32);
    if (c.bound > 4)
      c.v = build_scale(&m->b, c.v, 1 / c.bound);
    c.bound = 1;
  }
  if (c.bound > 8) {
    c.v = build_unop(&m->b, OP_TANH, c.v);
    c.bound = 1;
    c.exact = false;
  }
  return c;
}

// ---- inputs ----

static struct value *make_input(struct maker *m, enum dtype t, uint32_t rank,
                                const struct expr *const *shape) {
  char name[16] = "x0";
  name[1] = (char)('a' + m->inputs++ % 26);
  return graph_add_input(m->b.g, arena_printf(m->b.g->arena, "%s_%u", name, m->inputs), t, rank,
                         shape, NULL, SPAN_NONE);
}

// A shape that broadcasts with the base: some sizes are 1, some leading ones missing; perhaps
// another order in memory.
static void make_inputs(struct maker *m) {
  static const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 16, 33};
  const struct expr *base[MAX_RANK];
  uint32_t rank = 1 + (uint32_t)below(m, 4);
  for (;;) {
    for (uint32_t d = 0; d < rank; d++)
      base[d] = number(m, sizes[below(m, COUNT_OF(sizes))]);
    if (fits(m, expr_product(m->x, base, rank)))
      break;
  }
  if (m->o->symbolic) {
    base[below(m, rank)] = expr_size(m->x, "s0", 1, 1 << 20, 6);
    vec_push(m->b.g->arena, &m->b.g->symbols, expr_size(m->x, "s0", 1, 1 << 20, 6));
  }
  static const enum dtype floats[] = {DTYPE_F32, DTYPE_F32, DTYPE_F16, DTYPE_BF16};
  for (unsigned i = 0; i < 3; i++) {
    const struct expr *shape[MAX_RANK];
    uint32_t skip = i > 0 && chance(m, 4) ? (uint32_t)below(m, rank) : 0;
    for (uint32_t d = skip; d < rank; d++)
      shape[d - skip] = i > 0 && chance(m, 4) ? number(m, 1) : base[d];
    enum dtype t = floats[m->o->half_precision ? below(m, COUNT_OF(floats)) : 0];
    struct value *v = make_input(m, t, rank - skip, shape);
    if (i > 0 && v->rank > 1 && chance(m, 3)) { // two dimensions the other way round in memory
      const struct expr *stride = v->shape[v->rank - 2];
      v->strides[v->rank - 2] = number(m, 1);
      v->strides[v->rank - 1] = stride;
    }
    put(m, v, 3, true);
  }
}

// ---- pointwise ----

static bool make_unary(struct maker *m) {
  static const struct {
    enum operator_id op;
    double bound; // 0: that of the operand
    bool of_absolute, decides;
  } list[] = {{OP_NEG, 0},
              {OP_ABS, 0},
              {OP_TANH, 1},
              {OP_SIGMOID, 1},
              {OP_SIN, 1},
              {OP_COS, 1},
              {OP_ERF, 1},
              {OP_RELU, 0},
              {OP_GELU, 0},
              {OP_SILU, 0},
              {OP_EXP, 3000},
              {OP_EXPM1, 3000},
              {OP_LOG1P, 3, true},
              {OP_SQRT, 0, true},
              {OP_HARDTANH, 1},
              {OP_RSQRT, 1, true},
              {OP_RECIPROCAL, 1, true},
              {OP_ATAN, 2},
              {OP_FLOOR, 0, false, true},
              {OP_SIGN, 1, false, true},
              {OP_HARDSWISH, 0},
              {OP_LEAKY_RELU, 0},
              {OP_ELU, 0},
              {OP_SOFTPLUS, 0},
              {OP_ROUND, 0, false, true}};
  struct candidate c = pick_float(m);
  size_t k = below(m, COUNT_OF(list));
  if (list[k].decides && !c.exact)
    return true;
  if (list[k].of_absolute) // |x| + 1
    c.v = build_real(&m->b, OP_ADD_TENSOR, build_unop(&m->b, OP_ABS, c.v), 1);
  return put(m, build_unop(&m->b, list[k].op, c.v), list[k].bound > 0 ? list[k].bound : c.bound + 1,
             false);
}

// Do both broadcast to something that is not too large?
static bool broadcast(struct maker *m, const struct value *a, const struct value *b) {
  const struct expr *numel = number(m, 1), *one = numel;
  for (uint32_t i = 1; i <= a->rank || i <= b->rank; i++) {
    const struct expr *sa = i <= a->rank ? a->shape[a->rank - i] : one,
                      *sb = i <= b->rank ? b->shape[b->rank - i] : one;
    if (sa != sb && !expr_is(sa, 1) && !expr_is(sb, 1))
      return false;
    numel = expr_mul(m->x, numel, expr_is(sa, 1) ? sb : sa);
  }
  return fits(m, numel);
}

static bool make_binary(struct maker *m) {
  struct candidate a = pick_float(m), b = pick_float(m);
  for (int tries = 0; tries < 8 && !broadcast(m, a.v, b.v); tries++)
    b = pick_float(m);
  if (!broadcast(m, a.v, b.v))
    b = a;
  switch (below(m, 7)) {
  case 0: return put(m, build_sub(&m->b, a.v, b.v), a.bound + b.bound, false);
  case 1: return put(m, build_mul(&m->b, a.v, b.v), a.bound * b.bound, false);
  case 2: // with a divisor that is not near 0
    b.v = build_real(&m->b, OP_ADD_TENSOR, build_unop(&m->b, OP_ABS, b.v), 1);
    return put(m, build_div(&m->b, a.v, b.v), a.bound, false);
  case 3: return put(m, build_binop(&m->b, OP_MAXIMUM, a.v, b.v), a.bound + b.bound, false);
  case 4: return put(m, build_binop(&m->b, OP_MINIMUM, a.v, b.v), a.bound + b.bound, false);
  default: return put(m, build_add(&m->b, a.v, b.v), a.bound + b.bound, false);
  }
}

static bool make_number(struct maker *m) {
  static const double numbers[] = {0.5, 2, -1, 1.25, 0.125, 3};
  static const enum operator_id ops[] = {OP_ADD_TENSOR, OP_MUL_TENSOR,  OP_SUB_TENSOR,
                                         OP_DIV_TENSOR, OP_RSUB_SCALAR, OP_POW_TENSOR_SCALAR,
                                         OP_CLAMP_MIN,  OP_CLAMP_MAX};
  struct candidate c = pick_float(m);
  enum operator_id op = ops[below(m, COUNT_OF(ops))];
  double by = op == OP_POW_TENSOR_SCALAR ? 2 : numbers[below(m, COUNT_OF(numbers))];
  return put(m, build_real(&m->b, op, c.v, by),
             op == OP_POW_TENSOR_SCALAR ? c.bound * c.bound : 8 * c.bound, false);
}

// A comparison of exact values, and a selection by it.
static bool make_mask(struct maker *m) {
  static const enum operator_id ops[] = {OP_GT_SCALAR, OP_LE_SCALAR, OP_LT_SCALAR, OP_GE_SCALAR};
  struct candidate c = pick_float(m), a = pick_float(m);
  if (!c.exact)
    c = m->pool[below(m, 3)];
  struct value *mask = build_real(&m->b, ops[below(m, 4)], c.v, 0.25);
  if (chance(m, 4))
    mask = build_unop(&m->b, OP_LOGICAL_NOT, mask);
  if (!mask || chance(m, 3) || !broadcast(m, mask, a.v))
    return put(m, mask, 1, true);
  return put(m, build_where_else(&m->b, mask, a.v, chance(m, 2) ? 0 : -1.5), a.bound + 2, false);
}

static bool make_convert(struct maker *m) {
  static const enum dtype floats[] = {DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_F64};
  struct candidate c = pick_float(m);
  enum dtype t = m->o->half_precision ? floats[below(m, 3)] : chance(m, 2) ? DTYPE_F64 : DTYPE_F32;
  return put(m, build_convert(&m->b, c.v, t), c.bound, false);
}

// Positions, and triangular masks of them.
static bool make_iota(struct maker *m) {
  struct candidate c = pick_float(m);
  if (c.v->rank == 0)
    return true;
  uint32_t d = (uint32_t)below(m, c.v->rank), e = (uint32_t)below(m, c.v->rank);
  struct value *i = build_iota(&m->b, c.v->shape[d], d, c.v->rank);
  if (d == e)
    return put(m, i, (double)expr_hint(c.v->shape[d]), true);
  struct value *k = build_iota(&m->b, c.v->shape[e], e, c.v->rank);
  struct value *mask = build_binop(&m->b, OP_LE_TENSOR, k, i);
  return put(m, build_where_else(&m->b, mask, c.v, 0), c.bound, c.exact);
}

// Integers: positions, or a new input of indices, through one of their own operators.
static bool make_integer(struct maker *m) {
  static const enum operator_id ops[] = {OP_ADD_TENSOR,         OP_MUL_TENSOR,  OP_FLOOR_DIVIDE,
                                         OP_REMAINDER_SCALAR,   OP_FMOD_SCALAR, OP_MAXIMUM,
                                         OP_BITWISE_AND_SCALAR, OP_SUB_TENSOR};
  struct candidate c = pick(m);
  if (c.v->rank == 0)
    return true;
  uint32_t d = (uint32_t)below(m, c.v->rank);
  struct value *i = build_iota(&m->b, c.v->shape[d], d, c.v->rank);
  enum operator_id op = ops[below(m, COUNT_OF(ops))];
  i = op == OP_MAXIMUM
          ? build_binop(&m->b, op, i, build_int(&m->b, OP_RSUB_SCALAR, i, 3))
          : build_int(&m->b, op, build_int(&m->b, OP_SUB_TENSOR, i, 2), 1 + (int64_t)below(m, 4));
  if (chance(m, 2))
    return put(m, i, 4 * (double)expr_hint(c.v->shape[d]), true);
  struct value *mask = build_int(&m->b, chance(m, 2) ? OP_EQ_SCALAR : OP_NE_SCALAR, i, 1);
  if (!mask || c.v->dtype == DTYPE_I1 || !dtype_is_float(c.v->dtype))
    return put(m, mask, 1, true);
  return put(m, build_where_else(&m->b, mask, c.v, 0.5), c.bound + 1, c.exact);
}

// ---- views and movement ----

static bool make_view(struct maker *m) {
  struct candidate c = pick(m);
  struct value *v = c.v, *made = NULL;
  const struct arg self = TENSOR(v);
  if (v->rank == 0)
    return put(m, build_unsqueeze(&m->b, v, 0), c.bound, c.exact);
  uint32_t d = (uint32_t)below(m, v->rank), e = (uint32_t)below(m, v->rank);
  int64_t size = 0;
  bool known = expr_is_const(v->shape[d], &size);
  switch (below(m, 9)) {
  case 0: made = build_swap(&m->b, v, d, e); break;
  case 1: made = v->rank < MAX_RANK ? build_unsqueeze(&m->b, v, d) : v; break;
  case 2: // together with the next
    if (d + 1 < v->rank) {
      const struct expr *shape[MAX_RANK];
      for (uint32_t i = 0; i < v->rank - 1; i++)
        shape[i] = i < d    ? v->shape[i]
                   : i == d ? expr_mul(m->x, v->shape[d], v->shape[d + 1])
                            : v->shape[i + 1];
      made = BUILD(&m->b, OP_RESHAPE, self, arg_exprs(m->b.g, v->rank - 1, shape));
    }
    break;
  case 3: // in two
    if (known && v->rank < MAX_RANK && size % 2 == 0) {
      const struct expr *shape[MAX_RANK];
      for (uint32_t i = 0; i <= v->rank; i++)
        shape[i] = i < d        ? v->shape[i]
                   : i == d     ? number(m, 2)
                   : i == d + 1 ? number(m, size / 2)
                                : v->shape[i - 1];
      made = BUILD(&m->b, OP_RESHAPE, self, arg_exprs(m->b.g, v->rank + 1, shape));
    }
    break;
  case 4:
    if (known && size > 1)
      made = build_slice(&m->b, v, d, number(m, (int64_t)below(m, (uint64_t)size - 1)),
                         number(m, size), 1 + (int64_t)below(m, 2));
    break;
  case 5:
    if (known && v->rank > 1)
      made = BUILD(&m->b, OP_SELECT, self, arg_int(m->b.g, d),
                   arg_int(m->b.g, (int64_t)below(m, (uint64_t)size)));
    break;
  case 6: {
    const struct expr *shape[MAX_RANK];
    for (uint32_t i = 0; i < v->rank; i++)
      shape[i] = expr_is(v->shape[i], 1) ? number(m, 3) : v->shape[i];
    if (fits(m, expr_product(m->x, shape, v->rank)))
      made = build_expand(&m->b, v, v->rank, shape);
    break;
  }
  case 7: made = BUILD(&m->b, OP_CLONE, self); break;
  default: made = build_squeeze(&m->b, v, d); break;
  }
  return !made || put(m, made, c.bound, c.exact);
}

// The same elements in any other shape, whose dimensions need not align with the old ones.
static bool make_reshape(struct maker *m) {
  struct candidate c = pick(m);
  int64_t left, shape[MAX_RANK];
  uint32_t rank = 0;
  if (!expr_is_const(value_numel(m->x, c.v), &left))
    return true;
  for (int64_t f = 2; f <= 11 && rank + 1 < MAX_RANK; f++)
    if (left % f == 0 && chance(m, 2)) {
      shape[rank++] = f;
      left /= f;
    }
  uint32_t at = (uint32_t)below(m, rank + 1); // what is left over goes anywhere
  memmove(shape + at + 1, shape + at, (rank - at) * sizeof *shape);
  shape[at] = left;
  return put(m, BUILD(&m->b, OP_RESHAPE, TENSOR(c.v), arg_ints(m->b.g, rank + 1, shape)), c.bound,
             c.exact);
}

static bool make_movement(struct maker *m) {
  struct candidate c = pick_float(m);
  struct value *v = c.v;
  if (v->rank == 0)
    return true;
  struct graph *g = m->b.g;
  uint32_t d = (uint32_t)below(m, v->rank);
  const struct arg self = TENSOR(v), dim = arg_int(g, d);
  const struct expr *twice = expr_muli(m->x, value_numel(m->x, v), 2);
  switch (below(m, 7)) {
  case 0: {
    struct value *both[2] = {v, chance(m, 2) ? v : build_unop(&m->b, OP_NEG, v)};
    return !fits(m, twice) ||
           put(m, BUILD(&m->b, OP_CAT, arg_values(g, 2, both), dim), c.bound, false);
  }
  case 1: {
    struct value *both[2] = {v, build_unop(&m->b, OP_SIN, v)};
    return !fits(m, twice) || v->rank == MAX_RANK ||
           put(m, BUILD(&m->b, OP_STACK, arg_values(g, 2, both), dim), c.bound + 1, false);
  }
  case 2:
    return !fits(m, expr_muli(m->x, twice, 2)) ||
           put(m,
               BUILD(&m->b, OP_CONSTANT_PAD_ND, self, arg_ints(g, 2, (int64_t[]){1, 2}),
                     ARG_F(0.5)),
               c.bound, false);
  case 3:
    return put(m, BUILD(&m->b, OP_FLIP, self, arg_ints(g, 1, (int64_t[]){d})), c.bound, c.exact);
  case 4:
    return put(
        m,
        BUILD(&m->b, OP_ROLL, self, arg_ints(g, 1, (int64_t[]){1}), arg_ints(g, 1, (int64_t[]){d})),
        c.bound, c.exact);
  case 5: {
    int64_t times[MAX_RANK];
    for (uint32_t i = 0; i < v->rank; i++)
      times[i] = i == d ? 2 : 1;
    return !fits(m, twice) ||
           put(m, BUILD(&m->b, OP_REPEAT, self, arg_ints(g, v->rank, times)), c.bound, c.exact);
  }
  default:
    return put(
        m,
        BUILD(&m->b, chance(m, 2) ? OP_TRIL : OP_TRIU,
              v->rank > 1 ? self : TENSOR(build_swap(&m->b, build_unsqueeze(&m->b, v, 0), 0, 1))),
        c.bound, c.exact);
  }
}

// ---- reductions, scans, norms ----

static bool make_reduction(struct maker *m) {
  struct candidate c = pick_float(m);
  struct value *v = build_up(&m->b, c.v);
  struct dims d = {0};
  for (uint32_t i = 0; v && i < v->rank; i++)
    if (chance(m, 2))
      d.at[d.count++] = i;
  if (!v || v->rank == 0 || d.count == 0)
    return v != NULL;
  struct graph *g = m->b.g;
  bool keeps = chance(m, 2);
  double count = (double)expr_hint(build_count(&m->b, v, &d));
  int64_t dims[MAX_RANK];
  for (uint32_t i = 0; i < d.count; i++)
    dims[i] = d.at[i];
  const struct arg self = TENSOR(v), list = arg_ints(g, d.count, dims);
  switch (below(m, 6)) {
  case 0: return put(m, BUILD(&m->b, OP_MEAN_DIM, self, list, ARG_B(keeps)), c.bound, false);
  case 1: return put(m, BUILD(&m->b, OP_AMAX, self, list, ARG_B(keeps)), c.bound, c.exact);
  case 2: return put(m, BUILD(&m->b, OP_AMIN, self, list, ARG_B(keeps)), c.bound, c.exact);
  case 3: {
    const struct arg args[] = {self, list, arg_int(g, 0), ARG_B(keeps)};
    struct node *n = graph_append(g, OP_VAR_MEAN_CORRECTION, args, 4, SPAN_NONE);
    return n && put(m, n->results[0], c.bound * c.bound, false) &&
           put(m, n->results[1], c.bound, false);
  }
  default:
    return put(m, BUILD(&m->b, OP_SUM_DIM, self, list, ARG_B(keeps)), c.bound * count, false);
  }
}

static bool make_row(struct maker *m) {
  struct candidate c = pick_float(m);
  struct value *v = build_up(&m->b, c.v);
  if (!v || v->rank == 0)
    return v != NULL;
  struct graph *g = m->b.g;
  uint32_t d = chance(m, 3) ? (uint32_t)below(m, v->rank) : v->rank - 1;
  const struct arg self = TENSOR(v), dim = arg_int(g, d);
  switch (below(m, 5)) {
  case 0: return put(m, BUILD(&m->b, OP_LOG_SOFTMAX, self, dim, ARG_B(false)), c.bound + 5, false);
  case 1:
    return put(m, BUILD(&m->b, OP_CUMSUM, self, dim), c.bound * (double)expr_hint(v->shape[d]),
               false);
  case 2: {
    const struct arg args[] = {self,
                               arg_exprs(g, 1, (const struct expr *const *)&v->shape[v->rank - 1]),
                               {.kind = ARG_NONE},
                               {.kind = ARG_NONE},
                               ARG_F(1e-3)};
    struct node *n = graph_append(g, OP_NATIVE_LAYER_NORM, args, 5, SPAN_NONE);
    return n && put(m, n->results[0], 4, false) &&
           (chance(m, 2) || put(m, n->results[1], c.bound, false));
  }
  case 3:
    if (c.exact && v == c.v)
      return put(m, BUILD(&m->b, OP_ARGMAX, self, dim), (double)expr_hint(v->shape[d]), true);
    return true;
  default: return put(m, BUILD(&m->b, OP_SOFTMAX, self, dim, ARG_B(false)), 1, false);
  }
}

// ---- gathers and products ----

static bool make_gather(struct maker *m) {
  struct candidate c = pick_float(m);
  struct value *v = c.v;
  if (v->rank == 0)
    return true;
  struct graph *g = m->b.g;
  const struct expr *three = number(m, 3);
  uint32_t d = (uint32_t)below(m, v->rank);
  const struct expr *numel = expr_muli(m->x, value_numel(m->x, v), 3);
  if (!fits(m, numel))
    return true;
  if (chance(m, 2)) {
    struct value *index = make_input(m, DTYPE_I64, 1, &three);
    return put(m, BUILD(&m->b, OP_INDEX_SELECT, TENSOR(v), arg_int(g, d), TENSOR(index)), c.bound,
               c.exact);
  }
  const struct expr *shape[MAX_RANK];
  for (uint32_t i = 0; i < v->rank; i++)
    shape[i] = i == d ? three : v->shape[i];
  struct value *index = make_input(m, DTYPE_I64, v->rank, shape);
  return put(m, BUILD(&m->b, OP_GATHER, TENSOR(v), arg_int(g, d), TENSOR(index)), c.bound, c.exact);
}

// Replaces parts of a tensor by other values.
static bool make_scatter(struct maker *m) {
  struct candidate c = pick_float(m);
  struct value *v = c.v;
  int64_t size;
  if (v->rank == 0)
    return true;
  struct graph *g = m->b.g;
  uint32_t d = (uint32_t)below(m, v->rank);
  const struct arg self = TENSOR(v), dim = arg_int(g, d);
  if (!expr_is_const(v->shape[d], &size) || size < 2)
    return true;
  switch (below(m, 5)) {
  case 0: {
    struct value *part =
        build_unop(&m->b, OP_SIN, build_slice(&m->b, v, d, number(m, 1), number(m, size), 1));
    return put(
        m, BUILD(&m->b, OP_SLICE_SCATTER, self, TENSOR(part), dim, arg_int(g, 1), arg_int(g, size)),
        c.bound + 1, false);
  }
  case 1: {
    struct value *part =
        build_unop(&m->b, OP_COS, BUILD(&m->b, OP_SELECT, self, dim, arg_int(g, 0)));
    return put(m, BUILD(&m->b, OP_SELECT_SCATTER, self, TENSOR(part), dim, arg_int(g, size - 1)),
               c.bound + 1, false);
  }
  case 2: { // in a graph of f32 sums of what meets
    struct value *f = build_up(&m->b, v),
                 *index = make_input(m, DTYPE_I64, v->rank, (const struct expr *const *)v->shape);
    struct value *src = build_unop(&m->b, OP_TANH, f);
    return put(m, BUILD(&m->b, OP_SCATTER_ADD, TENSOR(f), dim, TENSOR(index), TENSOR(src)),
               c.bound + (double)size, false);
  }
  case 3: {
    const struct expr *four = number(m, 4), *shape[MAX_RANK + 1] = {four};
    struct value *f = build_up(&m->b, v), *index = make_input(m, DTYPE_I64, 1, &four);
    for (uint32_t i = 1; f && i < f->rank; i++)
      shape[i] = f->shape[i];
    struct value *src = f ? make_input(m, f->dtype, f->rank, shape) : NULL;
    struct arg list = arg_values(g, 1, &index);
    return put(m, BUILD(&m->b, OP_INDEX_PUT, TENSOR(f), list, TENSOR(src), ARG_B(true)),
               c.bound + 12, false);
  }
  default:
    return put(
        m,
        BUILD(&m->b, OP_SELECT_BACKWARD,
              TENSOR(build_unop(&m->b, OP_TANH, BUILD(&m->b, OP_SELECT, self, dim, arg_int(g, 0)))),
              arg_exprs(g, v->rank, (const struct expr *const *)v->shape), dim, arg_int(g, 1)),
        1, false);
  }
}

// With a new matrix, or with its own transpose.
static bool make_product(struct maker *m) {
  struct candidate c = pick_float(m);
  struct value *v = c.v, *w;
  if (v->rank < 2)
    return true;
  uint32_t rank = v->rank > 2 ? 3 : 2;
  if (v->rank > 3) { // all leading dimensions in one
    const struct expr *shape[3] = {expr_product(m->x, v->shape, v->rank - 2), v->shape[v->rank - 2],
                                   v->shape[v->rank - 1]};
    v = BUILD(&m->b, OP_RESHAPE, TENSOR(v), arg_exprs(m->b.g, 3, shape));
  }
  if (!v)
    return false;
  const struct expr *n = number(m, 1 + (int64_t)below(m, 9));
  if (chance(m, 2)) {
    const struct expr *shape[3] = {v->shape[0], v->shape[rank - 1], n};
    w = make_input(m, v->dtype, rank, rank == 3 ? shape : shape + 1);
  } else {
    n = v->shape[rank - 2];
    w = build_swap(&m->b, v, rank - 2, rank - 1);
  }
  const struct expr *numel = expr_mul(m->x, n, expr_product(m->x, v->shape, rank - 1));
  double bound = c.bound * (c.bound + 3) * (double)expr_hint(v->shape[rank - 1]);
  return !fits(m, numel) ||
         put(m, build_binop(&m->b, rank == 3 ? OP_BMM : OP_MM, v, w), bound, false);
}

// ---- the graph ----

static bool make_one(struct maker *m) {
  switch (below(m, 23)) {
  case 20: return make_reshape(m);
  case 21: return make_integer(m);
  case 22: return make_scatter(m);
  case 0:
  case 1:
  case 2: return make_view(m);
  case 3:
  case 4: return make_reduction(m);
  case 5: return make_row(m);
  case 6: return make_movement(m);
  case 7: return make_mask(m);
  case 8: return make_convert(m);
  case 9: return chance(m, 2) ? make_iota(m) : make_gather(m);
  case 10: return !m->o->products || make_product(m);
  case 11:
  case 12: return make_number(m);
  case 13:
  case 14:
  case 15:
  case 16: return make_binary(m);
  default: return make_unary(m);
  }
}

// Adds unused values as outputs, and sometimes a used one.
static void make_outputs(struct maker *m) {
  struct graph *g = m->b.g;
  uint32_t *uses = graph_count_uses(g, g->arena);
  for (unsigned i = 0; i < m->count; i++)
    if (m->pool[i].v->def && (uses[m->pool[i].v->id] == 0 || chance(m, 12)))
      graph_add_output(g, m->pool[i].v);
  if (g->outputs.len == 0)
    graph_add_output(g, m->pool[m->count - 1].v);
}

struct graph *random_graph(struct arena *a, struct diag_engine *diag, uint64_t seed,
                           const struct random_graph_options *o) {
  struct maker *m = arena_new(a, struct maker);
  m->x = exprs_create(a);
  m->o = o;
  m->state = seed * 0x9e3779b97f4a7c15u + 1;
  m->limit = o->max_elements ? o->max_elements : 2048;
  m->b.g = graph_create(a, diag, m->x, "Random");
  make_inputs(m);
  for (unsigned i = 0; i < 4 * o->operators && m->b.g->nodes.len < o->operators; i++)
    if (!make_one(m))
      return NULL;
  make_outputs(m);
  return m->b.g;
}
