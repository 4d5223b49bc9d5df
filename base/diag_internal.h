// SPDX-License-Identifier: Apache-2.0
// The diagnostics engine's records, shared by diag.c, which creates them, and diag_text.c and
// diag_json.c, which print them.
#ifndef TILE_BASE_DIAG_INTERNAL_H
#define TILE_BASE_DIAG_INTERNAL_H

#include "base/diag.h"
#include "base/vec.h"

// A location with a text: label, note or fix-it.
struct diag_part {
  struct span at;
  const char *text;
};

typedef VEC(struct diag_part) diag_parts;
typedef VEC(const char *) diag_texts;

struct diag {
  struct diag_engine *engine;
  enum diag_severity severity;
  enum diag_code code; // DIAG_CODE_COUNT for remarks
  const char *topic;   // remarks only
  struct span at;
  const char *message;
  const char *primary_label; // NULL: none
  diag_parts labels, notes, fixits;
  diag_texts helps;
};

typedef VEC(struct diag *) diag_list;

struct diag_engine {
  struct arena *a;
  diag_list records; // in order of creation
  unsigned errors;
  bool is_lost;      // a record was lost: memory was out and the arena had no handler
  struct diag *lost; // the record in its stead
};

const char *diag_severity_name(enum diag_severity s);
// The records sorted by source (in order of first appearance), then location, then age; records
// without a location come first. Exact duplicates are omitted. On the engine's arena; NULL when
// memory is out and the arena has no handler.
struct diag **diag_sorted(const struct diag_engine *e, size_t *ret_count);

#endif
