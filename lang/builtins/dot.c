// SPDX-License-Identifier: Apache-2.0
// tl.dot: checks of its operands, accumulator and precision.
#include "lang/builtins/builtins.h"

// ---- operands ----

// The default accumulator type for operands of these types; DTYPE_NONE: not supported.
static enum dtype natural_sum(struct type a) {
  if (a.ptr)
    return DTYPE_NONE;
  if (a.dtype == DTYPE_I8)
    return DTYPE_I32;
  if (a.dtype == DTYPE_F64)
    return DTYPE_F64;
  return dtype_is_float(a.dtype) ? DTYPE_F32 : DTYPE_NONE;
}

static void help_operand(struct diag *d, struct type t) {
  if (t.ptr)
    diag_help(d, "load the tiles first");
  else if (t.dtype == DTYPE_U8)
    diag_help(d, "numbers below 128 fit into `.to(tl.int8)`; `.to(tl.float16)` holds all of them");
  else if (dtype_is_int(t.dtype))
    diag_help(d, "`tl.int8` is the only type of integers that is multiplied; or `.to(tl.float32)`");
  else
    diag_help(d, "convert first: `.to(tl.int8)`, `.to(tl.float16)`");
}

// Operands inside the standard library have no location in user code.
static void label(struct eval *e, struct diag *d, struct span at, const char *text) {
  if (!e->frame->is_std)
    diag_label(d, at, "%s", text);
}

static bool check_types(struct eval *e, const struct operand *a, const struct operand *b,
                        struct span at) {
  for (const struct operand *x = a; x; x = x == a ? b : NULL)
    if (natural_sum(x->v.type) == DTYPE_NONE) {
      struct diag *d =
          eval_error(e, x->at, E0517, "`tl.dot` does not multiply %s", type_text(e->a, x->v.type));
      help_operand(d, x->v.type);
      return false;
    }
  struct type x = a->v.type, y = b->v.type;
  if (type_elem_eq(x, y) || (type_is_fp8(x) && type_is_fp8(y)))
    return true;
  struct diag *d =
      eval_error(e, at, E0517, "`tl.dot` of %s and %s", type_text(e->a, x), type_text(e->a, y));
  label(e, d, a->at, dtype_language_name(x.dtype));
  label(e, d, b->at, dtype_language_name(y.dtype));
  bool widen_first = dtype_bits(x.dtype) < dtype_bits(y.dtype);
  diag_help(d, "both have one type (8-bit floats may differ): convert the %s by `.to(tl.%s)`",
            widen_first ? "first" : "second", dtype_language_name(widen_first ? y.dtype : x.dtype));
  return false;
}

static struct diag *wrong_shapes(struct eval *e, const struct operand *a, const struct operand *b,
                                 struct span at) {
  struct diag *d = eval_error(e, at, E0516, "cannot multiply %s by %s", type_text(e->a, a->v.type),
                              type_text(e->a, b->v.type));
  label(e, d, a->at, type_text(e->a, a->v.type));
  label(e, d, b->at, type_text(e->a, b->v.type));
  return d;
}

static bool check_ranks(struct eval *e, const struct operand *a, const struct operand *b,
                        struct span at) {
  unsigned n = a->v.type.rank, m = b->v.type.rank;
  if (n >= 2 && n == m)
    return true;
  struct diag *d = wrong_shapes(e, a, b, at);
  if (n == 1 && m == 1)
    diag_help(d, "of two vectors: `tl.sum(a * b)`");
  else if (n == 1 || m == 1)
    diag_help(d, "a vector becomes a row by `v[None, :]`, a column by `v[:, None]`");
  else if (n == 0 || m == 0)
    diag_help(d, "numbers are multiplied by `*`");
  else
    diag_help(d,
              "both have as many dimensions: give the smaller one an axis by `x[None, :, :]` and "
              "`tl.broadcast_to`");
  return false;
}

