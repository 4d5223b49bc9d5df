// SPDX-License-Identifier: Apache-2.0
// mbarriers in messages.
#include "ptx-simulator/mbarrier.h"

#include <stdio.h>

const char *mbarrier_text(const struct cta *c, const struct mbarrier *m, char *ret, size_t size) {
  char name[64];
  int n = snprintf(ret, size, "mbarrier 0x%x%s, phase %u, %u of %u arrivals and %d bytes pending",
                   m->offset, shared_name(c->run, m->offset, name, sizeof name), m->phase,
                   m->pending, m->expected, m->bytes);
  if (m->arrival)
    n += snprintf(ret + n, size - (size_t)n, ", last arrival in line %u", m->arrival->in->line);
  if (m->copy)
    snprintf(ret + n, size - (size_t)n, ", last copy in line %u to shared 0x%x", m->copy->in->line,
             m->copied_to);
  return ret;
}
