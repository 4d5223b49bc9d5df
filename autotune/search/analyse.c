// SPDX-License-Identifier: Apache-2.0
// Which configurations a search analyses: the whole space, or a sample of it and then neighbours of
// the best.
#include "autotune/search/search_internal.h"

#include <stdlib.h>

#define CLIMBERS 16 // best predicted configurations whose neighbours are analysed next

static uint64_t next_random(struct tune_search *s) {
  uint64_t x = s->random += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static void plan_analysis(struct tune_search *s, uint32_t config) {
  if (s->candidates[config].analysis != ANALYSIS_NONE || s->analysed >= s->analysis_limit)
    return;
  s->candidates[config].analysis = ANALYSIS_PLANNED;
  s->analysed++;
  search_plan(s, TUNE_ANALYSE, config);
}

void search_plan_sample(struct tune_search *s) {
  size_t n = s->space->count, wanted = n <= s->analysis_limit ? n : s->analysis_limit / 2;
  uint32_t *order = arena_array(s->arena, uint32_t, n);
  for (uint32_t i = 0; i < n; i++)
    order[i] = i;
  plan_analysis(s, 0);
  for (size_t i = 1; i < wanted; i++) {
    size_t k = i + next_random(s) % (n - i);
    uint32_t other = order[k];
    order[k] = order[i];
    order[i] = other;
    plan_analysis(s, other);
  }
}

bool search_plan_climb(struct tune_search *s) {
  if (s->is_truncated || s->analysed >= s->analysis_limit)
    return false;
  struct ranked *r = arena_array(s->arena, struct ranked, s->space->count);
  uint32_t *near = arena_array(s->arena, uint32_t, NEIGHBOURS);
  size_t n = 0, before = s->queue.len;
  for (uint32_t i = 0; i < s->space->count; i++)
    if (s->candidates[i].analysis == ANALYSIS_KNOWN)
      r[n++] = (struct ranked){s->log_predicted[i], i};
  qsort(r, n, sizeof *r, search_compare_ranked);
  for (size_t i = 0; i < n && i < CLIMBERS; i++) {
    size_t found = tune_space_neighbours(s->space, r[i].config, false, near, NEIGHBOURS);
    for (size_t k = 0; k < found; k++)
      plan_analysis(s, near[k]);
  }
  return s->queue.len > before;
}

bool search_plan_neighbours(struct tune_search *s) {
  uint32_t best = 0;
  if (s->is_truncated || s->has_neighbours || s->space->count <= s->analysis_limit ||
      !search_best_of(s, true, &best))
    return false;
  s->has_neighbours = true;
  size_t before = s->queue.len;
  uint32_t *near = arena_array(s->arena, uint32_t, NEIGHBOURS);
  size_t found = tune_space_neighbours(s->space, best, false, near, NEIGHBOURS);
  s->analysis_limit += found; // beyond the limit
  for (size_t k = 0; k < found; k++)
    plan_analysis(s, near[k]);
  return s->queue.len > before;
}
