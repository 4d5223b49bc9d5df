// SPDX-License-Identifier: Apache-2.0
// Prints operations on elements: by the text of graph/ir/scalars.def, or by a call of a helper
// function where no operation of the language is correct for NaN, infinities and negative integers.
// Recursion is the algorithm: a value is loaded at an offset, and an offset may be computed from
// values.
#include "graph/emit/graph_emit.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

const char *emit_type(enum dtype t) {
  static const char *const names[] = {
#define X(id, name, language_name, bits, kind) [id] = "tl." language_name,
      DTYPES(X)
#undef X
  };
  return names[t];
}

// ---- literals ----

const char *emit_number(struct emitter *e, enum dtype t, union element value) {
  if (t == DTYPE_I1)
    return value.integer ? "True" : "False";
  if (!dtype_is_float(t)) {
    if (t == DTYPE_U64)
      return arena_printf(e->arena, "%" PRIu64, (uint64_t)value.integer);
    // The smallest integer has no literal.
    return value.integer == INT64_MIN ? "(-9223372036854775807 - 1)"
                                      : arena_printf(e->arena, "%" PRId64, value.integer);
  }
  double v = value.real;
  if (isnan(v))
    return "float(\"nan\")";
  if (isinf(v) || (t != DTYPE_F64 && fabs(v) > (double)FLT_MAX))
    return v > 0 ? "float(\"inf\")" : "float(\"-inf\")";
  if (v == rint(v) && fabs(v) < 1e15)
    return arena_printf(e->arena, "%.1f", v);
  for (int digits = 6; digits < 17; digits++) {
    const char *s = arena_printf(e->arena, "%.*g", digits, v);
    double back = strtod(s, NULL);
    if (t == DTYPE_F64 ? back == v : (double)(float)back == (double)(float)v)
      return s;
  }
  return arena_printf(e->arena, "%.17g", v);
}

struct text emit_literal(struct emitter *e, const struct scalar *v) {
  const char *s = emit_number(e, v->dtype, v->constant);
  return (struct text){s, s[0] == '-' ? PREC_UNARY : PREC_ATOM, false, true, false};
}

// ---- helper functions ----
// Their names differ from those of operators, which kernels are named after.

static const char floor_div_int[] =
    "@jit\n"
    "def floor_div_int(a, b):\n"
    "    zero = b == 0\n"
    "    b = tl.where(b == 0, 1, b)\n"
    "    r = a % b\n"
    "    q = a // b - ((r != 0) & ((r < 0) != (b < 0))).to(r.dtype)\n"
    "    return tl.where(zero, 0, q)";
static const char remainder_int[] =
    "@jit\n"
    "def floor_mod_int(a, b):\n"
    "    b = tl.where(b == 0, 1, b)\n"
    "    r = a % b\n"
    "    return tl.where((r != 0) & ((r < 0) != (b < 0)), r + b, r)";
static const char remainder_float[] =
    "@jit\n"
    "def floor_mod(a, b):\n"
    "    r = tl.fmod(a, b)\n"
    "    return tl.where((r != 0) & ((r < 0) != (b < 0)), r + b, r)";
static const char floor_div_float[] =
    "@jit\n"
    "def floor_div(a, b):\n"
    "    r = tl.fmod(a, b)\n"
    "    q = (a - r) / b\n"
    "    q = tl.where((r != 0) & ((r < 0) != (b < 0)), q - 1, q)\n"
    "    whole = tl.floor(q)\n"
    "    whole = tl.where(q - whole > 0.5, whole + 1, whole)\n"
    "    whole = tl.where(q == 0, 0 * (a / b), whole)\n"
    "    return tl.where(b == 0, a / b, whole)";
static const char trunc_div_int[] = "@jit\n"
                                    "def trunc_div_int(a, b):\n"
                                    "    return tl.where(b == 0, 0, a // tl.where(b == 0, 1, b))";
static const char fmod_int[] = "@jit\n"
                               "def trunc_mod_int(a, b):\n"
                               "    return a % tl.where(b == 0, 1, b)";
static const char power_int[] =
    "@jit\n"
    "def power_int(a, n):\n"
    "    left = n\n"
    "    result = tl.where(n == n, 1, a)\n"
    "    base = a + 0 * n\n"
    "    for i in tl.static_range(6):\n"
    "        result = tl.where((left & 1) != 0, result * base, result)\n"
    "        base = base * base\n"
    "        left = left >> 1\n"
    "    odd = 1 - 2 * (n & 1)\n"
    "    below = tl.where(a == 1, 1, tl.where(a == -1, odd, 0))\n"
    "    return tl.where(n < 0, below, result)";
