// SPDX-License-Identifier: Apache-2.0
// Goldens: tests/lang/NAME.tile must print as NAME.ast, and the diagnostics of lexing and parsing
// in tests/diagnostics must read as their .expected files, also without tilec. With TILE_UPDATE=1
// in the environment the .ast files are rewritten instead.
#include "base/file.h"
#include "parsed.h"
#include "suites.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static struct str read_test(struct arena *a, const char *path) {
  struct str text = {NULL, 0};
  int error = file_read(a, path, SOURCE_MAX_BYTES, &text);
  ck_assert_msg(error == 0, "cannot read %s: %s", path, strerror(error));
  return text;
}

// The path with another ending.
static const char *sibling(struct arena *a, const char *path, const char *ending) {
  const char *dot = strrchr(path, '.');
  return arena_printf(a, "%.*s%s", (int)(dot - path), path, ending);
}

static void check_text(const char *path, struct str want, const struct strbuf *got) {
  struct str have = {strbuf_cstr(got), got->len};
  if (str_eq(want, have))
    return;
  size_t at = 0;
  while (at < want.len && at < have.len && want.ptr[at] == have.ptr[at])
    at++;
  size_t line = at;
  while (line > 0 && have.ptr[line - 1] != '\n')
    line--;
  ck_abort_msg("%s differs from byte %zu on: %.200s", path, at, have.ptr + line);
}

static void check_ast(const char *path) {
  struct arena *a = arena_create();
  struct parsed p = parsed_create("t.tile", read_test(a, path));
  ck_assert_ptr_nonnull(p.module);
  struct strbuf out = {0};
  ast_print(p.module, &out);
  const char *golden = sibling(a, path, ".ast");
  if (getenv("TILE_UPDATE"))
    ck_assert_int_eq(file_write(golden, out.ptr, out.len), 0);
  check_text(golden, read_test(a, golden), &out);
  strbuf_finish(&out);
  parsed_destroy(&p);
  arena_destroy(a);
}

// A golden of parsing or of the choice of a kernel.
static void check_diagnostics(const char *path) {
  struct arena *a = arena_create();
  struct str text = read_test(a, path);
  // What the program says of other forms of output is not the parser's.
  if (strstr(text.ptr, "--emit=") && !strstr(text.ptr, "--emit=tile") &&
      !strstr(text.ptr, "--emit=ast")) {
    arena_destroy(a);
    return;
  }
  struct parsed p = parsed_create(strrchr(path, '/') + 1, text);
  if (p.module && diag_error_count(p.diag) == 0) {
    const char *option = strstr(text.ptr, "--kernel=");
    const char *kernel = option ? arena_strndup(a, option + 9, strcspn(option + 9, " \n")) : NULL;
    const char *name;
    struct lang_param *params;
    size_t n;
    bool ok = lang_kernel_params(p.arena, p.diag, p.unit, kernel, &name, &params, &n);
    ck_assert_msg(ok == (diag_error_count(p.diag) == 0), "%s", path);
  }
  struct strbuf out = {0};
  diag_render_text(p.diag, (struct diag_style){0}, &out);
  check_text(path, read_test(a, sibling(a, path, ".expected")), &out);
  strbuf_finish(&out);
  parsed_destroy(&p);
  arena_destroy(a);
}

static unsigned for_each(const char *folder, const char *prefix, void (*check)(const char *)) {
  struct arena *a = arena_create();
  DIR *dir = opendir(folder);
  ck_assert_msg(dir != NULL, "cannot open %s", folder);
  unsigned n = 0;
  for (struct dirent *e; (e = readdir(dir)) != NULL;) {
    struct str name = str_from(e->d_name);
    if (!str_ends(name, ".tile") || !str_starts(name, prefix))
      continue;
    check(arena_printf(a, "%s/%s", folder, e->d_name));
    n++;
  }
  closedir(dir);
  arena_destroy(a);
  return n;
}

START_TEST(trees) { ck_assert_uint_ge(for_each(TESTS_DIR "/lang", "", check_ast), 4); }
END_TEST

START_TEST(diagnostics) {
  ck_assert_uint_ge(for_each(TESTS_DIR "/diagnostics", "E00", check_diagnostics), 10);
  ck_assert_uint_ge(for_each(TESTS_DIR "/diagnostics", "E01", check_diagnostics), 20);
  ck_assert_uint_ge(for_each(TESTS_DIR "/diagnostics", "E040", check_diagnostics), 6);
}
END_TEST

Suite *goldens_suite(void) {
  Suite *s = suite_create("goldens");
  TCase *t = tcase_create("goldens");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, trees);
  tcase_add_test(t, diagnostics);
  suite_add_tcase(s, t);
  return s;
}
