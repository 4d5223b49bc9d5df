// SPDX-License-Identifier: Apache-2.0
// Interprets a graph with simulated rounding noise, and compares results within the observed
// spread.
#include "graph/reference/bounds.h"

#include "base/memory.h"
#include "graph/reference/noise.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { MARGIN = 16, UNITS = 4 }; // times the spread; units in the last place of the output

// ---- runs ----

static void destroy_all(struct tensor **list, size_t count) {
  for (size_t i = 0; list && i < count; i++)
    tensor_destroy(list[i]);
  free(list);
}

// Copies of the inputs with the noise of computed values, so that cancellation becomes visible.
// Half-precision inputs are exact; they are loaded as they are and computed with in f32.
static struct tensor **noisy_inputs(const struct graph *g, const struct noise *noise,
                                    struct tensor *const *inputs) {
  struct tensor **ret = memory_zeroed(g->inputs.len + 1, sizeof(struct tensor *));
  for (size_t i = 0; ret && i < g->inputs.len; i++) {
    const struct tensor *t = inputs[i];
    ret[i] = tensor_create(t->dtype, t->rank, t->shape);
    if (!ret[i]) {
      destroy_all(ret, i);
      return NULL;
    }
    memcpy(ret[i]->at, t->at, (size_t)t->numel * sizeof *t->at);
    if (dtype_is_float(t->dtype))
      noise_add_equal(noise, ret[i],
                      noise_of(t->dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32, false));
  }
  return ret;
}

static bool run_with_noise(struct bounds *b, unsigned k, const struct interpret_options *plain,
                           const bool *is_coarse, const int64_t *symbols,
                           struct tensor *const *inputs) {
  const struct noise noise = {.seed = k / 2 + 1,
                              .sign = k % 2 ? -1 : 1,
                              .is_coarse = is_coarse,
                              .limits_half_precision = k % 2 == 0};
  struct interpret_options options = *plain;
  options.noise = &noise;
  struct tensor **in = noisy_inputs(b->graph, &noise, inputs);
  if (!in)
    diag_error(b->graph->diag, SPAN_NONE, E0991, "out of memory for the reference");
  bool ok = in && graph_interpret(b->graph, &options, symbols, in, b->noisy[k]);
  destroy_all(in, b->graph->inputs.len);
  return ok;
}

struct bounds *bounds_create(const struct graph *g, uint64_t seed, const int64_t *symbols,
                             struct tensor *const *inputs) {
  const struct interpret_options plain = {.seed = seed, .limits_range = true};
  const bool *is_coarse =
      noise_find_coarse(g, g->arena); // before the arena guard, since it may jump
  struct bounds *b = memory_zeroed(1, sizeof *b);
  if (b) {
    *b = (struct bounds){.graph = g, .count = g->outputs.len + g->mutations.len};
    b->want = memory_zeroed(b->count + 1, sizeof(struct tensor *));
  }
  bool ok = b && b->want;
  for (unsigned k = 0; ok && k < BOUND_RUNS; k++)
    ok = (b->noisy[k] = memory_zeroed(b->count + 1, sizeof(struct tensor *))) != NULL;
  if (!ok) {
    diag_error(g->diag, SPAN_NONE, E0991, "out of memory for the reference");
    bounds_destroy(b);
    return NULL;
  }
  ok = graph_interpret(g, &plain, symbols, inputs, b->want);
  for (unsigned k = 0; ok && k < BOUND_RUNS; k++)
    ok = run_with_noise(b, k, &plain, is_coarse, symbols, inputs);
  if (ok)
    return b;
  bounds_destroy(b);
  return NULL;
}

void bounds_destroy(struct bounds *b) {
  if (!b)
    return;
  destroy_all(b->want, b->count);
  for (unsigned k = 0; k < BOUND_RUNS; k++)
    destroy_all(b->noisy[k], b->count);
  free(b);
}

// ---- one element ----

static double number(const struct tensor *t, int64_t i) {
  return dtype_is_float(t->dtype) ? t->at[i].real : (double)t->at[i].integer;
}

// Rounded to the dtype.
static double stored(const struct tensor *t, int64_t i) {
  return dtype_is_float(t->dtype) ? element_round(t->at[i], t->dtype).real : number(t, i);
}

// A unit in the last place of v in the dtype; kernels may flush f32 denormals to zero.
static double unit_at(enum dtype t, double v) {
  static const struct {
    enum dtype dtype;
    int digits, least; // exponents of the unit of 1 and of the smallest unit
  } formats[] = {{DTYPE_F64, -52, -1022}, {DTYPE_F32, -23, -126}, {DTYPE_F16, -10, -24},
                 {DTYPE_BF16, -7, -126},  {DTYPE_F8E4NV, -3, -9}, {DTYPE_F8E5, -2, -16}};
  int exponent;
  frexp(v, &exponent);
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
    if (formats[i].dtype == t)
      return fmax(ldexp(1, exponent - 1 + formats[i].digits), ldexp(1, formats[i].least));
  return 0;
}

// Floats that are compared directly, without a distance.
static bool same_kind(double a, double b) {
  return (isnan(a) && isnan(b)) || (isinf(a) && isinf(b) && (a > 0) == (b > 0));
}

// The interpreter's result, or if it is not finite, a finite one with noise.
static double finite_want(const struct bounds *b, size_t output, int64_t i) {
  double want = stored(b->want[output], i);
  for (unsigned k = 0; !isfinite(want) && k < BOUND_RUNS; k++)
    want = stored(b->noisy[k][output], i);
  return want;
}

