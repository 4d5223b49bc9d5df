// SPDX-License-Identifier: Apache-2.0
// Atomic read-modify-write, compare and swap, waiting.
#include "lang/builtins/builtins.h"

static const char *const names[] = {
    [ATOMIC_FN_ADD] = "add",  [ATOMIC_FN_MAX] = "max", [ATOMIC_FN_MIN] = "min",
    [ATOMIC_FN_AND] = "and",  [ATOMIC_FN_OR] = "or",   [ATOMIC_FN_XOR] = "xor",
    [ATOMIC_FN_XCHG] = "xchg"};

static bool supported(enum atomic_fn fn, struct type t) {
  if (t.ptr)
    return false;
  unsigned bits = dtype_bits(t.dtype);
  if (type_is_float(t)) {
    if (fn == ATOMIC_FN_ADD || fn == ATOMIC_FN_MAX || fn == ATOMIC_FN_MIN)
      return bits >= 16;
    return fn == ATOMIC_FN_XCHG && bits >= 32;
  }
  return bits >= 32;
}

const char *atomic_kind(enum atomic_fn fn, struct type t) {
  if (fn == ATOMIC_FN_ADD && type_is_float(t))
    return "fadd";
  if (type_is_float(t) && (fn == ATOMIC_FN_MAX || fn == ATOMIC_FN_MIN))
    return fn == ATOMIC_FN_MAX ? "fmax" : "fmin";
  if (fn == ATOMIC_FN_MAX && !dtype_is_signed(t.dtype))
    return "umax";
  if (fn == ATOMIC_FN_MIN && !dtype_is_signed(t.dtype))
    return "umin";
  return names[fn];
}

struct atomic {
  struct value ptr, value;
  MlirValue mask;
  const char *sem, *scope;
};

static struct value rmw(struct eval *e, const struct atomic *a, const char *kind) {
  MlirValue v = build_atomic_rmw(&e->b, kind, a->ptr.rt, a->value.rt, a->mask, a->sem, a->scope);
  return value_rt(v, a->value.type);
}

static MlirValue and_mask(struct eval *e, MlirValue mask, MlirValue with) {
  return mlirValueIsNull(mask) ? with : build_binary(&e->b, OP_ARITH_ANDI, mask, with);
}

// The bits of positive floats order like signed integers, those of negative ones in reverse: two
// masked integer atomics, of which each lane executes one.
static struct value float_extremum(struct eval *e, struct atomic a, bool maximum) {
  bool wide = dtype_bits(a.value.type.dtype) == 64;
  struct type given = a.value.type, elem = type_elem(given);
  struct type bits = type_scalar(wide ? DTYPE_I64 : DTYPE_I32), bits_ptr = bits;
  bits_ptr.ptr = 1;
  struct operand value = {a.value, SPAN_NONE};
  struct value i = emit_bitcast(e, value, bits);
  MlirValue zero = build_const_int(&e->b, type_to_mlir(e->c, i.type), 0);
  MlirValue positive = build_cmpi(&e->b, 5, i.rt, zero),
            negative = build_cmpi(&e->b, 2, i.rt, zero);
  a.ptr = emit_cast(e, a.ptr, bits_ptr, NULL);
  a.value = i;
  struct atomic up = a, down = a;
  up.mask = and_mask(e, a.mask, positive);
  down.mask = and_mask(e, a.mask, negative);
  struct value x = rmw(e, &up, maximum ? "max" : "min");
  struct value y = rmw(e, &down, maximum ? "umin" : "umax");
  struct value old = value_rt(build_select(&e->b, positive, x.rt, y.rt), i.type);
  return emit_bitcast(e, (struct operand){old, SPAN_NONE}, elem);
}

