// SPDX-License-Identifier: Apache-2.0
// Drawings: what a user types, what is drawn, what is said when it cannot be.
#include "generate.h"
#include "layouts/draw.h"
#include "suites.h"

static char *drawn(struct arena *a, const char *spec, enum draw_format format) {
  struct strbuf out = {0};
  const char *error = "none";
  size_t at = 0;
  ck_assert_msg(layout_draw_spec(a, spec, format, &out, &error, &at), "%s: %s", spec, error);
  char *text = arena_strdup(a, strbuf_cstr(&out));
  strbuf_finish(&out);
  return text;
}

START_TEST(tables) {
  struct arena *a = arena_create();
  ck_assert_str_eq(
      drawn(a,
            "blocked<{order=[1,0], size_per_thread=[1,2], threads_per_warp=[2,2], "
            "warps_per_cta=[2,1]}>",
            DRAW_TEXT),
      "#tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 2], threads_per_warp = [2, 2], "
      "warps_per_cta = [2, 1]}>\n"
      "4x4 elements: 2 registers x 4 lanes x 2 warps\n"
      "      0    1    2    3\n"
      "0  T0:0 T0:1 T1:0 T1:1\n"
      "1  T2:0 T2:1 T3:0 T3:1\n"
      "2  T4:0 T4:1 T5:0 T5:1\n"
      "3  T6:0 T6:1 T7:0 T7:1\n");
  ck_assert_str_eq(
      drawn(a, "shared<{vec=2, per_phase=1, max_phase=2, order=[1,0]}> 2x4 f32", DRAW_TEXT),
      "#tilegpu.shared<{max_phase = 2, order = [1, 0], per_phase = 1, vec = 2}>\n"
      "2x4 elements: 8 offsets of 32 bits\n"
      "      0    1    2    3\n"
      "0  0 b0 1 b1 2 b2 3 b3\n"
      "1  6 b6 7 b7 4 b4 5 b5\n");
  arena_destroy(a);
}
END_TEST

// The fragment table of the PTX ISA, both ways.
START_TEST(short_names) {
  struct arena *a = arena_create();
  char *by_element = drawn(a, "mma_v2", DRAW_TEXT),
       *by_thread = drawn(a, "mma_v2 threads", DRAW_TEXT);
  ck_assert_ptr_nonnull(
      strstr(by_element, "\n 9   T4:2  T4:3  T5:2  T5:3  T6:2  T6:3  T7:2  T7:3\n"));
  ck_assert_ptr_nonnull(strstr(by_thread, "rows: threads; columns: registers"));
  ck_assert_ptr_nonnull(strstr(by_thread, "\n T5   1,2  1,3  9,2  9,3\n"));
  // k_width follows the element type: 16 x 32 of 8 bits and 16 x 8 of 32 are one fragment each.
  ck_assert_ptr_nonnull(
      strstr(drawn(a, "dot_a_v2 f8e5", DRAW_TEXT), "16x32 elements: 16 registers"));
  ck_assert_ptr_nonnull(strstr(drawn(a, "dot_a_v2 f32", DRAW_TEXT), "16x8 elements: 4 registers"));
  ck_assert_ptr_nonnull(strstr(drawn(a, "dot_b_v2", DRAW_TEXT), "16x8 elements: 4 registers"));
  ck_assert_ptr_nonnull(strstr(drawn(a, "dot_a_v3", DRAW_TEXT), "64x16 elements: 8 registers"));
  ck_assert_ptr_nonnull(
      strstr(drawn(a, "mma_v3 64x256", DRAW_TEXT), "128 registers x 32 lanes x 4 warps"));
  ck_assert_ptr_nonnull(
      strstr(drawn(a, "nvmma_128b", DRAW_TEXT), "8x64 elements: 512 offsets of 16 bits"));
  ck_assert_ptr_nonnull(strstr(drawn(a, "nvmma_64b [8, 64] i8", DRAW_TEXT), "8x64 elements"));
  arena_destroy(a);
}
END_TEST

START_TEST(replication_and_limits) {
  struct arena *a = arena_create();
  char *text = drawn(a, "slice<{dim = 0, parent = mma<{version = 2}>}> 8", DRAW_TEXT);
  ck_assert_ptr_nonnull(strstr(text, "each is held 8 times"));
  ck_assert_ptr_nonnull(strstr(text, "0  T0:0* T0:1* T1:0* T1:1* T2:0* T2:1* T3:0* T3:1*\n"));
  text = drawn(a, "mma_v2 128x256", DRAW_TEXT);
  ck_assert_ptr_nonnull(strstr(text, "shown are 64x64 of 128x256 cells"));
  text = drawn(a,
               "blocked<{order=[2,1,0], size_per_thread=[1,1,1], threads_per_warp=[1,4,8], "
               "warps_per_cta=[1,1,1]}> 2x4x8",
               DRAW_TEXT);
  ck_assert_ptr_nonnull(strstr(text, "[0, :, :]\n"));
  ck_assert_ptr_nonnull(strstr(text, "[1, :, :]\n"));
  arena_destroy(a);
}
END_TEST

