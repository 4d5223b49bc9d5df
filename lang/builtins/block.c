// SPDX-License-Identifier: Apache-2.0
// Block pointers: a base, the shape and strides of a tensor, and the offsets of a block in it. A
// block pointer is a record; a load or store converts it to a tile of pointers and a mask.
#include "lang/builtins/builtins.h"

enum { BLOCK_BASE, BLOCK_SHAPE, BLOCK_STRIDES, BLOCK_OFFSETS, BLOCK_TYPE, BLOCK_PARTS };

static const struct record block_pointer = {.kind = RECORD_BLOCK_POINTER};

// The numbers as run-time scalars of one type.
static bool need_scalars(struct eval *e, struct operand x, size_t rank, enum dtype dtype,
                         const char *what, struct value *ret) {
  struct value one[1] = {x.v};
  struct tuple t = x.v.kind == VALUE_TUPLE ? x.v.tuple : (struct tuple){one, 1, NULL};
  if (value_is_poison(x.v))
    return false;
  if (t.len != rank) {
    diag_help(eval_error(e, x.at, E0515, "%zu %s for a block of %zu dimensions", t.len, what, rank),
              "give one number for each dimension of `block_shape`");
    return false;
  }
  struct value *at = arena_array(e->a, struct value, rank);
  for (size_t i = 0; i < rank; i++) {
    struct operand item = {to_runtime(e, (struct operand){t.at[i], x.at}, what), x.at};
    if (value_is_poison(item.v))
      return false;
    if (!type_is_int(item.v.type) || item.v.type.rank) {
      eval_error(e, x.at, E0515, "the %s of a block pointer are integers, not %s", what,
                 type_text(e->a, item.v.type));
      return false;
    }
    at[i] = emit_cast(e, item.v, type_scalar(dtype), NULL);
  }
  *ret = value_tuple(at, rank);
  return true;
}

// i64 if one of the offsets is.
static enum dtype offset_type(struct value offsets) {
  struct tuple t = offsets.kind == VALUE_TUPLE ? offsets.tuple : (struct tuple){&offsets, 1, NULL};
  for (size_t i = 0; i < t.len; i++)
    if (t.at[i].kind == VALUE_RT && dtype_bits(t.at[i].type.dtype) == 64)
      return DTYPE_I64;
  return DTYPE_I32;
}

struct value builtin_make_block_ptr(struct eval *e, struct call *c) {
  struct type pointee, block;
  if (!need_pointer(e, c, &pointee) || !shape_from_value(e, c->args[4], &block))
    return VALUE_ERROR;
  if (c->args[0].v.type.rank || !block.rank) {
    eval_error(e, c->args[0].at, E0515, "a block pointer has one pointer as its base, not %s",
               type_text(e->a, c->args[0].v.type));
    return VALUE_ERROR;
  }
  struct value *at = arena_array(e->a, struct value, BLOCK_PARTS);
  enum dtype offsets = offset_type(c->args[3].v);
  at[BLOCK_BASE] = c->args[0].v;
  at[BLOCK_TYPE] = value_type(type_shaped(pointee, block));
  if (!need_scalars(e, c->args[1], block.rank, DTYPE_I64, "sizes", &at[BLOCK_SHAPE]) ||
      !need_scalars(e, c->args[2], block.rank, DTYPE_I64, "strides", &at[BLOCK_STRIDES]) ||
      !need_scalars(e, c->args[3], block.rank, offsets, "offsets", &at[BLOCK_OFFSETS]))
    return VALUE_ERROR;
  struct value v = value_tuple(at, BLOCK_PARTS);
  v.tuple.record = &block_pointer;
  return v;
}

