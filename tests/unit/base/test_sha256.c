// SPDX-License-Identifier: Apache-2.0
// SHA-256 against the examples of NIST, in one piece and in many.
#include "base/sha256.h"
#include "base/sha256_blocks.h"
#include "suites.h"

#include <stdlib.h>
#include <string.h>

static void expect(const void *data, size_t n, const char *want) {
  for (size_t piece = 1; piece <= n + 1; piece = piece * 3 + 1) {
    struct sha256 h;
    sha256_init(&h);
    for (size_t at = 0; at < n; at += piece)
      sha256_update(&h, (const char *)data + at, n - at < piece ? n - at : piece);
    uint8_t digest[32];
    char hex[65];
    sha256_final(&h, digest);
    sha256_hex(digest, hex);
    ck_assert_str_eq(hex, want);
  }
}

START_TEST(nist_vectors) {
  expect("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  expect("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  expect("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  static const char long_text[] = "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
                                  "ijklmnopjklmnopqklmnopqrlmnop"
                                  "qrsmnopqrstnopqrstu";
  expect(long_text, 112, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  expect("\xbd", 1, "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b");
  char *zeros = calloc(1, 1000);
  expect(zeros, 55, "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7");
  expect(zeros, 64, "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b");
  expect(zeros, 1000, "541b3e9daa09b20bf85fa273e5cbd3e80185aa4ec298e765db87742b70138a53");
  free(zeros);
}
END_TEST

START_TEST(million_a) {
  char *text = malloc(1000000);
  memset(text, 'a', 1000000);
  struct sha256 h;
  uint8_t digest[32];
  char hex[65];
  sha256_init(&h);
  sha256_update(&h, text, 1000000);
  sha256_final(&h, digest);
  sha256_hex(digest, hex);
  ck_assert_str_eq(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  free(text);
}
END_TEST

START_TEST(processor_and_c_agree) {
  uint8_t blocks[64 * 7];
  uint32_t by_c[8], by_processor[8], seed = 1;
  for (int round = 0; round < 200; round++) {
    for (size_t i = 0; i < sizeof blocks; i++)
      blocks[i] = (uint8_t)((seed = seed * 1664525u + 1013904223u) >> 24);
    for (int i = 0; i < 8; i++)
      by_c[i] = by_processor[i] = seed = seed * 1664525u + 1013904223u;
    size_t count = (size_t)round % 8;
    sha256_blocks_c(by_c, blocks, count);
    if (!sha256_blocks_x86(by_processor, blocks, count))
      return; // no such instructions here
    ck_assert_mem_eq(by_c, by_processor, sizeof by_c);
  }
}
END_TEST

START_TEST(fields_do_not_run_together) {
  struct sha256 x, y;
  uint8_t dx[32], dy[32];
  sha256_init(&x);
  sha256_field(&x, "ab", 2);
  sha256_field(&x, "c", 1);
  sha256_final(&x, dx);
  sha256_init(&y);
  sha256_field(&y, "a", 1);
  sha256_field(&y, "bc", 2);
  sha256_final(&y, dy);
  ck_assert_mem_ne(dx, dy, 32);
}
END_TEST

TCase *sha256_tests(void) {
  TCase *t = tcase_create("sha256");
  tcase_add_test(t, nist_vectors);
  tcase_add_test(t, million_a);
  tcase_add_test(t, processor_and_c_agree);
  tcase_add_test(t, fields_do_not_run_together);
  return t;
}
