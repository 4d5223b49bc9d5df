// SPDX-License-Identifier: Apache-2.0
// Elementwise operations with error bounds: results of exact operands are exact
// unless the operation may be fused.
#include "kernel.h"

#include <math.h>
#include <string.h>

static struct cell wild(void) { return (struct cell){.wild = true}; }

struct cell cell_round(enum dtype t, double f, double err) {
  struct cell c = {.f = num_round(num_float(t, f)).f, .err = err};
  if (isnan(f) || isnan(err) || isinf(err))
    return err > 0 || isnan(err) ? wild() : c;
  if (err > 0) {
    c.err += num_ulp(t, fabs(f) + err);
    if (fabs(f) + c.err >= num_largest(t))
      return wild();
  }
  return c;
}

double cell_whole(enum dtype t) { return 1 / num_ulp(t, 1); }

// ---- conversions ----

static struct cell to_int(struct cell c, enum dtype to) {
  double low = trunc(c.f - c.err), high = trunc(c.f + c.err);
  double least = dtype_is_signed(to) ? -ldexp(1, (int)dtype_bits(to) - 1) : 0;
  double end = ldexp(1, (int)dtype_bits(to) - (int)dtype_is_signed(to));
  if (!isfinite(c.f) || low < high || low < least || high >= end)
    return wild();
  return cell_of(num_cast(num_float(DTYPE_F64, c.f), to));
}

struct cell cell_cast(struct cell c, enum dtype from, enum dtype to) {
  if (c.wild || from == to)
    return c;
  if (!dtype_is_float(from)) {
    struct cell r = cell_of(num_cast(cell_num(from, c), to));
    double v = num_double(cell_num(from, c));
    if (dtype_is_float(to) && dtype_bits(to) <= 16 && fabs(v) > 0x1p24) // rounded twice, perhaps
      return wild();
    return num_kind(to) == '8' && fabs(v) > num_largest(to) ? wild() : r;
  }
  if (to == DTYPE_I1) {
    bool near = c.err > 0 && fabs(c.f) <= c.err;
    return near ? wild() : (struct cell){.i = c.f != 0};
  }
  if (!dtype_is_float(to))
    return to_int(c, to);
  if (num_kind(to) == '8' && !(fabs(c.f) + c.err <= num_largest(to))) // the formats differ there
    return wild();
  if (num_kind(from) == '8' && !isfinite(c.f))
    return wild();
  struct cell r = cell_round(to, c.f, c.err);
  return r;
}

// ---- arithmetic ----

// A value that cannot be fused with an addition.
static struct cell normalized(struct cell c) {
  c.product = false;
  c.step = 0;
  return c;
}

static double slack(enum dtype t, struct cell c) {
  return c.err + (c.product ? num_ulp(t, c.f) : 0);
}

// The additional error if x becomes the accumulator of the matrix product `sum`.
static double folded(struct cell sum, struct cell x) {
  double magnitude = sum.magnitude + fabs(x.f);
  bool is_exact =
      sum.err <= 0 && x.err <= 0 && !x.product && x.f == rint(x.f) && magnitude <= sum.whole;
  return sum.step > 0 && !is_exact && isfinite(magnitude) ? magnitude * sum.step : 0;
}

static struct cell add(enum dtype t, struct cell a, struct cell b, double sign) {
  double r = a.f + sign * b.f;
  if (!isfinite(r))
    return a.err > 0 || b.err > 0 || ((a.product || b.product) && !isnan(r)) ||
                   (a.product && isinf(a.f)) || (b.product && isinf(b.f))
               ? wild()
               : cell_round(t, r, 0);
  return cell_round(t, r, slack(t, a) + slack(t, b) + folded(a, b) + folded(b, a));
}

static struct cell mul(enum dtype t, struct cell a, struct cell b) {
  double r = a.f * b.f;
  if (!isfinite(r) && (a.err > 0 || b.err > 0))
    return wild();
  struct cell c =
      cell_round(t, r, isfinite(r) ? fabs(a.f) * b.err + fabs(b.f) * a.err + a.err * b.err : 0);
  if (!isfinite(c.f) && isfinite(r)) // a fused one does not overflow
    return wild();
  c.product = !c.wild;
  return c;
}

static struct cell divide(enum dtype t, struct cell a, struct cell b) {
  double r = a.f / b.f, most = num_largest(t == DTYPE_F64 ? t : DTYPE_F32);
  if (!isfinite(a.f) || !isfinite(b.f) || fabs(b.f) <= 2 * b.err || fabs(b.f) < 4 / most ||
      fabs(b.f) > most / 8 || fabs(r) > most / 8 || (r != 0 && fabs(r) < 4 / most) ||
      (a.f != 0 && fabs(a.f) < 4 / most))
    return wild();
  double err = (a.err + fabs(r) * b.err) / (fabs(b.f) - b.err);
  if (t != DTYPE_F64)
    err += 2 * num_ulp(DTYPE_F32, r);
  return cell_round(t, r, err);
}

