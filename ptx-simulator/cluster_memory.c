// SPDX-License-Identifier: Apache-2.0
// Shared memory of the CTAs of a cluster (cluster.h): addresses, and who may access whose.
#include "ptx-simulator/cluster.h"

#include "ptx-simulator/shadow_records.h"

#include <stdio.h>

#define OFFSET_MASK ((uint64_t)0xffffff) // of cluster_address

// ---- addresses ----

const struct cta *cluster_cta(const struct cluster *k, uint32_t number) {
  for (unsigned i = 0; i < k->count; i++)
    if (k->ctas[i]->number == number)
      return k->ctas[i];
  return NULL;
}

struct cta *cluster_resolve(const struct cta *c, uint64_t *address) {
  uint64_t rank = *address >> 24;
  *address &= OFFSET_MASK;
  return rank < c->cluster->count ? c->cluster->ctas[rank] : NULL;
}

const char *cluster_whose(const struct warp *w, const struct cta *of, char *ret, size_t size) {
  *ret = 0;
  if (of != w->cta)
    snprintf(ret, size, " of CTA %u of the cluster", of->rank);
  return ret;
}

// ---- accesses to other CTAs ----

// Something that the CTA did is ordered before.
static bool has_begun(const struct warp *w, const struct cta *to) {
  for (unsigned i = 0; i < to->warp_count; i++)
    if (w->clock[to->warps[i].id].clock > to->shadow->first_clock)
      return true;
  return false;
}

bool cluster_check_access(struct warp *w, const struct op *op, unsigned lane, struct cta *to,
                          uint64_t offset, unsigned bytes) {
  struct memory_site at = {SIM_SHARED, offset, bytes};
  if (to->alive == 0) {
    fault(w, op, lane, SIM_BAD_CLUSTER, &at,
          "an access to %s of CTA %u of the cluster, which has ended",
          shared_text(w->run, offset).at, to->rank);
    return false;
  }
  if (w->clock && !has_begun(w, to))
    warn(w, op, lane, SIM_BAD_CLUSTER, &at, NULL,
         "an access to %s of CTA %u of the cluster, which may not have begun: no "
         "barrier.cluster or mbarrier orders that",
         shared_text(w->run, offset).at, to->rank);
  return true;
}

void cluster_touch(struct warp *w, const struct op *op, unsigned lane, struct cta *to) {
  if (w->clock && to != w->cta)
    to->touched[w->id] =
        (struct far_touch){w->clock[w->id].clock, (uint32_t)(op - w->program->code.at), lane};
}
