// SPDX-License-Identifier: Apache-2.0
// Rules for known values, and for pointwise operators.
#include "graph/passes/simplify.h"

// ---- constants and iotas ----

// A value affine in one dimension: an iota, viewed along it and expanded.
static struct value *counter(struct simplify *s, const struct value *v, const struct fact *f,
                             uint32_t dim) {
  struct build *b = &s->b;
  struct arg start = arg_int(b->g, f->base), step = arg_int(b->g, f->coefficient[dim]);
  struct value *iota = BUILD(b, OP_IOTA, ARG_E(v->shape[dim]), start, step, ARG_D(v->dtype));
  return build_expand(b, build_along(b, iota, dim, v->rank), v->rank, v->shape);
}

static bool is_counter(const struct node *n) {
  for (int depth = 0; depth < 3; depth++) {
    if (n->op == OP_IOTA)
      return true;
    bool is_step = n->op == OP_EXPAND ? depth == 0 : n->op == OP_VIEW;
    if (!is_step || !n->args[0].value->def)
      return false;
    n = n->args[0].value->def;
  }
  return false;
}

struct value *simplify_known(struct simplify *s, const struct node *n, const struct fact *f) {
  const struct value *v = n->results[0];
  if (fact_is_uniform(f)) {
    if (n->op == OP_FULL)
      return NULL;
    struct arg number = f->kind == FACT_REAL   ? ARG_F(f->real)
                        : v->dtype == DTYPE_I1 ? ARG_B(f->base != 0)
                                               : arg_int(s->b.g, f->base);
    return BUILD(&s->b, OP_FULL, arg_exprs(s->b.g, v->rank, v->shape), number, ARG_D(v->dtype));
  }
  uint32_t dim = 0, moving = 0;
  for (uint32_t i = 0; i < v->rank; i++)
    if (f->coefficient[i])
      dim = i, moving++;
  if (moving != 1 || (v->dtype != DTYPE_I64 && v->dtype != DTYPE_I32) || is_counter(n))
    return NULL;
  return counter(s, v, f, dim);
}

// ---- uniform operands ----

static bool is_commutative(enum operator_id op) {
  switch (op) {
  case OP_ADD_TENSOR:
  case OP_MUL_TENSOR:
  case OP_MAXIMUM:
  case OP_MINIMUM:
  case OP_EQ_TENSOR:
  case OP_NE_TENSOR:
  case OP_LOGICAL_AND:
  case OP_LOGICAL_OR:
  case OP_LOGICAL_XOR:
  case OP_BITWISE_AND_TENSOR:
  case OP_BITWISE_OR_TENSOR:
  case OP_BITWISE_XOR_TENSOR: return true;
  default: return false;
  }
}

static bool takes_numbers(enum operator_id op) {
  switch (op) {
  case OP_SUB_TENSOR:
  case OP_DIV_TENSOR:
  case OP_FLOOR_DIVIDE:
  case OP_REMAINDER_TENSOR:
  case OP_FMOD_TENSOR:
  case OP_LT_TENSOR:
  case OP_LE_TENSOR:
  case OP_GT_TENSOR:
  case OP_GE_TENSOR: return true;
  default: return is_commutative(op);
  }
}

// Replaces a uniform tensor by its number where dtype and shape allow it; numbers go to the right.
static struct value *number_operands(struct simplify *s, const struct node *n) {
  if (!takes_numbers(n->op))
    return NULL;
  struct arg args[3] = {n->args[0], n->args[1]}, number;
  const struct value *x = node_value(n, 0), *y = node_value(n, 1);
  bool changes = false;
  if (x && y && value_same_shape(x, n->results[0]) && value_is_uniform(s, y, &number))
    args[1] = number, changes = true;
  else if (x && y && value_same_shape(y, n->results[0]) && value_is_uniform(s, x, &number))
    args[0] = number, changes = true;
  if (changes && promote(args, 2, PROMOTE_SAME) != promote(n->args, 2, PROMOTE_SAME))
    return NULL;
  if (args[0].kind != ARG_VALUE && args[1].kind == ARG_VALUE && is_commutative(n->op)) {
    struct arg first = args[0];
    args[0] = args[1], args[1] = first;
    changes = true;
  }
  return changes ? build_apply(&s->b, n->op, 2, args) : NULL;
}