static bool need_order(struct eval *e, struct call *c, unsigned sem, struct atomic *a,
                       const char *usual) {
  static const char *const sems[] = {"acq_rel", "acquire", "release", "relaxed", NULL};
  static const char *const scopes[] = {"gpu", "cta", "sys", NULL};
  if (!need_choice(e, c, sem, "`sem`", sems, &a->sem) ||
      !need_choice(e, c, sem + 1, "`scope`", scopes, &a->scope))
    return false;
  a->sem = *a->sem ? a->sem : usual;
  a->scope = *a->scope ? a->scope : "gpu";
  return true;
}

static bool need_writable(struct eval *e, struct operand p) {
  if (!p.v.type.is_const)
    return true;
  struct diag *d =
      eval_error(e, p.at, E0506, "Cannot store to a constant pointer by an atomic operation");
  diag_help(d, "declare the parameter without `const`: `ptr[...]` instead of `const_ptr[...]`, no "
               "`tl.const`");
  return false;
}

struct value builtin_atomic(struct eval *e, struct call *c) {
  enum atomic_fn fn = (enum atomic_fn)c->builtin->tag;
  struct atomic a;
  struct type pointee;
  if (!need_pointer(e, c, &pointee) || !need_order(e, c, 3, &a, "acq_rel"))
    return VALUE_ERROR;
  if (!supported(fn, pointee)) {
    struct diag *d = eval_error(e, c->at, E0510, "`tl.%s` does not work on %s", c->builtin->name,
                                type_text(e->a, type_elem(pointee)));
    diag_help(d, fn == ATOMIC_FN_ADD ? "it adds i32, i64, u32, u64, f16, bf16, f32 and f64"
                                     : "it works on types of 32 and 64 bits, extremes also on f16 "
                                       "and bf16; bitwise ones on integers only");
    return VALUE_ERROR;
  }
  if (!need_writable(e, c->args[0]))
    return VALUE_ERROR;
  struct operand value = c->args[1];
  value.v = emit_convert(e, value, type_elem(pointee));
  value.v = broadcast_to(e, value, pointee, "the value ", c->args[0].at);
  if (value_is_poison(value.v) || !need_mask(e, c->args[2], pointee, c->args[0].at, &a.mask))
    return VALUE_ERROR;
  a.ptr = c->args[0].v;
  a.value = value.v;
  bool is_extremum = fn == ATOMIC_FN_MAX || fn == ATOMIC_FN_MIN;
  if (type_is_float(pointee) && is_extremum && dtype_bits(pointee.dtype) >= 32)
    return float_extremum(e, a, fn == ATOMIC_FN_MAX);
  return rmw(e, &a, atomic_kind(fn, pointee));
}

// ---- compare and swap ----

// The value in the pointee type, as integer bits.
static bool need_bits(struct eval *e, struct call *c, unsigned i, struct type pointee,
                      const char *what, struct value *ret) {
  struct operand x = c->args[i];
  x.v = emit_convert(e, x, type_elem(pointee));
  x.v = broadcast_to(e, x, pointee, what, c->args[0].at);
  struct type bits = type_scalar(dtype_bits(pointee.dtype) == 64   ? DTYPE_I64
                                 : dtype_bits(pointee.dtype) == 32 ? DTYPE_I32
                                                                   : DTYPE_I16);
  *ret = type_is_float(pointee) ? emit_bitcast(e, x, bits) : x.v;
  return !value_is_poison(*ret);
}

static bool need_swappable(struct eval *e, struct call *c, struct type pointee) {
  if (!pointee.ptr && !type_is_bool(pointee) && dtype_bits(pointee.dtype) >= 16)
    return true;
  struct diag *d = eval_error(e, c->at, E0510, "`tl.%s` does not work on %s", c->builtin->name,
                              type_text(e->a, type_elem(pointee)));
  diag_help(d, "it works on types of 16, 32 and 64 bits");
  return false;
}

static struct value swap(struct eval *e, const struct atomic *a, struct value compare) {
  struct value ptr = a->ptr;
  if (type_is_float(type_pointee(ptr.type))) {
    struct type bits = type_scalar(a->value.type.dtype);
    bits.ptr = 1;
    ptr = emit_cast(e, ptr, bits, NULL);
  }
  MlirValue old = build_atomic_cas(&e->b, ptr.rt, compare.rt, a->value.rt, a->sem, a->scope);
  return value_rt(old, a->value.type);
}

