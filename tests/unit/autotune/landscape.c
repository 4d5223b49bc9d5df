// SPDX-License-Identifier: Apache-2.0
// The formulas approximate a GPU with 132 multiprocessors; only their shape matters.
#include "landscape.h"

#include <math.h>

static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static double uniform(uint64_t x) { return ((double)(mix(x) >> 11) + 0.5) * 0x1p-53; }

static double normal(uint64_t x) {
  return sqrt(-2 * log(uniform(x * 2))) * cos(6.283185307179586 * uniform(x * 2 + 1));
}

static void add_dim(struct arena *a, struct tune_space *s, const char *name,
                    enum tune_dim_kind kind, const int *values, size_t n) {
  struct tune_dim *d = &s->dims[s->dim_count++];
  *d = (struct tune_dim){kind, name, arena_array(a, const char *, n), n};
  for (size_t i = 0; i < n; i++)
    d->values[i] = arena_printf(a, "%d", values[i]);
}

// All combinations; the middle of every dimension comes first.
static void multiply(struct arena *a, struct tune_space *s) {
  size_t n = 1;
  for (size_t d = 0; d < s->dim_count; d++)
    n *= s->dims[d].count;
  s->configs = arena_array(a, struct tune_config, n);
  s->origin = "made up";
  struct tune_config *middle = &s->configs[0];
  for (size_t d = 0; d < s->dim_count; d++)
    middle->at[d] = (uint16_t)((s->dims[d].count - 1) / 2);
  s->count = 1;
  for (size_t i = 0; i < n; i++) {
    struct tune_config c = {0};
    for (size_t d = 0, rest = i; d < s->dim_count; d++) {
      c.at[d] = (uint16_t)(rest % s->dims[d].count);
      rest /= s->dims[d].count;
    }
    if (memcmp(&c, middle, sizeof c) != 0)
      s->configs[s->count++] = c;
  }
}

static double value(const struct tune_space *s, size_t config, size_t dim) {
  int64_t v = 0;
  str_to_i64(str_from(s->dims[dim].values[s->configs[config].at[dim]]), &v);
  return (double)v;
}

// A product of 4096 cubed: its time, and the prediction of a simple model.
static double product(const struct tune_space *s, size_t i, bool is_model) {
  double m = value(s, i, 0), n = value(s, i, 1), k = value(s, i, 2), warps = value(s, i, 3),
         stages = value(s, i, 4);
  double shared = (m + n) * k * 2 * stages, registers = m * n / (warps * 32) + 40;
  if (shared > 232448)
    return -1;
  double programs = 4096 * 4096 / (m * n);
  double resident = fmax(1, floor(fmin(232448 / shared, 65536 / (registers * warps * 32))));
  double waves = programs / (132 * fmin(resident, 4));
  double reuse = m * n / (m + n), fill = 1 - exp(-reuse / 48);
  double latency = 1 + 0.5 * exp(-(stages - 1) * k / 48) + 6 / k;
  double t = 0.16 * latency / fill;
  if (is_model)
    return t * fmax(1, ceil(waves) / waves);
  double balance = fabs(log2(m * n / (warps * 2048)));
  double spills = registers > 255 ? 2.5 : 1;
  return t * (ceil(waves) / fmax(waves, 0.05)) * (1 + 0.12 * balance) * spills;
}

static double elements(const struct tune_space *s, size_t i, bool is_model) {
  double block = value(s, i, 0), warps = value(s, i, 1), unroll = value(s, i, 2);
  double each = block / (warps * 32);
  double t = 0.4 + 0.1 * exp(-each / 4) + 0.002 * 65536 / (block * unroll) / 8;
  return is_model ? t : t * (1 + 0.05 * fabs(log2(fmax(each, 0.25) / 8))) + 0.01 * unroll;
}

static double attention(const struct tune_space *s, size_t i, bool is_model) {
  double m = value(s, i, 0), n = value(s, i, 1), warps = value(s, i, 2), stages = value(s, i, 3);
  if ((m + n * 2 * stages) * 128 * 2 > 232448)
    return -1;
  double rows = m / warps, t = 1.2 * (1 + 16 / m) * (1 + 8 / n) * (1 + 0.3 / stages);
  if (is_model)
    return t;
  return t * (1 + 0.35 * fabs(log2(rows / 16))) * (1 + (m * n > 16384 ? 0.8 : 0));
}

static double time_of(const struct landscape *l, size_t i, bool is_model) {
  double t = 0;
  switch (l->kind) {
  case LANDSCAPE_PRODUCT: t = product(&l->space, i, is_model); break;
  case LANDSCAPE_ELEMENTS: t = elements(&l->space, i, is_model); break;
  case LANDSCAPE_ATTENTION: t = attention(&l->space, i, is_model); break;
  case LANDSCAPE_MISLED:
    t = product(&l->space, i, false);
    return t < 0 ? t : is_model ? 0.3 * (1 + 0.1 * l->space.configs[i].at[2]) : t;
  case LANDSCAPE_HUGE:
    t = product(&l->space, i, is_model);
    if (t > 0 && !is_model)
      t *=
          1 + 0.02 * fabs((double)l->space.configs[i].at[5] - 3) + 0.03 * l->space.configs[i].at[6];
    break;
  }
  return t;
}

