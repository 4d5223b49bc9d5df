// SPDX-License-Identifier: Apache-2.0
// TILE_DEBUG: internal tracing. The only library file that writes to standard error.
#include "base/debug.h"
#include "base/str.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define DEBUG_READ 0x80000000u // the environment has been read

static unsigned read_words(void) {
#define X(id, name, doc) name,
  static const char *const names[] = {DEBUG_WORDS(X)};
#undef X
  unsigned words = DEBUG_READ;
  const char *text = getenv("TILE_DEBUG");
  struct str rest = str_from(text ? text : ""), word;
  while (rest.ptr && rest.len) {
    rest = str_split(rest, ',', &word);
    for (unsigned i = 0; i < DEBUG_WORD_COUNT; i++)
      if (str_is(str_trim(word), names[i]) || str_is(word, "all"))
        words |= 1u << i;
  }
  return words;
}

bool debug_on(enum debug_word w) {
  // A cache of the environment, shared by all threads: launches test it on their fast path.
  static atomic_uint words;
  unsigned now = atomic_load_explicit(&words, memory_order_relaxed);
  if (!now) {
    now = read_words();
    atomic_store_explicit(&words, now, memory_order_relaxed);
  }
  return now >> w & 1;
}

void debug_log(enum debug_word w, const char *fmt, ...) {
  if (!debug_on(w))
    return;
#define X(id, name, doc) name,
  static const char *const names[] = {DEBUG_WORDS(X)};
#undef X
  struct strbuf line = {0};
  strbuf_printf(&line, "[%s] ", names[w]);
  va_list ap;
  va_start(ap, fmt);
  strbuf_vprintf(&line, fmt, ap);
  va_end(ap);
  strbuf_putc(&line, '\n');
  // One write per line, so that lines of several threads do not interleave.
  fwrite(strbuf_cstr(&line), 1, line.len, stderr);
  strbuf_finish(&line);
}

bool debug_unknown_word(struct str *ret) {
#define X(id, name, doc) name,
  static const char *const names[] = {DEBUG_WORDS(X)};
#undef X
  const char *text = getenv("TILE_DEBUG");
  struct str rest = str_from(text ? text : "");
  while (rest.ptr && rest.len) {
    rest = str_split(rest, ',', ret);
    *ret = str_trim(*ret);
    bool is_known = ret->len == 0 || str_is(*ret, "all");
    for (unsigned i = 0; i < DEBUG_WORD_COUNT && !is_known; i++)
      is_known = str_is(*ret, names[i]);
    if (!is_known)
      return true;
  }
  return false;
}

const char *debug_help(void) {
#define X(id, name, doc) "  " name ": " doc "\n"
  return "TILE_DEBUG=word,word,... with\n" DEBUG_WORDS(X) "  all: everything\n";
#undef X
}
