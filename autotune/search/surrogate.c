// SPDX-License-Identifier: Apache-2.0
// The covariance of two configurations is that of their errors: a smooth part, which falls with the
// steps between them, and a part that grows with the prediction (a model that flatters what it
// thinks is fast). The Cholesky factor depends on where the points are and not on what was measured
// there, so that it only ever grows by a row; each configuration keeps its solution of it, which
// grows likewise.
#include "autotune/search/surrogate.h"

#include <math.h>

// Deviations, of logarithms: of what differs between configurations, of the slope, of a measurement
// and what no neighbour shares. After STEPS steps of one dimension errors agree by exp(-1/2).
#define ERROR_DEVIATION 0.4
#define SLOPE_DEVIATION 0.4
#define NOISE_DEVIATION 0.1
#define STEPS 2.5

struct surrogate_point {
  uint32_t config;
  bool is_measured;
  double error;  // log(measured / predicted), the offset not taken off
  double weight; // of the solution of the factor for the errors
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
  uint32_t *solved;   // so many are known
  bool is_stale;      // `weight` and `offset` do not fit the points
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

// The configuration's solution of the factor, as far as there are points.
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

// The errors' mean over what was measured, and the points' weights.
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
