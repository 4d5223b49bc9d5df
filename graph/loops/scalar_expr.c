// SPDX-License-Identifier: Apache-2.0
// Builds expression trees of elements, hash-consed: equal trees have equal pointers.
// Recursion is the algorithm: the operands of a tree are trees, and each is simplified when it is
// built.
#include "graph/loops/scalar_expr_internal.h"

#include <math.h>

struct scalars *scalars_create(struct arena *a, struct exprs *x) {
  struct scalars *s = arena_new(a, struct scalars);
  s->arena = a;
  s->exprs = x;
  return s;
}

void scalars_round_half_precision(struct scalars *s, bool rounds) {
  s->rounds_half_precision = rounds;
}

unsigned scalar_arity(const struct scalar *v) {
  switch (v->kind) {
  case SCALAR_APPLY: return scalar_row(v->op)->arity;
  case SCALAR_CONVERT: return 1;
  case SCALAR_MASKED: return 3;
  default: return 0;
  }
}

// ---- hash-consing ----

struct content {
  uint64_t constant;
  const void *index, *buffer, *in[3];
  uint32_t kind, dtype, op, which;
};

static void note_indirect(void *user, const struct expr *symbol) {
  const struct scalar *of = symbol->symbol->indirect;
  if (of && of->has_load)
    *(bool *)user = true;
}

static bool loads_something(const struct scalar *v) {
  bool found = v->kind == SCALAR_LOAD;
  for (unsigned i = 0; i < 3; i++)
    found |= v->in[i] && v->in[i]->has_load;
  if (v->index)
    scalar_expr_symbols(v->index, note_indirect, &found);
  return found;
}

static bool is_expensive_op(enum scalar_op op) {
  switch (op) {
  case SCALAR_POW:
  case SCALAR_ATAN2:
  case SCALAR_EXP:
  case SCALAR_EXP2:
  case SCALAR_EXPM1:
  case SCALAR_LOG:
  case SCALAR_LOG2:
  case SCALAR_LOG1P:
  case SCALAR_SIN:
  case SCALAR_COS:
  case SCALAR_TAN:
  case SCALAR_ASIN:
  case SCALAR_ACOS:
  case SCALAR_ATAN:
  case SCALAR_SINH:
  case SCALAR_COSH:
  case SCALAR_TANH:
  case SCALAR_ERF:
  case SCALAR_ERFC:
  case SCALAR_ERFINV:
  case SCALAR_LGAMMA:
  case SCALAR_BESSEL_J0:
  case SCALAR_BESSEL_J1:
  case SCALAR_BESSEL_Y0:
  case SCALAR_BESSEL_Y1:
  case SCALAR_BESSEL_I0:
  case SCALAR_BESSEL_I1:
  case SCALAR_ERFCX:
  case SCALAR_NDTRI:
  case SCALAR_SIGMOID: return true;
  default: return false;
  }
}

// Of the root alone. Selections and signs are exact.
static bool op_rounds(const struct scalar *v) {
  return v->kind == SCALAR_APPLY && dtype_is_float(v->dtype) && v->op != SCALAR_WHERE &&
         scalar_row(v->op)->type != 'X' && v->op != SCALAR_NEG && v->op != SCALAR_ABS &&
         v->op != SCALAR_MAXIMUM && v->op != SCALAR_MINIMUM;
}

static void find_facts(struct scalar *v) {
  v->has_load = loads_something(v);
  v->is_expensive = v->kind == SCALAR_RANDOM || (v->kind == SCALAR_APPLY && is_expensive_op(v->op));
  v->rounds = op_rounds(v);
  v->has_mask = v->kind == SCALAR_MASKED;
  for (unsigned i = 0, n = scalar_arity(v); i < n; i++) {
    v->is_expensive |= v->in[i]->is_expensive;
    v->rounds |= v->in[i]->rounds;
    v->has_mask |= v->in[i]->has_mask;
  }
}

const struct scalar *scalar_expr_make(struct scalars *s, const struct scalar *as) {
  struct content key = {.constant = (uint64_t)as->constant.integer,
                        .index = as->index,
                        .buffer = as->buffer,
                        .in = {as->in[0], as->in[1], as->in[2]},
                        .kind = as->kind,
                        .dtype = as->dtype,
                        .op = as->op,
                        .which = as->which};
  struct str bytes = {(const char *)&key, sizeof key};
  struct scalar *v = map_get(&s->made, bytes);
  if (v)
    return v;
  v = arena_new(s->arena, struct scalar);
  *v = *as;
  v->id = s->count++;
  v->set = s;
  find_facts(v);
  map_put(s->arena, &s->made, bytes, v);
  return v;
}

