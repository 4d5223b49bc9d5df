// SPDX-License-Identifier: Apache-2.0
// Names of kernels: their operators, each once, in order. Regions of one structure share a name, so
// that repeated layers give equal sources.
#include "graph/fuse/fuse.h"

enum { NAME_MAX = 48 };

static void add_word(struct strbuf *name, const char *word) {
  size_t begin = name->len;
  if (begin)
    strbuf_putc(name, '_');
  for (const char *c = word; *c; c++) {
    bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_';
    bool digit = *c >= '0' && *c <= '9';
    if (letter || (digit && name->len))
      strbuf_putc(name, *c);
    else if (digit) // identifiers do not begin with a digit
      strbuf_printf(name, "_%c", *c);
  }
  if (name->len > NAME_MAX && begin) { // truncated at a word
    name->len = begin;
    name->ptr[begin] = 0;
  }
}

static bool is_known(const char *const *words, size_t len, const char *word) {
  for (size_t i = 0; i < len; i++)
    if (strcmp(words[i], word) == 0)
      return true;
  return false;
}

static const char *kind_word(const struct group *g) {
  switch (g->kind) {
  case REGION_MAP: return "map";
  case REGION_ROWS: return "rows";
  case REGION_ROW_COLUMN: return "rows_columns";
  case REGION_SCAN: return "scan";
  case REGION_PRODUCT: return "product";
  case REGION_ATTENTION: return "attention";
  case REGION_SCATTER: return "scatter";
  case REGION_CALL: return "call";
  }
  UNREACHABLE();
}

const char *region_name(struct fuser *f, const struct group *g) {
  VEC(const char *) words = {0};
  struct strbuf name = {.arena = f->arena};
  for (size_t i = 0; i < g->members.len; i++) {
    const struct stage *s = g->members.at[i]->stage;
    for (size_t j = 0; j < s->origins.len; j++) {
      if (name.len > NAME_MAX || is_known(words.at, words.len, s->origins.at[j]))
        continue;
      vec_push(f->arena, &words, s->origins.at[j]);
      add_word(&name, s->origins.at[j]);
    }
  }
  if (!name.len)
    strbuf_puts(&name, kind_word(g));
  const char *kept = arena_strdup(f->arena, strbuf_cstr(&name));
  strbuf_finish(&name);
  return kept;
}
