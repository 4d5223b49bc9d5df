// SPDX-License-Identifier: Apache-2.0
// f32-dot-split: a product of f32 tiles in a precision that no matrix instruction has becomes a sum
// of products of available instructions, once its operands have the layouts of the instruction
// (accelerate-dot); a product without an instruction is computed in f32. An operand is split into
// pieces, each the leading bits of the remainder: x = x1 + x2 (+ x3), of 11 bits each (tf32) or 8
// (bf16).
//
//   dot(%a, %b, %c) {tf32x3}  ->   %s = dot(%a2, %b1, 0) {tf32}        the small products first
//                                  %s = dot(%a1, %b2, %s)
//                                  %s = select(|%s| < inf, %s, 0)
//                                  %d = dot(%a1, %b1, %s)
//                                  addf(%c, %d)
//
// bf16x3 has the same three products, bf16x6 those of (3,1) (1,3) (2,2) (2,1) (1,2) (1,1). Products
// below the last bits of f32, or of the requested precision, are left out.
//
// An infinity has no second piece: inf - inf is NaN. Where an operand is not finite, the small
// products are not either, and the select drops them: the product of the first pieces, which keep
// inf and NaN, decides. The sum is added to the accumulator at the end, in f32 rounded to nearest,
// which matrix instructions do not do.
#include "layouts/attr.h"
#include "lowering/pass.h"
#include "mlir-dialects/build.h"

#include <math.h>

enum { MAX_PIECES = 3, MAX_PRODUCTS = 6 };

struct split {
  const char *precision;
  bool is_bf16;
  unsigned pieces;
  unsigned product_count;
  struct {
    unsigned char a, b;     // numbers of pieces
  } products[MAX_PRODUCTS]; // small ones first
};

static const struct split splits[] = {
    {"tf32x3", false, 2, 3, {{1, 0}, {0, 1}, {0, 0}}},
    {"bf16x3", true, 2, 3, {{1, 0}, {0, 1}, {0, 0}}},
    {"bf16x6", true, 3, 6, {{2, 0}, {0, 2}, {1, 1}, {1, 0}, {0, 1}, {0, 0}}},
};

static const struct split *split_of(MlirOperation dot) {
  struct str precision = op_attr_str(dot, "input_precision");
  for (size_t i = 0; i < COUNT_OF(splits); i++)
    if (str_is(precision, splits[i].precision))
      return &splits[i];
  return NULL;
}

// x with its last `digits` bits 0, rounded to nearest. What would round to infinity is truncated
// instead, so that finite numbers stay finite; infinities and NaN are unchanged.
static MlirValue leading_digits(struct builder *b, MlirValue x, unsigned digits) {
  MlirType f32 = mlirValueGetType(x), i32 = mlir_of_dtype(b->c, DTYPE_I32);
  MlirType tile = type_with_element(f32, i32);
  float largest = ldexpf(2 - ldexpf(1, (int)digits - 23), 127); // that has these digits 0
  MlirValue limit = build_const_float(b, f32, (double)largest);
  MlirValue none = build_const_int(b, tile, 0), half = build_const_int(b, tile, 1 << (digits - 1));
  MlirValue mask = build_const_int(b, tile, -(1 << digits));
  MlirValue magnitude = build_unary(b, OP_MATH_ABSF, x);
  half = build_select(b, build_cmpf(b, 4, magnitude, limit), half, none);
  MlirValue bits = build_cast(b, OP_ARITH_BITCAST, x, i32);
  bits = build_binary(b, OP_ARITH_ADDI, bits, half);
  bits = build_binary(b, OP_ARITH_ANDI, bits, mask);
  return build_cast(b, OP_ARITH_BITCAST, bits, element_type(f32));
}

static void cut(struct builder *b, const struct split *s, MlirValue x, MlirValue *ret) {
  MlirType bf16 = mlir_of_dtype(b->c, DTYPE_BF16), f32 = mlir_of_dtype(b->c, DTYPE_F32);
  MlirValue piece = leading_digits(b, x, s->is_bf16 ? 16 : 13);
  ret[0] = s->is_bf16 ? build_cast(b, OP_ARITH_TRUNCF, piece, bf16) : piece;
  for (unsigned i = 1; i < s->pieces; i++) {
    x = build_binary(b, OP_ARITH_SUBF, x, piece); // exact
    ret[i] = s->is_bf16 ? build_cast(b, OP_ARITH_TRUNCF, x, bf16) : x;
    if (i + 1 < s->pieces)
      piece = build_cast(b, OP_ARITH_EXTF, ret[i], f32);
  }
}

static MlirValue finite_or_zero(struct builder *b, MlirValue x, MlirValue zero) {
  MlirValue infinity = build_const_float(b, mlirValueGetType(x), INFINITY);
  MlirValue finite = build_cmpf(b, 4, build_unary(b, OP_MATH_ABSF, x), infinity);
  return build_select(b, finite, x, zero);
}

static bool is_zero(struct ir_context *c, MlirValue v) {
  double f;
  return value_const_float(c, v, &f) && f == 0;
}

static void rewrite(struct pass_context *p, MlirOperation dot, const struct split *s) {
  struct builder b = builder_before(p->c, dot);
  MlirValue x = mlirOperationGetOperand(dot, 0), y = mlirOperationGetOperand(dot, 1);
  MlirValue acc = mlirOperationGetOperand(dot, 2);
  MlirValue a[MAX_PIECES], c[MAX_PIECES];
  cut(&b, s, x, a);
  cut(&b, s, y, c);
  MlirValue zero = build_const_float(&b, mlirValueGetType(acc), 0), sum = zero;
  for (unsigned i = 0; i < s->product_count; i++) {
    if (i + 1 == s->product_count)
      sum = finite_or_zero(&b, sum, zero);
    sum = build_dot(&b, a[s->products[i].a], c[s->products[i].b], sum, "tf32", 0);
  }
  if (!is_zero(p->c, acc))
    sum = build_binary(&b, OP_ARITH_ADDF, acc, sum);
  pass_remark(p, dot, "dot", "%u products of %s for one in %s", s->product_count,
              s->is_bf16 ? "bfloat16" : "tf32", s->precision);
  value_replace(mlirOperationGetResult(dot, 0), sum);
  op_erase(dot);
}

static void keep_whole(struct pass_context *p, MlirOperation dot) {
  MlirStringRef name = mlirStringRefCreateFromCString("input_precision");
  mlirOperationSetAttributeByName(dot, name, attr_str(p->c, "ieee"));
}

struct walk {
  struct pass_context *p;
  bool changed;
};

static bool visit(MlirOperation op, void *user) {
  struct walk *w = user;
  if (!op_is(w->p->c, op, OP_TILE_DOT))
    return true;
  const struct split *s = split_of(op);
  MlirType a = mlirValueGetType(mlirOperationGetOperand(op, 0));
  if (!s || dtype_of_mlir(element_type(a)) != DTYPE_F32)
    return true;
  const struct encoding *acc =
      encoding_of_attr(w->p->c, tensor_encoding(mlirValueGetType(mlirOperationGetOperand(op, 2))));
  if (acc && acc->kind == ENC_MMA)
    rewrite(w->p, op, s);
  else
    keep_whole(w->p, op);
  w->changed = true;
  return true;
}

enum pass_result pass_f32_dot_split(struct pass_context *p) {
  struct walk w = {.p = p};
  ir_walk(mlirModuleGetOperation(p->module), visit, &w);
  return w.changed ? PASS_CHANGED : PASS_UNCHANGED;
}