static double spread_of(const struct bounds *b, size_t output, int64_t i, double want) {
  double spread = 0;
  for (unsigned k = 0; k < BOUND_RUNS; k++) {
    double other = number(b->noisy[k][output], i);
    if (isfinite(other))
      spread = fmax(spread, fabs(other - want));
  }
  return spread;
}

// ---- spreads by magnitude ----

// A few runs may by chance hardly move an element, so its spread is at least the mean of its class
// of magnitude. Where a class has few elements, neighbouring classes count too, up to a factor of
// 64: an element smaller than that is not affected by the rounding of large ones, unless it
// cancels, which its own spread shows.
enum { LEAST_EXPONENT = -1100, EXPONENTS = 2200, FEW = 16, WINDOW = 6 };

struct spreads {
  double sum[EXPONENTS], usual[EXPONENTS];
  int64_t count[EXPONENTS];
};

// Zeros, which are often exact, are the lowest class.
static int size_class(double v) {
  int exponent = LEAST_EXPONENT;
  if (v != 0)
    frexp(v, &exponent);
  return exponent - LEAST_EXPONENT;
}

// The mean of a class, or of a window around it with enough elements.
static double usual_spread(const struct spreads *s, int class) {
  double sum = s->sum[class];
  int64_t count = s->count[class];
  for (int away = 1; class > 0 && count > 0 && count < FEW && away <= WINDOW; away++)
    for (int side = -1; side <= 1; side += 2) {
      int other = class + side * away;
      if (other <= 0 || other >= EXPONENTS)
        continue;
      sum += s->sum[other];
      count += s->count[other];
    }
  return count ? sum / (double)count : 0;
}

static struct spreads *find_spreads(const struct bounds *b, size_t output) {
  struct spreads *s = memory_zeroed(1, sizeof *s);
  const struct tensor *t = b->want[output];
  for (int64_t i = 0; s && dtype_is_float(t->dtype) && i < t->numel; i++) {
    double want = finite_want(b, output, i);
    if (!isfinite(want))
      continue;
    s->sum[size_class(want)] += spread_of(b, output, i, want);
    s->count[size_class(want)]++;
  }
  for (int class = 0; s && class < EXPONENTS; class ++)
    s->usual[class] = usual_spread(s, class);
  return s;
}

// The allowed distance of `got` from `want`.
static double bound_of(const struct bounds *b, const struct spreads *s, size_t output, int64_t i,
                       double want) {
  enum dtype t = b->want[output]->dtype;
  double spread = spread_of(b, output, i, want);
  if (!dtype_is_float(t))
    return MARGIN * spread;
  return MARGIN * (spread + s->usual[size_class(want)]) + UNITS * unit_at(t, want);
}

// NaN or infinity is correct if the interpreter has it, or may get it by rounding.
static bool may_be(const struct bounds *b, size_t output, int64_t i, double got) {
  bool found = same_kind(got, stored(b->want[output], i));
  for (unsigned k = 0; !found && k < BOUND_RUNS; k++)
    found = same_kind(got, stored(b->noisy[k][output], i));
  return found;
}

// ---- a tensor ----

static double largest_of(const struct tensor *t) {
  double size = 0;
  for (int64_t i = 0; i < t->numel; i++)
    if (isfinite(number(t, i)))
      size = fmax(size, fabs(number(t, i)));
  return size;
}

// The ratio of the element's error to its bound, and the bound.
static double excess(const struct bounds *b, const struct spreads *s, size_t output, int64_t i,
                     double got, const struct bound_options *o, struct bound_verdict *v) {
  double want = finite_want(b, output, i), bound;
  v->got = got;
  v->want = isfinite(got) ? want : stored(b->want[output], i);
  v->bound = 0;
  if (!isfinite(got))
    return may_be(b, output, i, got) ? 0 : (double)INFINITY;
  if (!isfinite(want))
    return (double)INFINITY;
  bound = fmax(bound_of(b, s, output, i, want), o->absolute);
  if (o->largest >= 0)
    bound = fmax(bound, o->largest * v->size);
  v->bound = bound;
  double away = fabs(got - want);
  return away <= bound ? 0 : bound > 0 ? away / bound : (double)INFINITY;
}

static double distance(double got, double want) {
  if (same_kind(got, want))
    return 0;
  return isfinite(got) && isfinite(want) ? fabs(got - want) : (double)INFINITY;
}

struct bound_verdict bounds_judge(const struct bounds *b, size_t output, const struct tensor *got,
                                  const struct bound_options *o) {
  const struct tensor *want = b->want[output];
  struct bound_verdict v = {.first = -1, .size = largest_of(want)}, of = v;
  double worst = 0;
  struct spreads *s = find_spreads(b, output);
  v.wrong = s == NULL; // out of memory
  for (int64_t i = 0; s && i < want->numel; i++) {
    double away = distance(number(got, i), stored(want, i));
    if (away > o->absolute)
      v.part = fmax(v.part, v.size > 0 ? away / v.size : away);
    double times = excess(b, s, output, i, number(got, i), o, &of);
    v.wrong += times > 0;
    if (times > worst) {
      worst = times;
      v.first = i;
      v.got = of.got, v.want = of.want, v.bound = of.bound;
    }
  }
  free(s);
  return v;
}
