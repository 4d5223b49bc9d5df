// SPDX-License-Identifier: Apache-2.0
// Tokens of PTX text (PTX ISA, chapter 4). A word may have dots and double colons inside:
// "fma.rn.f32", "%tid.x", "ld.global.L1::evict_last.b32" are one token each.
#ifndef TILE_SIMULATOR_LEXER_H
#define TILE_SIMULATOR_LEXER_H

#include "base/str.h"
#include "ptx-simulator/simulator.h"

enum token_kind {
  TOKEN_END, // of the text, or after an error
  TOKEN_WORD,
  TOKEN_DIRECTIVE, // ".reg"
  TOKEN_INTEGER,
  TOKEN_FLOAT32, // 0f3F800000
  TOKEN_FLOAT64, // 0d..., 1.5
  TOKEN_STRING,
  TOKEN_PUNCTUATION
};

struct token {
  enum token_kind kind;
  struct str text; // of a string: without the quotes
  uint64_t value;  // of a number: its bits
  unsigned line, column;
};

// The first error is kept; all tokens after it are TOKEN_END, so that loops over tokens end.
struct lexer {
  const char *at, *end, *line_start;
  unsigned line;
  struct token token;                   // the next token, not taken yet
  const char *token_end, *previous_end; // ends of the current and of the last taken token
  struct sim_error *error;
  bool failed;
};

void lexer_start(struct lexer *l, const char *text, size_t size, struct sim_error *error);
void lexer_next(struct lexer *l);
// Records an error at a position; all further tokens are TOKEN_END. Always false.
bool lexer_error(struct lexer *l, unsigned line, unsigned column, const char *format, ...)
    PRINTF(4, 5);

bool token_is(const struct token *t, const char *text); // a word, directive or punctuation
bool lexer_take(struct lexer *l, const char *text);     // takes the token if it is `text`
bool lexer_expect(struct lexer *l, const char *text);   // an error unless it is `text`

#endif
