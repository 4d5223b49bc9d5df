// SPDX-License-Identifier: Apache-2.0
// What is known of the text that the client has now: facts of the newest analysis without an error
// of syntax, and of code that is newer, those of the newest one. Ranges are those of the text now.
#ifndef TILE_TOOLS_LSP_KNOWN_H
#define TILE_TOOLS_LSP_KNOWN_H

#include "tools/lsp/documents.h"

struct known {
  const struct document *document;
  struct text_edit newest, intact; // from the text now to the analysed one
};
struct known known_of(const struct document *d);

// The value of the expression or name with exactly this range; NULL: not known.
const struct fact *known_fact(const struct known *k, uint32_t begin, uint32_t end);
// Of the smallest expression around an offset.
const struct fact *known_fact_around(const struct known *k, uint32_t offset);
// The layouts of the tiles that the operation of this range makes or stores: calls `see` for each.
void known_layouts(const struct known *k, uint32_t begin, uint32_t end,
                   void (*see)(void *user, const struct layout_fact *f), void *user);
// What was assumed of a kernel's parameters; NULL: nothing.
const char *known_assumptions(const struct known *k, const char *kernel);

#endif
