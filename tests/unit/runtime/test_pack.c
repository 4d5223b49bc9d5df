// SPDX-License-Identifier: Apache-2.0
// The format of packs: the reader accepts what the writer writes, and nothing else: every
// truncation, every flipped bit, inconsistent tables with a correct hash.
#include "base/sha256.h"
#include "pack_example.h"
#include "suites.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- the example ----

static struct kernel_param add_params[] = {
    {.name = "x", .is_pointer = true, .dtype = DTYPE_F32, .divisible_by = 1, .is_const = true},
    {.name = "out", .is_pointer = true, .dtype = DTYPE_F32, .divisible_by = 1},
    {.name = "n", .dtype = DTYPE_I32, .divisible_by = 1},
};
static struct kernel_param scale_params[] = {
    {.name = "x", .is_pointer = true, .dtype = DTYPE_F16, .divisible_by = 16},
    {.name = "factor", .dtype = DTYPE_F16, .divisible_by = 1},
};

#define CUBIN(name, arch, cc, only, shared)                                                        \
  {                                                                                                \
    .symbol = "kernel", .target = arch, .format = PACK_CUBIN, .capability = cc,                    \
    .is_specific = only, .shared_bytes = shared, .registers = 40, .spill_stores = 0,               \
    .bytes = STR("\177ELF " name " " arch)                                                         \
  }
#define PTX(name, arch, cc, only)                                                                  \
  {                                                                                                \
    .symbol = "kernel", .target = arch, .format = PACK_PTX, .capability = cc, .is_specific = only, \
    .registers = PACK_UNKNOWN, .spill_stores = PACK_UNKNOWN, .bytes = STR("// " name " " arch)     \
  }
#define ALL(name)                                                                                  \
  {                                                                                                \
    CUBIN(name, "sm_90a", 90, true, 100 << 10), CUBIN(name, "sm_80", 80, false, 4096),             \
        PTX(name, "sm_80", 80, false)                                                              \
  }

void pack_example(struct strbuf *out) {
  const struct pack_code one[] = ALL("add one"), wide[] = ALL("add wide"), any[] = ALL("add any");
  const struct pack_code scale[] = {CUBIN("scale", "sm_90a", 90, true, 0),
                                    PTX("scale", "sm_90a", 90, true)};
  static const uint32_t hint_one[] = {16, 16, 0}, hint_wide[] = {16, 16, 16},
                        hint_any[] = {1, 1, 1};
  static const uint32_t hint_scale[] = {16, 1};
  const struct pack_variant add[] = {
      {hint_one, 1, 3, one, 3}, {hint_wide, 8, 3, wide, 3}, {hint_any, 4, 3, any, 3}};
  const struct pack_variant scales[] = {{hint_scale, 4, 3, scale, 2}};
  const struct pack_kernel kernels[] = {
      {"add", "add", "BLOCK=1024", add_params, 3, add, 3},
      {"scale", "scale_rows", "", scale_params, 2, scales, 1},
  };
  pack_write(kernels, COUNT_OF(kernels), out);
}

// ---- reading ----

static struct strbuf bytes;
static uint8_t *copy; // of exactly the size, so that sanitizers detect any overrun

static void make_example(void) {
  pack_example(&bytes);
  ck_assert(!bytes.failed);
  copy = malloc(bytes.len);
  ck_assert_ptr_nonnull(copy);
  memcpy(copy, bytes.ptr, bytes.len);
}

static void drop_example(void) {
  strbuf_finish(&bytes);
  free(copy);
}

// Opening and verifying; what is opened is closed.
static tile_status read_all(const void *data, size_t size) {
  tile_pack *p = NULL;
  tile_status s = tile_pack_from_memory(data, size, &p);
  if (s == TILE_OK)
    s = tile_pack_verify(p);
  tile_pack_close(p);
  return s;
}

// Recomputes the index's hash.
static void hash_again(uint8_t *data) {
  struct sha256 h;
  size_t index = (size_t)pack_u64(data + PACK_AT_INDEX_BYTES);
  sha256_init(&h);
  sha256_update(&h, data, PACK_AT_SHA);
  sha256_update(&h, data + PACK_HEADER_BYTES, index - PACK_HEADER_BYTES);
  sha256_final(&h, data + PACK_AT_SHA);
}

START_TEST(names_in_order) {
  tile_pack *p = NULL;
  ck_assert_int_eq(tile_pack_from_memory(copy, bytes.len, &p), TILE_OK);
  ck_assert_uint_eq(tile_pack_count(p), 2);
  ck_assert_str_eq(tile_pack_name(p, 0), "add");
  ck_assert_str_eq(tile_pack_name(p, 1), "scale");
  ck_assert_ptr_null(tile_pack_name(p, 2));
  ck_assert_int_eq(tile_pack_verify(p), TILE_OK);
  tile_pack_close(p);
  ck_assert_uint_eq(tile_pack_count(NULL), 0);
  ck_assert_int_eq(tile_pack_verify(NULL), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_pack_from_memory(NULL, 1, &p), TILE_INVALID_ARGUMENT);
}
END_TEST

