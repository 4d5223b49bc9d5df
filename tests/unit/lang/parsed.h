// SPDX-License-Identifier: Apache-2.0
// A parsed text with everything it needs, for tests.
#ifndef TESTS_UNIT_LANG_PARSED_H
#define TESTS_UNIT_LANG_PARSED_H

#include "base/arena.h"
#include "base/diag.h"
#include "lang/frontend.h"
#include "lang/unit.h"

struct parsed {
  struct arena *arena;
  struct diag_engine *diag;
  const struct source *source;
  struct lang_unit *unit; // NULL: no tokens
  struct ast_module *module;
};

static inline struct parsed parsed_create(const char *name, struct str text) {
  struct parsed p = {.arena = arena_create()};
  p.diag = diag_engine_create(p.arena);
  p.source = source_create(p.arena, name, text);
  p.unit = lang_unit_read(p.arena, p.diag, p.source);
  p.module = p.unit ? p.unit->tree : NULL;
  return p;
}

static inline void parsed_destroy(struct parsed *p) { arena_destroy(p->arena); }

#endif
