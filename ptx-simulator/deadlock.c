// SPDX-License-Identifier: Apache-2.0
// The report of a deadlock: which warps wait for which barrier, mbarrier, registers, or for the
// other CTAs of the cluster.
#include "ptx-simulator/cluster.h"
#include "ptx-simulator/mbarrier.h"
#include "ptx-simulator/register_pool.h"

#include <stdarg.h>
#include <stdio.h>

struct text {
  char at[SIM_TEXT];
  size_t size;
};

static void add(struct text *t, const char *format, ...) PRINTF(2, 3);
static void add(struct text *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(t->at + t->size, sizeof t->at - t->size, format, args);
  va_end(args);
  t->size += n > 0 ? (size_t)n : 0;
  if (t->size >= sizeof t->at)
    t->size = sizeof t->at - 1;
}

static const struct op *op_of(const struct warp *w, const struct group *g) {
  return &w->program->code.at[g->state == GROUP_BARRIER ? g->pc - 1 : g->pc];
}

// The group of a warp that waits for others, or NULL.
static const struct group *waiting(const struct warp *w) {
  for (unsigned i = 0; w->live && i < w->other_count; i++)
    if (w->others[i].state != GROUP_READY && w->others[i].state != GROUP_SYNC)
      return &w->others[i];
  return NULL;
}

static void add_barrier(struct text *t, const struct cta *c, unsigned number) {
  const struct barrier *b = &c->barriers[number];
  const char *before = "";
  add(t, "barrier %u has %u of %u threads; it waits for warps ", number, SIM_LANES * b->arrived,
      b->expected ? b->expected : SIM_LANES * c->alive);
  for (unsigned k = 0; k < c->warp_count; k++) {
    const struct warp *other = &c->warps[k];
    const struct group *g = waiting(other);
    if (b->arrived_warps >> k & 1)
      continue;
    add(t, "%s%u ", before, k);
    if (g)
      add(t, "(at line %u)", op_of(other, g)->in->line);
    else
      add(t, "(exited)");
    before = ", ";
  }
}

static void add_what(struct text *t, const struct warp *w, const struct group *g) {
  char text[MBARRIER_TEXT];
  if (g->state == GROUP_BARRIER)
    add_barrier(t, w->cta, g->barrier);
  else if (g->state == GROUP_MBARRIER)
    add(t, "%s", mbarrier_text(w, mbarrier_at(w->cta, g->barrier), text, sizeof text));
  else if (g->state == GROUP_CLUSTER)
    add(t, "%s", cluster_text(w, text, sizeof text));
  else
    add(t, "%s", registers_text(w, text, sizeof text));
}

// Whether the warp waits at the same instruction for the same as the one before it.
static bool is_alike(const struct warp *w, const struct group *g) {
  const struct group *before = w->index ? waiting(w - 1) : NULL;
  return before && before->state == g->state && before->barrier == g->barrier &&
         before->pc == g->pc;
}

// The waiting warps of a CTA, those alike together. Returns the first of them.
static struct warp *add_warps(struct text *t, struct cta *c) {
  struct warp *first = NULL;
  for (unsigned i = 0; i < c->warp_count; i++) {
    struct warp *w = &c->warps[i];
    const struct group *g = waiting(w);
    if (!g || (first && is_alike(w, g)))
      continue;
    unsigned last = i;
    while (last + 1 < c->warp_count && waiting(w + (last + 1 - i)) &&
           is_alike(w + (last + 1 - i), waiting(w + (last + 1 - i))))
      last++;
    add(t, first ? "; " : "");
    if (last > i)
      add(t, "warps %u to %u wait at line %u for ", i, last, op_of(w, g)->in->line);
    else
      add(t, "warp %u waits at line %u for ", i, op_of(w, g)->in->line);
    add_what(t, w, g);
    first = first ? first : w;
  }
  return first;
}

void report_deadlock(struct cluster *k) {
  struct warp *first = NULL;
  struct text t = {.size = 0};
  for (unsigned n = 0; n < k->count; n++)
    for (unsigned i = 0; i < k->ctas[n]->warp_count; i++)
      warp_report_stuck(&k->ctas[n]->warps[i]);
  for (unsigned n = 0; n < k->count; n++) {
    if (k->count > 1 && k->ctas[n]->alive)
      add(&t, "%sCTA %u of the cluster: ", first ? ". " : "", n);
    else if (k->count > 1)
      add(&t, "%sCTA %u of the cluster has ended", first ? ". " : "", n);
    struct warp *w = add_warps(&t, k->ctas[n]);
    first = first ? first : w;
  }
  if (first)
    fault(first, op_of(first, waiting(first)), (unsigned)__builtin_ctz(waiting(first)->mask),
          SIM_DEADLOCK, NULL, "%s", t.at);
}
