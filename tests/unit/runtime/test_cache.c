// SPDX-License-Identifier: Apache-2.0
// The cache on disk: damaged, foreign or partial files are misses; concurrent writers, readers,
// eviction and killed processes do not affect each other.
#include "base/sha256.h"
#include "runtime/cache_internal.h"
#include "suites.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[64], folder[80];
static struct arena *arena;

static void make_folder(void) {
  snprintf(root, sizeof root, "tile-cache-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(root));
  snprintf(folder, sizeof folder, "%s/cache", root);
  setenv("TILE_CACHE_DIR", folder, 1);
  arena = arena_create();
}

static void remove_folder(void) {
  char command[96];
  arena_destroy(arena);
  snprintf(command, sizeof command, "rm -rf %s", root);
  ck_assert_int_eq(system(command), 0);
}

static void key_of(unsigned n, uint8_t key[32]) {
  struct sha256 h;
  sha256_init(&h);
  sha256_field(&h, &n, sizeof n);
  sha256_final(&h, key);
}

// Entry n: info and code derived from n.
static void put(struct disk_cache *c, unsigned n) {
  uint8_t key[32];
  char info[32], code[4000];
  key_of(n, key);
  int length = snprintf(info, sizeof info, "{\"n\":%u}", n);
  memset(code, (int)(n % 251), sizeof code);
  disk_cache_put(c, key, (struct str){info, (size_t)length}, (struct str){code, 100 + n % 3000});
}

// True for a hit; a hit with other bytes fails the test.
static bool get(struct disk_cache *c, unsigned n) {
  uint8_t key[32];
  struct str info, code;
  char expected[32];
  key_of(n, key);
  struct arena_mark mark = arena_mark(arena);
  bool hit = disk_cache_get(c, arena, key, &info, &code);
  if (hit) {
    snprintf(expected, sizeof expected, "{\"n\":%u}", n);
    ck_assert(str_is(info, expected));
    ck_assert_uint_eq(code.len, 100 + n % 3000);
    for (size_t i = 0; i < code.len; i++)
      ck_assert_uint_eq((unsigned char)code.ptr[i], n % 251);
    ck_assert_int_eq(code.ptr[code.len], '\0');
  }
  arena_release(arena, mark);
  return hit;
}

static void path_of(unsigned n, char path[192]) {
  uint8_t key[32];
  char hex[65];
  key_of(n, key);
  sha256_hex(key, hex);
  snprintf(path, 192, "%s/%.2s/%s", folder, hex, hex + 2);
}

static struct disk_cache *open_cache(void) {
  struct disk_cache *c = disk_cache_open(NULL);
  ck_assert_ptr_nonnull(c);
  return c;
}

START_TEST(what_is_put_is_found) {
  struct disk_cache *c = open_cache();
  ck_assert(!get(c, 1));
  for (unsigned n = 0; n < 50; n++)
    put(c, n);
  for (unsigned n = 0; n < 50; n++)
    ck_assert(get(c, n));
  ck_assert(!get(c, 50));
  put(c, 7); // again
  ck_assert(get(c, 7));
  disk_cache_close(c);
  c = open_cache();
  ck_assert(get(c, 7));
  disk_cache_close(c);
  struct stat st;
  char path[192];
  path_of(7, path);
  ck_assert_int_eq(stat(path, &st), 0);
  ck_assert_int_eq(st.st_mode & 0777, 0600);
  ck_assert_int_eq(stat(folder, &st), 0);
  ck_assert_int_eq(st.st_mode & 0777, 0700);
  snprintf(path, sizeof path, "%s/CACHEDIR.TAG", folder);
  ck_assert_int_eq(stat(path, &st), 0);
}
END_TEST

START_TEST(where_the_folder_is) {
  char xdg[96], cwd[512];
  struct stat st;
  ck_assert_ptr_nonnull(getcwd(cwd, sizeof cwd - 128));
  unsetenv("TILE_CACHE_DIR");
  setenv("XDG_CACHE_HOME", root, 1); // relative: ignored
  char home[640];
  snprintf(home, sizeof home, "%s/%s", cwd, root);
  setenv("HOME", home, 1);
  disk_cache_close(open_cache());
  snprintf(xdg, sizeof xdg, "%s/.cache/tile", root);
  ck_assert_int_eq(stat(xdg, &st), 0);
  setenv("XDG_CACHE_HOME", home, 1);
  disk_cache_close(open_cache());
  snprintf(xdg, sizeof xdg, "%s/tile", root);
  ck_assert_int_eq(stat(xdg, &st), 0);
}
END_TEST

START_TEST(folders_that_are_refused) {
  const char *why = NULL;
  setenv("TILE_CACHE_DIR", "", 1);
  ck_assert_ptr_null(disk_cache_open(&why));
  ck_assert_ptr_nonnull(why);
  unsetenv("TILE_CACHE_DIR");
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  ck_assert_ptr_null(disk_cache_open(&why));
  setenv("TILE_CACHE_DIR", folder, 1);
  // Writable by others.
  ck_assert_int_eq(mkdir(folder, 0700), 0);
  ck_assert_int_eq(chmod(folder, 0777), 0);
  ck_assert_ptr_null(disk_cache_open(&why));
  ck_assert_ptr_nonnull(strstr(why, "others"));
  ck_assert_int_eq(chmod(folder, 0700), 0);
  disk_cache_close(open_cache());
  // A symbolic link, and a file.
  char link[96];
  snprintf(link, sizeof link, "%s/link", root);
  ck_assert_int_eq(symlink("cache", link), 0);
  setenv("TILE_CACHE_DIR", link, 1);
  ck_assert_ptr_null(disk_cache_open(&why));
  ck_assert_int_eq(unlink(link), 0);
  close(open(link, O_CREAT | O_WRONLY, 0600));
  ck_assert_ptr_null(disk_cache_open(&why));
  // Calls on a NULL cache do nothing.
  put(NULL, 1);
  ck_assert(!get(NULL, 1));
  disk_cache_close(NULL);
}
END_TEST

static size_t read_file(const char *path, char *data, size_t cap) {
  FILE *f = fopen(path, "rb");
  ck_assert_ptr_nonnull(f);
  size_t n = fread(data, 1, cap, f);
  fclose(f);
  return n;
}

static void write_file(const char *path, const char *data, size_t size) {
  int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
  ck_assert_int_ge(fd, 0);
  ck_assert_int_eq(write(fd, data, size), (ssize_t)size);
  close(fd);
}

START_TEST(every_flipped_bit_is_a_miss) {
  struct disk_cache *c = open_cache();
  char path[192], good[8192];
  put(c, 3);
  path_of(3, path);
  size_t size = read_file(path, good, sizeof good);
  ck_assert_uint_gt(size, 100);
  for (size_t bit = 0; bit < size * 8; bit++) {
    good[bit / 8] ^= (char)(1 << bit % 8);
    write_file(path, good, size);
    ck_assert_msg(!get(c, 3), "bit %zu was not noticed", bit);
    ck_assert_int_ne(access(path, F_OK), 0); // and it was removed
    good[bit / 8] ^= (char)(1 << bit % 8);
  }
  write_file(path, good, size);
  ck_assert(get(c, 3));
  disk_cache_close(c);
}
END_TEST

START_TEST(every_other_length_is_a_miss) {
  struct disk_cache *c = open_cache();
  char path[192], good[8192];
  put(c, 3);
  path_of(3, path);
  size_t size = read_file(path, good, sizeof good - 1);
  for (size_t n = 0; n < size; n++) {
    write_file(path, good, n);
    ck_assert(!get(c, 3));
  }
  good[size] = 0;
  write_file(path, good, size + 1);
  ck_assert(!get(c, 3));
  disk_cache_close(c);
}
END_TEST

START_TEST(another_entry_at_its_path_is_a_miss) {
  struct disk_cache *c = open_cache();
  char path3[192], path4[192];
  put(c, 3);
  put(c, 4);
  path_of(3, path3);
  path_of(4, path4);
  ck_assert_int_eq(rename(path4, path3), 0);
  ck_assert(!get(c, 3));
  ck_assert(!get(c, 4));
  put(c, 3);
  ck_assert(get(c, 3));
  disk_cache_close(c);
}
END_TEST

START_TEST(files_that_are_refused) {
  struct disk_cache *c = open_cache();
  char path[192], moved[96], fan_out[96];
  path_of(3, path);
  snprintf(moved, sizeof moved, "%s/moved", root);
  // A symbolic link to a good entry.
  put(c, 3);
  char target[128], cwd[512], absolute[640];
  ck_assert_int_eq(rename(path, moved), 0);
  ck_assert_ptr_nonnull(getcwd(cwd, sizeof cwd));
  snprintf(absolute, sizeof absolute, "%.500s/%s", cwd, moved);
  ck_assert_int_eq(symlink(absolute, path), 0);
  ck_assert(!get(c, 3));
  ck_assert_int_eq(access(moved, F_OK), 0); // the target is unchanged
  // A second name for it.
  unlink(path);
  ck_assert_int_eq(link(moved, path), 0);
  ck_assert(!get(c, 3));
  unlink(path);
  // Writable by others.
  ck_assert_int_eq(rename(moved, path), 0);
  ck_assert(get(c, 3));
  ck_assert_int_eq(chmod(path, 0666), 0);
  ck_assert(!get(c, 3));
  // A FIFO and a folder.
  ck_assert_int_eq(mkfifo(path, 0600), 0);
  ck_assert(!get(c, 3));
  unlink(path);
  ck_assert_int_eq(mkdir(path, 0700), 0);
  ck_assert(!get(c, 3));
  put(c, 3); // the folder was moved away
  ck_assert(get(c, 3));
  unlink(path);
  char inside[256];
  snprintf(inside, sizeof inside, "%s/inside", path);
  ck_assert(mkdir(path, 0700) == 0 && mkdir(inside, 0700) == 0);
  ck_assert(!get(c, 3));
  put(c, 3);
  ck_assert(get(c, 3));
  // A link instead of the fan-out folder.
  snprintf(fan_out, sizeof fan_out, "%.*s", (int)(strrchr(path, '/') - path), path);
  snprintf(target, sizeof target, "%s/elsewhere", root);
  ck_assert_int_eq(rename(fan_out, target), 0);
  ck_assert_int_eq(symlink("../elsewhere", fan_out), 0);
  put(c, 3);
  ck_assert(!get(c, 3));
  disk_cache_close(c);
}
END_TEST

START_TEST(read_only_folder_caches_nothing) {
  struct disk_cache *c = open_cache();
  put(c, 1);
  ck_assert_int_eq(chmod(folder, 0500), 0);
  put(c, 2);
  ck_assert(get(c, 1));
  if (geteuid() != 0) // root writes everywhere
    ck_assert(!get(c, 2));
  ck_assert_int_eq(chmod(folder, 0700), 0);
  disk_cache_close(c);
}
END_TEST

START_TEST(upkeep_removes_the_oldest) {
  struct disk_cache *c = open_cache();
  time_t now = time(NULL);
  char path[192];
  for (unsigned n = 0; n < 20; n++) {
    put(c, n * 3000); // 100 bytes of code each
    path_of(n * 3000, path);
    struct timespec t[2] = {{.tv_sec = now - 1000 + n}, {.tv_sec = now - 1000 + n}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, t, 0), 0);
  }
  struct stat st;
  ck_assert_int_eq(stat(path, &st), 0);
  uint64_t limit = 10u * (uint64_t)st.st_size + 50;
  ck_assert(disk_cache_evict(c, limit, now));
  unsigned left = 0;
  for (unsigned n = 0; n < 20; n++)
    left += get(c, n * 3000);
  ck_assert_uint_ge(left, 9);
  ck_assert_uint_le(left, 10);
  ck_assert(get(c, 19 * 3000));
  ck_assert(!get(c, 0));
  disk_cache_close(c);
}
END_TEST