static const char power_unsigned[] =
    "@jit\n"
    "def power_unsigned(a, n):\n"
    "    left = n\n"
    "    result = tl.where(n == n, 1, a)\n"
    "    base = a + 0 * n\n"
    "    for i in tl.static_range(6):\n"
    "        result = tl.where((left & 1) != 0, result * base, result)\n"
    "        base = base * base\n"
    "        left = left >> 1\n"
    "    return result";
static const char sign_text[] = "@jit\n"
                                "def sign_of(a):\n"
                                "    return tl.where(a > 0, 1.0, tl.where(a < 0, -1.0, 0.0))";
static const char sign_int[] = "@jit\n"
                               "def sign_int(a):\n"
                               "    return (a > 0).to(a.dtype) - (a < 0).to(a.dtype)";

// A shift by at least the width, or by a negative count, shifts out all bits.
#define SHIFTS(bits, last)                                                                         \
  "@jit\n"                                                                                         \
  "def shift_left_" #bits "(a, by):\n"                                                             \
  "    inside = (by >= 0) & (by < " #bits ")\n"                                                    \
  "    return tl.where(inside, a << tl.where(inside, by, 0), 0)\n"                                 \
  "\n"                                                                                             \
  "@jit\n"                                                                                         \
  "def shift_right_" #bits "(a, by):\n"                                                            \
  "    inside = (by >= 0) & (by < " #bits ")\n"                                                    \
  "    half = tl.where(inside, a, a >> " #last ")\n"                                               \
  "    return tl.where(inside, half >> tl.where(inside, by, 0), half >> 1)"
static const char shifts_8[] = SHIFTS(8, 7), shifts_16[] = SHIFTS(16, 15),
                  shifts_32[] = SHIFTS(32, 31), shifts_64[] = SHIFTS(64, 63);

struct spelling {
  enum scalar_op op;
  const char *of_floats, *of_ints; // templates
  const char *float_helper, *int_helper;
};

static const struct spelling spellings[] = {
    {SCALAR_FLOOR_DIV, "floor_div($0, $1)", "floor_div_int($0, $1)", floor_div_float,
     floor_div_int},
    {SCALAR_TRUNC_DIV, "tl.trunc($0 / $1)", "trunc_div_int($0, $1)", NULL, trunc_div_int},
    {SCALAR_REMAINDER, "floor_mod($0, $1)", "floor_mod_int($0, $1)", remainder_float,
     remainder_int},
    {SCALAR_FMOD, "tl.fmod($0, $1)", "trunc_mod_int($0, $1)", NULL, fmod_int},
    {SCALAR_POW, "tl.pow($0, $1)", "power_int($0, $1)", NULL, power_int},
    {SCALAR_ATAN2, "tl.atan2($0, $1)", NULL, NULL, NULL},
    {SCALAR_SIGN, "sign_of($0)", "sign_int($0)", sign_text, sign_int},
    {SCALAR_EXPM1, "tl.expm1($0)", NULL, NULL, NULL},
    {SCALAR_LOG1P, "tl.log1p($0)", NULL, NULL, NULL},
    {SCALAR_TAN, "tl.tan($0)", NULL, NULL, NULL},
    {SCALAR_ASIN, "tl.asin($0)", NULL, NULL, NULL},
    {SCALAR_ACOS, "tl.acos($0)", NULL, NULL, NULL},
    {SCALAR_ATAN, "tl.atan($0)", NULL, NULL, NULL},
    {SCALAR_SINH, "tl.sinh($0)", NULL, NULL, NULL},
    {SCALAR_COSH, "tl.cosh($0)", NULL, NULL, NULL},
    {SCALAR_TANH, "tl.tanh($0)", NULL, NULL, NULL},
    {SCALAR_TRUNC, "tl.trunc($0)", "$0", NULL, NULL},
    {SCALAR_ROUND, "tl.rint($0)", "$0", NULL, NULL},
    {SCALAR_FLOOR, "tl.floor($0)", "$0", NULL, NULL},
    {SCALAR_CEIL, "tl.ceil($0)", "$0", NULL, NULL},
    {SCALAR_ISINF, "tl.abs($0) == float(\"inf\")", "$0 != $0", NULL, NULL},
    {SCALAR_MAXIMUM, NULL, "tl.maximum($0, $1)", NULL, NULL},
    {SCALAR_MINIMUM, NULL, "tl.minimum($0, $1)", NULL, NULL},
};

