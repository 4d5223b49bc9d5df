// SPDX-License-Identifier: Apache-2.0
// Tensors in files: valid ones are found by name, invalid ones are rejected with a reason.
#include "base/attrs.h"
#include "suites.h"

#include <tile/weights.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], path[96];

static void set_up(void) {
  strcpy(folder, "/tmp/tile-weights-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/w.safetensors", folder);
}

static void tear_down(void) {
  char command[96];
  snprintf(command, sizeof command, "rm -r %s", folder);
  ck_assert_int_eq(system(command), 0);
}

static void write_file(const char *at, const void *data, size_t size) {
  FILE *f = fopen(at, "wb");
  ck_assert_ptr_nonnull(f);
  ck_assert_uint_eq(fwrite(data, 1, size, f), size);
  ck_assert_int_eq(fclose(f), 0);
}

static tile_status open_header(const char *header, size_t data_bytes, tile_weights **ret) {
  char file[1024] = {0};
  size_t n = strlen(header);
  file[0] = (char)(n & 255);
  file[1] = (char)(n >> 8);
  memcpy(file + 8, header, n);
  for (size_t i = 0; i < data_bytes; i++)
    file[8 + n + i] = (char)i;
  write_file(path, file, 8 + n + data_bytes);
  return tile_weights_open(path, ret);
}

START_TEST(safetensors) {
  tile_weights *w = NULL;
  tile_weight t;
  ck_assert_int_eq(
      open_header("{\"__metadata__\": {\"format\": \"pt\"},"
                  "\"a.b\": {\"dtype\": \"BF16\", \"shape\": [2, 3], \"data_offsets\": [4, 16]},"
                  "\"s\": {\"dtype\": \"F32\", \"shape\": [], \"data_offsets\": [0, 4]}}",
                  16, &w),
      TILE_OK);
  ck_assert_uint_eq(tile_weights_count(w), 2);
  ck_assert_int_eq(tile_weights_find(w, "a.b", &t), TILE_OK);
  ck_assert(t.type == TILE_BF16 && t.rank == 2 && t.shape[0] == 2 && t.shape[1] == 3 &&
            t.size == 12);
  ck_assert_int_eq(((const char *)t.data)[0], 4);
  ck_assert_int_eq(tile_weights_at(w, 1, &t), TILE_OK);
  ck_assert_str_eq(t.name, "s");
  ck_assert(t.type == TILE_F32 && t.rank == 0 && t.size == 4);
  ck_assert_int_eq(tile_weights_at(w, 2, &t), TILE_NOT_FOUND);
  ck_assert_int_eq(tile_weights_find(w, "c", &t), TILE_NOT_FOUND);
  tile_weights_close(w);
}
END_TEST

START_TEST(unsound_files_are_refused) {
#define ENTRY(type, shape, offsets)                                                                \
  "{\"a\": {\"dtype\": " type ", \"shape\": " shape ", \"data_offsets\": " offsets "}}"
  static const char *const wrong[] = {
      "[]",
      "{\"a\": 3}",
      "{",
      ENTRY("\"F31\"", "[4]", "[0, 16]"),
      ENTRY("\"F32\"", "[5]", "[0, 16]"),
      ENTRY("\"F32\"", "[4]", "[4, 20]"),
      ENTRY("\"F32\"", "[-4]", "[0, 16]"),
      ENTRY("\"F32\"", "[4.5]", "[0, 18]"),
      ENTRY("\"F32\"", "[4]", "[16, 0]"),
      ENTRY("\"F32\"", "[4]", "[0]"),
      ENTRY("\"F32\"", "[4611686018427387904, 4]", "[0, 0]"),
      ENTRY("\"F32\"", "[1, 1, 1, 1, 1, 1, 1, 1, 4]", "[0, 16]"),
      "{\"a\": {\"dtype\": \"I8\", \"shape\": [1], \"data_offsets\": [0, 1]},"
      " \"a\": {\"dtype\": \"I8\", \"shape\": [1], \"data_offsets\": [0, 1]}}",
  };
  tile_weights *w = NULL;
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    ck_assert_msg(open_header(wrong[i], 16, &w) == TILE_INVALID_ARGUMENT, "%s", wrong[i]);
    ck_assert_ptr_nonnull(strstr(tile_error_message(), "w.safetensors"));
  }
  write_file(path, "\xff\xff\xff\xff\xff\xff\xff\xff{}", 10);
  ck_assert_int_eq(tile_weights_open(path, &w), TILE_INVALID_ARGUMENT);
  write_file(path, "", 0);
  ck_assert_int_eq(tile_weights_open(path, &w), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_weights_open("/nowhere/w.safetensors", &w), TILE_NOT_FOUND);
  ck_assert_ptr_null(w);
}
END_TEST