// ---- identities ----

// The other operand if this one, a number, is neutral.
static struct value *unchanged(struct simplify *s, const struct node *n, double neutral,
                               bool either) {
  struct value *x = node_value(n, 0), *y = node_value(n, 1);
  if (x && arg_is_number(s, &n->args[1], neutral))
    return simplify_fit(s, n, x);
  return either && y && arg_is_number(s, &n->args[0], neutral) ? simplify_fit(s, n, y) : NULL;
}

static bool is_truth(const struct arg *a) {
  return a->kind == ARG_BOOL || (a->kind == ARG_VALUE && a->value->dtype == DTYPE_I1);
}

static struct value *falsehood(struct simplify *s, const struct node *n, bool value) {
  return build_full(&s->b, n->results[0]->rank, n->results[0]->shape, value, DTYPE_I1);
}

// Boolean and, or: `keeps` is the neutral element, its opposite is absorbing.
static struct value *logic(struct simplify *s, const struct node *n, bool keeps) {
  if (!is_truth(&n->args[0]) || !is_truth(&n->args[1]))
    return NULL;
  if (n->args[0].kind == ARG_VALUE && n->args[1].kind == ARG_VALUE &&
      n->args[0].value == n->args[1].value)
    return n->args[0].value;
  if (arg_is_number(s, &n->args[0], !keeps) || arg_is_number(s, &n->args[1], !keeps))
    return falsehood(s, n, !keeps);
  return unchanged(s, n, keeps, true);
}

static struct node *definition(const struct arg *a, enum operator_id op) {
  struct node *def = a->kind == ARG_VALUE ? a->value->def : NULL;
  return def && def->op == op ? def : NULL;
}

static struct value *equality(struct simplify *s, const struct node *n) {
  struct value *x = node_value(n, 0);
  bool is_eq = n->op == OP_EQ_TENSOR;
  if (x && n->args[1].kind == ARG_VALUE && n->args[1].value == x && !dtype_is_float(x->dtype))
    return falsehood(s, n, is_eq);
  if (!x || x->dtype != DTYPE_I1)
    return NULL;
  if (arg_is_number(s, &n->args[1], is_eq))
    return simplify_fit(s, n, x);
  return arg_is_number(s, &n->args[1], !is_eq)
             ? simplify_fit(s, n, build_unop(&s->b, OP_LOGICAL_NOT, x))
             : NULL;
}

static struct value *negation(struct simplify *s, const struct node *n) {
  struct node *def = n->args[0].value->def;
  if (n->args[0].value->dtype != DTYPE_I1 || !def)
    return NULL;
  if (def->op == OP_LOGICAL_NOT || def->op == OP_BITWISE_NOT) {
    struct value *x = node_value(def, 0);
    return x->dtype == DTYPE_I1 ? x : NULL;
  }
  if (def->op == OP_EQ_TENSOR)
    return build_apply(&s->b, OP_NE_TENSOR, 2, def->args);
  return def->op == OP_NE_TENSOR ? build_apply(&s->b, OP_EQ_TENSOR, 2, def->args) : NULL;
}

static struct value *choice(struct simplify *s, const struct node *n) {
  struct build *b = &s->b;
  struct value *x = node_value(n, 1), *y = node_value(n, 2);
  struct arg known;
  if (value_is_uniform(s, node_value(n, 0), &known))
    return simplify_fit(s, n, arg_is_number(s, &known, 0) ? y : x);
  if (x == y)
    return simplify_fit(s, n, x);
  struct node *not = definition(&n->args[0], OP_LOGICAL_NOT);
  if (!not || node_value(not, 0)->dtype != DTYPE_I1)
    return NULL;
  struct value *swapped = build_where(b, node_value(not, 0), y, x);
  return swapped ? simplify_fit(s, n, swapped) : NULL;
}

