// SPDX-License-Identifier: Apache-2.0
// Transfer functions of the axis analysis: arithmetic, casts, loads, and the dispatch by op. Each
// rule must be a lower bound for every input: the emission turns these numbers into vector
// accesses, so a wrong one reads the wrong memory.
//
// Invariants that the rules rely on: all entries are powers of two no larger than the dimension,
// groups are aligned to their size, so a group of g <= contiguity starts at a multiple of
// min(divisibility, g) and never crosses a multiple of g when g divides the divisibility.
#include "lowering/analysis/axis_transfer.h"

static int64_t wrap(int64_t v, unsigned bits) {
  if (bits == 0 || bits >= 64)
    return v;
  return (int64_t)((uint64_t)v << (64 - bits)) >> (64 - bits);
}

// Seen as unsigned, a run that steps from -1 to 0 breaks there; an aligned part never does.
static void guard_unsigned(info_t *r, bool is_nonnegative) {
  for (unsigned d = 0; !is_nonnegative && d < r->rank; d++)
    r->contiguity[d] = min64(r->contiguity[d], r->divisibility[d]);
}

// Arithmetic in fewer than 32 bits may wrap in the middle of a run: only the part of a run that
// starts aligned is safe from that.
static void guard_narrow(const struct transfer *t, info_t *r) {
  if (t->bits == 0 || t->bits >= 32)
    return;
  for (unsigned d = 0; d < r->rank; d++) {
    int64_t safe = min64(r->divisibility[d], (int64_t)1 << t->bits);
    r->contiguity[d] = min64(r->contiguity[d], safe);
    r->divisibility[d] = min64(r->divisibility[d], max64(r->contiguity[d], safe));
  }
  r->is_nonnegative = r->is_constant && r->constant >= 0;
}

static info_t rule_add(const struct transfer *t, bool subtract) {
  const info_t *x = &t->in[0], *y = &t->in[1];
  if (x->is_constant && y->is_constant && t->id != OP_TILE_ADDPTR) {
    uint64_t a = (uint64_t)x->constant, b = (uint64_t)y->constant;
    return axis_of_constant(t->type, wrap((int64_t)(subtract ? a - b : a + b), t->bits));
  }
  // Pointers are in bytes, their offsets in elements.
  int64_t bytes = axis_element_bytes(t->c, t->type);
  info_t r = axis_rule_pointwise(t);
  for (unsigned d = 0; d < r.rank; d++) {
    int64_t group = min64(x->contiguity[d], y->constancy[d]);
    if (!subtract)
      group = max64(group, min64(x->constancy[d], y->contiguity[d]));
    r.contiguity[d] = group;
    r.divisibility[d] = min64(axis_divides_at(x, d, group, bytes),
                              axis_product(axis_divides_at(y, d, group, 1), bytes));
  }
  r.is_nonnegative = !subtract && x->is_nonnegative && y->is_nonnegative;
  guard_narrow(t, &r);
  return r;
}

static info_t rule_mul(const struct transfer *t) {
  const info_t *x = &t->in[0], *y = &t->in[1];
  if (x->is_constant && y->is_constant)
    return axis_of_constant(
        t->type, wrap((int64_t)((uint64_t)x->constant * (uint64_t)y->constant), t->bits));
  if (x->is_constant && x->constant == 1)
    return *y;
  if (y->is_constant && y->constant == 1)
    return *x;
  info_t r = axis_rule_pointwise(t);
  int64_t all = axis_product(axis_divides_all(x, 1), axis_divides_all(y, 1));
  for (unsigned d = 0; d < r.rank; d++)
    r.divisibility[d] = all;
  r.is_nonnegative = x->is_nonnegative && y->is_nonnegative;
  guard_narrow(t, &r);
  return r;
}

// Groups of x along d that stay within one multiple of the divisor y.
static int64_t same_quotient(const info_t *x, const info_t *y, unsigned d) {
  int64_t group = min64(min64(x->contiguity[d], x->divisibility[d]), y->constancy[d]);
  return min64(group, axis_divides_all(y, 1));
}