static size_t count_of(const char *text, const char *what) {
  size_t n = 0;
  for (const char *at = text; (at = strstr(at, what)); at++)
    n++;
  return n;
}

START_TEST(svg) {
  struct arena *a = arena_create();
  char *text = drawn(a, "mma<{version = 2, warps_per_cta = [2, 1]}> 32x8", DRAW_SVG);
  ck_assert(strncmp(text, "<svg xmlns=", 11) == 0 && strstr(text, "</svg>\n"));
  ck_assert_uint_eq(count_of(text, "<rect "), 1 + 32 * 8 + 2); // page, cells, legend
  ck_assert_uint_eq(count_of(text, "<text "), count_of(text, "</text>"));
  ck_assert_ptr_nonnull(strstr(text, ">T37:3</text>"));
  ck_assert_ptr_nonnull(strstr(text, ">warp 1</text>"));
  text = drawn(a, "nvmma_32b", DRAW_SVG);
  ck_assert_uint_eq(count_of(text, "<rect "), 1 + 8 * 16 + 32);
  ck_assert_ptr_nonnull(strstr(text, ">bank 31</text>"));
  arena_destroy(a);
}
END_TEST

START_TEST(json) {
  struct arena *a = arena_create();
  ck_assert_str_eq(
      drawn(a, "mma_v2", DRAW_JSON),
      "{\"encoding\": \"#tilegpu.mma<{instr_shape = [16, 8], version = 2, warps_per_cta = [1, "
      "1]}>\", \"shape\": [16, 8], \"element_bits\": 32, \"bases\": {\"register\": [[0, 1], [8, "
      "0]], \"lane\": [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], \"warp\": []}}\n");
  arena_destroy(a);
}
END_TEST

START_TEST(errors) {
  struct arena *a = arena_create();
  static const struct {
    const char *spec;
    size_t at;
    const char *error;
  } cases[] = {
      {"", 0, "expected a layout: `mma_v2 16x8`, `blocked<{...}> 32x32`, ..."},
      {"  mna_v2", 2, "unknown layout `mna_v2`"},
      {"mma_v2 16x6", 7, "the dimensions of a tensor are powers of two"},
      {"mma_v2 16xx8", 7, "a shape is sizes with `x` between them: `16x8`"},
      {"mma_v2 [16, 8", 7, "expected `]` at the end of the shape"},
      {"mma_v2 16x8 f17", 12, "`f17` is no shape (`16x8`), element type (`f16`) or `threads`"},
      {"mma_v2 16", 7, "the layout is of another rank than the tensor"},
      {"nvmma_128b 4x64", 11, "the tensor is smaller than 8 rows of the swizzle's width"},
      {" mma<{version = 5}>", 1, "`version` is 2 (mma.sync) or 3 (wgmma)"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    struct strbuf out = {0};
    const char *error = "none";
    size_t at = 0;
    ck_assert(!layout_draw_spec(a, cases[i].spec, DRAW_TEXT, &out, &error, &at));
    ck_assert_str_eq(error, cases[i].error);
    ck_assert_msg(at == cases[i].at, "%s: at %zu", cases[i].spec, at);
    ck_assert_uint_eq(out.len, 0);
  }
  // A layout with holes is said to have them.
  unsigned bits[] = {2};
  struct linear_layout holes = ll_empty(1, bits);
  const int64_t shape[] = {4}, other[] = {8};
  struct strbuf out = {0};
  layout_draw_text(&holes, 1, shape, (struct draw_options){0}, &out);
  ck_assert_str_eq(strbuf_cstr(&out), "cannot draw: the layout does not reach every element\n");
  strbuf_clear(&out);
  layout_draw_text(&holes, 1, other, (struct draw_options){0}, &out);
  ck_assert_str_eq(strbuf_cstr(&out), "cannot draw: the layout is of another shape\n");
  strbuf_clear(&out);
  layout_draw_svg(&holes, 1, other, (struct draw_options){0}, &out);
  ck_assert_ptr_nonnull(strstr(strbuf_cstr(&out), "cannot draw"));
  strbuf_finish(&out);
  arena_destroy(a);
}
END_TEST

TCase *draw_tests(void) {
  TCase *t = tcase_create("draw");
  tcase_add_test(t, tables);
  tcase_add_test(t, short_names);
  tcase_add_test(t, replication_and_limits);
  tcase_add_test(t, svg);
  tcase_add_test(t, json);
  tcase_add_test(t, errors);
  return t;
}
