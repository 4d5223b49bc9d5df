// SPDX-License-Identifier: Apache-2.0
// What is being typed at a cursor, from the tokens before it: code that is not complete has no
// tree.
#ifndef TILE_TOOLS_LSP_CURSOR_H
#define TILE_TOOLS_LSP_CURSOR_H

#include "base/arena.h"
#include "base/source.h"

struct cursor {
  bool is_code;     // not in a comment or a string
  struct str word;  // the begun name before the cursor; may be empty
  bool after_dot;   // it is an attribute,
  const char *base; // of this dotted name; NULL: of another expression
  // The innermost call that is not closed; NULL: none.
  const char *callee, *callee_base; // `tl.load`: "load" and "tl"; base NULL: one word
  unsigned argument;                // index of the argument with the cursor
  const char *keyword;              // its name, if it is `name=...`; else NULL
};
// On `a`.
struct cursor cursor_at(struct arena *a, const struct source *source, uint32_t offset);

#endif