struct value builtin_atomic_cas(struct eval *e, struct call *c) {
  struct atomic a = {0};
  struct type pointee;
  struct value compare;
  if (!need_pointer(e, c, &pointee) || !need_order(e, c, 3, &a, "acq_rel") ||
      !need_swappable(e, c, pointee) || !need_writable(e, c->args[0]) ||
      !need_bits(e, c, 1, pointee, "the compared value ", &compare) ||
      !need_bits(e, c, 2, pointee, "the value ", &a.value))
    return VALUE_ERROR;
  a.ptr = c->args[0].v;
  struct value old = swap(e, &a, compare);
  return emit_bitcast(e, (struct operand){old, c->at}, type_elem(pointee));
}

// ---- waiting for a value ----

// Polls by compare-and-swap operations that do not change the value. The loop's result: it was
// found.
static struct value poll(struct eval *e, const struct atomic *a, struct value deadline) {
  MlirType i1 = mlir_of_dtype(e->c, DTYPE_I1);
  MlirBlock before, after;
  MlirOperation loop = build_while(&e->b, 0, NULL, 1, &i1, &before, &after);
  struct builder outer = e->b;
  e->b = builder_at_end(e->c, before, outer.loc);
  struct value old = swap(e, a, a->value);
  MlirValue found = build_cmpi(&e->b, 0, old.rt, a->value.rt);
  MlirValue more = build_cmpi(&e->b, 1, old.rt, a->value.rt);
  if (deadline.kind == VALUE_RT) {
    MlirValue now = build_special_register(&e->b, "globaltimer", DTYPE_I64);
    MlirValue early = build_cmpi(&e->b, 2, now, deadline.rt);
    more = build_binary(&e->b, OP_ARITH_ANDI, more, early);
  }
  build_condition(&e->b, more, 1, &found);
  e->b = builder_at_end(e->c, after, outer.loc);
  build_yield(&e->b, 0, NULL);
  e->b = outer;
  return value_rt(mlirOperationGetResult(loop, 0), type_scalar(DTYPE_I1));
}

struct value builtin_atomic_poll(struct eval *e, struct call *c) {
  struct atomic a = {0};
  struct type pointee;
  struct value deadline = value_of_kind(VALUE_ABSENT);
  if (!need_pointer(e, c, &pointee) || !need_order(e, c, 2, &a, "acquire") ||
      !need_swappable(e, c, pointee) || !need_writable(e, c->args[0]))
    return VALUE_ERROR;
  if (pointee.rank || !type_is_int(pointee)) {
    diag_help(eval_error(e, c->args[0].at, E0510,
                         "`tl.atomic_poll` waits for one integer, not for %s",
                         type_text(e->a, pointee)),
              "give a pointer to i32 or i64");
    return VALUE_ERROR;
  }
  if (!need_bits(e, c, 1, pointee, "the expected value ", &a.value))
    return VALUE_ERROR;
  if (arg_given(c, 4) && c->args[4].v.kind != VALUE_NONE) {
    struct operand limit = {emit_convert(e, c->args[4], type_scalar(DTYPE_I64)), c->args[4].at};
    if (value_is_poison(limit.v))
      return VALUE_ERROR;
    if (limit.v.type.rank) {
      diag_help(eval_error(e, limit.at, E0503, "`timeout_ns` is %s, not a scalar",
                           type_text(e->a, limit.v.type)),
                "give one number of nanoseconds");
      return VALUE_ERROR;
    }
    MlirValue now = build_special_register(&e->b, "globaltimer", DTYPE_I64);
    deadline = value_rt(build_binary(&e->b, OP_ARITH_ADDI, now, limit.v.rt), limit.v.type);
  }
  a.ptr = c->args[0].v;
  return poll(e, &a, deadline);
}
