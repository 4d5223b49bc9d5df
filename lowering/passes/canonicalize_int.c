// SPDX-License-Identifier: Apache-2.0
// canonicalize: integer identities, comparisons, select, integer casts and pointer arithmetic.
#include "lowering/passes/canonicalize.h"

static bool same(MlirValue x, MlirValue y) { return mlirValueEqual(x, y); }

static unsigned bits_of(struct canon *k, MlirValue v) {
  return type_bits(k->c, element_type(mlirValueGetType(v)));
}

static bool is_all_ones(struct canon *k, MlirValue v) { return is_const_int(k, v, -1); }

// An addition of zero with a hint says what is known of its operand (rewrite_descriptors.c,
// lang/builtins/builtin_debug.c).
static bool is_fact(struct canon *k, MlirOperation op) {
  return (op_is(k->c, op, OP_TILE_ADDPTR) || op_is(k->c, op, OP_ARITH_ADDI)) &&
         is_const_int(k, operand(op, 1), 0) &&
         !(mlirAttributeIsNull(op_attr(op, "tile.divisibility")) &&
           mlirAttributeIsNull(op_attr(op, "tile.contiguity")) &&
           mlirAttributeIsNull(op_attr(op, "tile.constancy")));
}

// ---- constants to the right ----

static bool commutes(enum op_id id) {
  switch (id) {
  case OP_ARITH_ADDI:
  case OP_ARITH_MULI:
  case OP_ARITH_ANDI:
  case OP_ARITH_ORI:
  case OP_ARITH_XORI:
  case OP_ARITH_MAXSI:
  case OP_ARITH_MAXUI:
  case OP_ARITH_MINSI:
  case OP_ARITH_MINUI: return true;
  default: return false;
  }
}

static int swapped_predicate(int predicate) {
  static const int swapped[] = {0, 1, 4, 5, 2, 3, 8, 9, 6, 7};
  return swapped[predicate];
}

static MlirValue constant_right(struct canon *k, MlirOperation op, enum op_id id) {
  int64_t v;
  if (!commutes(id) && id != OP_ARITH_CMPI)
    return no_value();
  MlirValue x = operand(op, 0), y = operand(op, 1);
  if (!value_const_int(k->c, x, &v) || value_const_int(k->c, y, &v))
    return no_value();
  struct builder b = builder_before(k->c, op);
  if (id == OP_ARITH_CMPI)
    return build_cmpi(&b, swapped_predicate((int)op_attr_int(op, "predicate", 0)), y, x);
  return build_binary(&b, id, y, x);
}

// ---- x op x, x op constant ----

static MlirValue with_itself(struct canon *k, MlirOperation op, enum op_id id) {
  MlirValue x = operand(op, 0);
  switch (id) {
  case OP_ARITH_SUBI:
  case OP_ARITH_XORI: return canon_int_constant(k, op, result_type(op), 0);
  case OP_ARITH_ANDI:
  case OP_ARITH_ORI:
  case OP_ARITH_MAXSI:
  case OP_ARITH_MAXUI:
  case OP_ARITH_MINSI:
  case OP_ARITH_MINUI: return x;
  case OP_ARITH_CMPI: {
    bool holds = compare_ints((int)op_attr_int(op, "predicate", 0), 0, 0, 32);
    return canon_int_constant(k, op, result_type(op), holds);
  }
  default: return no_value();
  }
}

static MlirValue with_zero(enum op_id id, MlirValue x, MlirValue zero) {
  switch (id) {
  case OP_ARITH_ADDI:
  case OP_ARITH_SUBI:
  case OP_ARITH_ORI:
  case OP_ARITH_XORI:
  case OP_ARITH_SHLI:
  case OP_ARITH_SHRSI:
  case OP_ARITH_SHRUI:
  case OP_ARITH_MAXUI: return x;
  case OP_ARITH_MULI:
  case OP_ARITH_ANDI:
  case OP_ARITH_MINUI:
  case OP_TILE_MULHIUI: return zero;
  default: return no_value();
  }
}

