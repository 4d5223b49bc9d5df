// SPDX-License-Identifier: Apache-2.0
// Program ids, new tiles, and casts.
#include "lang/builtins/builtins.h"

struct value builtin_program_id(struct eval *e, struct call *c) {
  int64_t axis;
  if (!need_const_int(e, c->args[0], "the axis", &axis))
    return VALUE_ERROR;
  if (axis < 0 || axis > 2) {
    diag_help(eval_error(e, c->args[0].at, E0509, "%s axis must be 0, 1, or 2 but got %lld",
                         c->builtin->name, (long long)axis),
              "a grid has three axes: fold further ones into one, `i // n` and `i %% n`");
    return VALUE_ERROR;
  }
  MlirValue v =
      c->builtin->tag ? build_num_programs(&e->b, (int)axis) : build_program_id(&e->b, (int)axis);
  return value_rt(v, type_scalar(DTYPE_I32));
}

struct value builtin_arange(struct eval *e, struct call *c) {
  int64_t start, end;
  if (!need_const_int(e, c->args[0], "the start of `tl.arange`", &start) ||
      !need_const_int(e, c->args[1], "the end of `tl.arange`", &end))
    return VALUE_ERROR;
  int_const size = (int_const)end - start;
  if (size <= 0 || start < INT32_MIN || end > INT32_MAX || size > TYPE_MAX_NUMEL) {
    struct diag *d = eval_error(e, c->at, size > TYPE_MAX_NUMEL ? E0206 : E0511,
                                "`tl.arange` from %lld to %lld", (long long)start, (long long)end);
    diag_help(d, "the end must be greater than the start, by at most %d", TYPE_MAX_NUMEL);
    return VALUE_ERROR;
  }
  struct type t = {.dtype = DTYPE_I32, .rank = 1, .shape = {(int32_t)size}};
  if (!shape_check(e, t, c->at))
    return VALUE_ERROR;
  return value_rt(build_make_range(&e->b, (int32_t)start, (int32_t)end), t);
}

static struct value full(struct eval *e, struct operand shape, struct operand value,
                         struct type elem) {
  struct type t;
  if (!shape_from_value(e, shape, &t))
    return VALUE_ERROR;
  t = type_shaped(elem, t);
  struct type numeric = type_with_dtype(t, elem.dtype);
  if (value.v.kind != VALUE_RT && !elem.ptr) { // a splat constant
    struct value scalar = literal_as(e, value, type_elem(numeric));
    if (value_is_poison(scalar) || !t.rank)
      return scalar;
    MlirType type = type_to_mlir(e->c, t);
    int64_t i = 0;
    MlirValue v;
    if (type_is_float(t) && !type_is_storage(t))
      v = build_const_float(&e->b, type, value_as_double(value.v));
    else if (value_const_int(e->c, scalar.rt, &i))
      v = build_const_int(&e->b, type, i);
    else
      return emit_splat(e, scalar, t);
    return value_rt(v, t);
  }
  if (value.v.kind == VALUE_RT && value.v.type.rank) {
    diag_help(eval_error(e, value.at, E0503, "the value of `tl.full` is %s, not a scalar",
                         value_describe(e, value.v)),
              "write `tl.broadcast_to(x, shape)` to repeat a tile");
    return VALUE_ERROR;
  }
  struct value v = emit_convert(e, value, elem);
  return value_is_poison(v) ? v : emit_splat(e, v, t);
}

struct value builtin_full(struct eval *e, struct call *c) {
  struct type elem;
  if (!need_type(e, c->args[2], "the type of `tl.full`", &elem))
    return VALUE_ERROR;
  if (c->args[1].v.kind != VALUE_RT && !value_is_number(c->args[1].v))
    return arg_runtime(e, c, 1);
  return full(e, c->args[0], c->args[1], elem);
}

struct value builtin_zeros(struct eval *e, struct call *c) {
  struct type elem;
  if (!need_type(e, c->args[1], "the type of `tl.zeros`", &elem))
    return VALUE_ERROR;
  return full(e, c->args[0], (struct operand){value_int(0), c->at}, elem);
}

struct value builtin_zeros_like(struct eval *e, struct call *c) {
  struct value like = arg_runtime(e, c, 0);
  if (value_is_poison(like))
    return like;
  struct operand shape = {value_of_shape(e, like.type), c->at};
  return full(e, shape, (struct operand){value_int(0), c->at}, type_elem(like.type));
}

// A rounding mode is for floats that become narrower, and storage types have only the nearest.
static bool check_rounding(struct eval *e, struct call *c, struct type from, struct type to,
                           const char *rounding) {
  bool down =
      type_is_float(from) && type_is_float(to) && dtype_bits(to.dtype) < dtype_bits(from.dtype);
  if (*rounding && !down && !type_elem_eq(from, to)) {
    struct diag *d = eval_error(e, c->args[2].at, E0504, "a rounding for a cast of %s to %s",
                                type_text(e->a, from), type_text(e->a, to));
    diag_help(d, "`fp_downcast_rounding` is for floats that become narrower");
    return false;
  }
  if (strcmp(rounding, "rtz") == 0 && type_is_storage(to)) {
    struct diag *d = eval_error(e, c->args[2].at, E0504, "a cast to %s cannot round toward zero",
                                type_text(e->a, to));
    diag_help(d, "it rounds to the nearest: leave out `fp_downcast_rounding`");
    return false;
  }
  return true;
}

// Pointers convert to integers of 64 bits and to booleans; floats do not convert to pointers.
static bool check_addresses(struct eval *e, struct call *c, struct type from, struct type to) {
  bool is_narrow = type_is_float(to) || dtype_bits(to.dtype) < 64;
  bool loses = from.ptr && !to.ptr && is_narrow && !type_is_bool(to);
  if (!loses && !(to.ptr && type_is_float(from)))
    return true;
  struct diag *d = eval_error(e, c->at, E0217, "cannot cast %s to %s", type_text(e->a, from),
                              type_text(e->a, to));
  if (loses)
    diag_help(d, "an address has 64 bits: `.to(tl.int64)`");
  else
    diag_help(d, "an address is no float; make it an integer first: `.to(tl.int64)`");
  return false;
}

struct value builtin_cast(struct eval *e, struct call *c) {
  static const char *const modes[] = {"rtne", "rtz", NULL};
  struct type elem;
  const char *rounding;
  bool bitcast = false;
  if (!need_type(e, c->args[1], "the type of a cast", &elem) ||
      !need_choice(e, c, 2, "the rounding", modes, &rounding) ||
      (arg_given(c, 3) && !need_const_bool(e, c->args[3], "`bitcast`", &bitcast)))
    return VALUE_ERROR;
  struct operand x = c->args[0];
  if (!bitcast && value_is_number(x.v) && !elem.ptr)
    return literal_as(e, x, elem);
  x.v = arg_runtime(e, c, 0);
  if (value_is_poison(x.v))
    return x.v;
  if (bitcast)
    return emit_bitcast(e, (struct operand){x.v, c->at}, elem);
  if (!check_rounding(e, c, x.v.type, elem, rounding) || !check_addresses(e, c, x.v.type, elem))
    return VALUE_ERROR;
  return emit_cast(e, x.v, elem, *rounding ? rounding : NULL);
}

struct value builtin_to_tensor(struct eval *e, struct call *c) {
  return arg_runtime(e, c, 0);
}