// floor(x / y): a run within one multiple of y has one quotient. Division that truncates is the
// same only where x is not negative.
static info_t divide(const struct transfer *t, const info_t *y, bool floors) {
  const info_t *x = &t->in[0];
  info_t r = axis_rule_pointwise(t);
  int64_t exact = 1;
  if (y->is_constant && y->constant > 0 && is_pow2((uint64_t)y->constant))
    exact = max64(axis_divides_all(x, 1) / y->constant, 1);
  for (unsigned d = 0; d < r.rank; d++) {
    r.constancy[d] = min64(x->constancy[d], y->constancy[d]);
    if (floors)
      r.constancy[d] = max64(r.constancy[d], same_quotient(x, y, d));
    r.divisibility[d] = exact;
  }
  r.is_nonnegative = x->is_nonnegative && y->is_nonnegative;
  return r;
}

static info_t rule_div(const struct transfer *t) {
  const info_t *x = &t->in[0], *y = &t->in[1];
  bool is_unsigned = t->id == OP_ARITH_DIVUI;
  if (y->is_constant && y->constant == 1)
    return *x;
  if (x->is_constant && y->is_constant && x->constant >= 0 && y->constant > 0)
    return axis_of_constant(t->type, x->constant / y->constant);
  info_t r = divide(t, y, is_unsigned || x->is_nonnegative);
  // Divisors of program ids are assumed to be positive (axis_info.h).
  r.is_nonnegative |= x->is_nonnegative && !type_is_tensor(t->type);
  return r;
}

static info_t remainder_of(const struct transfer *t, const info_t *y, bool floors) {
  const info_t *x = &t->in[0];
  if (y->is_constant && y->constant > 0 && is_pow2((uint64_t)y->constant) &&
      axis_divides_all(x, 1) >= y->constant)
    return axis_of_constant(t->type, 0);
  info_t r = axis_rule_pointwise(t);
  for (unsigned d = 0; d < r.rank; d++) {
    int64_t group = floors ? same_quotient(x, y, d) : 1;
    r.constancy[d] = min64(x->constancy[d], y->constancy[d]);
    r.contiguity[d] = group;
    r.divisibility[d] = min64(axis_divides_at(x, d, group, 1), axis_divides_all(y, 1));
  }
  r.is_nonnegative = x->is_nonnegative || (floors && y->is_nonnegative);
  return r;
}

static info_t rule_rem(const struct transfer *t) {
  const info_t *x = &t->in[0], *y = &t->in[1];
  bool is_unsigned = t->id == OP_ARITH_REMUI;
  if (x->is_constant && y->is_constant && x->constant >= 0 && y->constant > 0)
    return axis_of_constant(t->type, x->constant % y->constant);
  return remainder_of(t, y, is_unsigned || x->is_nonnegative);
}

static info_t rule_shift(const struct transfer *t) {
  const info_t *x = &t->in[0], *y = &t->in[1];
  bool left = t->id == OP_ARITH_SHLI;
  if (!y->is_constant || y->constant < 0 || y->constant >= (int64_t)t->bits || y->constant >= 62) {
    info_t r = axis_rule_pointwise(t);
    for (unsigned d = 0; left && d < r.rank; d++)
      r.divisibility[d] = axis_divides_all(x, 1);
    return r;
  }
  if (y->constant == 0)
    return *x;
  info_t power = *y;
  power.constant = (int64_t)1 << y->constant;
  for (unsigned d = 0; d < power.rank; d++)
    power.divisibility[d] = power.constant;
  if (left) {
    info_t pair[2] = {*x, power};
    struct transfer as_mul = *t;
    as_mul.in = pair;
    return rule_mul(&as_mul);
  }
  if (x->is_constant && x->constant >= 0)
    return axis_of_constant(t->type, x->constant >> y->constant);
  info_t r = divide(t, &power, true); // both right shifts round down
  r.is_nonnegative = x->is_nonnegative || t->id == OP_ARITH_SHRUI;
  return r;
}