// [..., M, K] times [..., K, N]: the shape of the product.
static bool check_shapes(struct eval *e, const struct operand *a, const struct operand *b,
                         struct span at, struct type *ret) {
  struct type x = a->v.type, y = b->v.type;
  unsigned m = x.rank - 2u, n = x.rank - 1u;
  if (x.shape[n] != y.shape[m]) {
    struct diag *d = wrong_shapes(e, a, b, at);
    if (x.shape[n] == y.shape[n])
      diag_help(d,
                "the first has %d columns, the second %d rows; with the second transposed they "
                "agree: `tl.trans(b)`",
                x.shape[n], y.shape[m]);
    else
      diag_help(d,
                "the first has %d columns, the second %d rows: both count the products of one "
                "sum",
                x.shape[n], y.shape[m]);
    return false;
  }
  for (unsigned i = 0; i < m; i++)
    if (x.shape[i] != y.shape[i]) {
      struct diag *d = wrong_shapes(e, a, b, at);
      diag_help(d, "the dimensions in front of the last two agree: `tl.broadcast_to` repeats one");
      return false;
    }
  *ret = type_shaped(type_elem(x), x);
  ret->shape[n] = y.shape[n];
  return shape_check(e, *ret, at);
}

// ---- the sum ----

static bool allows_sum(struct type a, enum dtype sum) {
  enum dtype natural = natural_sum(a);
  bool half = natural == DTYPE_F32 && (a.dtype == DTYPE_F16 || dtype_bits(a.dtype) == 8);
  return sum == natural || (half && sum == DTYPE_F16);
}

static bool need_sum(struct eval *e, struct type a, enum dtype sum, const char *what,
                     struct span at) {
  if (allows_sum(a, sum))
    return true;
  struct diag *d = eval_error(e, at, E0517, "%s `%s` for products of %s", what,
                              dtype_language_name(sum), dtype_language_name(a.dtype));
  enum dtype natural = natural_sum(a);
  if (sum == DTYPE_BF16)
    diag_help(d, "add up in `tl.float32` and convert the result: `.to(tl.bfloat16)`");
  else
    diag_help(d, "they are added up in `tl.%s`%s", dtype_language_name(natural),
              allows_sum(a, DTYPE_F16) ? " or `tl.float16`" : "");
  return false;
}

// As in Triton, `out_dtype` is used only where there is a choice; its default, float32, is always
// accepted, and products of integers are added up in int32.
static bool sum_type(struct eval *e, struct call *c, struct type a, enum dtype *ret) {
  struct type given;
  *ret = natural_sum(a);
  if (!arg_given(c, 6) || c->args[6].v.kind == VALUE_NONE)
    return true;
  if (!need_type(e, c->args[6], "`out_dtype`", &given))
    return false;
  bool is_ignored = given.dtype == DTYPE_F32 || (*ret == DTYPE_F32 && given.dtype == DTYPE_F16) ||
                    (*ret == DTYPE_I32 && dtype_is_int(given.dtype));
  if (allows_sum(a, given.dtype))
    *ret = given.dtype;
  else if (!is_ignored)
    return need_sum(e, a, given.dtype, "`out_dtype`", c->args[6].at);
  return true;
}

// The accumulator, of the product's shape: zeros of `product` where none is given.
static struct value accumulator(struct eval *e, struct call *c, struct type a,
                                struct type product) {
  if (!arg_given(c, 2) || c->args[2].v.kind == VALUE_NONE) {
    MlirType t = type_to_mlir(e->c, product);
    return value_rt(type_is_float(product) ? build_const_float(&e->b, t, 0)
                                           : build_const_int(&e->b, t, 0),
                    product);
  }
  struct value acc = arg_runtime(e, c, 2);
  struct span at = c->args[2].at;
  if (value_is_poison(acc))
    return acc;
  if (!type_shape_eq(acc.type, product)) {
    struct diag *d = eval_error(e, at, E0516, "the accumulator is %s, the product %s",
                                type_text(e->a, acc.type), type_text(e->a, product));
    diag_help(d, "`tl.zeros` of the product's shape, or leave out `acc` and add the result");
    return VALUE_ERROR;
  }
  if (acc.type.ptr || !need_sum(e, a, acc.type.dtype, "an accumulator of", at))
    return VALUE_ERROR;
  bool decided = arg_given(c, 6) && allows_sum(a, DTYPE_F16);
  if (decided && acc.type.dtype != product.dtype) {
    struct diag *d =
        eval_error(e, at, E0517, "the accumulator is `%s`, `out_dtype` `%s`",
                   dtype_language_name(acc.type.dtype), dtype_language_name(product.dtype));
    diag_help(d, "the accumulator's type decides: leave out `out_dtype`");
    return VALUE_ERROR;
  }
  return acc;
}

// ---- precision ----

static struct operand lower_case(struct eval *e, struct operand x) {
  if (x.v.kind != VALUE_STR)
    return x;
  char *s = arena_strndup(e->a, x.v.s.ptr, x.v.s.len);
  for (char *p = s; *p; p++)
    *p = *p >= 'A' && *p <= 'Z' ? (char)(*p - 'A' + 'a') : *p;
  x.v.s.ptr = s;
  return x;
}

