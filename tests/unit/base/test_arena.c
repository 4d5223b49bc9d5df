// SPDX-License-Identifier: Apache-2.0
// Arenas and the arrays on them: alignment, clearing, marks, running out of memory.
#include "base/arena.h"
#include "base/vec.h"
#include "suites.h"

#include <string.h>

START_TEST(aligns_and_clears) {
  struct arena *a = arena_create();
  for (size_t align = 1; align <= 64; align *= 2) {
    unsigned char *p = arena_alloc(a, 33, align);
    ck_assert_uint_eq((uintptr_t)p % align, 0);
    for (int i = 0; i < 33; i++)
      ck_assert_int_eq(p[i], 0);
    memset(p, 0xff, 33);
  }
  arena_destroy(a);
}
END_TEST

START_TEST(release_gives_cleared_memory_again) {
  struct arena *a = arena_create();
  arena_alloc(a, 100, 8);
  struct arena_mark m = arena_mark(a);
  size_t before = arena_bytes(a);
  unsigned char *p = arena_alloc(a, 64, 8);
  memset(p, 0xff, 64);
  arena_alloc(a, 5 << 20, 8); // a chunk of its own
  ck_assert_uint_gt(arena_bytes(a), before);
  arena_release(a, m);
  ck_assert_uint_eq(arena_bytes(a), before);
  unsigned char *q = arena_alloc(a, 64, 8);
  ck_assert_ptr_eq(p, q);
  for (int i = 0; i < 64; i++)
    ck_assert_int_eq(q[i], 0);
  arena_destroy(a);
}
END_TEST

START_TEST(mark_of_empty_arena) {
  struct arena *a = arena_create();
  struct arena_mark m = arena_mark(a);
  arena_alloc(a, 1000, 16);
  arena_release(a, m);
  ck_assert_uint_eq(arena_bytes(a), 0);
  ck_assert_ptr_nonnull(arena_alloc(a, 1, 1));
  arena_destroy(a);
  arena_destroy(NULL);
}
END_TEST

START_TEST(out_of_memory_jumps) {
  struct arena *a = arena_create();
  ck_assert_ptr_null(arena_alloc(a, SIZE_MAX - 100, 8));
  jmp_buf oom;
  volatile bool jumped = false;
  if (setjmp(oom)) {
    jumped = true;
  } else {
    arena_set_oom(a, &oom);
    arena_alloc(a, SIZE_MAX / 2, 8);
  }
  ck_assert(jumped);
  arena_set_oom(a, NULL);
  ck_assert_ptr_nonnull(arena_alloc(a, 8, 8)); // still usable
  arena_destroy(a);
}
END_TEST

START_TEST(texts) {
  struct arena *a = arena_create();
  ck_assert_str_eq(arena_strdup(a, "tile"), "tile");
  ck_assert_str_eq(arena_strndup(a, "tilegpu", 4), "tile");
  ck_assert_str_eq(arena_printf(a, "%d x %s", 3, "f16"), "3 x f16");
  int values[3] = {1, 2, 3};
  int *copy = arena_dup(a, values, sizeof values, _Alignof(int));
  ck_assert_mem_eq(copy, values, sizeof values);
  arena_destroy(a);
}
END_TEST

START_TEST(vector_grows) {
  struct arena *a = arena_create();
  VEC(int) v = {0};
  for (int i = 0; i < 10000; i++)
    vec_push(a, &v, i * 3);
  ck_assert_uint_eq(v.len, 10000);
  for (int i = 0; i < 10000; i++)
    ck_assert_int_eq(v.at[i], i * 3);
  ck_assert_int_eq(vec_last(&v), 29997);
  ck_assert_int_eq(vec_pop(&v), 29997);
  ck_assert_uint_eq(v.len, 9999);
  arena_destroy(a);
}
END_TEST

TCase *arena_tests(void) {
  TCase *t = tcase_create("arena");
  tcase_add_test(t, aligns_and_clears);
  tcase_add_test(t, release_gives_cleared_memory_again);
  tcase_add_test(t, mark_of_empty_arena);
  tcase_add_test(t, out_of_memory_jumps);
  tcase_add_test(t, texts);
  tcase_add_test(t, vector_grows);
  return t;
}
