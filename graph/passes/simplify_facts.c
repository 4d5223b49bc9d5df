// SPDX-License-Identifier: Apache-2.0
// Value facts: elements are uniform, or affine in their indices. Masks and positions (arange,
// comparisons, cat of slices, cumsum) are often completely known.
// Recursion is the algorithm: the facts of a result follow from those of its operands.
#include "graph/passes/simplify.h"

#include <math.h>

// ---- numbers ----

static union element element_of(struct arg number, enum dtype t) {
  union element e = {.integer = 0};
  int64_t i = 0;
  if (number.kind == ARG_FLOAT)
    return element_convert((union element){.real = number.real}, DTYPE_F64, t);
  if (number.kind == ARG_BOOL)
    e.integer = number.truth;
  if (number.kind == ARG_INT && expr_is_const(number.number, &i))
    e.integer = i;
  return element_convert(e, DTYPE_I64, t);
}

static bool is_known_number(struct arg a) {
  return a.kind == ARG_FLOAT || a.kind == ARG_BOOL ||
         (a.kind == ARG_INT && expr_is_const(a.number, NULL));
}

bool fact_uniform(struct arg number, enum dtype t, struct fact *ret) {
  if (!is_known_number(number))
    return false;
  union element e = element_of(number, t);
  *ret = (struct fact){.kind = dtype_is_float(t) ? FACT_REAL : FACT_AFFINE};
  if (dtype_is_float(t))
    ret->real = e.real;
  else
    ret->base = e.integer;
  return true;
}

bool fact_is_uniform(const struct fact *f) {
  if (f->kind != FACT_AFFINE)
    return f->kind == FACT_REAL;
  for (uint32_t i = 0; i < GRAPH_MAX_RANK; i++)
    if (f->coefficient[i])
      return false;
  return true;
}

static union element uniform_element(const struct fact *f) {
  return f->kind == FACT_REAL ? (union element){.real = f->real}
                              : (union element){.integer = f->base};
}

static struct fact fact_of_element(union element e, enum dtype t) {
  struct fact f = {.kind = dtype_is_float(t) ? FACT_REAL : FACT_AFFINE};
  if (dtype_is_float(t))
    f.real = e.real;
  else
    f.base = e.integer;
  return f;
}

bool value_is_uniform(struct simplify *s, const struct value *v, struct arg *ret) {
  const struct fact *f = fact_of(s, v);
  if (!fact_is_uniform(f))
    return false;
  if (f->kind == FACT_REAL)
    *ret = ARG_F(f->real);
  else
    *ret = v->dtype == DTYPE_I1 ? ARG_B(f->base != 0) : arg_int(s->b.g, f->base);
  return true;
}

bool arg_is_number(struct simplify *s, const struct arg *a, double number) {
  struct arg known = *a;
  if (a->kind == ARG_VALUE && !value_is_uniform(s, a->value, &known))
    return false;
  if (!is_known_number(known))
    return false;
  double real = element_of(known, DTYPE_F64).real;
  return !(real < number) && !(real > number) && !isnan(real);
}

bool fact_of_arg(struct simplify *s, const struct arg *a, enum dtype t, struct fact *ret) {
  if (a->kind != ARG_VALUE)
    return fact_uniform(*a, t, ret);
  *ret = *fact_of(s, a->value);
  return ret->kind != FACT_NONE;
}

const struct fact *fact_of(struct simplify *s, const struct value *v) {
  struct graph *g = s->b.g;
  while (!s->is_learning && s->nodes_seen < g->nodes.len) {
    const struct node *n = g->nodes.at[s->nodes_seen++];
    while (s->facts.len < g->value_count)
      vec_push(g->arena, &s->facts, (struct fact){.kind = FACT_NONE});
    if (n->result_count != 1 || !n->results[0])
      continue;
    s->is_learning = true; // this looks up facts of its operands, which exist
    struct fact f = fact_of_node(s, n);
    if (f.kind == FACT_REAL) // rounded to the value's dtype
      f.real =
          element_cast(uniform_element(&f), DTYPE_F64, n->results[0]->dtype, g->keeps_casts).real;
    s->is_learning = false;
    s->facts.at[n->results[0]->id] = f;
  }
  while (s->facts.len < g->value_count)
    vec_push(g->arena, &s->facts, (struct fact){.kind = FACT_NONE});
  return &s->facts.at[v->id];
}

// ---- pointwise operators ----

