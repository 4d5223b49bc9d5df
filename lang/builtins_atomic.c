// SPDX-License-Identifier: Apache-2.0
// Atomic read-modify-write.
#include "lang/builtins.h"

static const char *const names[] = {
    [ATOMIC_FN_ADD] = "add",  [ATOMIC_FN_MAX] = "max", [ATOMIC_FN_MIN] = "min",
    [ATOMIC_FN_AND] = "and",  [ATOMIC_FN_OR] = "or",   [ATOMIC_FN_XOR] = "xor",
    [ATOMIC_FN_XCHG] = "xchg"};

static bool supported(enum atomic_fn fn, struct type t) {
  if (t.ptr)
    return false;
  unsigned bits = dtype_bits(t.dtype);
  if (type_is_float(t)) {
    if (fn == ATOMIC_FN_ADD)
      return bits >= 16;
    return (fn == ATOMIC_FN_MAX || fn == ATOMIC_FN_MIN || fn == ATOMIC_FN_XCHG) && bits >= 32;
  }
  return bits >= 32;
}

static const char *kind_of(enum atomic_fn fn, struct type t) {
  if (fn == ATOMIC_FN_ADD && type_is_float(t))
    return "fadd";
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

static struct value rmw(struct emitter *e, const struct atomic *a, const char *kind) {
  MlirValue v = build_atomic_rmw(&e->b, kind, a->ptr.rt, a->value.rt, a->mask, a->sem, a->scope);
  return value_rt(v, a->value.type);
}

static MlirValue and_mask(struct emitter *e, MlirValue mask, MlirValue with) {
  return mlirValueIsNull(mask) ? with : build_binary(&e->b, OP_ARITH_ANDI, mask, with);
}

// The bits of floats order like signed integers where the sign is clear, and in reverse where it
// is set: two masked integer atomics, of which each lane does one.
static struct value float_extremum(struct emitter *e, struct atomic a, bool maximum) {
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

struct value builtin_atomic(struct emitter *e, struct call *c) {
  static const char *const sems[] = {"acq_rel", "acquire", "release", "relaxed", NULL};
  static const char *const scopes[] = {"gpu", "cta", "sys", NULL};
  enum atomic_fn fn = (enum atomic_fn)c->builtin->tag;
  struct atomic a;
  struct type pointee;
  if (!need_pointer(e, c, &pointee) || !need_choice(e, c, 3, "`sem`", sems, &a.sem) ||
      !need_choice(e, c, 4, "`scope`", scopes, &a.scope))
    return VALUE_ERROR;
  a.sem = *a.sem ? a.sem : "acq_rel";
  a.scope = *a.scope ? a.scope : "gpu";
  if (!supported(fn, pointee)) {
    struct diag *d = emit_error(e, c->at, E0510, "`tl.%s` does not work on %s", c->builtin->name,
                                type_text(e->a, type_elem(pointee)));
    diag_help(d, fn == ATOMIC_FN_ADD ? "it adds i32, i64, u32, u64, f16, bf16, f32 and f64"
                                     : "it works on types of 32 and 64 bits; bitwise ones on "
                                       "integers only");
    return VALUE_ERROR;
  }
  if (c->args[0].v.type.is_const) {
    struct diag *d = emit_error(e, c->args[0].at, E0506, "atomic access through a const pointer");
    diag_help(d, "declare the parameter `ptr[...]` instead of `const_ptr[...]`");
    return VALUE_ERROR;
  }
  struct operand value = c->args[1];
  value.v = emit_convert(e, value, type_elem(pointee));
  value.v = broadcast_to(e, value, pointee, "the value ");
  if (value_is_poison(value.v) || !need_mask(e, c->args[2], pointee, &a.mask))
    return VALUE_ERROR;
  a.ptr = c->args[0].v;
  a.value = value.v;
  if (type_is_float(pointee) && (fn == ATOMIC_FN_MAX || fn == ATOMIC_FN_MIN))
    return float_extremum(e, a, fn == ATOMIC_FN_MAX);
  return rmw(e, &a, kind_of(fn, pointee));
}