static struct cell int_binary(const char *op, enum dtype t, struct cell a, struct cell b) {
  uint64_t x = (uint64_t)a.i, y = (uint64_t)b.i, r = 0;
  bool is_signed = dtype_is_signed(t);
  switch (op[0]) {
  case '+': r = x + y; break;
  case '-': r = x - y; break;
  case '*': r = x * y; break;
  case '/':
  case '%':
    if (y == 0 || (is_signed && b.i == -1))
      return wild();
    if (op[0] == '/')
      r = is_signed ? (uint64_t)(a.i / b.i) : x / y;
    else
      r = is_signed ? (uint64_t)(a.i % b.i) : x % y;
    break;
  case '&': r = x & y; break;
  case '|': r = x | y; break;
  case '^': r = x ^ y; break;
  default:
    if (y >= dtype_bits(t))
      return wild();
    r = op[0] == '<' ? x << y : is_signed ? (uint64_t)(a.i >> y) : x >> y;
  }
  return cell_of(num_int(t, (int64_t)r));
}

static struct cell binary(const char *op, enum dtype t, struct cell a, struct cell b) {
  if (a.wild || b.wild)
    return wild();
  if (!dtype_is_float(t))
    return int_binary(op, t, a, b);
  switch (op[0]) {
  case '+': return add(t, a, b, 1);
  case '-': return add(t, a, b, -1);
  case '*': return mul(t, a, b);
  default: return divide(t, a, b);
  }
}

// ---- comparing and choosing ----

static int order(enum dtype t, struct cell a, struct cell b) {
  if (dtype_is_float(t))
    return (a.f > b.f) - (a.f < b.f);
  if (dtype_is_signed(t))
    return (a.i > b.i) - (a.i < b.i);
  return ((uint64_t)a.i > (uint64_t)b.i) - ((uint64_t)a.i < (uint64_t)b.i);
}

static struct cell compare(const char *op, enum dtype t, struct cell a, struct cell b) {
  if (a.wild || b.wild)
    return wild();
  double doubt = slack(t, a) + slack(t, b); // a product may stay unrounded here, too
  if (dtype_is_float(t) && a.err + b.err > 0 && !(fabs(a.f - b.f) > doubt))
    return wild();
  if (dtype_is_float(t) && (isnan(a.f) || isnan(b.f)))
    return (struct cell){.i = op[0] == '!'};
  int o = order(t, a, b);
  bool r = op[0] == '<'   ? (op[1] ? o <= 0 : o < 0)
           : op[0] == '>' ? (op[1] ? o >= 0 : o > 0)
           : op[0] == '=' ? o == 0
                          : o != 0;
  return (struct cell){.i = r};
}

static struct cell extreme(bool is_max, enum dtype t, struct cell a, struct cell b) {
  if (a.wild || b.wild)
    return wild();
  bool is_float = dtype_is_float(t);
  if (is_float && (isnan(a.f) || isnan(b.f))) {
    struct cell r = isnan(a.f) ? b : a;
    r = normalized(r);
    return r;
  }
  int o = order(t, a, b);
  struct cell r = (is_max ? o >= 0 : o <= 0) ? a : b;
  r.err = is_float ? fmax(a.err, b.err) : 0;
  r = normalized(r);
  return r;
}

// Combine functions and atomics: both sides of one type.
struct cell cell_combine(const char *word, enum dtype t, struct cell a, struct cell b) {
  if (strcmp(word, "max") == 0 || strcmp(word, "min") == 0)
    return extreme(word[1] == 'a', t, a, b);
  const char *op = strcmp(word, "add") == 0   ? "+"
                   : strcmp(word, "mul") == 0 ? "*"
                   : strcmp(word, "and") == 0 ? "&"
                   : strcmp(word, "or") == 0  ? "|"
                                              : "^";
  struct cell r = binary(op, t, a, b);
  // In any order: each step may round.
  bool is_whole = a.err <= 0 && b.err <= 0 && a.f == rint(a.f) && b.f == rint(b.f);
  if (dtype_is_float(t) && !r.wild && isfinite(r.f) &&
      !(is_whole && fabs(a.f) + fabs(b.f) <= cell_whole(t)))
    r.err += 2 * num_ulp(t, fabs(a.f) + fabs(b.f));
  return normalized(r);
}

// ---- functions ----

struct function {
  const char *name;
  double (*f)(double x);
  double low, high, ulps; // where it is asked for, and how exact it is
};

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double rsqrt(double x) { return 1 / sqrt(x); }