static bool need_precision(struct eval *e, struct call *c, struct type a, const char **ret) {
  static const char *const words[] = {"tf32", "tf32x3", "ieee", "bf16x3", "bf16x6", NULL};
  bool old = arg_given(c, 4) && c->args[4].v.kind != VALUE_NONE, allow = true;
  c->args[3] = lower_case(e, c->args[3]);
  if (!need_choice(e, c, 3, "`input_precision`", words, ret) ||
      (old && !need_const_bool(e, c->args[4], "`allow_tf32`", &allow)))
    return false;
  if (old && **ret) {
    struct diag *d =
        eval_error(e, c->args[4].at, E0501, "`allow_tf32` and `input_precision` of one `tl.dot`");
    diag_help(d, "`input_precision` replaces `allow_tf32`: omit `allow_tf32`");
    return false;
  }
  if (!**ret && !old && a.dtype == DTYPE_F32)
    eval_remark(e, c->at, "dot",
                "float32 operands are multiplied as tf32, of 11 significant bits, the default: "
                "`input_precision=\"tf32x3\"` or `\"ieee\"` keep all 24");
  if (!**ret)
    *ret = allow ? "tf32" : "ieee";
  return true;
}

// For 8-bit floats: how many products the hardware may add with less precision than the
// accumulator's.
static bool need_imprecise(struct eval *e, struct call *c, struct type a, int32_t *ret) {
  int64_t n = 0, k = a.shape[a.rank - 1];
  *ret = type_is_fp8(a) ? 1 << 30 : 0;
  if (!arg_given(c, 5) || c->args[5].v.kind == VALUE_NONE)
    return true;
  if (!need_const_int(e, c->args[5], "`max_num_imprecise_acc`", &n))
    return false;
  if (n < 0 || (*ret && n > k)) {
    struct diag *d =
        eval_error(e, c->args[5].at, E0503, "`max_num_imprecise_acc` of %lld", (long long)n);
    diag_help(d, "from 0 to the number of products in a sum, here %lld", (long long)k);
    return false;
  }
  if (*ret)
    *ret = (int32_t)n;
  return true;
}

// ---- tl.dot ----

// Flattens the dimensions before the last two to one.
static struct value batched(struct eval *e, struct value x) {
  struct type t = {.rank = 3, .shape = {1}};
  for (unsigned i = 0; i + 2 < x.type.rank; i++)
    t.shape[0] *= x.type.shape[i];
  t.shape[1] = x.type.shape[x.type.rank - 2];
  t.shape[2] = x.type.shape[x.type.rank - 1];
  return x.type.rank <= 3 ? x : emit_reshape(e, x, t, false);
}

struct value builtin_dot(struct eval *e, struct call *c) {
  struct operand a = {arg_runtime(e, c, 0), c->args[0].at};
  struct operand b = {arg_runtime(e, c, 1), c->args[1].at};
  struct type product;
  const char *precision;
  int32_t imprecise;
  enum dtype sum;
  if (value_is_poison(a.v) || value_is_poison(b.v) || !check_ranks(e, &a, &b, c->callee) ||
      !check_types(e, &a, &b, c->callee) || !check_shapes(e, &a, &b, c->callee, &product) ||
      !need_precision(e, c, a.v.type, &precision) || !sum_type(e, c, a.v.type, &sum))
    return VALUE_ERROR;
  product.dtype = sum;
  struct value acc = accumulator(e, c, a.v.type, product);
  if (value_is_poison(acc))
    return acc;
  emit_at(e, c->at);
  if (type_is_storage(a.v.type) || type_is_storage(b.v.type)) {
    a.v = emit_cast(e, a.v, type_scalar(DTYPE_F16), NULL);
    b.v = emit_cast(e, b.v, type_scalar(DTYPE_F16), NULL);
  }
  if (!need_imprecise(e, c, a.v.type, &imprecise))
    return VALUE_ERROR;
  struct type t = acc.type;
  emit_at(e, c->at);
  acc = batched(e, acc);
  a.v = batched(e, a.v), b.v = batched(e, b.v);
  MlirValue r = build_dot(&e->b, a.v.rt, b.v.rt, acc.rt, precision, imprecise);
  return emit_reshape(e, value_rt(r, acc.type), t, false);
}
