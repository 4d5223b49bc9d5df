// SPDX-License-Identifier: Apache-2.0
// Source text to tokens. A token is a kind and a byte range; the parser computes values of literals
// from the range by the functions below when it needs them, so errors in skipped host code are not
// reported.
#ifndef TILE_LANG_SYNTAX_LEXER_H
#define TILE_LANG_SYNTAX_LEXER_H

#include "base/diag.h"
#include "base/limits.h"

enum token_kind {
#define TOKEN(id, text) TOK_##id,
#define PUNCT(id, text) TOK_##id,
#define KEYWORD(id, text) TOK_##id,
#include "lang/syntax/tokens.def"
#undef TOKEN
#undef PUNCT
#undef KEYWORD
  TOKEN_KIND_COUNT
};

#define LEXER_MAX_NESTING LIMIT_BRACKETS    // brackets, and levels of indentation
#define LEXER_MAX_NAME LIMIT_NAME_BYTES     // bytes of an identifier
#define LEXER_MAX_STRING LIMIT_STRING_BYTES // bytes of a string literal

struct token {
  enum token_kind kind;
  uint32_t begin, end;
};

struct token_list {
  struct token *at; // the last one is TOK_EOF
  size_t len;
};

// "+", "while", "a name".
const char *token_kind_text(enum token_kind kind);
bool token_kind_is_keyword(enum token_kind kind);

// All tokens of a file. False, with a diagnostic, if the text is not UTF-8 or a limit is exceeded;
// any other error is reported, leaves a TOK_ERROR, and the lexer goes on.
bool lexer_run(struct arena *a, struct diag_engine *diag, const struct source *source,
               struct token_list *ret);

// The tokens of an expression inside brackets, [begin, end) of the source: a replacement field of
// an f-string. Lines and indentation are ignored.
bool lexer_run_field(struct arena *a, struct diag_engine *diag, const struct source *source,
                     uint32_t begin, uint32_t end, struct token_list *ret);

// ---- Scanning of one literal (lang/syntax/literal_number.c, lang/syntax/literal_string.c) ----

// End of the number at `begin` (text[begin] is a digit, or a dot before one), and its kind.
// Includes letters and digits that follow: literal_number_error says what is wrong with them.
uint32_t literal_scan_number(struct str text, uint32_t begin, enum token_kind *ret_kind);

// Is there a string literal at `begin`? *ret_prefix is then the length of its prefix.
bool literal_at_string(struct str text, uint32_t begin, uint32_t *ret_prefix);

enum string_scan {
  STRING_CLOSED,
  STRING_UNCLOSED,  // the line or the file ends first
  STRING_BAD_FIELD, // a replacement field of an f-string is not closed
};

// Scans the string literal at `begin`, prefix included. *ret_end is its end or, after an error,
// where lexing continues.
enum string_scan literal_scan_string(struct str text, uint32_t begin, uint32_t *ret_end);

struct string_form {
  uint32_t body_begin, body_end; // between the quotes
  char quote;
  bool is_triple, is_raw, is_bytes, is_format;
};
struct string_form literal_string_form(struct str text, uint32_t begin, uint32_t end);

// Offset of the `}` that closes the replacement field whose `{` is at `open`, or UINT32_MAX.
// *ret_expr_end is where its expression ends: at `=`, `!`, `:` or `}`.
uint32_t literal_scan_field(struct str text, uint32_t open, const struct string_form *form,
                            uint32_t *ret_expr_end);

// ---- Values of literals ----

// What is wrong with a number; NULL if it is well formed.
const char *literal_number_error(struct str text);
// Value of a well-formed integer; false if it does not fit 64 bits (then UINT64_MAX).
bool literal_int(struct str text, uint64_t *ret);
bool literal_float(struct str text, double *ret); // false: too many digits

// Writes the text [begin, end) of a string to `out`, escapes resolved; that is never longer than
// the source. With form->is_format, {{ and }} stand for one brace. Returns the length; NULL
// *ret_why if all escapes were well formed, else a reason with its location.
size_t literal_unescape(struct str text, uint32_t begin, uint32_t end,
                        const struct string_form *form, char *out, const char **ret_why,
                        uint32_t *ret_bad_begin, uint32_t *ret_bad_end);

// ---- Characters (lang/syntax/unicode.c) ----

// Whether a code point above 127 may be part of an identifier.
bool unicode_is_name(uint32_t c);
bool unicode_is_bidi_control(uint32_t c);
// What a character that looks like ASCII was probably meant to be ("-" for a minus sign), or NULL.
const char *unicode_meant(uint32_t c);

#endif