static const struct spelling *spelling_of(enum scalar_op op) {
  for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++)
    if (spellings[i].op == op)
      return &spellings[i];
  return NULL;
}

// ---- operators ----

static enum precedence precedence_of(enum scalar_op op) {
  switch (op) {
  case SCALAR_ADD:
  case SCALAR_SUB: return PREC_SUM;
  case SCALAR_MUL:
  case SCALAR_DIV:
  case SCALAR_RECIPROCAL: return PREC_TERM;
  case SCALAR_NEG:
  case SCALAR_BIT_NOT:
  case SCALAR_NOT: return PREC_UNARY;
  case SCALAR_AND:
  case SCALAR_BIT_AND: return PREC_AND;
  case SCALAR_XOR:
  case SCALAR_BIT_XOR: return PREC_XOR;
  case SCALAR_OR:
  case SCALAR_BIT_OR: return PREC_OR;
  case SCALAR_ISNAN:
  case SCALAR_ISINF:
  case SCALAR_EQ:
  case SCALAR_NE:
  case SCALAR_LT:
  case SCALAR_LE:
  case SCALAR_GT:
  case SCALAR_GE: return PREC_COMPARE;
  default: return PREC_ATOM;
  }
}

static bool is_comparison(enum scalar_op op) { return op >= SCALAR_EQ && op <= SCALAR_GE; }

static const char *fill(struct emitter *e, const char *template, const char *const *operands) {
  struct strbuf out = {.arena = e->arena};
  for (const char *c = template; *c; c++) {
    if (*c == '$')
      strbuf_puts(&out, operands[*++c - '0']);
    else
      strbuf_putc(&out, *c);
  }
  const char *kept = arena_strdup(e->arena, strbuf_cstr(&out));
  strbuf_finish(&out);
  return kept;
}

// An operand as a bool.
static const char *truth(struct emitter *e, const struct scalar *v, enum precedence at_most) {
  if (v->dtype == DTYPE_I1)
    return emit_operand(e, v, at_most);
  return arena_printf(e->arena, "(%s != 0)", emit_operand(e, v, PREC_SUM));
}

static struct text logical(struct emitter *e, const struct scalar *v) {
  enum precedence prec = precedence_of(v->op);
  if (v->op == SCALAR_NOT) {
    if (v->in[0]->dtype == DTYPE_I1)
      return (struct text){arena_printf(e->arena, "~%s", emit_operand(e, v->in[0], PREC_ATOM)),
                           PREC_UNARY, false, false, false};
    return (struct text){arena_printf(e->arena, "%s == 0", emit_operand(e, v->in[0], PREC_SUM)),
                         PREC_COMPARE, false, false, false};
  }
  char sign = v->op == SCALAR_AND ? '&' : v->op == SCALAR_OR ? '|' : '^';
  const char *a = truth(e, v->in[0], prec), *b = truth(e, v->in[1], (enum precedence)(prec - 1));
  return (struct text){arena_printf(e->arena, "%s %c %s", a, sign, b), prec, false, false, false};
}

static bool fits_i32(const struct scalar *v) {
  return v->kind == SCALAR_CONST && v->constant.integer >= INT32_MIN &&
         v->constant.integer <= INT32_MAX;
}

// The operands in the dtype of the operation.
static void operand_texts(struct emitter *e, const struct scalar *v, struct text *ret) {
  unsigned n = scalar_arity(v);
  bool narrow = is_comparison(v->op), numbers = true;
  for (unsigned i = 0; i < n; i++) {
    ret[i] = emit_value(e, v->in[i]);
    narrow = narrow && (ret[i].is_narrow || fits_i32(v->in[i]));
    if (i || v->op != SCALAR_WHERE)
      numbers = numbers && ret[i].is_number && v->in[i]->kind == SCALAR_CONST;
  }
  bool wants_float = scalar_row(v->op)->type == 'F' && n == 1;
  for (unsigned i = 0; i < n; i++) {
    enum dtype t = v->in[i]->dtype;
    bool first = v->op == SCALAR_WHERE ? i == 1 : i == 0;
    if (numbers && first)
      ret[i] = text_atom(arena_printf(e->arena, "tl.full([], %s, %s)", ret[i].s, emit_type(t)));
    else if (ret[i].is_narrow && !narrow && dtype_bits(t) > 32)
      ret[i] =
          text_atom(arena_printf(e->arena, "%s.to(tl.int64)", text_within(e, ret[i], PREC_ATOM)));
    else if (wants_float && !dtype_is_float(t) && !ret[i].is_number)
      ret[i] =
          text_atom(arena_printf(e->arena, "%s.to(tl.float32)", text_within(e, ret[i], PREC_ATOM)));
    if (dtype_is_float(t) || !ret[i].is_number || numbers)
      continue;
    if (scalar_row(v->op)->type == 'F') // of integers
      ret[i] = text_atom(arena_printf(e->arena, "%s.0", ret[i].s));
  }
}

