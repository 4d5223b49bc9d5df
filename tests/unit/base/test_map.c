// SPDX-License-Identifier: Apache-2.0
// Hash maps from strings and from pointers.
#include "base/map.h"
#include "suites.h"

#include <stdio.h>

START_TEST(strings) {
  struct arena *a = arena_create();
  struct map m = {0};
  static int values[5000];
  ck_assert_ptr_null(map_get(&m, STR("x")));
  for (int i = 0; i < 5000; i++) {
    char key[16]; // reused, so the map must have copied it
    int n = snprintf(key, sizeof key, "key%d", i);
    map_put(a, &m, (struct str){key, (size_t)n}, &values[i]);
  }
  ck_assert_uint_eq(m.count, 5000);
  for (int i = 0; i < 5000; i++) {
    char key[16];
    int n = snprintf(key, sizeof key, "key%d", i);
    ck_assert_ptr_eq(map_get(&m, (struct str){key, (size_t)n}), &values[i]);
  }
  ck_assert_ptr_null(map_get(&m, STR("key5000")));
  map_put(a, &m, STR("key7"), &values[0]);
  ck_assert_ptr_eq(map_get(&m, STR("key7")), &values[0]);
  ck_assert_uint_eq(m.count, 5000);
  map_put(a, &m, STR(""), &values[1]);
  ck_assert_ptr_eq(map_get(&m, STR("")), &values[1]);
  size_t seen = 0;
  struct map_entry e;
  for (size_t i = 0; map_next(&m, &i, &e);)
    seen++;
  ck_assert_uint_eq(seen, 5001);
  arena_destroy(a);
}
END_TEST

START_TEST(pointers) {
  struct arena *a = arena_create();
  struct map m = {0};
  static int keys[3000];
  for (int i = 0; i < 3000; i++)
    ptrmap_put(a, &m, &keys[i], &keys[2999 - i]);
  for (int i = 0; i < 3000; i++)
    ck_assert_ptr_eq(ptrmap_get(&m, &keys[i]), &keys[2999 - i]);
  ck_assert_ptr_null(ptrmap_get(&m, &m));
  ck_assert_ptr_null(ptrmap_get(&m, NULL));
  arena_destroy(a);
}
END_TEST

TCase *map_tests(void) {
  TCase *t = tcase_create("map");
  tcase_add_test(t, strings);
  tcase_add_test(t, pointers);
  return t;
}
