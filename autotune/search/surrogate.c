// SPDX-License-Identifier: Apache-2.0
// A Gaussian process (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006). The
// covariance of two configurations is that of their errors: a smooth part, which decreases with the
// steps between them, and a part that grows with the prediction (a model that is optimistic about
// what it predicts to be fast). The Cholesky factor depends on the points and not on their values,
// so that it only grows by rows; each configuration keeps its solution, which grows the same way.
#include "autotune/search/surrogate.h"

#include <assert.h>
#include <math.h>

// Standard deviations of logarithms: of the smooth part, of the slope, and of noise. After STEPS
// steps of one dimension errors correlate by exp(-1/2).
#define ERROR_DEVIATION 0.4
#define SLOPE_DEVIATION 0.4
#define NOISE_DEVIATION 0.1
#define STEPS 2.5

struct surrogate_point {
  uint32_t config;
  bool is_measured;
  double error;  // log(measured / predicted), with the offset
  double weight; // the solution of the factor for the errors
};

struct surrogate {
  struct arena *arena;
  const struct tune_space *space;
  const double *log_predicted;
  double centre, offset;
  size_t cap, count;
  struct surrogate_point *points;
  double *factor;     // cap rows of cap
  double **solutions; // by configuration: NULL, or `cap` values of which
  uint32_t *solved;   // so many are computed
  bool is_stale;      // `weight` and `offset` are outdated
};

struct surrogate *surrogate_create(struct arena *a, const struct tune_space *s,
                                   const double *log_predicted, double centre, size_t cap) {
  struct surrogate *g = arena_new(a, struct surrogate);
  *g = (struct surrogate){.arena = a,
                          .space = s,
                          .log_predicted = log_predicted,
                          .centre = centre,
                          .cap = cap,
                          .points = arena_array(a, struct surrogate_point, cap + 1),
                          .factor = arena_array(a, double, cap *cap + 1),
                          .solutions = arena_array(a, double *, s->count),
                          .solved = arena_array(a, uint32_t, s->count)};
  return g;
}

static double covariance(const struct surrogate *g, uint32_t a, uint32_t b) {
  const struct tune_config *x = &g->space->configs[a], *y = &g->space->configs[b];
  double distance = 0;
  for (size_t d = 0; d < g->space->dim_count; d++) {
    double steps = ((double)x->at[d] - (double)y->at[d]) / STEPS;
    distance += steps * steps;
  }
  double slopes = (g->log_predicted[a] - g->centre) * (g->log_predicted[b] - g->centre);
  return ERROR_DEVIATION * ERROR_DEVIATION * exp(-0.5 * distance) +
         SLOPE_DEVIATION * SLOPE_DEVIATION * slopes;
}

// The configuration's solution of the factor, extended to all points.
static const double *solve(struct surrogate *g, uint32_t config) {
  if (!g->solutions[config])
    g->solutions[config] = arena_array(g->arena, double, g->cap + 1);
  double *v = g->solutions[config];
  for (uint32_t i = g->solved[config]; i < g->count; i++) {
    const double *row = g->factor + i * g->cap;
    double sum = covariance(g, config, g->points[i].config);
    for (uint32_t k = 0; k < i; k++)
      sum -= row[k] * v[k];
    v[i] = sum / row[i];
  }
  g->solved[config] = (uint32_t)g->count;
  return v;
}

static struct surrogate_point *find(struct surrogate *g, uint32_t config) {
  for (size_t i = 0; i < g->count; i++)
    if (g->points[i].config == config)
      return &g->points[i];
  return NULL;
}

void surrogate_add(struct surrogate *g, uint32_t config) {
  assert(config < g->space->count);
  if (g->count == g->cap || find(g, config))
    return;
  struct surrogate_guess expected = surrogate_ask(g, config);
  const double *v = solve(g, config);
  double *row = g->factor + g->count * g->cap;
  double rest = covariance(g, config, config) + NOISE_DEVIATION * NOISE_DEVIATION;
  for (size_t k = 0; k < g->count; k++) {
    row[k] = v[k];
    rest -= v[k] * v[k];
  }
  row[g->count] = sqrt(fmax(rest, 1e-9));
  g->points[g->count++] = (struct surrogate_point){
      .config = config, .error = expected.log_ms - g->log_predicted[config]};
  g->is_stale = true;
}

void surrogate_set(struct surrogate *g, uint32_t config, double log_ms) {
  struct surrogate_point *p = find(g, config);
  if (!p)
    return;
  p->error = log_ms - g->log_predicted[config];
  p->is_measured = true;
  g->is_stale = true;
}

// The mean error of measured points, and the points' weights.
static void refresh(struct surrogate *g) {
  size_t measured = 0;
  g->offset = 0;
  for (size_t i = 0; i < g->count; i++)
    if (g->points[i].is_measured) {
      g->offset += g->points[i].error;
      measured++;
    }
  g->offset = measured ? g->offset / (double)measured : 0;
  for (size_t i = 0; i < g->count; i++) {
    const double *row = g->factor + i * g->cap;
    double sum = g->points[i].error - g->offset;
    for (size_t k = 0; k < i; k++)
      sum -= row[k] * g->points[k].weight;
    g->points[i].weight = sum / row[i];
  }
  g->is_stale = false;
}

struct surrogate_guess surrogate_ask(struct surrogate *g, uint32_t config) {
  assert(config < g->space->count);
  if (g->is_stale)
    refresh(g);
  const double *v = solve(g, config);
  double mean = 0, variance = covariance(g, config, config);
  for (size_t i = 0; i < g->count; i++) {
    mean += v[i] * g->points[i].weight;
    variance -= v[i] * v[i];
  }
  return (struct surrogate_guess){g->log_predicted[config] + g->offset + mean,
                                  sqrt(fmax(variance, 0))};
}