START_TEST(equal_input_gives_equal_bytes) {
  struct strbuf again = {0};
  pack_example(&again);
  ck_assert_uint_eq(again.len, bytes.len);
  ck_assert_mem_eq(again.ptr, bytes.ptr, bytes.len);
  strbuf_finish(&again);
}
END_TEST

START_TEST(a_pack_of_nothing) {
  struct strbuf none = {0};
  tile_pack *p = NULL;
  pack_write(NULL, 0, &none);
  ck_assert_int_eq(read_all(none.ptr, none.len), TILE_OK);
  ck_assert_int_eq(tile_pack_from_memory(none.ptr, none.len, &p), TILE_OK);
  ck_assert_uint_eq(tile_pack_count(p), 0);
  tile_pack_close(p);
  strbuf_finish(&none);
}
END_TEST

START_TEST(every_truncation) {
  for (size_t n = 0; n < bytes.len; n++) {
    uint8_t *part = malloc(n ? n : 1);
    ck_assert_ptr_nonnull(part);
    memcpy(part, bytes.ptr, n);
    ck_assert_msg(read_all(part, n) == TILE_INVALID_ARGUMENT, "%zu bytes are enough", n);
    free(part);
  }
}
END_TEST

START_TEST(bytes_too_many) {
  strbuf_putc(&bytes, 0);
  ck_assert_int_eq(read_all(bytes.ptr, bytes.len), TILE_INVALID_ARGUMENT);
}
END_TEST

START_TEST(every_flipped_bit) {
  for (size_t i = 0; i < bytes.len * 8; i++) {
    copy[i / 8] ^= (uint8_t)(1u << (i % 8));
    ck_assert_msg(read_all(copy, bytes.len) == TILE_INVALID_ARGUMENT, "bit %zu of byte %zu", i % 8,
                  i / 8);
    copy[i / 8] ^= (uint8_t)(1u << (i % 8));
  }
  ck_assert_int_eq(read_all(copy, bytes.len), TILE_OK);
}
END_TEST

// A hostile writer recomputes the hash: tables must still be read within their bounds. Some changes
// are valid (another name, another hint); the others are rejected, and none may access memory
// outside.
START_TEST(every_index_byte_with_a_right_hash) {
  static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
  size_t index = (size_t)pack_u64(copy + PACK_AT_INDEX_BYTES);
  size_t refused = 0, taken = 0;
  for (size_t i = 0; i < index; i++) {
    if (i >= PACK_AT_INDEX_BYTES && i < PACK_AT_INDEX_BYTES + 8)
      continue; // part of the hash; see lying_about_the_index
    for (size_t v = 0; v < COUNT_OF(values); v++) {
      uint8_t before = copy[i];
      copy[i] = values[v];
      hash_again(copy);
      if (read_all(copy, bytes.len) == TILE_OK)
        taken++;
      else
        refused++;
      copy[i] = before;
    }
  }
  ck_assert_uint_gt(refused, 4 * taken / 3); // most fields have one valid value
}
END_TEST

START_TEST(lying_about_the_index) {
  uint64_t right = pack_u64(copy + PACK_AT_INDEX_BYTES);
  for (uint64_t n = 0; n <= bytes.len + 64; n++) {
    if (n == right)
      continue;
    for (int b = 0; b < 8; b++)
      copy[PACK_AT_INDEX_BYTES + b] = (uint8_t)(n >> (8 * b));
    if (n >= PACK_HEADER_BYTES && n <= bytes.len)
      hash_again(copy);
    ck_assert_int_eq(read_all(copy, bytes.len), TILE_INVALID_ARGUMENT);
  }
}
END_TEST

START_TEST(counts_near_the_limits) {
  static const uint32_t values[] = {0, 1, 1u << 20, (1u << 20) + 1, 0x7fffffff, 0xffffffff};
  for (int t = 0; t < PACK_TABLES; t++)
    for (size_t v = 0; v < COUNT_OF(values); v++) {
      uint8_t *field = copy + PACK_AT_COUNTS + 4 * t, before[4];
      memcpy(before, field, 4);
      if (pack_u32(field) == values[v])
        continue;
      for (int b = 0; b < 4; b++)
        field[b] = (uint8_t)(values[v] >> (8 * b));
      hash_again(copy);
      ck_assert_int_eq(read_all(copy, bytes.len), TILE_INVALID_ARGUMENT);
      memcpy(field, before, 4);
    }
}
END_TEST