// Can `to` represent every value of `from`?
static bool holds_all(enum dtype from, enum dtype to) {
  if (from == to || from == DTYPE_I1)
    return true;
  if (dtype_is_float(from))
    return dtype_is_float(to) && (to == DTYPE_F64 || (to == DTYPE_F32 && dtype_bits(from) <= 16));
  if (dtype_is_float(to))
    return dtype_bits(from) <= (to == DTYPE_F64 ? 32 : to == DTYPE_F32 ? 16 : 0);
  if (dtype_is_signed(from) && !dtype_is_signed(to))
    return false;
  return dtype_bits(from) + (dtype_is_signed(from) != dtype_is_signed(to)) <= dtype_bits(to);
}

static struct value *conversion(struct simplify *s, const struct node *n) {
  struct value *x = node_value(n, 0);
  if (x->dtype == n->results[0]->dtype)
    return x;
  struct node *inner = definition(&n->args[0], OP_CONVERT_ELEMENT_TYPE);
  if (!inner || !holds_all(node_value(inner, 0)->dtype, x->dtype))
    return NULL;
  return build_convert(&s->b, node_value(inner, 0), n->results[0]->dtype);
}

static struct value *identity(struct simplify *s, const struct node *n) {
  struct node *inner;
  switch (n->op) {
  case OP_ADD_TENSOR: return arg_is_number(s, &n->args[2], 1) ? unchanged(s, n, 0, true) : NULL;
  case OP_SUB_TENSOR: return arg_is_number(s, &n->args[2], 1) ? unchanged(s, n, 0, false) : NULL;
  case OP_MUL_TENSOR: return unchanged(s, n, 1, true);
  case OP_DIV_TENSOR: return unchanged(s, n, 1, false);
  case OP_BITWISE_AND_TENSOR:
  case OP_LOGICAL_AND: return logic(s, n, true);
  case OP_BITWISE_OR_TENSOR:
  case OP_LOGICAL_OR: return logic(s, n, false);
  case OP_EQ_TENSOR:
  case OP_NE_TENSOR: return equality(s, n);
  case OP_LOGICAL_NOT:
  case OP_BITWISE_NOT: return negation(s, n);
  case OP_NEG: inner = definition(&n->args[0], OP_NEG); return inner ? node_value(inner, 0) : NULL;
  case OP_WHERE_SELF: return choice(s, n);
  case OP_CONVERT_ELEMENT_TYPE: return conversion(s, n);
  case OP_CLONE: return node_value(n, 0);
  default: return NULL;
  }
}

// Drops an expand of an operand that is broadcast anyway, because another operand has the result's
// shape.
static struct value *broadcast_operands(struct simplify *s, const struct node *n) {
  struct arg args[OPERATOR_MAX_PARAMETERS];
  bool is_whole = false, changes = false;
  uint32_t count = n->arg_count < OPERATOR_MAX_PARAMETERS ? n->arg_count : OPERATOR_MAX_PARAMETERS;
  for (uint32_t i = 0; i < count; i++) {
    args[i] = n->args[i];
    struct node *def = definition(&n->args[i], OP_EXPAND);
    if (n->args[i].kind != ARG_VALUE)
      continue;
    if (def && node_value(def, 0)->rank > 0) { // those of rank 0 are weakly typed
      args[i] = TENSOR(node_value(def, 0));
      changes = true;
    } else
      is_whole |= value_same_shape(n->args[i].value, n->results[0]);
  }
  return is_whole && changes ? build_apply(&s->b, n->op, count, args) : NULL;
}

struct value *simplify_pointwise(struct simplify *s, const struct node *n) {
  if (operator_row(n->op)->class != CLASS_POINTWISE)
    return NULL;
  struct value *v = identity(s, n);
  if (!v)
    v = number_operands(s, n);
  if (!v)
    v = broadcast_operands(s, n);
  return v && v->dtype == n->results[0]->dtype && value_same_shape(v, n->results[0]) ? v : NULL;
}
