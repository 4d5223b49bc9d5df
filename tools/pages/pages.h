// SPDX-License-Identifier: Apache-2.0
// The pages made from the tables of options and verbs: manual, completions of shells, tables of
// docs/cli.md. A program of its own, which reads the tables and needs no compiler.
#ifndef TILE_TOOLS_PAGES_PAGES_H
#define TILE_TOOLS_PAGES_PAGES_H

#include "base/arena.h"
#include "base/str.h"

struct page_option {
  const char *spelling, *argument, *group, *help, *details; // details: Markdown
};
struct page_verb {
  const char *name, *argument, *operands, *groups, *summary, *examples;
};
struct page_group {
  const char *name, *title;
};
struct page_row {
  const char *name, *text; // Markdown
};

// Each table ends with a row of NULL. In tables.c.
extern const struct page_option page_options[];
extern const struct page_verb page_verbs[];
extern const struct page_group page_groups[];
extern const struct page_row page_environment[], page_statuses[];

// The words that complete an option's value, separated by blanks; NULL: a file or a free text.
const char *page_values(struct arena *a, const struct page_option *o);
bool page_is_file(const struct page_option *o); // its value is a path
bool page_in_group(const struct page_option *o, const char *groups);

// tilec(1) for man; `version` is in its footer.
void page_man(const char *version, struct strbuf *out);
void page_bash(struct strbuf *out);
void page_zsh(struct strbuf *out);
void page_fish(struct strbuf *out);
// The document with every table between `<!-- table: NAME -->` and `<!-- end of table -->` made
// anew. NAME is a group of options, `verbs`, `environment` or `exit status`. False if a NAME is
// unknown or a mark has no end.
bool page_document(struct str document, struct strbuf *out);

#endif
