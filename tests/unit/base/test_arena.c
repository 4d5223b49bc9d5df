// SPDX-License-Identifier: Apache-2.0
// Arenas and the arrays on them: alignment, clearing, marks, running out of memory.
#include "base/arena.h"
#include "base/str.h"
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

static void exhaust(void *arena) { arena_alloc(arena, SIZE_MAX / 2, 8); }
static void use_little(void *arena) { arena_alloc(arena, 8, 8); }

START_TEST(guards_end_jumps_and_put_the_handler_back) {
  struct arena *a = arena_create();
  ck_assert(arena_guard(a, use_little, a));
  ck_assert(!arena_guard(a, exhaust, a));
  ck_assert_ptr_null(arena_set_oom(a, NULL)); // none before, none now
  jmp_buf outer;
  if (setjmp(outer) == 0) {
    arena_set_oom(a, &outer);
    ck_assert(!arena_guard(a, exhaust, a));
    ck_assert_ptr_eq(arena_set_oom(a, &outer), &outer);
    exhaust(a);
    ck_abort_msg("the outer handler is not jumped to");
  }
  arena_destroy(a);
}
END_TEST

START_TEST(nested_arenas_raise_in_their_parent_and_go_with_it) {
  struct arena *a = arena_create(), *early = arena_create_nested(a), *kept = arena_create_nested(a);
  use_little(kept);
  ck_assert_ptr_nonnull(arena_block_resize(arena_create_nested(kept), NULL, 100));
  arena_destroy(early);
  ck_assert(!arena_guard(a, exhaust, kept));
  arena_destroy(a); // leaks show under AddressSanitizer
}
END_TEST

START_TEST(blocks_keep_their_bytes_and_belong_to_the_arena) {
  struct arena *a = arena_create();
  char *blocks[3] = {NULL};
  for (size_t size = 1; size < 5000; size *= 3)
    for (int i = 0; i < 3; i++) {
      blocks[i] = arena_block_resize(a, blocks[i], size);
      memset(blocks[i] + size / 3, 'a' + i, size - size / 3);
    }
  for (int i = 0; i < 3; i++)
    ck_assert(blocks[i][1] == 'a' + i && blocks[i][2000] == 'a' + i);
  arena_block_free(blocks[1]);
  arena_block_free(NULL);
  ck_assert_ptr_null(arena_block_resize(a, blocks[0], SIZE_MAX));
  ck_assert_int_eq(blocks[0][2000], 'a');
  arena_destroy(a);
}
END_TEST

static void overflow(void *buffer) { strbuf_put(buffer, "x", SIZE_MAX / 2); }
static void look(void *buffer) { strbuf_cstr(buffer); }

START_TEST(failed_buffers_raise) {
  struct arena *a = arena_create();
  struct strbuf b = {.arena = a};
  strbuf_puts(&b, "text");
  ck_assert(!arena_guard(a, overflow, &b));
  strbuf_clear(&b);
  strbuf_puts(&b, "again");
  strbuf_put_in_callback(&b, "x", SIZE_MAX / 2); // does not jump, but who looks does
  ck_assert(!arena_guard(a, look, &b));
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
  tcase_add_test(t, guards_end_jumps_and_put_the_handler_back);
  tcase_add_test(t, nested_arenas_raise_in_their_parent_and_go_with_it);
  tcase_add_test(t, blocks_keep_their_bytes_and_belong_to_the_arena);
  tcase_add_test(t, failed_buffers_raise);
  tcase_add_test(t, texts);
  tcase_add_test(t, vector_grows);
  return t;
}