static MlirValue with_one(struct canon *k, MlirOperation op, enum op_id id) {
  switch (id) {
  case OP_ARITH_MULI:
  case OP_ARITH_DIVSI:
  case OP_ARITH_DIVUI: return operand(op, 0);
  case OP_ARITH_REMSI:
  case OP_ARITH_REMUI:
  case OP_TILE_MULHIUI: return canon_int_constant(k, op, result_type(op), 0);
  default: return no_value();
  }
}

static MlirValue with_all_ones(enum op_id id, MlirValue x, MlirValue ones) {
  switch (id) {
  case OP_ARITH_ANDI:
  case OP_ARITH_MINUI: return x;
  case OP_ARITH_ORI:
  case OP_ARITH_MAXUI: return ones;
  default: return no_value();
  }
}

static bool is_int_binary(enum op_id id) {
  return (id >= OP_ARITH_ADDI && id <= OP_ARITH_MINUI) || id == OP_ARITH_CMPI ||
         id == OP_TILE_MULHIUI;
}

static MlirValue identity(struct canon *k, MlirOperation op, enum op_id id) {
  if (!is_int_binary(id))
    return no_value();
  MlirValue x = operand(op, 0), y = operand(op, 1), v = no_value();
  int64_t constant;
  if (same(x, y))
    v = with_itself(k, op, id);
  if (!mlirValueIsNull(v) || id == OP_ARITH_CMPI || !value_const_int(k->c, y, &constant))
    return v;
  // In i1 one is also all ones: both sets of rules apply.
  if (is_const_int(k, y, 0))
    v = with_zero(id, x, y);
  if (mlirValueIsNull(v) && is_const_int(k, y, 1))
    v = bits_of(k, y) == 1 && id != OP_ARITH_MULI ? no_value() : with_one(k, op, id);
  if (mlirValueIsNull(v) && is_all_ones(k, y))
    v = with_all_ones(id, x, y);
  return v;
}

// (x op c1) op c2 -> x op (c1 op c2)
static MlirValue reassociate(struct canon *k, MlirOperation op, enum op_id id) {
  int64_t c1, c2;
  if (id != OP_ARITH_ADDI && id != OP_ARITH_MULI && id != OP_ARITH_ANDI && id != OP_ARITH_ORI &&
      id != OP_ARITH_XORI)
    return no_value();
  MlirOperation inner = def_of(k->c, operand(op, 0), id);
  if (mlirOperationIsNull(inner) || is_fact(k, inner) ||
      !value_const_int(k->c, operand(op, 1), &c2) || !value_const_int(k->c, operand(inner, 1), &c1))
    return no_value();
  uint64_t a = (uint64_t)c1, b = (uint64_t)c2;
  uint64_t both = id == OP_ARITH_ADDI   ? a + b
                  : id == OP_ARITH_MULI ? a * b
                  : id == OP_ARITH_ANDI ? a & b
                  : id == OP_ARITH_ORI  ? a | b
                                        : a ^ b;
  struct builder builder = builder_before(k->c, op);
  MlirValue constant = build_const_int(&builder, result_type(op), (int64_t)both);
  return build_binary(&builder, id, operand(inner, 0), constant);
}

// ---- comparisons against what is known of a range ----

// tile.make_range against a constant: the result is uniform when the range lies on one side of it.
static MlirValue compare_range(struct canon *k, MlirOperation op) {
  int64_t bound;
  MlirOperation range = def_of(k->c, operand(op, 0), OP_TILE_MAKE_RANGE);
  if (mlirOperationIsNull(range) || !value_const_int(k->c, operand(op, 1), &bound))
    return no_value();
  int predicate = (int)op_attr_int(op, "predicate", 0);
  int64_t first = op_attr_int(range, "start", 0), last = op_attr_int(range, "end", 0) - 1;
  bool inside = first <= bound && bound <= last;
  bool is_unsigned = predicate >= 6;
  if (is_unsigned && (first < 0 || bound < 0))
    return no_value();
  bool at_first = compare_ints(predicate, first, bound, 32);
  bool at_last = compare_ints(predicate, last, bound, 32);
  if (at_first != at_last || (predicate < 2 && inside))
    return no_value();
  return canon_int_constant(k, op, result_type(op), at_first);
}

