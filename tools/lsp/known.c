// SPDX-License-Identifier: Apache-2.0
// Looks facts up in the analyses of a document.
#include "tools/lsp/known.h"

static struct text_edit edit_to(const struct document *d, const struct analysis *a) {
  return a ? text_edit_of(d->now->source->text, a->source->text) : (struct text_edit){0};
}

struct known known_of(const struct document *d) {
  return (struct known){d, edit_to(d, d->newest), edit_to(d, d->intact)};
}

// The analysis that is asked as number `i`: first the one without an error of syntax, which knows
// all kernels.
static const struct analysis *analysis_at(const struct known *k, unsigned i,
                                          const struct text_edit **ret_edit) {
  bool is_newest = (i == 0) == (k->document->intact == NULL);
  *ret_edit = is_newest ? &k->newest : &k->intact;
  return is_newest ? k->document->newest : k->document->intact;
}

// A range is mapped by its first and its last byte.
static bool map_range(const struct text_edit *e, uint32_t begin, uint32_t end, uint32_t *ret_begin,
                      uint32_t *ret_end) {
  if (end <= begin || !text_edit_map(e, begin, ret_begin) || !text_edit_map(e, end - 1, ret_end))
    return false;
  return ++*ret_end - *ret_begin == end - begin;
}

const struct fact *known_fact(const struct known *k, uint32_t begin, uint32_t end) {
  const struct fact *f = NULL;
  for (unsigned i = 0; i < 2 && !f; i++) {
    const struct text_edit *edit;
    const struct analysis *a = analysis_at(k, i, &edit);
    uint32_t b, e;
    if (a && map_range(edit, begin, end, &b, &e))
      f = analysis_fact(a, b, e);
  }
  return f;
}

const struct fact *known_fact_around(const struct known *k, uint32_t offset) {
  const struct fact *f = NULL;
  for (unsigned i = 0; i < 2 && !f; i++) {
    const struct text_edit *edit;
    const struct analysis *a = analysis_at(k, i, &edit);
    uint32_t at;
    if (a && text_edit_map(edit, offset, &at))
      f = analysis_fact_around(a, at);
  }
  return f;
}

void known_layouts(const struct known *k, uint32_t begin, uint32_t end,
                   void (*see)(void *user, const struct layout_fact *f), void *user) {
  for (unsigned i = 0; i < 2; i++) {
    const struct text_edit *edit;
    const struct analysis *a = analysis_at(k, i, &edit);
    uint32_t b, e;
    if (!a || !a->layouts || !map_range(edit, begin, end, &b, &e))
      continue;
    for (size_t n = 0; n < a->layouts->facts.len; n++)
      if (a->layouts->facts.at[n].begin == b && a->layouts->facts.at[n].end == e)
        see(user, &a->layouts->facts.at[n]);
    return;
  }
}

const char *known_assumptions(const struct known *k, const char *kernel) {
  for (unsigned i = 0; i < 2; i++) {
    const struct text_edit *edit;
    const struct analysis *a = analysis_at(k, i, &edit);
    for (size_t n = 0; a && n < a->kernels.len; n++)
      if (strcmp(a->kernels.at[n].name, kernel) == 0)
        return a->kernels.at[n].assumed;
  }
  return NULL;
}