// x & (2^k - 1) is x mod 2^k, x & -2^k clears low bits; in two's complement for any sign.
static info_t rule_and(const struct transfer *t) {
  const info_t *x = &t->in[0], *y = &t->in[1];
  info_t pair[2] = {*x, *y};
  if (x->is_constant) {
    pair[0] = *y;
    pair[1] = *x;
    x = &pair[0];
    y = &pair[1];
  }
  if (x->is_constant && y->is_constant)
    return axis_of_constant(t->type, x->constant & y->constant);
  bool nonnegative = x->is_nonnegative || y->is_nonnegative;
  struct transfer swapped = *t;
  swapped.in = pair;
  info_t r;
  if (y->is_constant && y->constant > 0 && is_pow2((uint64_t)y->constant + 1) && t->bits > 1) {
    info_t power = axis_of_constant(t->type, y->constant + 1);
    r = remainder_of(&swapped, &power, true);
  } else {
    r = axis_rule_pointwise(&swapped);
    int64_t all = max64(axis_divides_all(x, 1), axis_divides_all(y, 1));
    for (unsigned d = 0; d < r.rank; d++) {
      r.divisibility[d] = all;
      if (y->is_constant && y->constant < 0 && is_pow2(-(uint64_t)y->constant) &&
          y->constant != INT64_MIN && t->bits > 1)
        r.constancy[d] =
            max64(r.constancy[d], min64(min64(x->contiguity[d], x->divisibility[d]), -y->constant));
    }
  }
  r.is_nonnegative = nonnegative;
  return r;
}

static info_t rule_or(const struct transfer *t) {
  info_t r = axis_rule_pointwise(t);
  int64_t all = min64(axis_divides_all(&t->in[0], 1), axis_divides_all(&t->in[1], 1));
  for (unsigned d = 0; d < r.rank; d++)
    r.divisibility[d] = all;
  r.is_nonnegative = t->in[0].is_nonnegative && t->in[1].is_nonnegative;
  return r;
}

// x < y and x >= y do not change within a run of x as long as it starts at a multiple of its
// length and y is a multiple of it too.
static info_t rule_compare(const struct transfer *t) {
  enum { EQ, NE, SLT, SLE, SGT, SGE, ULT, ULE, UGT, UGE };
  const info_t *x = &t->in[0], *y = &t->in[1];
  info_t r = axis_rule_pointwise(t);
  int64_t p = op_attr_int(t->op, "predicate", -1);
  unsigned bits = type_bits(t->c, element_type(operand_type(t, 0)));
  bool left_runs = p == SLT || p == SGE || p == ULT || p == UGE;
  bool right_runs = p == SGT || p == SLE || p == UGT || p == ULE;
  for (unsigned d = 0; d < r.rank; d++) {
    int64_t group = 1;
    if (left_runs)
      group = same_quotient(x, y, d);
    if (right_runs)
      group = same_quotient(y, x, d);
    // x <= k is x < k + 1, which may have the higher divisibility.
    if (right_runs && y->is_constant && y->constant < INT64_MAX &&
        wrap(y->constant + 1, bits) > y->constant) {
      info_t next = axis_of_constant(operand_type(t, 1), y->constant + 1);
      group = max64(group, same_quotient(x, &next, d));
    }
    r.constancy[d] = max64(r.constancy[d], group);
  }
  return r;
}

// One of two values, the choice being the same over `choice` elements.
static info_t choose(const struct transfer *t, const info_t *x, const info_t *y,
                     const info_t *choice) {
  int64_t bytes = axis_element_bytes(t->c, t->type);
  info_t r = axis_rule_pointwise(t);
  for (unsigned d = 0; d < r.rank; d++) {
    int64_t group = min64(x->contiguity[d], y->contiguity[d]);
    if (choice)
      group = min64(group, choice->constancy[d]);
    r.contiguity[d] = group;
    r.divisibility[d] =
        min64(axis_divides_at(x, d, group, bytes), axis_divides_at(y, d, group, bytes));
  }
  return r;
}

