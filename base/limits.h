// SPDX-License-Identifier: Apache-2.0
// Limits on what is read and compiled: one table, base/limits.def, for the code, the messages and
// docs/limits.md. LIMIT_NAME is a row's value.
#ifndef TILE_BASE_LIMITS_H
#define TILE_BASE_LIMITS_H

#include "base/diag.h"

enum {
#define LIMIT(name, value, code, what, instead) LIMIT_##name = (value),
#include "base/limits.def"
#undef LIMIT
};

enum limit_id {
#define LIMIT(name, value, code, what, instead) LIMIT_ID_##name,
#include "base/limits.def"
#undef LIMIT
  LIMIT_COUNT
};

struct limit_row {
  const char *name;
  unsigned long long value;
  const char *code; // of the diagnostic: "E0950", or the code of the construct
  const char *what; // what is counted, in the plural
  const char *instead;
};

const struct limit_row *limit_row(enum limit_id id);
// "20000 parameters of a function: at most 4095 are possible"; `found` 0: the count is not known.
const char *limit_text(struct arena *a, enum limit_id id, unsigned long long found);
// Reports E0950 with that text, and what to do as help. Returns false.
bool limit_error(struct diag_engine *diag, struct span at, enum limit_id id,
                 unsigned long long found);

#endif
