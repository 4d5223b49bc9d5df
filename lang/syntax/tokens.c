// SPDX-License-Identifier: Apache-2.0
// Kinds of tokens as text, for messages.
#include "lang/syntax/lexer.h"

const char *token_kind_text(enum token_kind kind) {
  static const char *const texts[] = {
#define TOKEN(id, text) text,
#define PUNCT(id, text) text,
#define KEYWORD(id, text) text,
#include "lang/syntax/tokens.def"
#undef TOKEN
#undef PUNCT
#undef KEYWORD
  };
  return texts[kind];
}

bool token_kind_is_keyword(enum token_kind kind) { return kind >= TOK_FALSE && kind <= TOK_YIELD; }
