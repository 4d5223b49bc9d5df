// SPDX-License-Identifier: Apache-2.0
// reassociate-addresses: brings addresses, masks, masked loads and sums of products into forms that
// later passes match. Pointers are 64 bits wide, so moving an offset between additions to them
// never changes the address.
//
//   addptr(addptr(splat %p, %tile), splat %s)    ->   addptr(splat(addptr %p, %s), %tile)
//   addptr(splat %p, addi(splat %s, %tile))      ->   addptr(splat(addptr %p, %s), %tile)    (i64)
//   addptr(%p, extsi %tile)                      ->   addptr(%p, %tile)
//   addi(splat %s, extsi %range) < splat %n      ->   %range < splat min(%n - %s, its end) (i64)
//   select(%m, load(%p, %m), %other)             ->   load(%p, %m, %other)
//   load(%p, %m, splat 0)                        ->   load(%p, %m)
//   add(%x, dot(%a, %b, splat 0))                ->   dot(%a, %b, %x)
//
// The sum of a product of 8-bit floats is added to %x in f32 there, so K elements at most are
// summed with fewer bits (max_num_imprecise_acc).
#include "lowering/pass.h"
#include "mlir-dialects/build.h"

struct rewriter {
  struct ir_context *c;
  struct arena *scratch;
  bool changed;
};

static MlirValue operand(MlirOperation op, intptr_t i) { return mlirOperationGetOperand(op, i); }

static MlirOperation def_of(struct ir_context *c, MlirValue v, enum op_id id) {
  MlirOperation def = value_def(v);
  return !mlirOperationIsNull(def) && op_is(c, def, id) ? def : (MlirOperation){NULL};
}

static void replace(struct rewriter *s, MlirOperation op, MlirValue with) {
  value_replace(mlirOperationGetResult(op, 0), with);
  op_erase(op);
  s->changed = true;
}

// ---- addresses ----

// The offset common to all elements, as a scalar built before `op`; null when they differ.
static MlirValue uniform_offset(struct rewriter *s, MlirOperation op, MlirValue offset) {
  int64_t constant;
  MlirOperation splat = def_of(s->c, offset, OP_TILE_SPLAT);
  if (!mlirOperationIsNull(splat))
    return operand(splat, 0);
  if (!value_const_int(s->c, offset, &constant))
    return (MlirValue){NULL};
  struct builder b = builder_before(s->c, op);
  return build_const_int(&b, element_type(mlirValueGetType(offset)), constant);
}

static MlirValue splat_as(struct builder *b, MlirValue scalar, MlirType type) {
  return mlirOperationGetResult(build_op(b, OP_TILE_SPLAT, 1, &scalar, 1, &type, 0, NULL), 0);
}

// addptr(addptr(splat %p, %tile), uniform): the uniform offset joins the scalar base.
static bool join_outer(struct rewriter *s, MlirOperation op) {
  MlirOperation inner = def_of(s->c, operand(op, 0), OP_TILE_ADDPTR);
  if (mlirOperationIsNull(inner))
    return false;
  MlirOperation base = def_of(s->c, operand(inner, 0), OP_TILE_SPLAT);
  MlirValue scalar =
      mlirOperationIsNull(base) ? (MlirValue){NULL} : uniform_offset(s, op, operand(op, 1));
  if (mlirValueIsNull(scalar))
    return false;
  struct builder b = builder_before(s->c, op);
  MlirValue pointer = build_addptr(&b, operand(base, 0), scalar);
  MlirValue tile = splat_as(&b, pointer, mlirValueGetType(operand(inner, 0)));
  replace(s, op, build_addptr(&b, tile, operand(inner, 1)));
  return true;
}