START_TEST(tensors_cover_the_file) {
#define PAIR(a, b)                                                                                 \
  "{\"a\": {\"dtype\": \"I8\", \"shape\": [8], \"data_offsets\": " a "},"                          \
  " \"b\": {\"dtype\": \"I8\", \"shape\": [8], \"data_offsets\": " b "}}"
  tile_weights *w = NULL;
  ck_assert_int_eq(open_header(PAIR("[8, 16]", "[0, 8]"), 16, &w), TILE_OK);
  tile_weights_close(w);
  w = NULL;
  ck_assert_int_eq(open_header(PAIR("[0, 8]", "[4, 12]"), 12, &w), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "overlaps"));
  ck_assert_int_eq(open_header(PAIR("[0, 8]", "[0, 8]"), 8, &w), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(open_header(PAIR("[0, 8]", "[12, 20]"), 20, &w), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "gap"));
  ck_assert_int_eq(open_header(PAIR("[0, 8]", "[8, 16]"), 17, &w), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(open_header(ENTRY("\"I8\"", "[0]", "[0, 0]"), 0, &w), TILE_OK);
  tile_weights_close(w);
  w = NULL;
  ck_assert_int_eq(open_header("{\"a\\u0000b\": {\"dtype\": \"I8\", \"shape\": [1],"
                               " \"data_offsets\": [0, 1]}}",
                               1, &w),
                   TILE_INVALID_ARGUMENT);
  ck_assert_ptr_null(w);
}
END_TEST

// Later changes of the file do not reach its readers.
START_TEST(shortened_afterwards) {
  tile_weights *w = NULL;
  tile_weight t;
  ck_assert_int_eq(open_header(ENTRY("\"I8\"", "[16]", "[0, 16]"), 16, &w), TILE_OK);
  ck_assert_int_eq(truncate(path, 0), 0);
  ck_assert_int_eq(tile_weights_find(w, "a", &t), TILE_OK);
  ck_assert_int_eq(((const char *)t.data)[15], 15);
  tile_weights_close(w);
}
END_TEST

START_TEST(what_is_no_file_is_refused) {
  tile_weights *w = NULL;
  char at[128];
  snprintf(at, sizeof at, "%s/pipe.npy", folder);
  ck_assert_int_eq(mkfifo(at, 0600), 0);
  ck_assert_int_eq(tile_weights_open(at, &w), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_weights_open(folder, &w), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_weights_open("/dev/zero", &w), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(unlink(at), 0);
  ck_assert_int_eq(mkdir(at, 0700), 0);
  ck_assert_int_eq(tile_weights_open(folder, &w), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_null(w);
}
END_TEST

START_TEST(folders_of_npy) {
  tile_weights *w = NULL;
  tile_weight t;
  char at[128], file[10 + 118 + 8];
  memset(file, ' ', sizeof file);
  memcpy(file, "\x93NUMPY\1\0\x76\0", 10);
  memcpy(file + 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 57);
  file[127] = '\n';
  memcpy(file + 128, (float[]){1.5f, -2.0f}, 8);
  snprintf(at, sizeof at, "%s/b.weight.npy", folder);
  write_file(at, file, sizeof file);
  ck_assert_int_eq(tile_weights_open(at, &w), TILE_OK); // one file
  ck_assert_int_eq(tile_weights_find(w, "b.weight", &t), TILE_OK);
  tile_weights_close(w);
  snprintf(at, sizeof at, "%s/a.npy", folder);
  write_file(at, file, sizeof file);
  ck_assert_int_eq(tile_weights_open(folder, &w), TILE_OK);
  ck_assert_uint_eq(tile_weights_count(w), 2);
  ck_assert_int_eq(tile_weights_at(w, 1, &t), TILE_OK);
  ck_assert_str_eq(t.name, "b.weight");
  ck_assert(t.type == TILE_F32 && t.rank == 1 && t.shape[0] == 2 && t.size == 8);
  ck_assert(((const float *)t.data)[1] == -2.0f);
  tile_weights_close(w);
  tile_weights_close(NULL);
  write_file(at, file, sizeof file - 1);
  ck_assert_int_eq(tile_weights_open(folder, &w), TILE_INVALID_ARGUMENT);
}
END_TEST

Suite *suite_weights(void) {
  Suite *s = suite_create("weights");
  TCase *t = tcase_create("files");
  tcase_add_checked_fixture(t, set_up, tear_down);
  tcase_add_test(t, safetensors);
  tcase_add_test(t, unsound_files_are_refused);
  tcase_add_test(t, tensors_cover_the_file);
  tcase_add_test(t, shortened_afterwards);
  tcase_add_test(t, what_is_no_file_is_refused);
  tcase_add_test(t, folders_of_npy);
  suite_add_tcase(s, t);
  return s;
}
