// SPDX-License-Identifier: Apache-2.0
// Images of machine code: what is no image is refused, slots have addresses, code runs and is not
// writable; packs give a processor only what it can run.
#include "base/instruction_set.h"
#include "runtime/cpu_symbols.h"
#include "runtime/image.h"
#include "runtime/pack.h"
#include "suites.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
static const uint8_t code[] = {0x8b, 0x06, 0xc3, 0x90}; // mov (%rsi), %eax; ret
enum { HERE = ISA_X86_64_V3, ELSEWHERE = ISA_AARCH64 };
#else
static const uint8_t code[] = {0xc0, 0x03, 0x5f, 0xd6}; // ret
enum { HERE = ISA_AARCH64, ELSEWHERE = ISA_X86_64_V3 };
#endif

enum { NAMES = 48, ENTRY = 16, BYTES = 64 };

static uint8_t image[IMAGE_HEADER_BYTES + NAMES + BYTES];

static void put(uint32_t at, uint32_t v) {
  for (int b = 0; b < 4; b++)
    image[at + (uint32_t)b] = (uint8_t)(v >> (8 * b));
}

static void make_image(void) {
  memset(image, 0, sizeof image);
  put(IMAGE_AT_BYTES, BYTES);
  put(IMAGE_AT_ENTRY, ENTRY);
  put(IMAGE_AT_SLOTS, 2);
  put(IMAGE_AT_NAME_BYTES, NAMES);
  memcpy(image + IMAGE_HEADER_BYTES, "memset\0tanhf", 13);
  memcpy(image + IMAGE_HEADER_BYTES + NAMES + ENTRY, code, sizeof code);
}

static uintptr_t address_of(const char *name) {
  struct cpu_symbol symbols[CPU_SYMBOL_MAX];
  size_t count = cpu_symbols(symbols);
  for (size_t i = 0; i < count; i++)
    if (strcmp(symbols[i].name, name) == 0)
      return symbols[i].address;
  return 0;
}

START_TEST(slots_and_code) {
  struct image *loaded;
  ck_assert_int_eq(image_load(image, sizeof image, "f", &loaded), TILE_OK);
  cpu_kernel_fn f = image_entry(loaded);
  uintptr_t at;
  memcpy(&at, &f, sizeof at);
  uintptr_t slots[2];
  memcpy(slots, (const char *)at - ENTRY, sizeof slots);
  ck_assert_uint_eq(slots[0], address_of("memset"));
  ck_assert_uint_eq(slots[1], address_of("tanhf"));
  int word = 1;
  f(NULL, (void *const *)(void *)&word);
  image_destroy(loaded);
  image_destroy(NULL);
}
END_TEST

START_TEST(code_is_not_writable) {
  struct image *loaded;
  ck_assert_int_eq(image_load(image, sizeof image, "f", &loaded), TILE_OK);
  cpu_kernel_fn f = image_entry(loaded);
  char *at;
  memcpy(&at, &f, sizeof at);
  *(volatile char *)at = 0; // SIGSEGV
}
END_TEST

START_TEST(unknown_routine) {
  struct image *loaded;
  memcpy(image + IMAGE_HEADER_BYTES, "launch_rockets\0x", 17);
  ck_assert_int_eq(image_load(image, sizeof image, "f", &loaded), TILE_NOT_FOUND);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "`launch_rockets`"));
}
END_TEST

static void refused(size_t size) {
  struct image *loaded;
  ck_assert_int_eq(image_load(image, size, "f", &loaded), TILE_IO_ERROR);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "function `f`: its code is malformed"));
}

START_TEST(every_truncation) {
  for (size_t n = 0; n < sizeof image; n++)
    refused(n);
}
END_TEST