static MlirValue select(struct canon *k, MlirOperation op) {
  MlirValue cond = operand(op, 0), x = operand(op, 1), y = operand(op, 2);
  int64_t known;
  if (same(x, y))
    return x;
  if (value_const_int(k->c, cond, &known))
    return known ? x : y;
  if (bits_of(k, x) == 1 && mlirTypeEqual(mlirValueGetType(cond), mlirValueGetType(x)) &&
      is_const_int(k, x, 1) && is_const_int(k, y, 0))
    return cond;
  return no_value();
}

// ---- casts ----

static bool is_extension(enum op_id id) { return id == OP_ARITH_EXTSI || id == OP_ARITH_EXTUI; }

static MlirValue cast_to(struct canon *k, MlirOperation op, enum op_id id, MlirValue x) {
  struct builder b = builder_before(k->c, op);
  return build_cast(&b, id, x, element_type(result_type(op)));
}

// trunc(ext x): x itself, a shorter extension, or a truncation.
static MlirValue truncate_extension(struct canon *k, MlirOperation op, MlirOperation inner,
                                    enum op_id inner_id) {
  MlirValue x = operand(inner, 0);
  unsigned from = bits_of(k, x), to = type_bits(k->c, element_type(result_type(op)));
  if (from == to)
    return x;
  return cast_to(k, op, from > to ? OP_ARITH_TRUNCI : inner_id, x);
}

static MlirValue cast(struct canon *k, MlirOperation op, enum op_id id) {
  if (!is_extension(id) && id != OP_ARITH_TRUNCI)
    return no_value();
  MlirOperation inner = value_def(operand(op, 0));
  if (mlirOperationIsNull(inner))
    return no_value();
  enum op_id inner_id = op_id(k->c, inner);
  if (id == OP_ARITH_TRUNCI && is_extension(inner_id))
    return truncate_extension(k, op, inner, inner_id);
  if (id == inner_id) // of the same kind: one step
    return cast_to(k, op, id, operand(inner, 0));
  if (id == OP_ARITH_EXTSI && inner_id == OP_ARITH_EXTUI) // the sign is known to be zero
    return cast_to(k, op, OP_ARITH_EXTUI, operand(inner, 0));
  return no_value();
}

// ---- pointers ----

// addptr(addptr(p, c1), c2) -> addptr(p, c1 + c2), where the sum fits its type.
static MlirValue addptr(struct canon *k, MlirOperation op) {
  MlirValue offset = operand(op, 1);
  int64_t c1, c2, sum;
  if (is_const_int(k, offset, 0))
    return operand(op, 0);
  MlirOperation inner = def_of(k->c, operand(op, 0), OP_TILE_ADDPTR);
  if (mlirOperationIsNull(inner) || is_fact(k, inner) || !value_const_int(k->c, offset, &c2) ||
      !value_const_int(k->c, operand(inner, 1), &c1) ||
      !mlirTypeEqual(mlirValueGetType(offset), mlirValueGetType(operand(inner, 1))))
    return no_value();
  unsigned bits = bits_of(k, offset);
  if (bits == 1 || __builtin_add_overflow(c1, c2, &sum) || sign_extend(sum, bits) != sum)
    return no_value();
  struct builder b = builder_before(k->c, op);
  return build_addptr(&b, operand(inner, 0), build_const_int(&b, mlirValueGetType(offset), sum));
}

MlirValue canon_int(struct canon *k, MlirOperation op, enum op_id id) {
  MlirValue v = no_value();
  if (is_fact(k, op))
    return v;
  switch (id) {
  case OP_ARITH_SELECT: return select(k, op);
  case OP_TILE_ADDPTR: return addptr(k, op);
  case OP_ARITH_CMPI: v = compare_range(k, op); break;
  case OP_ARITH_EXTSI:
  case OP_ARITH_EXTUI:
  case OP_ARITH_TRUNCI: return cast(k, op, id);
  default: break;
  }
  if (mlirValueIsNull(v))
    v = identity(k, op, id);
  if (mlirValueIsNull(v))
    v = reassociate(k, op, id);
  if (mlirValueIsNull(v))
    v = constant_right(k, op, id);
  return v;
}