static enum scalar_op scalar_of(enum operator_id op) {
  return op == OP_ADD_TENSOR   ? SCALAR_ADD
         : op == OP_SUB_TENSOR ? SCALAR_SUB
                               : operator_row(op)->scalar;
}

static bool operand(struct simplify *s, const struct arg *a, enum dtype t, union element *ret) {
  struct arg known = *a;
  if (a->kind != ARG_VALUE) {
    *ret = element_of(known, t);
    return is_known_number(known);
  }
  const struct fact *f = fact_of(s, a->value);
  *ret = element_convert(uniform_element(f), a->value->dtype, t);
  return fact_is_uniform(f);
}

// All operands are uniform.
static bool evaluate(struct simplify *s, const struct node *n, struct fact *ret) {
  enum scalar_op op = scalar_of(n->op);
  union element in[3];
  if (op == SCALAR_NONE || op == SCALAR_WHERE)
    return false;
  if ((op == SCALAR_ADD || op == SCALAR_SUB) && !arg_is_number(s, &n->args[2], 1))
    return false;
  const struct scalar_row *row = scalar_row(op);
  bool is_float = operator_row(n->op)->promotion == PROMOTE_FLOAT;
  enum dtype t = scalar_op_is_logical(op)
                     ? DTYPE_I1
                     : promote(n->args, row->arity, is_float ? PROMOTE_FLOAT : PROMOTE_SAME);
  for (unsigned i = 0; i < row->arity; i++)
    if (!operand(s, &n->args[i], t, &in[i]))
      return false;
  enum dtype from = row->type == 'B' ? DTYPE_I1 : t;
  *ret = fact_of_element(element_convert(scalar_eval(op, t, in), from, n->results[0]->dtype),
                         n->results[0]->dtype);
  return true;
}

bool fact_fits(const struct fact *f, const struct value *v) {
  int64_t low, high;
  if (fact_is_uniform(f) && v->dtype == DTYPE_I64)
    return true;
  if (!fact_range(f, v, &low, &high))
    return v->dtype == DTYPE_I64;
  if (v->dtype == DTYPE_I64)
    return true;
  unsigned bits = dtype_bits(v->dtype);
  bool is_signed = dtype_is_signed(v->dtype);
  if (bits >= 64)
    return low >= 0;
  int64_t most = (INT64_C(1) << (is_signed ? bits - 1 : bits)) - 1;
  return high <= most && low >= (is_signed ? -most - 1 : 0);
}

// The operands of an integer operator as facts over the result's shape.
static bool affine_operand(struct simplify *s, const struct arg *a, const struct value *shape,
                           struct fact *ret) {
  struct fact f;
  if (a->kind == ARG_VALUE && dtype_is_float(a->value->dtype))
    return false;
  if (a->kind == ARG_FLOAT || !fact_of_arg(s, a, DTYPE_I64, &f))
    return false;
  if (a->kind == ARG_VALUE)
    return fact_broadcast(&f, a->value, shape, ret);
  *ret = f;
  return true;
}

bool fact_difference(struct simplify *s, const struct arg *a, const struct arg *b,
                     const struct value *shape, struct fact *ret) {
  struct fact other;
  return affine_operand(s, a, shape, ret) && affine_operand(s, b, shape, &other) &&
         fact_add(ret, &other, -1);
}

static bool is_comparison(enum operator_id op) {
  return op == OP_EQ_TENSOR || op == OP_NE_TENSOR || op == OP_LT_TENSOR || op == OP_LE_TENSOR ||
         op == OP_GT_TENSOR || op == OP_GE_TENSOR;
}

static bool compare(struct simplify *s, const struct node *n, struct fact *ret) {
  struct fact d;
  int64_t low, high;
  if (!is_comparison(n->op)) // others may have one operand
    return false;
  if (!fact_difference(s, &n->args[0], &n->args[1], n->results[0], &d))
    return false;
  if (!fact_range(&d, n->results[0], &low, &high))
    return false;
  bool yes, no;
  switch (n->op) {
  case OP_EQ_TENSOR: yes = low == 0 && high == 0, no = low > 0 || high < 0; break;
  case OP_NE_TENSOR: no = low == 0 && high == 0, yes = low > 0 || high < 0; break;
  case OP_LT_TENSOR: yes = high < 0, no = low >= 0; break;
  case OP_LE_TENSOR: yes = high <= 0, no = low > 0; break;
  case OP_GT_TENSOR: yes = low > 0, no = high <= 0; break;
  case OP_GE_TENSOR: yes = low >= 0, no = high < 0; break;
  default: return false;
  }
  *ret = (struct fact){.kind = FACT_AFFINE, .base = yes};
  return yes || no;
}