// ---- leaves ----

const struct scalar *scalar_const(struct scalars *s, enum dtype t, union element value) {
  struct scalar as = {.kind = SCALAR_CONST, .dtype = t, .op = SCALAR_NONE};
  if (!dtype_is_float(t))
    as.constant.integer = element_round(value, t).integer;
  else
    as.constant.real = isnan(value.real) ? (double)NAN : value.real; // canonical NaN
  return scalar_expr_make(s, &as);
}

const struct scalar *scalar_real(struct scalars *s, enum dtype t, double value) {
  union element e = {.real = value};
  return scalar_const(s, t, dtype_is_float(t) ? e : element_convert(e, DTYPE_F64, t));
}

const struct scalar *scalar_int(struct scalars *s, enum dtype t, int64_t value) {
  union element e = {.integer = value};
  return scalar_const(s, t, element_convert(e, DTYPE_I64, t));
}

const struct scalar *scalar_index(struct scalars *s, const struct expr *e) {
  if (e->kind == EXPR_CONST)
    return scalar_int(s, DTYPE_I64, e->value);
  if (e->kind == EXPR_SYMBOL && e->symbol->indirect && e->symbol->indirect->dtype == DTYPE_I64)
    return e->symbol->indirect;
  struct scalar as = {.kind = SCALAR_INDEX, .dtype = DTYPE_I64, .op = SCALAR_NONE, .index = e};
  return scalar_expr_make(s, &as);
}

const struct scalar *scalar_load(struct scalars *s, struct buffer *b, const struct expr *offset) {
  assert(offset);
  struct scalar as = {.kind = SCALAR_LOAD,
                      .dtype = b ? b->dtype : DTYPE_F32,
                      .op = SCALAR_NONE,
                      .index = offset,
                      .buffer = b};
  return scalar_expr_make(s, &as);
}

const struct scalar *scalar_random(struct scalars *s, uint32_t which, const struct expr *index) {
  struct scalar as = {
      .kind = SCALAR_RANDOM, .dtype = DTYPE_F32, .op = SCALAR_NONE, .index = index, .which = which};
  return scalar_expr_make(s, &as);
}

const struct expr *scalar_indirect(struct scalars *s, const struct scalar *of,
                                   const struct expr *limit) {
  const struct expr *e = scalar_expr_expr(s, of);
  if (e && (e->kind == EXPR_CONST || expr_is_within(s->exprs, e, limit)))
    return e;
  of = scalar_convert(s, of, DTYPE_I64);
  const void *pair[2] = {of, limit};
  struct str key = {(const char *)pair, sizeof pair};
  struct expr *found = map_get(&s->indirects, key);
  if (found)
    return found;
  const char *name = arena_printf(s->arena, "i%u", (unsigned)s->indirects.count);
  e = expr_indirect(s->exprs, name, of, limit);
  map_put(s->arena, &s->indirects, key, (void *)(uintptr_t)e);
  return e;
}

// ---- inner nodes ----

static bool is_commutative(enum scalar_op op) {
  switch (op) {
  case SCALAR_ADD:
  case SCALAR_MUL:
  case SCALAR_MAXIMUM:
  case SCALAR_MINIMUM:
  case SCALAR_EQ:
  case SCALAR_NE:
  case SCALAR_AND:
  case SCALAR_OR:
  case SCALAR_XOR:
  case SCALAR_BIT_AND:
  case SCALAR_BIT_OR:
  case SCALAR_BIT_XOR: return true;
  default: return false;
  }
}

// Boolean operators have one form.
static enum scalar_op logical(enum scalar_op op) {
  switch (op) {
  case SCALAR_MUL:
  case SCALAR_MINIMUM:
  case SCALAR_BIT_AND: return SCALAR_AND;
  case SCALAR_ADD:
  case SCALAR_MAXIMUM:
  case SCALAR_BIT_OR: return SCALAR_OR;
  case SCALAR_NE:
  case SCALAR_BIT_XOR: return SCALAR_XOR;
  case SCALAR_BIT_NOT: return SCALAR_NOT;
  default: return op;
  }
}

