// SPDX-License-Identifier: Apache-2.0
// TILE_DEBUG. Each test runs in its own process, so that the environment is read again.
#include "base/debug.h"
#include "suites.h"

#include <stdlib.h>
#include <string.h>

START_TEST(words) {
  setenv("TILE_DEBUG", "passes, cache,unknown", 1);
  ck_assert(debug_on(DEBUG_PASSES));
  ck_assert(debug_on(DEBUG_CACHE));
  ck_assert(!debug_on(DEBUG_LAUNCH));
}
END_TEST

START_TEST(silent_by_default) {
  unsetenv("TILE_DEBUG");
  for (unsigned w = 0; w < DEBUG_WORD_COUNT; w++)
    ck_assert(!debug_on((enum debug_word)w));
}
END_TEST

START_TEST(help_names_all_words) {
#define X(id, name, doc) ck_assert_ptr_nonnull(strstr(debug_help(), "  " name ": "));
  DEBUG_WORDS(X)
#undef X
}
END_TEST

TCase *debug_tests(void) {
  TCase *t = tcase_create("debug");
  tcase_add_test(t, words);
  tcase_add_test(t, silent_by_default);
  tcase_add_test(t, help_names_all_words);
  return t;
}