// addptr(splat %p, addi(uniform, %tile)) of 64-bit offsets, whose sum wraps as addresses do.
static bool join_sum(struct rewriter *s, MlirOperation op) {
  MlirOperation base = def_of(s->c, operand(op, 0), OP_TILE_SPLAT);
  MlirOperation sum = def_of(s->c, operand(op, 1), OP_ARITH_ADDI);
  if (mlirOperationIsNull(base) || mlirOperationIsNull(sum) ||
      type_bits(s->c, element_type(mlirValueGetType(operand(op, 1)))) != 64)
    return false;
  for (intptr_t i = 0; i < 2; i++) {
    MlirValue scalar = uniform_offset(s, op, operand(sum, i));
    if (mlirValueIsNull(scalar))
      continue;
    struct builder b = builder_before(s->c, op);
    MlirValue pointer = build_addptr(&b, operand(base, 0), scalar);
    MlirValue tile = splat_as(&b, pointer, mlirValueGetType(operand(op, 0)));
    replace(s, op, build_addptr(&b, tile, operand(sum, 1 - i)));
    return true;
  }
  return false;
}

// addptr sign-extends its offset itself.
static bool drop_extension(struct rewriter *s, MlirOperation op) {
  MlirOperation extension = def_of(s->c, operand(op, 1), OP_ARITH_EXTSI);
  if (mlirOperationIsNull(extension) ||
      type_bits(s->c, element_type(mlirValueGetType(operand(extension, 0)))) < 8)
    return false;
  struct builder b = builder_before(s->c, op);
  replace(s, op, build_addptr(&b, operand(op, 0), operand(extension, 0)));
  return true;
}

static void combine_addptr(struct rewriter *s, MlirOperation op) {
  bool tiles = type_is_tensor(mlirValueGetType(operand(op, 0)));
  bool done = tiles && (join_outer(s, op) || join_sum(s, op));
  if (!done)
    drop_extension(s, op);
}

// ---- masks ----

enum {
  FEW_LANES = 256,   // elements of a tile; chosen, not measured. A thread has one or two of them:
                     // nothing to save
  UNKNOWN_BITS = 64, // of an unknown number
  MOST_BITS = 62,    // such numbers, and a range added to them, do not overflow
};

// |v| < 2^bits, for 32-bit numbers, constants, products and sums of them.
static unsigned magnitude_bits(struct ir_context *c, MlirValue v, unsigned depth) {
  MlirOperation def = value_def(v);
  int64_t n;
  if (value_const_int(c, v, &n)) {
    unsigned bits = 1;
    while (bits < UNKNOWN_BITS &&
           (n >= (int64_t)1 << (bits - 1) || n < -((int64_t)1 << (bits - 1))))
      bits++;
    return bits;
  }
  if (mlirOperationIsNull(def) || depth == 0)
    return UNKNOWN_BITS;
  enum op_id id = op_id(c, def);
  if (id == OP_ARITH_EXTSI)
    return type_bits(c, mlirValueGetType(operand(def, 0)));
  if (id != OP_ARITH_MULI && id != OP_ARITH_ADDI)
    return UNKNOWN_BITS;
  unsigned x = magnitude_bits(c, operand(def, 0), depth - 1),
           y = magnitude_bits(c, operand(def, 1), depth - 1);
  return id == OP_ARITH_MULI ? x + y : (x > y ? x : y) + 1;
}

// How many numbers of `range` lie below n - s, in its own 32 bits: 0 where n <= s; what is above
// is exact as an unsigned number.
static MlirValue numbers_below(struct rewriter *s, MlirOperation op, MlirValue n, MlirValue from,
                               MlirOperation range) {
  enum { SLE = 3 };
  struct builder b = builder_before(s->c, op);
  MlirType narrow = element_type(mlirValueGetType(mlirOperationGetResult(range, 0)));
  MlirValue end = build_const_int(&b, mlirValueGetType(n), op_attr_int(range, "end", 0));
  MlirValue left = build_binary(&b, OP_ARITH_SUBI, n, from);
  left = build_cast(&b, OP_ARITH_TRUNCI, build_binary(&b, OP_ARITH_MINUI, left, end), narrow);
  MlirValue is_none = build_cmpi(&b, SLE, n, from), zero = build_const_int(&b, narrow, 0);
  return build_select(&b, is_none, zero, left);
}

