// SPDX-License-Identifier: Apache-2.0
// mbarriers in messages.
#include "ptx-simulator/mbarrier.h"

#include <stdio.h>

const char *mbarrier_text(const struct warp *w, const struct mbarrier *m, char *ret, size_t size) {
  char name[64], whose[32];
  int n = snprintf(ret, size, "mbarrier 0x%x%s%s, phase %u, %u of %u arrivals and %d bytes pending",
                   m->offset, shared_name(w->run, m->offset, name, sizeof name),
                   cluster_whose(w, m->cta, whose, sizeof whose), m->phase, m->pending, m->expected,
                   m->bytes);
  if (m->arrival)
    n += snprintf(ret + n, size - (size_t)n, ", last arrival in line %u", m->arrival->in->line);
  if (m->copy)
    snprintf(ret + n, size - (size_t)n, ", last copy in line %u to %s", m->copy->in->line,
             shared_text(w->run, m->copied_to).at);
  return ret;
}