START_TEST(wrong_fields) {
  static const struct {
    uint32_t at, value;
  } rows[] = {{IMAGE_AT_BYTES, 0},
              {IMAGE_AT_BYTES, 128},
              {IMAGE_AT_BYTES, 0xffffffc0},
              {IMAGE_AT_ENTRY, BYTES},
              {IMAGE_AT_ENTRY, 0xfffffffc},
              {IMAGE_AT_ENTRY, 17},
              {IMAGE_AT_ENTRY, 8}, // within the slots
              {IMAGE_AT_SLOTS, 3}, // more than before the entry
              {IMAGE_AT_SLOTS, 0x20000000},
              {IMAGE_AT_NAME_BYTES, 0},
              {IMAGE_AT_NAME_BYTES, 49},
              {IMAGE_AT_NAME_BYTES, 112},
              {IMAGE_AT_NAME_BYTES, 0xfffffff0}};
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    make_image();
    put(rows[i].at, rows[i].value);
    refused(sizeof image);
  }
  make_image();
  memset(image + IMAGE_HEADER_BYTES, 'x', NAMES); // names without an end
  refused(sizeof image);
}
END_TEST

// ---- in a pack ----

static tile_status open_function(uint32_t set, bool collectives, tile_device *device,
                                 tile_function **ret) {
  struct strbuf bytes = {0};
  static tile_pack *pack;
  struct pack_code c = {.symbol = "f",
                        .target = "cpu:x",
                        .format = PACK_IMAGE,
                        .capability = set,
                        .registers = PACK_UNKNOWN,
                        .spill_stores = PACK_UNKNOWN,
                        .calls_programs = !collectives,
                        .uses_collectives = collectives,
                        .bytes = {(const char *)image, sizeof image}};
  struct pack_variant v = {NULL, 4, 1, &c, 1};
  struct pack_kernel k = {"f", "f", "", NULL, 0, &v, 1};
  pack_write(&k, 1, &bytes);
  static _Alignas(64) char kept[4096];
  ck_assert_uint_le(bytes.len, sizeof kept);
  memcpy(kept, bytes.ptr, bytes.len);
  tile_pack_close(pack);
  ck_assert_int_eq(tile_pack_from_memory(kept, bytes.len, &pack), TILE_OK);
  ck_assert_int_eq(tile_pack_verify(pack), TILE_OK);
  strbuf_finish(&bytes);
  return tile_pack_get_function(pack, device, "f", ret);
}

START_TEST(packs) {
  tile_device *device;
  tile_function *f;
  tile_function_choice choice;
  ck_assert_int_eq(tile_device_open("cpu", &device), TILE_OK);
  ck_assert_int_eq(open_function(ELSEWHERE, false, device, &f), TILE_NOT_FOUND);
  ck_assert_int_eq(open_function(9999, false, device, &f), TILE_NOT_FOUND);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "machine code for cpu:x"));
  if (instruction_set_exists(HERE)) {
    ck_assert_int_eq(open_function(HERE, false, device, &f), TILE_OK);
    ck_assert_int_eq(tile_function_choose(f, NULL, 0, &choice), TILE_OK);
    ck_assert(choice.is_binary && choice.registers == -1);
    ck_assert_int_eq(tile_function_prepare(f), TILE_OK);
    tile_function_close(f);
  }
  tile_device_close(device);
}
END_TEST

START_TEST(an_older_set_by_name) {
  ck_assert(!instruction_set_runs(ELSEWHERE));
  setenv("TILE_CPU_NAME", "x86-64-v3", 1);
  ck_assert(!instruction_set_runs(ISA_X86_64_V4));
  ck_assert_int_eq(instruction_set_runs(HERE), instruction_set_exists(HERE));
  unsetenv("TILE_CPU_NAME");
  ck_assert_int_eq(instruction_set_runs(ISA_X86_64_V4), instruction_set_exists(ISA_X86_64_V4));
}
END_TEST

Suite *suite_image(void) {
  Suite *s = suite_create("image");
  TCase *t = tcase_create("image");
  tcase_add_checked_fixture(t, make_image, NULL);
  tcase_add_test(t, slots_and_code);
#ifndef __SANITIZE_ADDRESS__ // which handles the signal itself
  tcase_add_test_raise_signal(t, code_is_not_writable, SIGSEGV);
#else
  (void)code_is_not_writable;
#endif
  tcase_add_test(t, unknown_routine);
  tcase_add_test(t, every_truncation);
  tcase_add_test(t, wrong_fields);
  tcase_add_test(t, packs);
  tcase_add_test(t, an_older_set_by_name);
  suite_add_tcase(s, t);
  return s;
}