const struct scalar *scalar_apply(struct scalars *s, enum scalar_op op, enum dtype t,
                                  const struct scalar *const *in) {
  struct scalar as = {.kind = SCALAR_APPLY};
  unsigned arity = scalar_row(op)->arity;
  for (unsigned i = 0; i < arity; i++)
    assert(in[i] && in[i]->set == s);
  for (unsigned i = 0; i < arity; i++)
    as.in[i] = scalar_op_is_logical(op) ? scalar_convert(s, in[i], DTYPE_I1) : in[i];
  if (as.in[0]->dtype == DTYPE_I1 && arity < 3)
    op = logical(op);
  as.op = op;
  as.dtype = scalar_row(op)->type == 'B' || scalar_op_is_logical(op) ? DTYPE_I1 : t;
  if (is_commutative(op)) { // constants last, else by id
    const struct scalar *a = as.in[0], *b = as.in[1];
    bool a_const = a->kind == SCALAR_CONST, b_const = b->kind == SCALAR_CONST;
    if (a_const > b_const || (a_const == b_const && a->id > b->id)) {
      as.in[0] = b;
      as.in[1] = a;
    }
  }
  const struct scalar *folded = scalar_expr_fold(s, op, as.dtype, as.in);
  return folded ? folded : scalar_expr_make(s, &as);
}

bool dtype_holds(enum dtype to, enum dtype from) {
  if (to == from || from == DTYPE_I1)
    return true;
  if (to == DTYPE_I1 || (dtype_is_float(from) && !dtype_is_float(to)))
    return false;
  if (dtype_is_float(from))
    return to == DTYPE_F64 || (to == DTYPE_F32 && dtype_bits(from) < 32);
  if (dtype_is_float(to)) // integers whose bits fit the mantissa
    return dtype_bits(from) <= (to == DTYPE_F64   ? 32u
                                : to == DTYPE_F32 ? 16u
                                                  : 8u) &&
           to != DTYPE_BF16 && dtype_bits(to) > 8;
  if (dtype_is_signed(from) && !dtype_is_signed(to))
    return false;
  return dtype_bits(to) > dtype_bits(from) ||
         (dtype_bits(to) == dtype_bits(from) && dtype_is_signed(to) == dtype_is_signed(from));
}

const struct scalar *scalar_convert(struct scalars *s, const struct scalar *v, enum dtype to) {
  if (v->dtype == to)
    return v;
  if (v->kind == SCALAR_CONST)
    return scalar_const(s, to, element_cast(v->constant, v->dtype, to, s->rounds_half_precision));
  if (v->kind == SCALAR_CONVERT) {
    const struct scalar *inner = v->in[0];
    // Conversions through a dtype that holds all values are dropped.
    if (dtype_holds(v->dtype, inner->dtype))
      return scalar_convert(s, inner, to);
    if (to == DTYPE_I64 && scalar_expr_expr(s, v))
      return scalar_index(s, scalar_expr_expr(s, v));
  }
  struct scalar as = {.kind = SCALAR_CONVERT, .dtype = to, .op = SCALAR_NONE, .in = {v}};
  return scalar_expr_make(s, &as);
}

const struct scalar *scalar_masked(struct scalars *s, const struct scalar *condition,
                                   const struct scalar *value, const struct scalar *other) {
  assert(condition->dtype == DTYPE_I1 && value->dtype == other->dtype);
  if (condition->kind == SCALAR_CONST)
    return condition->constant.integer ? value : other;
  if (other->kind == SCALAR_MASKED && other->in[0] == condition)
    other = other->in[2];
  if (value == other)
    return value;
  if (!value->has_load) {
    const struct scalar *in[3] = {condition, value, other};
    return scalar_apply(s, SCALAR_WHERE, value->dtype, in);
  }
  if (value->kind == SCALAR_MASKED && value->in[2] == other) {
    const struct scalar *both[2] = {condition, value->in[0]};
    if (!value->in[0]->has_load) // else its loads may be out of bounds
      return scalar_masked(s, scalar_apply(s, SCALAR_AND, DTYPE_I1, both), value->in[1], other);
  }
  struct scalar as = {.kind = SCALAR_MASKED,
                      .dtype = value->dtype,
                      .op = SCALAR_NONE,
                      .in = {condition, value, other}};
  return scalar_expr_make(s, &as);
}
