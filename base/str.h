// SPDX-License-Identifier: Apache-2.0
// Sized strings (views, never owning) and a growable string builder on the heap.
#ifndef TILE_BASE_STR_H
#define TILE_BASE_STR_H

#include "base/attrs.h"

#include <stdarg.h>
#include <string.h>

// A view of `len` bytes, not NUL-terminated.
struct str {
  const char *ptr;
  size_t len;
};

#define STR(literal) ((struct str){"" literal, sizeof(literal) - 1})
#define STR_ARG(s) (int)(s).len, (s).ptr // for "%.*s"

static inline struct str str_from(const char *s) { return (struct str){s, s ? strlen(s) : 0}; }
static inline bool str_eq(struct str a, struct str b) {
  return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}
static inline bool str_is(struct str a, const char *b) { return str_eq(a, str_from(b)); }
bool str_starts(struct str s, const char *prefix);
bool str_ends(struct str s, const char *suffix);
struct str str_trim(struct str s); // spaces, tabs, CR, LF at both ends
// Splits at the first `sep`: *ret_head gets what stands before it, the result is what follows
// (ptr NULL when there was no `sep`; then the head is the whole).
struct str str_split(struct str s, char sep, struct str *ret_head);
// Strict: the whole view must be the number. Accepts 0x, 0b, 0o and '_' between digits.
bool str_to_i64(struct str s, int64_t *ret);
bool str_to_u64(struct str s, uint64_t *ret);
bool str_to_f64(struct str s, double *ret); // locale-independent

// Edit distance (insert, delete, replace, swap of neighbours), for "did you mean".
unsigned str_distance(struct str a, struct str b);
// The nearest of `n` candidates if it is near enough to be a misspelling, else NULL.
const char *str_nearest(struct str name, const char *const *candidates, size_t n);

// Builder: `struct strbuf text = {.arena = a};`. Its memory belongs to the arena; when there is
// none, the arena's handler is jumped to, so that nobody sees a text which is incomplete.
// strbuf_finish frees it early. `ptr` is NUL-terminated when not NULL.
//
// Without an arena (few do, where there is none: tests/check-names lists them) memory is of the
// heap, `failed` is set when it ran out and further appends do nothing; the user must look at it
// before the text means anything, and must call strbuf_finish.
struct arena;
struct strbuf {
  char *ptr;
  size_t len, cap;
  bool failed;
  struct arena *arena;
};

// Never jumps: for callbacks that C++ code calls. Where memory ran out, the next call that is not
// of this kind, strbuf_cstr as well, jumps.
void strbuf_put_in_callback(struct strbuf *b, const char *s, size_t n);
void strbuf_put(struct strbuf *b, const char *s, size_t n);
void strbuf_puts(struct strbuf *b, const char *s);
void strbuf_putc(struct strbuf *b, char c);
void strbuf_printf(struct strbuf *b, const char *fmt, ...) PRINTF(2, 3);
void strbuf_vprintf(struct strbuf *b, const char *fmt, va_list ap) PRINTF(2, 0);
// The text as a C string, "" when empty; valid until the next change.
const char *strbuf_cstr(const struct strbuf *b);
// For who could not make a part of the text: as if memory had run out in `b` itself.
void strbuf_fail(struct strbuf *b);
// Jumps if an append failed in a callback; for who reads `ptr` and `len` himself.
void strbuf_check(const struct strbuf *b);
void strbuf_clear(struct strbuf *b);
void strbuf_finish(struct strbuf *b);
// Of a buffer without an arena: gives the text to the caller (free()), the builder becomes empty.
// NULL if it had failed.
char *strbuf_take(struct strbuf *b);

#endif