static bool add_or_scale(struct simplify *s, const struct node *n, struct fact *ret) {
  const struct value *v = n->results[0];
  struct fact other;
  if (dtype_is_float(v->dtype) || v->dtype == DTYPE_I1)
    return false;
  switch (n->op) {
  case OP_NEG: return affine_operand(s, &n->args[0], v, ret) && fact_scale(ret, -1);
  case OP_ADD_TENSOR:
  case OP_SUB_TENSOR:
    return arg_is_number(s, &n->args[2], 1) && affine_operand(s, &n->args[0], v, ret) &&
           affine_operand(s, &n->args[1], v, &other) &&
           fact_add(ret, &other, n->op == OP_ADD_TENSOR ? 1 : -1);
  case OP_MUL_TENSOR:
    if (arg_is_number(s, &n->args[0], 0) || arg_is_number(s, &n->args[1], 0)) {
      *ret = (struct fact){.kind = FACT_AFFINE};
      return true;
    }
    if (!affine_operand(s, &n->args[0], v, ret) || !affine_operand(s, &n->args[1], v, &other))
      return false;
    if (fact_is_uniform(&other))
      return fact_scale(ret, other.base);
    if (!fact_is_uniform(ret) || !fact_scale(&other, ret->base))
      return false;
    *ret = other;
    return true;
  default: return false;
  }
}

// One operand is known to be at least as large as the other.
static bool bound(struct simplify *s, const struct node *n, struct fact *ret) {
  struct fact a, b, d;
  int64_t low, high;
  const struct value *v = n->results[0];
  if ((n->op != OP_MAXIMUM && n->op != OP_MINIMUM) || dtype_is_float(v->dtype))
    return false;
  if (!affine_operand(s, &n->args[0], v, &a) || !affine_operand(s, &n->args[1], v, &b))
    return false;
  d = a;
  if (!fact_add(&d, &b, -1) || !fact_range(&d, v, &low, &high) || (low < 0 && high > 0))
    return false;
  *ret = (low >= 0) == (n->op == OP_MAXIMUM) ? a : b;
  return true;
}

static bool convert(struct simplify *s, const struct node *n, struct fact *ret) {
  const struct value *from = node_value(n, 0), *to = n->results[0];
  const struct fact *f = fact_of(s, from);
  if (fact_is_uniform(f)) {
    union element e = element_cast(uniform_element(f), from->dtype, to->dtype, s->b.g->keeps_casts);
    *ret = fact_of_element(e, to->dtype);
    return true;
  }
  *ret = *f;
  return f->kind == FACT_AFFINE && !dtype_is_float(to->dtype) && to->dtype != DTYPE_I1;
}

static bool choose(struct simplify *s, const struct node *n, struct fact *ret) {
  struct arg condition;
  const struct value *v = n->results[0], *x = node_value(n, 1), *y = node_value(n, 2);
  struct fact a, b;
  if (!x || !y || x->dtype != v->dtype || y->dtype != v->dtype) // or a number
    return false;
  bool is_known = value_is_uniform(s, node_value(n, 0), &condition);
  if (is_known) {
    const struct value *chosen = node_value(n, arg_is_number(s, &condition, 0) ? 2 : 1);
    return fact_broadcast(fact_of(s, chosen), chosen, v, ret);
  }
  a = *fact_of(s, node_value(n, 1));
  b = *fact_of(s, node_value(n, 2));
  if (!fact_is_uniform(&a) || !fact_is_uniform(&b) || a.base != b.base ||
      memcmp(&a.real, &b.real, sizeof a.real) != 0)
    return false;
  *ret = a;
  return true;
}

bool fact_of_pointwise(struct simplify *s, const struct node *n, struct fact *ret) {
  if (n->op == OP_CONVERT_ELEMENT_TYPE)
    return convert(s, n, ret);
  if (n->op == OP_CLONE)
    return (*ret = *fact_of(s, node_value(n, 0))).kind != FACT_NONE;
  if (n->op == OP_WHERE_SELF)
    return choose(s, n, ret);
  return evaluate(s, n, ret) || add_or_scale(s, n, ret) || compare(s, n, ret) || bound(s, n, ret);
}
