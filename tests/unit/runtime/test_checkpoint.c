// SPDX-License-Identifier: Apache-2.0
// Checkpoints: what is written keeps the format's rules, is read back bit for bit, and replaces the
// old file whole; files that do not fit change nothing.
#include "base/attrs.h"
#include "suites.h"

#include <tile/weights.h>

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], path[96];

static void set_up(void) {
  strcpy(folder, "/tmp/tile-checkpoint-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/c.safetensors", folder);
}

static void tear_down(void) {
  char command[96];
  snprintf(command, sizeof command, "rm -r %s", folder);
  ck_assert_int_eq(system(command), 0);
}

// The number of files in the folder: no temporary file is left.
static int count_files(void) {
  char command[96];
  int count = -1;
  snprintf(command, sizeof command, "ls -A %s | wc -l", folder);
  FILE *f = popen(command, "r");
  ck_assert(f && fscanf(f, "%d", &count) == 1);
  pclose(f);
  return count;
}

static tile_weight tensor(const char *name, tile_type type, const void *data, int rank, int64_t a,
                          int64_t b) {
  return (tile_weight){.name = name, .type = type, .rank = rank, .shape = {a, b}, .data = data};
}

// ---- the format, read without Tile's reader ----

static size_t read_bytes(unsigned char *to, size_t most) {
  FILE *f = fopen(path, "rb");
  ck_assert_ptr_nonnull(f);
  size_t n = fread(to, 1, most, f);
  fclose(f);
  return n;
}

// Where the tensor's bytes begin by the header's text; its dtype and shape must follow as given.
static size_t begin_of(const unsigned char *file, size_t header, const char *name,
                       const char *type) {
  char text[4096], wanted[128];
  memcpy(text, file + 8, header);
  text[header] = 0;
  snprintf(wanted, sizeof wanted, "\"%s\":{\"dtype\":%s,\"data_offsets\":[", name, type);
  char flat[4096], *to = flat;
  for (const char *c = text; *c; c++) // blanks between tokens do not count: no name has any
    if (*c != ' ' && *c != '\n')
      *to++ = *c;
  *to = 0;
  const char *at = strstr(flat, wanted);
  ck_assert_msg(at != NULL, "no `%s` in %s", wanted, flat);
  return 8 + header + strtoull(at + strlen(wanted), NULL, 10);
}

START_TEST(format) {
  const uint8_t bytes[3] = {7, 8, 9};
  const uint16_t halves[2] = {0x3f80, 0x7fc1};
  const double doubles[2] = {-0.0, 1e300};
  const tile_weight list[] = {
      tensor("tiny", TILE_U8, bytes, 1, 3, 0), tensor("b.half", TILE_BF16, halves, 2, 2, 1),
      tensor("empty", TILE_F32, NULL, 2, 0, 5), tensor("wide", TILE_F64, doubles, 1, 2, 0)};
  const tile_weights_note notes[] = {{"step", "17"}, {"quote \" \\ \n", "\xc3\xa9"}};
  ck_assert_msg(tile_weights_save(path, list, COUNT_OF(list), notes, 2) == TILE_OK, "%s",
                tile_error_message());
  unsigned char file[4096];
  size_t size = read_bytes(file, sizeof file), header = file[0] + 256u * file[1];
  ck_assert_int_eq(file[2] | file[3] | file[4] | file[5] | file[6] | file[7], 0);
  ck_assert_uint_eq(header % 8, 0);
  ck_assert_int_eq(file[8], '{');
  ck_assert_uint_eq(size, 8 + header + 3 + 4 + 16);
  size_t wide = begin_of(file, header, "wide", "\"F64\",\"shape\":[2]");
  size_t half = begin_of(file, header, "b.half", "\"BF16\",\"shape\":[2,1]");
  size_t tiny = begin_of(file, header, "tiny", "\"U8\",\"shape\":[3]");
  begin_of(file, header, "empty", "\"F32\",\"shape\":[0,5]");
  ck_assert(wide % 8 == 0 && half % 2 == 0);
  ck_assert_mem_eq(file + wide, doubles, 16);
  ck_assert_mem_eq(file + half, halves, 4);
  ck_assert_mem_eq(file + tiny, bytes, 3);
  tile_weights *w = NULL;
  ck_assert_int_eq(tile_weights_open(path, &w), TILE_OK);
  ck_assert_uint_eq(tile_weights_count(w), 4);
  ck_assert_str_eq(tile_weights_find_note(w, "step"), "17");
  ck_assert_str_eq(tile_weights_find_note(w, "quote \" \\ \n"), "\xc3\xa9");
  ck_assert_ptr_null(tile_weights_find_note(w, "steps"));
  tile_weights_close(w);
  ck_assert_int_eq(count_files(), 1);
}
END_TEST