START_TEST(another_version_is_named) {
  copy[PACK_AT_VERSION] = PACK_VERSION + 1;
  hash_again(copy);
  ck_assert_int_eq(read_all(copy, bytes.len), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "version 5"));
}
END_TEST

START_TEST(files) {
  char path[] = "/tmp/tile-pack-XXXXXX";
  int fd = mkstemp(path);
  tile_pack *p = NULL;
  ck_assert_int_ge(fd, 0);
  ck_assert_int_eq((int)write(fd, bytes.ptr, bytes.len), (int)bytes.len);
  ck_assert_int_eq(tile_pack_open(path, &p), TILE_OK);
  ck_assert_int_eq(tile_pack_verify(p), TILE_OK);
  // Later changes of the file do not affect the pack.
  ck_assert_int_eq(ftruncate(fd, 10), 0);
  ck_assert_int_eq(tile_pack_verify(p), TILE_OK);
  tile_pack_close(p);
  ck_assert_int_eq(tile_pack_open(path, &p), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), path));
  ck_assert_int_eq(ftruncate(fd, 0), 0);
  ck_assert_int_eq(tile_pack_open(path, &p), TILE_INVALID_ARGUMENT);
  close(fd);
  unlink(path);
  ck_assert_int_eq(tile_pack_open(path, &p), TILE_NOT_FOUND);
  ck_assert_int_eq(tile_pack_open("/tmp", &p), TILE_IO_ERROR);
  ck_assert_int_eq(tile_pack_open("/dev/null", &p), TILE_IO_ERROR);
  ck_assert_int_eq(tile_pack_open(NULL, &p), TILE_INVALID_ARGUMENT);
}
END_TEST

START_TEST(grid_arithmetic) {
  int failed = 0;
  tile_grid g;
  ck_assert_int_eq((int)tile_grid_cdiv(1000, 256, &failed), 4);
  ck_assert_int_eq((int)tile_grid_cdiv(1024, 256, &failed), 4);
  ck_assert_int_eq((int)tile_grid_cdiv(-7, 2, &failed), -3);
  ck_assert_int_eq((int)tile_grid_cdiv(-7, -2, &failed), 4);
  ck_assert_int_eq((int)tile_grid_div(-7, 2, &failed), -3);
  ck_assert_int_eq((int)tile_grid_mod(-7, 2, &failed), -1);
  ck_assert_int_eq((int)tile_grid_min(3, 2, &failed), 2);
  ck_assert_int_eq((int)tile_grid_max(3, 2, &failed), 3);
  ck_assert_int_eq((int)tile_grid_sub(tile_grid_add(3, 2, &failed), 1, &failed), 4);
  ck_assert_int_eq(failed, 0);
  ck_assert_int_eq(tile_grid_make(7, 2, 1, failed, &g), TILE_OK);
  ck_assert(g.x == 7 && g.y == 2 && g.z == 1);
  ck_assert_int_eq(tile_grid_make(0, 1, 1, 0, &g), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_grid_make(1, 65536, 1, 0, &g), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_grid_make(1, 65535, 65535, 0, &g), TILE_OK);
  ck_assert_int_eq(tile_grid_make((int64_t)1 << 31, 1, 1, 0, &g), TILE_INVALID_ARGUMENT);
  int64_t (*const calls[])(int64_t, int64_t, int *) = {
      tile_grid_add, tile_grid_sub, tile_grid_mul, tile_grid_div, tile_grid_mod, tile_grid_cdiv};
  const int64_t left[] = {INT64_MAX, INT64_MIN, INT64_MAX, 1, INT64_MIN, INT64_MIN};
  const int64_t right[] = {1, 1, 2, 0, -1, -1};
  for (size_t i = 0; i < COUNT_OF(calls); i++) {
    failed = 0;
    calls[i](left[i], right[i], &failed);
    ck_assert_int_eq(failed, 1);
  }
  ck_assert_int_eq(tile_grid_make(1, 1, 1, failed, &g), TILE_INVALID_ARGUMENT);
}
END_TEST

Suite *suite_pack(void) {
  Suite *s = suite_create("pack");
  TCase *t = tcase_create("format");
  tcase_add_checked_fixture(t, make_example, drop_example);
  tcase_set_timeout(t, 120);
  tcase_add_test(t, names_in_order);
  tcase_add_test(t, equal_input_gives_equal_bytes);
  tcase_add_test(t, a_pack_of_nothing);
  tcase_add_test(t, every_truncation);
  tcase_add_test(t, bytes_too_many);
  tcase_add_test(t, every_flipped_bit);
  tcase_add_test(t, every_index_byte_with_a_right_hash);
  tcase_add_test(t, lying_about_the_index);
  tcase_add_test(t, counts_near_the_limits);
  tcase_add_test(t, another_version_is_named);
  tcase_add_test(t, files);
  tcase_add_test(t, grid_arithmetic);
  suite_add_tcase(s, t);
  return s;
}
