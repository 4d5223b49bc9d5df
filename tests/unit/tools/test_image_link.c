// SPDX-License-Identifier: Apache-2.0
// Linking object files of the compiler to images, for every instruction set: names of slots, what
// is refused, and files that were damaged.
#include "lowering/compile.h"
#include "lowering/llvm/version.h" // made by Meson
#include "runtime/image.h"
#include "suites.h"

static const char *const processors[] = {
#ifdef TILE_LLVM_AARCH64
    "cpu:aarch64",
#endif
    "cpu:x86-64-v3", "cpu:x86-64-v4"};

static const char plain[] = "@jit\n"
                            "def k(x: ptr[f32], n: i32, BLOCK: constexpr = 64):\n"
                            "    i = program_id(0) * BLOCK + arange(0, BLOCK)\n"
                            "    store(x + i, exp(load(x + i, mask=i < n)), mask=i < n)\n";
// Volatile loads of tiles run thread by thread, and the reduction is one of all threads.
static const char collective[] = "@jit\n"
                                 "def k(x: ptr[f32], BLOCK: constexpr = 256):\n"
                                 "    v = load(x + arange(0, BLOCK), volatile=True)\n"
                                 "    store(x, tl.sum(v, axis=0))\n";

static struct str object_of(const char *text, const char *target) {
  struct compile_request r = {.source = source_create(session.a, "k.tile", str_from(text)),
                              .target = target_find(str_from(target)),
                              .emit = EMIT_OBJECT};
  struct compile_result result;
  ck_assert(compile_kernel(session.a, session.diag, &r, &result));
  return result.output;
}

static struct image_view link_of(struct str object, const char *entry) {
  struct strbuf out = {.arena = session.a};
  struct image_view v;
  const char *why = image_link(session.a, object, entry, &out);
  ck_assert_msg(!why, "%s", why);
  ck_assert(image_read(arena_dup(session.a, out.ptr, out.len, IMAGE_ALIGN), out.len, &v));
  strbuf_finish(&out);
  return v;
}

static bool has_name(const struct image_view *v, const char *name) {
  const char *at = v->names;
  for (uint32_t i = 0; i < v->slot_count; i++, at += strlen(at) + 1)
    if (strcmp(at, name) == 0)
      return true;
  return false;
}

START_TEST(vectors_need_no_slots) {
  struct image_view v = link_of(object_of(plain, processors[_i]), "k");
  ck_assert_uint_eq(v.slot_count, 0);
}
END_TEST

START_TEST(collectives_have_slots) {
  struct image_view v = link_of(object_of(collective, processors[_i]), "k");
  ck_assert(has_name(&v, "tile_cpu_barrier") && has_name(&v, "tile_cpu_shuffle"));
  ck_assert_uint_ge(v.entry, v.slot_count * IMAGE_SLOT_BYTES);
}
END_TEST

static const char *why_not(struct str object, const char *entry) {
  struct strbuf out = {.arena = session.a};
  const char *why = image_link(session.a, object, entry, &out);
  ck_assert_uint_eq(out.len, 0);
  strbuf_finish(&out);
  return why;
}

START_TEST(refusals) {
  struct str object = object_of(plain, "cpu:x86-64-v3");
  ck_assert_str_eq(why_not(object, "other"), "its function is missing");
  ck_assert_str_eq(why_not(STR("no file"), "k"), "it is no relocatable ELF file of 64 bits");
  char *copy = arena_dup(session.a, object.ptr, object.len, 16);
  copy[18] = 40; // e_machine: EM_ARM
  ck_assert_str_eq(why_not((struct str){copy, object.len}, "k"), "its processor has no packs");
}
END_TEST

static uint32_t next(uint32_t *state) { return (*state = *state * 1664525u + 1013904223u) >> 8; }

// Each result is an image, or a reason.
START_TEST(damaged_files) {
  struct str object = object_of(_i % 2 ? collective : plain, processors[_i / 2]);
  uint32_t state = 1;
  for (int n = 0; n < 600; n++) {
    size_t len = n % 3 ? object.len : next(&state) % object.len;
    char *copy = arena_dup(session.a, object.ptr, object.len, 16);
    for (int k = 0; k < n % 3 * 2; k++) // tables are at the end
      copy[object.len - 1 - next(&state) % (n % 2 ? object.len : object.len / 3)] =
          (char)next(&state);
    struct strbuf out = {.arena = session.a};
    struct image_view v;
    const char *why = image_link(session.a, (struct str){copy, len}, "k", &out);
    ck_assert(why ? out.len == 0 : image_read(out.ptr, out.len, &v));
    strbuf_finish(&out);
  }
}
END_TEST

TCase *image_link_tests(void) {
  TCase *t = tcase_create("image_link");
  tcase_add_checked_fixture(t, session_setup, session_teardown);
  tcase_add_loop_test(t, vectors_need_no_slots, 0, COUNT_OF(processors));
  tcase_add_loop_test(t, collectives_have_slots, 0, COUNT_OF(processors));
  tcase_add_test(t, refusals);
  tcase_add_loop_test(t, damaged_files, 0, 2 * COUNT_OF(processors));
  return t;
}
