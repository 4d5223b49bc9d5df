// SPDX-License-Identifier: Apache-2.0
// Characters of literals, for the files that scan them.
#ifndef TILE_LANG_SYNTAX_LITERAL_CHARS_H
#define TILE_LANG_SYNTAX_LITERAL_CHARS_H

#include "base/str.h"

static inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static inline bool is_word(char c) { return is_digit(c) || is_alpha(c) || c == '_'; }
static inline char lower(char c) { return is_alpha(c) ? (char)(c | 0x20) : c; }
static inline char char_at(struct str text, uint32_t at) {
  return at < text.len ? text.ptr[at] : '\0';
}

static inline unsigned digit_value(char c) {
  if (is_digit(c))
    return (unsigned)(c - '0');
  return is_alpha(c) ? (unsigned)(lower(c) - 'a') + 10 : 99;
}

#endif
