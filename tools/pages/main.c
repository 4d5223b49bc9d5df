// SPDX-License-Identifier: Apache-2.0
// Prints a page:            option-pages man VERSION | bash | zsh | fish
// compares a document:      option-pages FILE.md          (TAP)
// and rewrites its tables:  option-pages FILE.md --update
#include "base/file.h"
#include "tools/pages/pages.h"

#include <stdio.h>
#include <stdlib.h>

static int print_page(const struct strbuf *out) {
  bool ok = !out->failed && fwrite(out->ptr, 1, out->len, stdout) == out->len;
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int document(struct arena *a, const char *path, bool update) {
  struct str text;
  struct strbuf out = {.arena = a};
  if (file_read(a, path, 1 << 24, &text) != 0 || !page_document(text, &out) || out.failed) {
    fprintf(stderr, "option-pages: cannot read `%s`, or its marks are wrong\n", path);
    return EXIT_FAILURE;
  }
  if (update)
    return file_write(path, out.ptr, out.len) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  bool same = str_is(text, strbuf_cstr(&out));
  printf("1..1\n%sok 1 - the tables of %s (`make docs-tables` writes them)\n", same ? "" : "not ",
         path);
  return same ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv) {
  struct arena *a = arena_create();
  jmp_buf on_oom;
  if (!a || argc < 2 || setjmp(on_oom))
    return EXIT_FAILURE;
  arena_set_oom(a, &on_oom);
  struct strbuf out = {.arena = a};
  int status;
  if (strcmp(argv[1], "man") == 0 && argc == 3)
    page_man(argv[2], &out), status = print_page(&out);
  else if (strcmp(argv[1], "bash") == 0)
    page_bash(&out), status = print_page(&out);
  else if (strcmp(argv[1], "zsh") == 0)
    page_zsh(&out), status = print_page(&out);
  else if (strcmp(argv[1], "fish") == 0)
    page_fish(&out), status = print_page(&out);
  else
    status = document(a, argv[1], argc > 2 && strcmp(argv[2], "--update") == 0);
  arena_destroy(a);
  return status;
}
