// SPDX-License-Identifier: Apache-2.0
// Compares the measured candidates of a search, and queues steps.
#include "autotune/search/search_internal.h"

#include <assert.h>
#include <math.h>

void search_plan(struct tune_search *s, enum tune_action action, uint32_t config) {
  assert(config < s->space->count);
  vec_push(s->arena, &s->queue, (struct planned){action, config, s->round, false});
}

bool search_is_timed(const struct candidate *c) {
  return c->outcome == TUNE_MEASURED || c->outcome == TUNE_SAME_CODE;
}

// A pessimistic estimate of the time from few launches. On a busy machine times spread arbitrarily,
// which says nothing about a configuration; hence the cap.
double search_pessimistic_ms(const struct candidate *c) {
  const struct tune_sample *s = &c->sample;
  return s->median + fmin(s->p80 - s->p20, 0.25 * s->median) / sqrt(fmax(s->count, 1));
}

bool search_is_contender(const struct tune_search *s, uint32_t config, uint32_t best) {
  const struct candidate *c = &s->candidates[config];
  return c->outcome == TUNE_MEASURED && (!c->spills || s->candidates[best].spills);
}

bool search_best_of(const struct tune_search *s, bool only_picked, uint32_t *ret) {
  bool found = false;
  for (uint32_t i = 0; i < s->space->count; i++) {
    const struct candidate *c = &s->candidates[i];
    if (!search_is_timed(c) || (only_picked && !c->is_picked) ||
        (s->is_decided && !c->sample.rounds))
      continue;
    const struct candidate *b = &s->candidates[*ret];
    double ms = s->is_decided ? c->sample.median : search_pessimistic_ms(c), best = 0;
    if (found)
      best = s->is_decided ? b->sample.median : search_pessimistic_ms(b);
    // Of two with the same code, prefer the one that was run.
    bool is_better = ms < best || (ms == best && c->outcome > b->outcome);
    if (found && c->spills != b->spills)
      is_better = b->spills;
    if (!found || is_better) {
      *ret = i;
      found = true;
    }
  }
  return found;
}

int search_compare_ranked(const void *a, const void *b) {
  const struct ranked *x = a, *y = b;
  if (x->key != y->key)
    return x->key < y->key ? -1 : 1;
  return (x->config > y->config) - (x->config < y->config);
}