START_TEST(nothing_at_all) {
  tile_weights *w = NULL;
  ck_assert_int_eq(tile_weights_save(path, NULL, 0, NULL, 0), TILE_OK);
  ck_assert_int_eq(tile_weights_open(path, &w), TILE_OK);
  ck_assert_uint_eq(tile_weights_count(w), 0);
  tile_weights_close(w);
}
END_TEST

static void expect_refusal(const tile_weight *list, size_t count, const tile_weights_note *notes,
                           size_t note_count, const char *why) {
  ck_assert_int_eq(tile_weights_save(path, list, count, notes, note_count), TILE_INVALID_ARGUMENT);
  ck_assert_msg(strstr(tile_error_message(), why) != NULL, "%s", tile_error_message());
}

START_TEST(refusals_keep_the_old_file) {
  const float x[6] = {1, 2, 3, 4, 5, 6};
  tile_weight good = tensor("x", TILE_F32, x, 1, 6, 0), two[2] = {good, good};
  ck_assert_int_eq(tile_weights_save(path, &good, 1, NULL, 0), TILE_OK);
  expect_refusal(two, 2, NULL, 0, "twice");
  two[1].name = "\xff";
  expect_refusal(two, 2, NULL, 0, "UTF-8");
  two[1].name = NULL;
  expect_refusal(two, 2, NULL, 0, "NULL");
  two[1].name = "__metadata__";
  expect_refusal(two, 2, NULL, 0, "own entry");
  two[1] = tensor("y", TILE_F8E4B15, x, 1, 6, 0);
  expect_refusal(two, 2, NULL, 0, "type");
  two[1] = tensor("y", TILE_F32, x, 2, -1, 2);
  expect_refusal(two, 2, NULL, 0, "negative");
  two[1] = tensor("y", TILE_F32, x, 2, INT64_MAX / 2, INT64_MAX / 2);
  expect_refusal(two, 2, NULL, 0, "too large");
  two[1] = tensor("y", TILE_F32, x, TILE_WEIGHTS_MAX_RANK + 1, 1, 1);
  expect_refusal(two, 2, NULL, 0, "too many");
  two[1] = tensor("y", TILE_F32, NULL, 1, 6, 0);
  expect_refusal(two, 2, NULL, 0, "no elements");
  const tile_weights_note keys[] = {{"a", "1"}, {"a", "2"}}, value = {"a", "\xc0\x80"};
  expect_refusal(&good, 1, keys, 2, "twice");
  expect_refusal(&good, 1, &value, 1, "UTF-8");
  tile_weights *w = NULL;
  tile_weight t;
  ck_assert_int_eq(tile_weights_open(path, &w), TILE_OK);
  ck_assert_int_eq(tile_weights_find(w, "x", &t), TILE_OK);
  ck_assert_mem_eq(t.data, x, sizeof x);
  tile_weights_close(w);
  ck_assert_int_eq(count_files(), 1);
}
END_TEST

START_TEST(a_full_disk_keeps_the_old_file) {
  static float x[65536];
  tile_weight small = tensor("x", TILE_F32, x, 1, 2, 0), large = small;
  large.shape[0] = COUNT_OF(x);
  ck_assert_int_eq(tile_weights_save(path, &small, 1, NULL, 0), TILE_OK);
  struct rlimit old, less;
  ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
  less = old;
  less.rlim_cur = 4096;
  signal(SIGXFSZ, SIG_IGN);
  ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &less), 0);
  tile_status s = tile_weights_save(path, &large, 1, NULL, 0);
  ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
  ck_assert_int_eq(s, TILE_IO_ERROR);
  ck_assert_int_eq(count_files(), 1);
  struct stat st;
  ck_assert(stat(path, &st) == 0 && st.st_size < 4096);
  ck_assert_int_eq(tile_weights_save("/nowhere/c.safetensors", &small, 1, NULL, 0), TILE_NOT_FOUND);
}
END_TEST

// ---- device memory ----

struct model {
  tile_device *device;
  int64_t shapes[3][2];
  tile_named_tensor tensors[3];
};

static void make_model(struct model *m) {
  static const char *const names[] = {"w", "w_moment1", "step_count"};
  *m = (struct model){.shapes = {{3, 5}, {3, 5}, {0, 0}}};
  ck_assert_int_eq(tile_device_open("cpu", &m->device), TILE_OK);
  for (int i = 0; i < 3; i++) {
    m->tensors[i] = (tile_named_tensor){
        names[i], {.type = i == 1 ? TILE_BF16 : TILE_F32, .rank = i < 2 ? 2 : 0}};
    m->tensors[i].tensor.shape = m->shapes[i];
    ck_assert_int_eq(tile_malloc(m->device, 64, &m->tensors[i].tensor.data), TILE_OK);
    for (int k = 0; k < 64; k++)
      ((unsigned char *)m->tensors[i].tensor.data)[k] = (unsigned char)(37 * k + 11 * i + 1);
  }
}

