// SPDX-License-Identifier: Apache-2.0
// Violations of a checked launch: of bounds (cpu_check.c), of shared memory (cpu_shared.c),
// divergence (cpu_cta.c), races between programs (cpu_races.c). They are kept in the order of
// programs and threads, independent of the order in which workers ran them.
#include "runtime/cpu_device.h"

#include <assert.h>
#include <string.h>

// Order of programs in the grid (x fastest), then of threads.
static bool comes_before(const struct cpu_violation *a, const struct cpu_violation *b) {
  for (int i = 2; i >= 0; i--)
    if (a->program_id[i] != b->program_id[i])
      return a->program_id[i] < b->program_id[i];
  return a->thread_id < b->thread_id;
}

static bool same_location(const struct cpu_location *a, const struct cpu_location *b) {
  return a->line == b->line && a->col == b->col;
}

// Several threads of a CTA may hold the same element: one violation is kept for all. Violations of
// shared memory and divergence repeat in every program and at many bytes: the first program's is
// kept.
static bool is_repetition(const struct cpu_violation *a, const struct cpu_violation *b) {
  if (a->kind != b->kind || a->access != b->access || !same_location(&a->location, &b->location))
    return false;
  if (a->kind == CPU_OUTSIDE)
    return a->param >= 0 && a->element == b->element && a->param == b->param &&
           memcmp(a->program_id, b->program_id, sizeof a->program_id) == 0;
  return a->kind != CPU_ASSERTION && a->other_access == b->other_access &&
         same_location(&a->other_location, &b->other_location);
}

static void drop(struct cpu_launch *l, size_t at) {
  l->violation_count--;
  memmove(&l->violations[at], &l->violations[at + 1],
          (l->violation_count - at) * sizeof l->violations[0]);
}

// Inserts the violation in order; when the list is full, its last one is dropped.
static void keep(struct cpu_launch *l, const struct cpu_violation *v) {
  size_t at = l->violation_count;
  while (at > 0 && comes_before(v, &l->violations[at - 1]))
    at--;
  if (at == CPU_MAX_VIOLATIONS)
    return;
  size_t kept = l->violation_count;
  if (kept == CPU_MAX_VIOLATIONS)
    kept--;
  memmove(&l->violations[at + 1], &l->violations[at], (kept - at) * sizeof *v);
  l->violations[at] = *v;
  l->violation_count = kept + 1;
}

void cpu_check_record(struct cpu_launch *l, const struct cpu_violation *v) {
  assert(v->param < 0 || (uint32_t)v->param < l->module->info->param_count);
  pthread_mutex_lock(&l->lock);
  l->violation_total++;
  bool is_news = true;
  for (size_t i = 0; is_news && i < l->violation_count; i++)
    if (is_repetition(&l->violations[i], v)) {
      is_news = comes_before(v, &l->violations[i]);
      if (is_news)
        drop(l, i);
      break;
    }
  if (is_news)
    keep(l, v);
  pthread_mutex_unlock(&l->lock);
}

struct cpu_violation cpu_check_violation(const struct cpu_thread *t, enum cpu_violation_kind kind,
                                         const struct cpu_location *location) {
  struct cpu_violation v = {
      .kind = kind, .param = -1, .thread_id = t->thread_id, .other_thread = -1};
  if (location)
    v.location = *location;
  memcpy(v.program_id, t->program_id, sizeof v.program_id);
  return v;
}
