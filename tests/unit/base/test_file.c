// SPDX-License-Identifier: Apache-2.0
// Files: limits, replacing, folders, failures.
#include "base/attrs.h"
#include "base/file.h"
#include "suites.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct arena *a;
static char folder[64];

static void setup(void) {
  a = arena_create();
  strcpy(folder, "test-file-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
}

static unsigned entries(const char *path, bool remove_them) {
  unsigned n = 0;
  DIR *d = opendir(path);
  for (struct dirent *e; d && (e = readdir(d));) {
    if (e->d_name[0] == '.')
      continue;
    n++;
    if (remove_them)
      remove(arena_printf(a, "%s/%s", path, e->d_name));
  }
  if (d)
    closedir(d);
  return n;
}

static void teardown(void) {
  entries(folder, true);
  rmdir(folder);
  arena_destroy(a);
}

static const char *at(const char *name) { return arena_printf(a, "%s/%s", folder, name); }

START_TEST(write_then_read) {
  struct str got;
  ck_assert_int_eq(file_write(at("x"), "hello", 5), 0);
  ck_assert_int_eq(file_read(a, at("x"), 100, &got), 0);
  ck_assert(str_is(got, "hello"));
  ck_assert_int_eq(got.ptr[5], 0);
  ck_assert_int_eq(file_write(at("x"), "", 0), 0);
  ck_assert_int_eq(file_read(a, at("x"), 0, &got), 0);
  ck_assert_uint_eq(got.len, 0);
  ck_assert_uint_eq(entries(folder, false), 1); // no temporary file is left
}
END_TEST

START_TEST(limit_is_exact) {
  struct str got;
  ck_assert_int_eq(file_write(at("x"), "12345", 5), 0);
  ck_assert_int_eq(file_read(a, at("x"), 5, &got), 0);
  ck_assert_int_eq(file_read(a, at("x"), 4, &got), EFBIG);
  ck_assert_int_eq(file_read(a, "/dev/zero", 100000, &got), EFBIG);
  ck_assert_int_eq(file_read(a, "/dev/null", 10, &got), 0);
  ck_assert_uint_eq(got.len, 0);
}
END_TEST

START_TEST(failures_are_errno_values) {
  struct str got;
  ck_assert_int_eq(file_read(a, at("missing"), 10, &got), ENOENT);
  ck_assert_int_eq(file_read(a, folder, 10, &got), EISDIR);
  ck_assert_int_eq(file_write(at("no/such"), "x", 1), ENOENT);
  ck_assert_int_eq(file_write(folder, "x", 1), EISDIR);
  ck_assert_uint_eq(entries(folder, false), 0);
  ck_assert(!file_exists(at("missing")));
  ck_assert(file_exists(folder));
}
END_TEST

START_TEST(through_links_and_devices) {
  struct str got;
  struct stat st;
  ck_assert_int_eq(file_write(at("target"), "old", 3), 0);
  ck_assert_int_eq(symlink("target", at("link")), 0);
  ck_assert_int_eq(file_write(at("link"), "new", 3), 0);
  ck_assert_int_eq(lstat(at("link"), &st), 0);
  ck_assert(S_ISLNK(st.st_mode));
  ck_assert_int_eq(file_read(a, at("target"), 10, &got), 0);
  ck_assert(str_is(got, "new"));
  ck_assert_int_eq(file_write("/dev/null", "x", 1), 0);
  ck_assert_int_eq(lstat("/dev/null", &st), 0);
  ck_assert(S_ISCHR(st.st_mode));
}
END_TEST

START_TEST(permissions_stay) {
  static const mode_t modes[] = {0600, 0640, 0666, 0755};
  struct stat st;
  for (size_t i = 0; i < COUNT_OF(modes); i++) {
    ck_assert_int_eq(file_write(at("kept"), "old", 3), 0);
    ck_assert_int_eq(chmod(at("kept"), modes[i]), 0);
    ck_assert_int_eq(file_write(at("kept"), "new", 3), 0);
    ck_assert_int_eq(stat(at("kept"), &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, modes[i]);
  }
}
END_TEST

START_TEST(folders) {
  ck_assert_int_eq(dir_create(at("a"), 0700), 0);
  ck_assert_int_eq(dir_create(at("a/b//c"), 0700), 0);
  ck_assert(file_exists(at("a/b/c")));
  ck_assert_int_eq(dir_create(at("a/b"), 0700), 0);
  ck_assert_int_eq(file_write(at("f"), "", 0), 0);
  ck_assert_int_eq(dir_create(at("f"), 0700), ENOTDIR);
  ck_assert_int_eq(dir_create(at("f/g"), 0700), ENOTDIR);
  rmdir(at("a/b/c"));
  rmdir(at("a/b"));
}
END_TEST

START_TEST(programs) {
  const char *sh = file_find_program(a, "sh");
  ck_assert_ptr_nonnull(sh);
  ck_assert(str_ends(str_from(sh), "/sh"));
  ck_assert_ptr_null(file_find_program(a, "no-such-program-here"));
  ck_assert_ptr_null(file_find_program(a, at("x")));
}
END_TEST

TCase *file_tests(void) {
  TCase *t = tcase_create("file");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_test(t, write_then_read);
  tcase_add_test(t, limit_is_exact);
  tcase_add_test(t, failures_are_errno_values);
  tcase_add_test(t, through_links_and_devices);
  tcase_add_test(t, permissions_stay);
  tcase_add_test(t, folders);
  tcase_add_test(t, programs);
  return t;
}