static void free_model(struct model *m) {
  for (int i = 0; i < 3; i++)
    tile_free(m->device, m->tensors[i].tensor.data);
  tile_device_close(m->device);
}

static void forget(struct model *m) {
  for (int i = 0; i < 3; i++)
    memset(m->tensors[i].tensor.data, 0, 64);
}

START_TEST(device_memory_there_and_back) {
  struct model m;
  make_model(&m);
  const size_t sizes[3] = {60, 30, 4}; // bytes
  unsigned char kept[3][64];
  for (int i = 0; i < 3; i++)
    memcpy(kept[i], m.tensors[i].tensor.data, 64);
  const tile_weights_note note = {"seed", "18446744073709551615"};
  ck_assert_int_eq(tile_checkpoint_save(m.device, NULL, path, m.tensors, 3, &note, 1), TILE_OK);
  forget(&m);
  tile_weights *w = NULL;
  ck_assert_msg(tile_checkpoint_load(m.device, NULL, path, m.tensors, 3, &w) == TILE_OK, "%s",
                tile_error_message());
  ck_assert_str_eq(tile_weights_find_note(w, "seed"), note.value);
  tile_weights_close(w);
  for (int i = 0; i < 3; i++)
    ck_assert_mem_eq(m.tensors[i].tensor.data, kept[i], sizes[i]);
  free_model(&m);
}
END_TEST

static void expect_mismatch(struct model *m, size_t count, const char *why) {
  static const unsigned char zeros[64];
  forget(m);
  ck_assert_int_eq(tile_checkpoint_load(m->device, NULL, path, m->tensors, count, NULL),
                   TILE_INVALID_ARGUMENT);
  ck_assert_msg(strstr(tile_error_message(), why) != NULL, "%s", tile_error_message());
  for (int i = 0; i < 3; i++)
    ck_assert_mem_eq(m->tensors[i].tensor.data, zeros, 64);
}

START_TEST(other_models_change_nothing) {
  struct model m;
  make_model(&m);
  ck_assert_int_eq(tile_checkpoint_save(m.device, NULL, path, m.tensors, 3, NULL, 0), TILE_OK);
  expect_mismatch(&m, 2, "`step_count` is not asked for");
  m.shapes[0][0] = 5, m.shapes[0][1] = 3;
  expect_mismatch(&m, 3, "`w` is F32[3, 5], not F32[5, 3]");
  m.shapes[0][0] = 3, m.shapes[0][1] = 5;
  m.tensors[1].tensor.type = TILE_F16;
  expect_mismatch(&m, 3, "`w_moment1` is BF16[3, 5], not F16[3, 5]");
  m.tensors[1].tensor.type = TILE_BF16;
  const tile_named_tensor last = m.tensors[2];
  m.tensors[2].name = "steps";
  expect_mismatch(&m, 3, "`steps` is missing");
  expect_mismatch(&m, 3, "`step_count` is not asked for"); // both are named
  m.tensors[2] = m.tensors[0];
  expect_mismatch(&m, 3, "asked for twice");
  m.tensors[2] = last;
  const int64_t strides[2] = {1, 3};
  m.tensors[0].tensor.strides = strides;
  expect_mismatch(&m, 3, "contiguous");
  free_model(&m);
}
END_TEST

START_TEST(truncated_at_every_byte) {
  struct model m;
  make_model(&m);
  ck_assert_int_eq(tile_checkpoint_save(m.device, NULL, path, m.tensors, 3, NULL, 0), TILE_OK);
  unsigned char file[1024];
  size_t size = read_bytes(file, sizeof file);
  for (size_t n = size; n-- > 0;) {
    ck_assert_int_eq(truncate(path, (off_t)n), 0);
    expect_mismatch(&m, 3, path);
  }
  free_model(&m);
}
END_TEST

Suite *suite_checkpoint(void) {
  Suite *s = suite_create("checkpoint");
  TCase *t = tcase_create("files");
  tcase_add_checked_fixture(t, set_up, tear_down);
  tcase_add_test(t, format);
  tcase_add_test(t, nothing_at_all);
  tcase_add_test(t, refusals_keep_the_old_file);
  tcase_add_test(t, a_full_disk_keeps_the_old_file);
  tcase_add_test(t, device_memory_there_and_back);
  tcase_add_test(t, other_models_change_nothing);
  tcase_add_test(t, truncated_at_every_byte);
  suite_add_tcase(s, t);
  return s;
}
