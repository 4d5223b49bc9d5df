// SPDX-License-Identifier: Apache-2.0
// Mbarriers as agents of asynchronous copies: their entries in vector clocks (vector_clock.h).
#include "ptx-simulator/cluster.h"
#include "ptx-simulator/mbarrier.h"

unsigned mbarrier_agent(const struct mbarrier *m) {
  return clock_mbarriers(m->cta) + (unsigned)(m - m->cta->mbarriers);
}

const struct mbarrier *mbarrier_of_agent(const struct cta *c, unsigned agent) {
  unsigned n = agent - clock_warps(c);
  return mbarrier_at(c->cluster->ctas[n / MAX_MBARRIERS], n % MAX_MBARRIERS);
}