// A mask of 64-bit indices in a block is one of 32-bit indices within it.
static void combine_compare(struct rewriter *s, MlirOperation op) {
  enum { SLT = 2 };
  MlirOperation sum = def_of(s->c, operand(op, 0), OP_ARITH_ADDI);
  if (mlirOperationIsNull(sum) || op_attr_int(op, "predicate", -1) != SLT ||
      type_bits(s->c, element_type(mlirValueGetType(operand(op, 0)))) != 64)
    return;
  for (intptr_t i = 0; i < 2; i++) {
    MlirOperation extension = def_of(s->c, operand(sum, 1 - i), OP_ARITH_EXTSI);
    MlirOperation range = mlirOperationIsNull(extension)
                              ? extension
                              : def_of(s->c, operand(extension, 0), OP_TILE_MAKE_RANGE);
    if (mlirOperationIsNull(range) || op_attr_int(range, "start", -1) < 0 ||
        op_attr_int(range, "end", 0) - op_attr_int(range, "start", 0) <= FEW_LANES)
      continue;
    MlirValue from = uniform_offset(s, op, operand(sum, i)),
              n = uniform_offset(s, op, operand(op, 1));
    if (mlirValueIsNull(from) || mlirValueIsNull(n) || magnitude_bits(s->c, from, 8) > MOST_BITS)
      continue;
    MlirValue below = numbers_below(s, op, n, from, range);
    struct builder b = builder_before(s->c, op);
    MlirValue lanes = mlirOperationGetResult(range, 0);
    replace(s, op, build_cmpi(&b, SLT, lanes, splat_as(&b, below, mlirValueGetType(lanes))));
    return;
  }
}

// ---- masked loads ----

struct load_operands {
  MlirValue ptr, mask, other; // null where absent
};

static struct load_operands load_operands(MlirOperation load) {
  int32_t sizes[3] = {1, 0, 0};
  struct load_operands o = {.ptr = operand(load, 0)};
  if (op_attr_i32_array(load, "operandSegmentSizes", 3, sizes) != 3)
    return o;
  if (sizes[1])
    o.mask = operand(load, 1);
  if (sizes[2])
    o.other = operand(load, 1 + sizes[1]);
  return o;
}

static MlirValue rebuild_load(struct rewriter *s, MlirOperation load, MlirValue other) {
  struct load_operands o = load_operands(load);
  struct str cache = op_attr_str(load, "cache"), evict = op_attr_str(load, "evict");
  struct builder b = builder_before(s->c, load);
  return build_load(&b, o.ptr, o.mask, other, arena_strndup(s->scratch, cache.ptr, cache.len),
                    arena_strndup(s->scratch, evict.ptr, evict.len),
                    op_attr_bool(load, "is_volatile"));
}

// `v` for use before `op`: itself when it is defined before, a copy if it is a constant; else null.
static MlirValue available_before(struct rewriter *s, MlirValue v, MlirOperation op) {
  MlirOperation def = value_def(v);
  if (mlirOperationIsNull(def))
    return v; // a block argument of a block around the load: select and load share the block
  if (op_is(s->c, def, OP_ARITH_CONSTANT)) {
    MlirOperation copy = mlirOperationClone(def);
    mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(op), op, copy);
    return mlirOperationGetResult(copy, 0);
  }
  if (!mlirBlockEqual(mlirOperationGetBlock(def), mlirOperationGetBlock(op)))
    return v; // it dominates the select from a block around it
  return mlirOperationIsBeforeInBlock(def, op) ? v : (MlirValue){NULL};
}

