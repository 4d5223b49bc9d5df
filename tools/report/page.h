// SPDX-License-Identifier: Apache-2.0
// `tilec report FILE`: a page of HTML on a kernel or a graph, in one file: no scripts, nothing that
// a browser would have to fetch. Shared by the files of this folder.
#ifndef TILE_TOOLS_REPORT_PAGE_H
#define TILE_TOOLS_REPORT_PAGE_H

#include "tools/tool.h"

// A page that is being written; `out` has the sections, `links` a link to each.
struct page {
  struct arena *arena;
  const char *title;
  struct strbuf facts, links, out;
};

// ---- page.c ----
// The whole document.
void page_write(const struct page *p, struct strbuf *out);
// A number of the summary at the top.
void page_fact(struct page *p, const char *name, const char *value);
// Begins a section; the next one, or the end of the page, ends it. `id` is its anchor.
void page_section(struct page *p, const char *id, const char *title);
// Escaped text, in which `...` is code.
void page_words(struct strbuf *out, const char *text);
// A paragraph of such text.
void page_paragraph(struct page *p, const char *text);
// A part that a click opens; to be closed.
void page_fold(struct page *p, const char *summary, bool is_open);
void page_fold_end(struct page *p);
void page_text(struct page *p, struct str text); // as it is, in a fixed font
// `svg` is a whole picture; it scrolls sideways on narrow screens.
void page_picture(struct page *p, const struct strbuf *svg);

// ---- page_source.c ----
// The source with the diagnostics of all severities beside its lines; those of other files follow.
void page_source(struct page *p, const struct source *source, const struct diag_engine *diag);

// ---- the kinds of reports: exit status; after an error the page has the messages ----
int report_kernel(struct tool *t, struct source *source, struct page *p);
int report_graph(struct tool *t, const struct source *source, struct page *p);

#endif
