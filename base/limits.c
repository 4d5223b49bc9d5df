// SPDX-License-Identifier: Apache-2.0
// Messages about limits, and the table for printing.
#include "base/limits.h"

static const struct limit_row rows[LIMIT_COUNT] = {
#define LIMIT(name, value, code, what, instead) {#name, (value), code, what, instead},
#include "base/limits.def"
#undef LIMIT
};

const struct limit_row *limit_row(enum limit_id id) { return &rows[id]; }

const char *limit_text(struct arena *a, enum limit_id id, unsigned long long found) {
  const struct limit_row *r = &rows[id];
  if (!found)
    return arena_printf(a, "more than %llu %s", r->value, r->what);
  return arena_printf(a, "%llu %s; at most %llu are possible", found, r->what, r->value);
}

bool limit_error(struct diag_engine *diag, struct span at, enum limit_id id,
                 unsigned long long found) {
  const struct limit_row *r = &rows[id];
  struct diag *d = found ? diag_error(diag, at, E0950, "%llu %s; at most %llu are possible", found,
                                      r->what, r->value)
                         : diag_error(diag, at, E0950, "more than %llu %s", r->value, r->what);
  diag_help(d, "%s", r->instead);
  return false;
}