// Files of other kinds are in their own folders; those of tunings are kept for a month.
START_TEST(upkeep_removes_old_journals) {
  struct disk_cache *c = open_cache();
  int tune = disk_cache_folder(c, CACHE_TUNE_FOLDER);
  ck_assert_int_ge(tune, 0);
  char old[160], fresh[160];
  snprintf(old, sizeof old, "%s/" CACHE_TUNE_FOLDER "/old.jsonl", folder);
  snprintf(fresh, sizeof fresh, "%s/" CACHE_TUNE_FOLDER "/fresh.jsonl", folder);
  write_file(old, "x", 1);
  write_file(fresh, "x", 1);
  time_t now = time(NULL);
  struct timespec t[2] = {{.tv_sec = now - CACHE_TUNE_SECONDS - 60},
                          {.tv_sec = now - CACHE_TUNE_SECONDS - 60}};
  ck_assert_int_eq(utimensat(AT_FDCWD, old, t, 0), 0);
  t[0].tv_sec = t[1].tv_sec = now - CACHE_TUNE_SECONDS + 60;
  ck_assert_int_eq(utimensat(AT_FDCWD, fresh, t, 0), 0);
  ck_assert(disk_cache_evict(c, 0, now)); // independent of the limit of entries
  ck_assert_int_ne(access(old, F_OK), 0);
  ck_assert_int_eq(access(fresh, F_OK), 0);
  ck_assert_int_lt(disk_cache_folder(NULL, CACHE_TUNE_FOLDER), 0);
  close(tune);
  disk_cache_close(c);
}
END_TEST

