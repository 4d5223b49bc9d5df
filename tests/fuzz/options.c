// SPDX-License-Identifier: Apache-2.0
// Command lines, one word per line: the options, then --signature and -D.
#include "drive.h"
#include "tools/tool.h"

enum { WORDS = 64 };

static int split(char *text, char **words) {
  static char program[] = "tilec";
  int n = 1;
  words[0] = program;
  for (char *at = text; at && n < WORDS; n++) {
    words[n] = at;
    at = strchr(at, '\n');
    if (at)
      *at++ = 0;
  }
  words[n] = NULL;
  return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct drive d;
  char *words[WORDS + 1];
  if (!drive_begin(&d))
    return 0;
  struct tool t = {.arena = d.arena, .diag = d.diag};
  t.o.passes.log = &t.log;
  int count = split(arena_strndup(d.arena, (const char *)data, size), words);
  bool ok = options_parse(&t, count, words);
  DRIVE_CHECK(ok == (diag_error_count(d.diag) == 0));
  struct lang_binding *bindings;
  size_t binding_count;
  if (ok && tool_bindings(&t, &bindings, &binding_count))
    DRIVE_CHECK(binding_count == 0 || bindings[0].name);
  strbuf_finish(&t.log);
  drive_end(&d);
  return 0;
}
