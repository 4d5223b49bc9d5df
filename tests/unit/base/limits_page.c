// SPDX-License-Identifier: Apache-2.0
// Compares docs/limits.md with the table base/limits.def. Arguments: the page, and --update to
// write it.
#include "base/limits.h"

#include <stdio.h>
#include <stdlib.h>

static void print_page(struct strbuf *out) {
  strbuf_puts(
      out, "# Limits\n\n"
           "Generated from `base/limits.def`; regenerate with\n"
           "`build/tests/unit/base/limits-page docs/limits.md --update`.\n\n"
           "A program beyond a limit is refused with the code in its row. E0950 messages name the "
           "limit and an alternative;\n`tilec` ends with status 75, C calls with `TILE_LIMIT`. "
           "Within the limits a compilation takes seconds and at most a few\nhundred MiB; "
           "`tests/limits/` has small inputs that are expensive to compile.\n\n"
           "| limit | at most | code | instead |\n|---|---|---|---|\n");
  for (int i = 0; i < LIMIT_COUNT; i++) {
    const struct limit_row *r = limit_row((enum limit_id)i);
    strbuf_printf(out, "| %s | %llu | %s | %s |\n", r->what, r->value, r->code, r->instead);
  }
}

static bool file_is(const char *path, const struct strbuf *want) {
  FILE *f = fopen(path, "rb");
  if (!f)
    return false;
  char *have = malloc(want->len + 1);
  size_t n = have ? fread(have, 1, want->len + 1, f) : 0;
  bool same = have && n == want->len && memcmp(have, want->ptr, n) == 0;
  free(have);
  fclose(f);
  return same;
}

int main(int argc, char **argv) {
  struct strbuf page = {0};
  print_page(&page);
  if (argc < 2 || page.failed)
    return EXIT_FAILURE;
  bool ok;
  if (argc > 2 && strcmp(argv[2], "--update") == 0) {
    FILE *f = fopen(argv[1], "wb");
    ok = f && fwrite(page.ptr, 1, page.len, f) == page.len;
    ok = f && fclose(f) == 0 && ok;
  } else {
    ok = file_is(argv[1], &page);
    printf("1..1\n%sok 1 - %s is what the table says\n", ok ? "" : "not ", argv[1]);
  }
  strbuf_finish(&page);
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
