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
// Splits at the first `sep`: *ret_head gets the text before it, the result is the text after it
// (ptr NULL when there was no `sep`; then the head is the whole).
struct str str_split(struct str s, char sep, struct str *ret_head);
// The same, at the first comma outside of quotes, () and []. Closing brackets without an opening
// one do not count.
struct str str_split_list(struct str s, struct str *ret_head);
// Strict: the whole view must be the number. Accepts 0x, 0b, 0o and '_' between digits.
bool str_to_i64(struct str s, int64_t *ret);
bool str_to_u64(struct str s, uint64_t *ret);
bool str_to_f64(struct str s, double *ret); // locale-independent

// Edit distance (insert, delete, replace, swap of neighbours), for "did you mean".
unsigned str_distance(struct str a, struct str b);
// The nearest of `n` candidates if it is near enough for a misspelling, else NULL.
const char *str_nearest(struct str name, const char *const *candidates, size_t n);

// Builder: `struct strbuf text = {.arena = a};`. Its memory belongs to the arena; when memory is
// out, the arena's handler is called, so that no caller sees an incomplete text. strbuf_finish
// frees it early. `ptr` is NUL-terminated when not NULL.
//
// Without an arena (tests/check-names lists the few files) memory is from the heap; when it runs
// out, `failed` is set and further appends do nothing. The user must check it before reading the
// text, and must call strbuf_finish.
struct arena;
struct strbuf {
  char *ptr;
  size_t len, cap;
  bool failed;
  struct arena *arena;
};

// Never jumps: for callbacks from C++ code. If memory ran out, the next call that may jump,
// strbuf_cstr included, does.
void strbuf_put_in_callback(struct strbuf *b, const char *s, size_t n);
void strbuf_put(struct strbuf *b, const char *s, size_t n);
void strbuf_puts(struct strbuf *b, const char *s);
void strbuf_putc(struct strbuf *b, char c);
void strbuf_printf(struct strbuf *b, const char *fmt, ...) PRINTF(2, 3);
void strbuf_vprintf(struct strbuf *b, const char *fmt, va_list ap) PRINTF(2, 0);
// The text as a C string, "" when empty; valid until the next change.
// A time in the unit that fits: `12.3456 ms`, `46.71 us`.
void strbuf_time(struct strbuf *b, double ms);
const char *strbuf_cstr(const struct strbuf *b);
// Marks `b` as if memory had run out: a part of the text could not be built.
void strbuf_fail(struct strbuf *b);
// Jumps if an append failed in a callback; call it before reading `ptr` and `len` directly.
void strbuf_check(const struct strbuf *b);
void strbuf_clear(struct strbuf *b);
void strbuf_finish(struct strbuf *b);
// For a buffer without an arena: the caller owns the text (free()), the builder becomes empty. NULL
// if it had failed.
char *strbuf_take(struct strbuf *b);

#endif
