// SPDX-License-Identifier: Apache-2.0
// UTF-8: every code point there and back, every kind of malformed sequence.
#include "base/utf8.h"
#include "suites.h"

START_TEST(all_code_points) {
  for (uint32_t c = 0; c <= 0x10ffff; c++) {
    char bytes[4];
    uint32_t back = 0;
    size_t n = utf8_encode(c, bytes);
    size_t m = utf8_decode(bytes, n, &back);
    if (c >= 0xd800 && c < 0xe000) {
      ck_assert_uint_eq(m, 0);
      continue;
    }
    if (m != n || back != c || (n > 1 && utf8_decode(bytes, n - 1, &back) != 0))
      ck_abort_msg("U+%04X", c);
  }
}
END_TEST

START_TEST(malformed) {
  static const char *const wrong[] = {"\x80",
                                      "\xc0\x80",
                                      "\xc1\xbf",
                                      "\xe0\x80\x80",
                                      "\xf0\x80\x80\x80",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xff",
                                      "\xc3(",
                                      "\xe2\x82(",
                                      "\xed\xa0\x80"};
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    uint32_t c;
    size_t n = 0;
    while (wrong[i][n])
      n++;
    ck_assert_uint_eq(utf8_decode(wrong[i], n, &c), 0);
  }
}
END_TEST

START_TEST(widths) {
  ck_assert_uint_eq(utf8_width('a'), 1);
  ck_assert_uint_eq(utf8_width(0xe9), 1);
  ck_assert_uint_eq(utf8_width(0x301), 0);
  ck_assert_uint_eq(utf8_width(0x6f22), 2);
  ck_assert_uint_eq(utf8_width(0x1f600), 2);
}
END_TEST

TCase *utf8_tests(void) {
  TCase *t = tcase_create("utf8");
  tcase_add_test(t, all_code_points);
  tcase_add_test(t, malformed);
  tcase_add_test(t, widths);
  return t;
}