struct value builtin_advance(struct eval *e, struct call *c) {
  struct value v = c->args[0].v, by;
  if (!value_is_record(v, RECORD_BLOCK_POINTER)) {
    diag_help(eval_error(e, c->args[0].at, E0515, "`tl.advance` moves a block pointer, not %s",
                         value_describe(e, v)),
              "move a pointer by `+`, or make a block by `tl.make_block_ptr`");
    return VALUE_ERROR;
  }
  const struct value *old = v.tuple.at[BLOCK_OFFSETS].tuple.at;
  size_t rank = v.tuple.at[BLOCK_OFFSETS].tuple.len;
  if (!need_scalars(e, c->args[1], rank, old[0].type.dtype, "offsets", &by))
    return VALUE_ERROR;
  struct value *offsets = arena_array(e->a, struct value, rank);
  for (size_t i = 0; i < rank; i++) {
    struct operand a = {old[i], c->at}, b = {by.tuple.at[i], c->at};
    int64_t n = 1;
    bool stays = value_const_int(e->c, b.v.rt, &n) && n == 0;
    offsets[i] = stays ? old[i] : emit_binary(e, OP_ADD, a, b, c->at);
  }
  struct value *at = arena_array(e->a, struct value, BLOCK_PARTS);
  for (size_t i = 0; i < BLOCK_PARTS; i++)
    at[i] = v.tuple.at[i];
  at[BLOCK_OFFSETS] = value_tuple(offsets, rank);
  return value_with_items(v, at);
}

struct type block_pointer_type(struct value v) {
  struct type t = type_elem(v.tuple.at[BLOCK_TYPE].type);
  t.ptr++;
  return t;
}

// ---- as pointers ----

// The dimensions that `boundary_check` names.
static bool checked_dims(struct eval *e, struct operand x, unsigned rank, bool *ret) {
  if (x.v.kind == VALUE_ABSENT || x.v.kind == VALUE_NONE)
    return true;
  struct value one[1] = {x.v};
  struct tuple t = x.v.kind == VALUE_TUPLE ? x.v.tuple : (struct tuple){one, 1, NULL};
  for (size_t i = 0; i < t.len; i++) {
    unsigned axis;
    if (!need_axis(e, (struct operand){t.at[i], x.at}, rank, &axis))
      return false;
    ret[axis] = true;
  }
  return true;
}

static struct operand op_of(struct value v, struct span at) { return (struct operand){v, at}; }

// One axis of a tile of rank `rank`.
static struct value along(struct eval *e, struct value v, unsigned axis, unsigned rank) {
  for (unsigned i = 0; i < rank; i++)
    if (i != axis)
      v = emit_expand_dims(e, v, i);
  return v;
}

bool emit_block_access(struct eval *e, struct value v, struct operand boundary, struct span at,
                       struct block_access *ret) {
  struct type block = v.tuple.at[BLOCK_TYPE].type;
  const struct value *shape = v.tuple.at[BLOCK_SHAPE].tuple.at;
  const struct value *strides = v.tuple.at[BLOCK_STRIDES].tuple.at;
  const struct value *offsets = v.tuple.at[BLOCK_OFFSETS].tuple.at;
  bool checked[TYPE_MAX_RANK] = {false};
  if (!checked_dims(e, boundary, block.rank, checked))
    return false;
  struct value ptr = v.tuple.at[BLOCK_BASE], mask = value_of_kind(VALUE_NONE);
  for (unsigned i = 0; i < block.rank; i++) {
    struct type line = {.dtype = DTYPE_I32, .rank = 1, .shape = {block.shape[i]}};
    struct value range = value_rt(build_make_range(&e->b, 0, block.shape[i]), line);
    struct value index = emit_binary(e, OP_ADD, op_of(range, at), op_of(offsets[i], at), at);
    index = emit_cast(e, index, type_scalar(DTYPE_I64), NULL);
    struct value step = emit_binary(e, OP_MUL, op_of(index, at), op_of(strides[i], at), at);
    ptr = emit_binary(e, OP_ADD, op_of(ptr, at), op_of(along(e, step, i, block.rank), at), at);
    if (!checked[i])
      continue;
    struct operand zero = op_of(value_int(0), at);
    struct value low = emit_comparison(e, OP_GE, op_of(index, at), zero, at);
    struct value high = emit_comparison(e, OP_LT, op_of(index, at), op_of(shape[i], at), at);
    struct value in = emit_binary(e, OP_BIT_AND, op_of(low, at), op_of(high, at), at);
    in = along(e, in, i, block.rank);
    mask =
        mask.kind == VALUE_RT ? emit_binary(e, OP_BIT_AND, op_of(mask, at), op_of(in, at), at) : in;
  }
  *ret = (struct block_access){ptr, mask};
  return !value_is_poison(ptr) && !value_is_poison(mask);
}