static const struct function functions[] = {
    {"tl.exp", exp, -60, 60, 4},         {"tl.exp2", exp2, -80, 80, 4},
    {"tl.log", log, 1e-20, 1e20, 4},     {"tl.sqrt", sqrt, 1e-20, 1e30, 4},
    {"tl.sigmoid", sigmoid, -60, 60, 8}, {"tl.math.tanh", tanh, -100, 100, 6},
    {"tl.rsqrt", rsqrt, 1e-20, 1e30, 4}, {"tl.erf", erf, -50, 50, 6}};

static struct cell call(const char *name, enum dtype t, struct cell c) {
  for (size_t i = 0; i < COUNT_OF(functions); i++)
    if (strcmp(functions[i].name, name) == 0) {
      const struct function *f = &functions[i];
      double low = c.f - c.err, high = c.f + c.err;
      if (!(low >= f->low && high <= f->high))
        return wild();
      double r = f->f(c.f), spread = fmax(fabs(f->f(low) - r), fabs(f->f(high) - r));
      return cell_round(t, r,
                        spread + f->ulps * num_ulp(t == DTYPE_F64 ? t : DTYPE_F32, r) + 1e-37);
    }
  return wild();
}

static struct cell unary(const char *op, enum dtype t, struct cell c) {
  if (c.wild)
    return c;
  bool is_float = dtype_is_float(t);
  if (strcmp(op, "-") == 0) {
    if (!is_float)
      return cell_of(num_int(t, (int64_t)(0 - (uint64_t)c.i)));
    c.f = -c.f;
    return c;
  }
  if (strcmp(op, "~") == 0)
    return cell_of(num_int(t, ~c.i));
  if (strcmp(op, "tl.abs") == 0) {
    if (!is_float)
      return dtype_is_signed(t) && c.i < 0 ? cell_of(num_int(t, (int64_t)(0 - (uint64_t)c.i))) : c;
    c.f = fabs(c.f);
    return c;
  }
  if (strcmp(op, "tl.floor") == 0 || strcmp(op, "tl.ceil") == 0) {
    double (*f)(double) = op[3] == 'f' ? floor : ceil;
    if (c.err > 0 && f(c.f - c.err) != f(c.f + c.err))
      return wild();
    return (struct cell){.f = f(c.f)};
  }
  return call(op, t, c);
}

// ---- statements ----

static struct cell bits(enum dtype from, enum dtype to, struct cell c) {
  char bytes[8] = {0};
  if (c.wild || c.err > 0 || c.product || (dtype_is_float(from) && isnan(c.f)))
    return wild();
  num_store(bytes, cell_num(from, c));
  return cell_of(num_load(to, bytes));
}

static void index_of(struct kernel *k, const struct statement *s) {
  struct var *to = &k->vars[s->dst[0]];
  size_t n = shape_count(to->shape);
  int64_t start = s->src_count ? k->vars[s->src[0]].cells[0].i * (int64_t)n : 0;
  for (size_t i = 0; i < n; i++)
    to->cells[i] = (struct cell){.i = start + (int64_t)(s->number[0] ? (i * 5 + 3) % n : i)};
}

static struct cell one(struct kernel *k, const struct statement *s, size_t i) {
  const struct var *v = k->vars, *a = &v[s->src[0]];
  enum dtype to = v[s->dst[0]].type;
  struct cell x = a->cells[i];
  switch (s->op) {
  case OP_BINARY: { // the right side may be a scalar
    const struct var *b = &v[s->src[1]];
    return binary(s->word, to, cell_cast(x, a->type, to),
                  cell_cast(b->cells[b->shape.rank ? i : 0], b->type, to));
  }
  case OP_LITERAL:
    return binary(s->word, to, cell_cast(x, a->type, to), cell_of(num_number(to, s->number[0])));
  case OP_COMPARE: return compare(s->word, a->type, x, v[s->src[1]].cells[i]);
  case OP_EXTREME:
    return extreme(strstr(s->word, "max") != NULL, a->type, x, v[s->src[1]].cells[i]);
  case OP_WHERE: {
    struct cell r = x.wild ? wild() : x.i ? v[s->src[1]].cells[i] : v[s->src[2]].cells[i];
    return r;
  }
  case OP_UNARY: return unary(s->word, to, x);
  case OP_CAST: {
    struct cell r = cell_cast(x, a->type, to);
    if (a->type == to)
      return r;
    r = normalized(r);
    return r;
  }
  case OP_BITCAST: return bits(a->type, to, x);
  default: return x; // OP_COPY
  }
}

void eval_elementwise(struct kernel *k, const struct statement *s) {
  struct var *to = &k->vars[s->dst[0]];
  size_t n = shape_count(to->shape);
  if (s->op == OP_INDEX) {
    index_of(k, s);
    return;
  }
  for (size_t i = 0; i < n; i++)
    to->cells[i] =
        s->op == OP_FULL ? cell_of(num_number(to->type, s->number[0] / 4.0)) : one(k, s, i);
}
