// SPDX-License-Identifier: Apache-2.0
// A reader of LLVM's templates of inline assembly (AsmPrinterInlineAsm.cpp) with the lexical rules
// of PTX (PTX ISA 4.1, 4.2) for the text between the references.
#include "lowering/llvm/asm_text.h"

#include <ctype.h>

struct reader {
  struct arena *a;
  struct str text;
  size_t at;
  unsigned operands;
  bool in_variants, is_taken; // inside `$(...$)`, and in its first alternative
  int depth;                  // of braces
};

static bool starts(const struct reader *r, const char *word) {
  struct str rest = {r->text.ptr + r->at, r->text.len - r->at};
  return str_starts(rest, word);
}

static int peek(const struct reader *r) {
  return r->at < r->text.len ? (unsigned char)r->text.ptr[r->at] : -1;
}

// At the digits of a reference.
static const char *read_number(struct reader *r) {
  uint64_t n = 0;
  if (!isdigit(peek(r)))
    return "`$` stands before the number of an operand, as in `$0`; `$$` is a dollar sign";
  for (; isdigit(peek(r)) && n < UINT32_MAX; r->at++)
    n = n * 10 + (uint64_t)(peek(r) - '0');
  if (n < r->operands)
    return NULL;
  return arena_printf(r->a, "there is no operand `$%llu`: the constraints name %u",
                      (unsigned long long)n, r->operands);
}

static const char *read_special(struct reader *r) {
  static const char *const words[] = {":uid}", ":comment}", ":private}"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (starts(r, words[i])) {
      r->at += strlen(words[i]);
      return NULL;
    }
  return "`${:` goes on with `uid}`, `comment}` or `private}`";
}

// After `${`.
static const char *read_braced(struct reader *r) {
  if (peek(r) == ':')
    return read_special(r);
  const char *error = read_number(r);
  if (error)
    return error;
  if (peek(r) == ':') {
    r->at++;
    if (peek(r) != 'r')
      return "the only modifier of an operand is `r`, as in `${0:r}`";
    r->at++;
  }
  if (peek(r) != '}')
    return "the reference `${` has no `}`";
  r->at++;
  return NULL;
}

// After `$`.
static const char *read_reference(struct reader *r) {
  int c = peek(r);
  if (c == '$') {
    r->at++;
    return NULL;
  }
  if (c == '(' || c == '|' || c == ')') {
    if ((c == '(') == r->in_variants)
      return c == '(' ? "`$(` stands within another `$(`" : "there is no `$(` before this";
    r->in_variants = c != ')';
    r->is_taken = c != '|';
    r->at++;
    return NULL;
  }
  if (c != '{')
    return read_number(r);
  r->at++;
  return read_braced(r);
}

// To the end of a string or comment that begins here; false where it has none.
static bool skip_quoted(struct reader *r, size_t begin, const char *end, bool needs_end) {
  r->at += begin;
  while (r->at < r->text.len && !starts(r, end)) {
    if (peek(r) == '$') // LLVM reads references there too
      return true;
    r->at++;
  }
  if (r->at == r->text.len)
    return !needs_end;
  r->at += strlen(end);
  return true;
}

static const char *read_plain(struct reader *r) {
  int c = peek(r);
  if (c == 0 || (c < ' ' && c != '\n' && c != '\t' && c != '\r') || c == 0x7f)
    return "a control character stands in it";
  if (starts(r, "//"))
    return skip_quoted(r, 2, "\n", false), NULL;
  if (starts(r, "/*"))
    return skip_quoted(r, 2, "*/", true) ? NULL : "a comment has no `*/`";
  if (c == '"')
    return skip_quoted(r, 1, "\"", true) ? NULL : "a string has no `\"` at its end";
  r->depth += r->is_taken ? (c == '{') - (c == '}') : 0;
  r->at++;
  return r->depth < 0 ? "a `}` has no `{` before it" : NULL;
}

const char *asm_text_error(struct arena *a, struct str text, unsigned operands) {
  struct reader r = {.a = a, .text = text, .operands = operands, .is_taken = true};
  const char *error = NULL;
  while (r.at < text.len && !error) {
    if (peek(&r) == '$') {
      r.at++;
      error = read_reference(&r);
    } else {
      error = read_plain(&r);
    }
  }
  if (!error && r.in_variants)
    error = "`$(` has no `$)`";
  if (!error && r.depth > 0)
    error = "a `{` has no `}`";
  return error;
}