START_TEST(upkeep_removes_what_was_left_unfinished) {
  struct disk_cache *c = open_cache();
  time_t now = time(NULL);
  char path[192], old[256], fresh[256];
  put(c, 1);
  path_of(1, path);
  int head = (int)(strrchr(path, '/') - path);
  snprintf(old, sizeof old, "%.*s/.new-1-old", head, path);
  snprintf(fresh, sizeof fresh, "%.*s/.new-2-fresh", head, path);
  write_file(old, "x", 1);
  write_file(fresh, "x", 1);
  struct timespec t[2] = {{.tv_sec = now - 4000}, {.tv_sec = now - 4000}};
  ck_assert_int_eq(utimensat(AT_FDCWD, old, t, 0), 0);
  ck_assert(disk_cache_evict(c, CACHE_LIMIT_BYTES, now));
  ck_assert_int_ne(access(old, F_OK), 0);
  ck_assert_int_eq(access(fresh, F_OK), 0);
  ck_assert(get(c, 1));
  disk_cache_close(c);
}
END_TEST

// ---- together ----

static void *put_and_get(void *user) {
  struct disk_cache *c = disk_cache_open(NULL);
  struct arena *a = arena_create();
  unsigned seed = (unsigned)(uintptr_t)user;
  for (int i = 0; i < 200; i++) {
    unsigned n = (seed * 31 + (unsigned)i * 17) % 8;
    uint8_t key[32];
    struct str info, code;
    key_of(n, key);
    if (!disk_cache_get(c, a, key, &info, &code))
      put(c, n);
    else if (code.len != 100 + n % 3000 || (unsigned char)code.ptr[code.len - 1] != n % 251)
      seed = 0; // wrong bytes
    if (i % 50 == 0)
      disk_cache_evict(c, 2000, time(NULL));
  }
  arena_destroy(a);
  disk_cache_close(c);
  return (void *)(uintptr_t)seed;
}