static info_t rule_select(const struct transfer *t) {
  const info_t *cond = &t->in[0], *x = &t->in[1], *y = &t->in[2];
  if (cond->is_constant)
    return cond->constant != 0 ? *x : *y;
  info_t r = choose(t, x, y, cond);
  r.is_nonnegative = x->is_nonnegative && y->is_nonnegative;
  return r;
}

static info_t rule_min_max(const struct transfer *t) {
  const info_t *x = &t->in[0], *y = &t->in[1];
  info_t runs[2] = {*x, *y};
  if (t->id == OP_ARITH_MAXUI || t->id == OP_ARITH_MINUI) {
    guard_unsigned(&runs[0], x->is_nonnegative);
    guard_unsigned(&runs[1], y->is_nonnegative);
  }
  // Two contiguous groups keep their distance, so one of them is smaller over the whole group.
  info_t r = choose(t, &runs[0], &runs[1], NULL);
  bool either = t->id == OP_ARITH_MAXSI || t->id == OP_ARITH_MINUI;
  r.is_nonnegative =
      either ? x->is_nonnegative || y->is_nonnegative : x->is_nonnegative && y->is_nonnegative;
  guard_narrow(t, &r);
  return r;
}

static info_t rule_cast(const struct transfer *t) {
  info_t r = t->in[0];
  unsigned from = type_bits(t->c, element_type(operand_type(t, 0)));
  if (from == 1) { // a boolean has no runs, and two spellings of true
    r = axis_rule_pointwise(t);
    r.is_nonnegative = t->id == OP_ARITH_EXTUI;
    return r;
  }
  if (t->id == OP_ARITH_TRUNCI) {
    r.is_nonnegative = false;
    if (r.is_constant)
      return axis_of_constant(t->type, wrap(r.constant, t->bits));
    guard_narrow(t, &r);
  }
  if (t->id == OP_ARITH_EXTUI) {
    guard_unsigned(&r, r.is_nonnegative);
    r.is_nonnegative = true;
    if (r.is_constant)
      return axis_of_constant(t->type, r.constant & (int64_t)(UINT64_MAX >> (64 - from)));
  }
  return r;
}

// Reinterpretations between pointers and integers: a run survives only where the unit is the same.
static info_t rule_pointer_cast(const struct transfer *t) {
  int64_t from = axis_element_bytes(t->c, operand_type(t, 0));
  int64_t to = axis_element_bytes(t->c, t->type);
  info_t r = t->in[0];
  bool from_ptr = type_is_ptr(t->c, element_type(operand_type(t, 0)));
  bool to_ptr = type_is_ptr(t->c, element_type(t->type));
  if (!from_ptr && !to_ptr && t->id == OP_TILE_BITCAST)
    return axis_rule_pointwise(t);
  r.is_constant = false;
  if (from == to)
    return r;
  int64_t all = axis_divides_all(&t->in[0], from);
  for (unsigned d = 0; d < r.rank; d++) {
    r.contiguity[d] = 1;
    r.divisibility[d] = all;
  }
  return r;
}

// Functions of several neighbours may treat them differently; assembly with an effect may read a
// clock.
static info_t rule_foreign(const struct transfer *t) {
  bool pointwise = op_attr_int(t->op, "pack", 1) == 1 && (op_flags(t->c, t->op) & OP_PURE);
  return pointwise ? axis_rule_pointwise(t) : axis_unknown(t->type);
}

// ---- dispatch ----

// Loads through equal addresses under equal masks give equal values, nothing more.
static info_t rule_load(const struct transfer *t) {
  return op_attr_bool(t->op, "is_volatile") ? axis_unknown(t->type) : axis_rule_pointwise(t);
}

static info_t rule_constant(const struct transfer *t) {
  int64_t v;
  MlirValue result = mlirOperationGetResult(t->op, 0);
  if (value_const_int(t->c, result, &v))
    return axis_of_constant(t->type, v);
  info_t r = axis_unknown(t->type);
  MlirAttribute value = op_attr(t->op, "value");
  if (!mlirAttributeIsADenseElements(value) || mlirDenseElementsAttrIsSplat(value))
    for (unsigned d = 0; d < r.rank; d++)
      r.constancy[d] = axis_dim_limit(t->type, d);
  return r;
}

