// SPDX-License-Identifier: Apache-2.0
// Completion of the barrier of a cluster (PTX ISA, "barrier.cluster"): releases the warps that
// wait.
#include "ptx-simulator/cluster.h"

void cluster_start(struct cluster *k) {
  k->phase = 0;
  k->op = NULL;
  k->acquiring = k->acquired = 0;
  if (!k->arriving)
    return;
  memset(k->arriving, 0, clock_count(k->ctas[0]) * sizeof *k->arriving);
  memset(k->arrived, 0, clock_count(k->ctas[0]) * sizeof *k->arrived);
}

static bool all_arrived(const struct cluster *k) {
  for (unsigned n = 0; n < k->count; n++)
    for (unsigned i = 0; i < k->ctas[n]->warp_count; i++)
      if (k->ctas[n]->warps[i].live & ~k->ctas[n]->warps[i].cluster_arrived)
        return false;
  return true;
}

static void pass(struct warp *w) {
  w->cluster_passed |= w->cluster_arrived;
  w->cluster_arrived = 0;
  for (unsigned i = 0; i < w->other_count; i++)
    if (w->others[i].state == GROUP_CLUSTER)
      warp_wake(w, &w->others[i]);
}

void cluster_update(struct cluster *k) {
  if (!k->op || !all_arrived(k))
    return;
  k->phase++;
  k->op = NULL;
  k->acquired = k->acquiring;
  if (k->arriving)
    memcpy(k->arrived, k->arriving, clock_count(k->ctas[0]) * sizeof *k->arrived);
  for (unsigned n = 0; n < k->count; n++)
    for (unsigned i = 0; i < k->ctas[n]->warp_count; i++)
      pass(&k->ctas[n]->warps[i]);
}