static struct text infix(struct emitter *e, const struct scalar *v, const char *template) {
  enum precedence prec = precedence_of(v->op);
  struct text of[3];
  operand_texts(e, v, of);
  if (v->op == SCALAR_ISNAN || strstr(template, "$0 != $0"))
    of[0] = text_atom(emit_name(e, v->in[0]));
  const char *in[3] = {NULL, NULL, NULL};
  for (unsigned i = 0; i < scalar_arity(v); i++) {
    enum precedence most = prec == PREC_ATOM      ? PREC_COMPARE
                           : prec == PREC_COMPARE ? PREC_OR
                           : i == 0               ? prec
                                                  : (enum precedence)(prec - 1);
    if (prec == PREC_UNARY || v->op == SCALAR_RECIPROCAL)
      most = PREC_ATOM;
    in[i] = text_within(e, of[i], most);
  }
  if (prec == PREC_ATOM && strcmp(template, "$0") == 0)
    return of[0];
  return (struct text){fill(e, template, in), prec, false, false, false};
}

// x * x for pow(x, 2), and other small powers.
static bool small_power(struct emitter *e, const struct scalar *v, struct text *ret) {
  const struct scalar *n = v->in[1];
  if (v->op != SCALAR_POW || n->kind != SCALAR_CONST)
    return false;
  double by = dtype_is_float(n->dtype) ? n->constant.real : (double)n->constant.integer;
  if (by != 2 && by != 3)
    return false;
  const char *x = emit_name(e, v->in[0]);
  *ret = (struct text){by == 2 ? arena_printf(e->arena, "%s * %s", x, x)
                               : arena_printf(e->arena, "%s * %s * %s", x, x, x),
                       PREC_TERM, false, false, false};
  return true;
}

// A shift by a count that may be out of range.
static const char *unsafe_shift(struct emitter *e, const struct scalar *v) {
  const struct scalar *by = v->in[1];
  unsigned bits = dtype_bits(v->dtype);
  if (v->op != SCALAR_SHIFT_LEFT && v->op != SCALAR_SHIFT_RIGHT)
    return NULL;
  if (by->kind == SCALAR_CONST && (uint64_t)by->constant.integer < bits)
    return NULL;
  emit_helper(e, bits == 8    ? shifts_8
                 : bits == 16 ? shifts_16
                 : bits == 32 ? shifts_32
                              : shifts_64);
  return arena_printf(e->arena, "shift_%s_%u($0, $1)",
                      v->op == SCALAR_SHIFT_LEFT ? "left" : "right", bits);
}

struct text emit_apply(struct emitter *e, const struct scalar *v) {
  struct text t;
  if (small_power(e, v, &t))
    return t;
  const char *shift = unsafe_shift(e, v);
  if (shift)
    return infix(e, v, shift);
  if (v->op == SCALAR_NOT || v->op == SCALAR_AND || v->op == SCALAR_OR || v->op == SCALAR_XOR)
    return logical(e, v);
  const struct spelling *s = spelling_of(v->op);
  bool floats = dtype_is_float(v->in[scalar_arity(v) - 1]->dtype) || !s || !s->of_ints;
  const char *template = s ? floats ? s->of_floats : s->of_ints : NULL;
  const char *helper = s ? floats ? s->float_helper : s->int_helper : NULL;
  if (v->op == SCALAR_POW && !floats && !dtype_is_signed(v->dtype)) {
    template = "power_unsigned($0, $1)";
    helper = power_unsigned;
  }
  if (helper)
    emit_helper(e, helper);
  return infix(e, v, template ? template : scalar_row(v->op)->text);
}