static void combine_select(struct rewriter *s, MlirOperation op) {
  MlirValue loaded = operand(op, 1);
  MlirOperation load = def_of(s->c, loaded, OP_TILE_LOAD);
  if (mlirOperationIsNull(load) || value_use_count(loaded) != 1 ||
      !mlirBlockEqual(mlirOperationGetBlock(load), mlirOperationGetBlock(op)))
    return;
  struct load_operands o = load_operands(load);
  if (mlirValueIsNull(o.mask) || !mlirValueEqual(o.mask, operand(op, 0)))
    return;
  MlirValue other = available_before(s, operand(op, 2), load);
  if (mlirValueIsNull(other))
    return;
  MlirValue v = rebuild_load(s, load, other);
  replace(s, op, v);
  op_erase(load);
}

// Masked-off lanes are zero by themselves. -0.0 is another value.
static void drop_zero_other(struct rewriter *s, MlirOperation load) {
  int64_t i;
  double f;
  struct load_operands o = load_operands(load);
  if (mlirValueIsNull(o.other))
    return;
  bool zero = (value_const_int(s->c, o.other, &i) && i == 0) ||
              (value_const_float(s->c, o.other, &f) && f == 0 && !__builtin_signbit(f));
  if (zero)
    replace(s, load, rebuild_load(s, load, (MlirValue){NULL}));
}

// ---- products ----

static bool is_zero(struct ir_context *c, MlirValue v) {
  int64_t i;
  double f;
  return (value_const_int(c, v, &i) && i == 0) || (value_const_float(c, v, &f) && f == 0);
}

static void keep_addition(struct rewriter *s, MlirOperation dot) {
  MlirType a = mlirValueGetType(operand(dot, 0));
  int64_t k = tensor_dim(a, tensor_rank(a) - 1);
  if (op_attr_int(dot, "max_num_imprecise_acc", 0) > k)
    mlirOperationSetAttributeByName(dot, mlirStringRefCreateFromCString("max_num_imprecise_acc"),
                                    attr_i32(s->c, (int32_t)k));
}

// The sum with a product with accumulator zero becomes its accumulator. A product of another block
// stays there: it may run less often.
static void combine_sum(struct rewriter *s, MlirOperation op) {
  if (!mlirAttributeIsNull(op_attr(op, "tile.unfused")))
    return;
  for (intptr_t i = 0; i < 2; i++) {
    MlirValue product = operand(op, i);
    MlirOperation dot = def_of(s->c, product, OP_TILE_DOT);
    if (mlirOperationIsNull(dot) || value_use_count(product) != 1 ||
        !is_zero(s->c, operand(dot, 2)) ||
        !mlirBlockEqual(mlirOperationGetBlock(dot), mlirOperationGetBlock(op)))
      continue;
    MlirOperation sum = mlirOperationClone(dot);
    mlirOperationSetOperand(sum, 2, operand(op, 1 - i));
    keep_addition(s, sum);
    mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(op), op, sum);
    replace(s, op, mlirOperationGetResult(sum, 0));
    op_erase(dot);
    return;
  }
}

static bool visit(MlirOperation op, void *user) {
  struct rewriter *s = user;
  switch (op_id(s->c, op)) {
  case OP_TILE_ADDPTR: combine_addptr(s, op); break;
  case OP_ARITH_CMPI: combine_compare(s, op); break;
  case OP_ARITH_SELECT: combine_select(s, op); break;
  case OP_TILE_LOAD: drop_zero_other(s, op); break;
  case OP_ARITH_ADDF:
  case OP_ARITH_ADDI: combine_sum(s, op); break;
  default: break;
  }
  return true;
}

enum pass_result pass_reassociate_addresses(struct pass_context *p) {
  struct rewriter s = {p->c, p->scratch, true};
  bool any = false;
  while (s.changed) { // each rule leaves fewer additions, extensions, selects or operands
    s.changed = false;
    ir_walk(mlirModuleGetOperation(p->module), visit, &s);
    any |= s.changed;
  }
  return any ? PASS_CHANGED : PASS_UNCHANGED;
}