void landscape_make(struct arena *a, enum landscape_kind kind, uint64_t seed, double noise,
                    struct landscape *ret) {
  static const int tiles[] = {32, 64, 128, 256}, ks[] = {16, 32, 64, 128}, warps[] = {2, 4, 8, 16},
                   stages[] = {1, 2, 3, 4, 5}, blocks[] = {128, 256, 512, 1024, 2048, 4096, 8192},
                   unrolls[] = {1, 2, 4, 8}, groups[] = {1, 2, 4, 8, 16, 32};
  *ret = (struct landscape){.kind = kind, .seed = seed, .noise = noise};
  struct tune_space *s = &ret->space;
  switch (kind) {
  case LANDSCAPE_ELEMENTS:
    add_dim(a, s, "BLOCK", TUNE_CONSTANT, blocks, COUNT_OF(blocks));
    add_dim(a, s, "num_warps", TUNE_WARPS, warps, COUNT_OF(warps));
    add_dim(a, s, "UNROLL", TUNE_CONSTANT, unrolls, COUNT_OF(unrolls));
    break;
  case LANDSCAPE_ATTENTION:
    add_dim(a, s, "BLOCK_M", TUNE_CONSTANT, tiles, COUNT_OF(tiles));
    add_dim(a, s, "BLOCK_N", TUNE_CONSTANT, tiles, COUNT_OF(tiles));
    add_dim(a, s, "num_warps", TUNE_WARPS, warps, COUNT_OF(warps));
    add_dim(a, s, "num_stages", TUNE_STAGES, stages, COUNT_OF(stages));
    break;
  default:
    add_dim(a, s, "BLOCK_M", TUNE_CONSTANT, tiles, COUNT_OF(tiles));
    add_dim(a, s, "BLOCK_N", TUNE_CONSTANT, tiles, COUNT_OF(tiles));
    add_dim(a, s, "BLOCK_K", TUNE_CONSTANT, ks, COUNT_OF(ks));
    add_dim(a, s, "num_warps", TUNE_WARPS, warps, COUNT_OF(warps));
    add_dim(a, s, "num_stages", TUNE_STAGES, stages, COUNT_OF(stages));
    if (kind == LANDSCAPE_HUGE) {
      add_dim(a, s, "GROUP_M", TUNE_CONSTANT, groups, COUNT_OF(groups));
      add_dim(a, s, "UNROLL", TUNE_CONSTANT, unrolls, COUNT_OF(unrolls));
    }
  }
  multiply(a, s);
  ret->ms = arena_array(a, double, s->count);
  ret->predicted = arena_array(a, double, s->count);
  for (size_t i = 0; i < s->count; i++) {
    double grain = 1 + 0.02 * normal(seed * 1000003 + i), error = 0.15 * normal(seed * 999983 + i);
    double t = time_of(ret, i, false), model = time_of(ret, i, true);
    ret->ms[i] = t < 0 ? -1 : t * fmax(grain, 0.9);
    ret->predicted[i] = model < 0 ? -1 : 0.7 * model * exp(error);
  }
}

double landscape_best(const struct landscape *l) {
  double best = (double)INFINITY;
  for (size_t i = 0; i < l->space.count; i++)
    if (l->ms[i] > 0)
      best = fmin(best, l->ms[i]);
  return best;
}

struct tune_sample landscape_measure(const struct landscape *l, uint32_t config, unsigned count,
                                     uint64_t attempt) {
  double t = l->ms[config], spread = l->noise * t;
  // Noise makes launches only slower, never faster.
  double median = t * (1 + l->noise * fabs(normal(mix(l->seed + attempt) + config)) / sqrt(count));
  return (struct tune_sample){median, median - 0.4 * spread, median + 0.8 * spread, count};
}

struct landscape_run landscape_search(struct arena *a, const struct landscape *l,
                                      const struct tune_search_options *o) {
  struct landscape_run run = {.trace = 1};
  bool *seen = arena_array(a, bool, l->space.count);
  struct tune_search *s = tune_search_create(a, &l->space, o);
  for (uint64_t attempt = 0;; attempt++) {
    struct tune_step step = tune_search_next(s);
    if (step.action == TUNE_DONE)
      break;
    run.trace = mix(run.trace ^ ((uint64_t)step.action << 32 | step.config));
    uint32_t c = step.config;
    if (step.action == TUNE_ANALYSE) {
      struct prediction p = {.ms = l->predicted[c]};
      tune_search_analysed(s, c, l->predicted[c] > 0 ? &p : NULL);
      run.analysed++;
    } else if (step.action == TUNE_MEASURE && l->ms[c] < 0) {
      tune_search_measured(s, c, TUNE_BAD_BUILD, NULL);
      run.failed++;
    } else if (step.action == TUNE_MEASURE) {
      double wanted = step.budget_ms / l->ms[c];
      unsigned n = (unsigned)fmin(fmax(wanted, step.least), step.most);
      struct tune_sample sample = landscape_measure(l, c, n, attempt);
      run.measured += !seen[c];
      run.spent_ms += n * sample.median;
      seen[c] = true;
      tune_search_measured(s, c, TUNE_MEASURED, &sample);
    }
  }
  if (!tune_search_best(s, &run.best))
    run.best = UINT32_MAX;
  return run;
}