static info_t transfer_pointwise(const struct transfer *t) {
  switch (t->id) {
  case OP_ARITH_ADDI:
  case OP_TILE_ADDPTR: return rule_add(t, false);
  case OP_ARITH_SUBI: return rule_add(t, true);
  case OP_ARITH_MULI: return rule_mul(t);
  case OP_ARITH_DIVSI:
  case OP_ARITH_DIVUI: return rule_div(t);
  case OP_ARITH_REMSI:
  case OP_ARITH_REMUI: return rule_rem(t);
  case OP_ARITH_SHLI:
  case OP_ARITH_SHRSI:
  case OP_ARITH_SHRUI: return rule_shift(t);
  case OP_ARITH_ANDI: return rule_and(t);
  case OP_ARITH_ORI:
  case OP_ARITH_XORI: return rule_or(t);
  case OP_ARITH_CMPI: return rule_compare(t);
  case OP_ARITH_SELECT: return rule_select(t);
  case OP_ARITH_MAXSI:
  case OP_ARITH_MAXUI:
  case OP_ARITH_MINSI:
  case OP_ARITH_MINUI: return rule_min_max(t);
  case OP_ARITH_EXTSI:
  case OP_ARITH_EXTUI:
  case OP_ARITH_TRUNCI: return rule_cast(t);
  case OP_TILE_BITCAST:
  case OP_TILE_INT_TO_PTR:
  case OP_TILE_PTR_TO_INT: return rule_pointer_cast(t);
  default: return axis_rule_pointwise(t);
  }
}

info_t axis_transfer(struct ir_context *c, MlirOperation op, intptr_t result, const info_t *in) {
  struct transfer t = {.c = c, .op = op, .id = op_id(c, op)};
  t.type = mlirValueGetType(mlirOperationGetResult(op, result));
  t.in = in;
  MlirType element = element_type(t.type);
  if (mlirTypeIsAInteger(element))
    t.bits = type_bits(c, element);
  // A scalar operand of an op on tiles (the condition of a select) is used for all elements.
  info_t spread[4];
  intptr_t n = mlirOperationGetNumOperands(op);
  if ((op_flags(c, op) & OP_EW) && type_is_tensor(t.type) && n <= 4) {
    for (intptr_t i = 0; i < n; i++) {
      spread[i] = in[i];
      if (!type_is_tensor(operand_type(&t, (unsigned)i))) {
        struct transfer splat = t;
        splat.in = &in[i];
        spread[i] = axis_rule_splat(&splat);
      }
    }
    t.in = spread;
  }
  switch (t.id) {
  case OP_TILE_MAKE_RANGE:
  case OP_TILE_SPLAT:
  case OP_TILE_EXPAND_DIMS:
  case OP_TILE_BROADCAST:
  case OP_TILE_TRANS:
  case OP_TILE_RESHAPE:
  case OP_GPU_CONVERT_LAYOUT: return axis_transfer_shape(&t);
  case OP_TILE_REDUCE:
  case OP_TILE_SCAN:
  case OP_TILE_GATHER:
  case OP_TILE_JOIN:
  case OP_TILE_SPLIT:
  case OP_TILE_UNSPLAT: return axis_transfer_across(&t);
  case OP_TILE_MAP:
  case OP_TILE_INLINE_ASM: return rule_foreign(&t);
  case OP_ARITH_CONSTANT: return rule_constant(&t);
  case OP_TILE_LOAD: return rule_load(&t);
  case OP_TILE_HISTOGRAM:
  case OP_TILE_PROGRAM_ID:
  case OP_TILE_NUM_PROGRAMS: {
    info_t r = axis_unknown(t.type);
    r.is_nonnegative = true;
    return r;
  }
  default: return op_flags(c, op) & OP_EW ? transfer_pointwise(&t) : axis_unknown(t.type);
  }
}