START_TEST(threads_together) {
  pthread_t t[4];
  for (uintptr_t i = 0; i < 4; i++)
    pthread_create(&t[i], NULL, put_and_get, (void *)(i + 1));
  for (int i = 0; i < 4; i++) {
    void *seed = NULL;
    pthread_join(t[i], &seed);
    ck_assert_ptr_nonnull(seed);
  }
}
END_TEST

START_TEST(processes_together) {
  pid_t children[4];
  for (int i = 0; i < 4; i++) {
    children[i] = fork();
    if (children[i] == 0)
      _exit(put_and_get((void *)(uintptr_t)(i + 1)) ? 0 : 1);
  }
  for (int i = 0; i < 4; i++) {
    int status;
    ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
    ck_assert_int_eq(status, 0);
  }
}
END_TEST

// A writer is killed at a random moment; every entry is then complete or absent.
START_TEST(killed_writers_leave_no_torn_entry) {
  struct disk_cache *c = open_cache();
  srand(1);
  unsigned hits = 0;
  for (int round = 0; round < 100; round++) {
    pid_t child = fork();
    if (child == 0) {
      for (unsigned n = 0;; n++)
        put(c, (unsigned)round * 100 + n % 100);
    }
    usleep((useconds_t)(rand() % 3000));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    for (unsigned n = 0; n < 100; n++)
      hits += get(c, (unsigned)round * 100 + n); // compares the bytes
  }
  ck_assert_uint_gt(hits, 0);
  disk_cache_evict(c, CACHE_LIMIT_BYTES, time(NULL) + 2 * 3600);
  char command[160];
  snprintf(command, sizeof command, "test -z \"$(find %s -name '.new-*')\"", folder);
  ck_assert_int_eq(system(command), 0);
  disk_cache_close(c);
}
END_TEST

Suite *suite_cache(void) {
  Suite *s = suite_create("disk cache");
  TCase *t = tcase_create("entries");
  tcase_add_checked_fixture(t, make_folder, remove_folder);
  tcase_set_timeout(t, 120);
  tcase_add_test(t, what_is_put_is_found);
  tcase_add_test(t, where_the_folder_is);
  tcase_add_test(t, folders_that_are_refused);
  tcase_add_test(t, every_flipped_bit_is_a_miss);
  tcase_add_test(t, every_other_length_is_a_miss);
  tcase_add_test(t, another_entry_at_its_path_is_a_miss);
  tcase_add_test(t, files_that_are_refused);
  tcase_add_test(t, read_only_folder_caches_nothing);
  tcase_add_test(t, upkeep_removes_the_oldest);
  tcase_add_test(t, upkeep_removes_what_was_left_unfinished);
  tcase_add_test(t, upkeep_removes_old_journals);
  tcase_add_test(t, threads_together);
  tcase_add_test(t, processes_together);
  tcase_add_test(t, killed_writers_leave_no_torn_entry);
  suite_add_tcase(s, t);
  return s;
}
