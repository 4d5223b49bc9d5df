// SPDX-License-Identifier: Apache-2.0
// What the compile-time parameters of kernels are guessed to be extents of.
#include "base/file.h"
#include "lang/extents.h"
#include "parsed.h"
#include "suites.h"

static const char *const words[] = {"none", "element", "row",   "m",     "n",
                                    "k",    "step",    "group", "stages"};

// "BLOCK=element:n ROWS=row:columns! | dot loop": parameters with their use and what they cover (`+`:
// a loop steps by it), then traits.
static void describe(const struct lang_extents *x, struct strbuf *out) {
  for (size_t i = 0; i < x->count; i++)
    strbuf_printf(out, "%s%s=%s%s%s%s", i > 0 ? " " : "", x->params[i].param,
                  words[x->params[i].use], x->params[i].is_step ? "+" : "",
                  x->params[i].covers ? ":" : "", x->params[i].covers ? x->params[i].covers : "");
  strbuf_printf(out, " |%s%s%s%s", x->has_dot ? " dot" : "", x->has_chain ? " chain" : "",
                x->has_loop_with_loads ? " loop" : "", x->has_reduction ? " reduction" : "");
}

static void check_extents(const char *text, const char *kernel, const char *want) {
  struct parsed p = parsed_create("t.tile", str_from(text));
  ck_assert_msg(diag_error_count(p.diag) == 0, "%s: %s", text, diag_first_error(p.diag));
  struct lang_extents x = lang_extents_of(p.arena, p.module, kernel);
  struct strbuf out = {0};
  describe(&x, &out);
  ck_assert_msg(strcmp(strbuf_cstr(&out), want) == 0, "%s\n gives  %s\n wanted %s", text,
                strbuf_cstr(&out), want);
  strbuf_finish(&out);
  parsed_destroy(&p);
}

static void check_tutorial(const char *path, const char *kernel, const char *want) {
  struct arena *a = arena_create();
  struct str text;
  ck_assert(file_read(a, arena_printf(a, "%s/%s", TUTORIALS_DIR, path), SOURCE_MAX_BYTES, &text) == 0);
  check_extents(arena_strndup(a, text.ptr, text.len), kernel, want);
  arena_destroy(a);
}

START_TEST(tutorials) {
  check_tutorial("01-vector-add/add.tile", NULL, "BLOCK=element:n |");
  check_tutorial("02-fused-elementwise/fused.tile", NULL, "BLOCK=element:columns |");
  check_tutorial("03-fused-softmax/softmax.tile", NULL,
                 "ROWS=element:rows BLOCK=row:columns | reduction");
  check_tutorial("04-layer-norm/layer_norm.tile", "layer_norm",
                 "ROWS=element:rows BLOCK=row:columns EVEN=none | reduction");
  check_tutorial("04-layer-norm/layer_norm.tile", "layer_norm_ahead",
                 "BLOCK=row:columns EVEN=none | loop reduction");
  check_tutorial("04-layer-norm/layer_norm.tile", "layer_norm_backward",
                 "BLOCK=row:columns | loop reduction");
  check_tutorial("04-layer-norm/layer_norm.tile", "sum_parts",
                 "PARTS=step+:parts BLOCK=element:columns | loop reduction");
  check_tutorial("05-dropout/dropout.tile", NULL, "BLOCK=element:n |");
  check_tutorial("06-matmul/matmul.tile", NULL,
                 "BLOCK_M=m:M BLOCK_N=n:N BLOCK_K=k+:K GROUP_M=group ACTIVATION=none | dot loop");
  check_tutorial("07-flash-attention/attention.tile", NULL,
                 "D=none CAUSAL=none BLOCK_M=m:queries BLOCK_N=n+:keys | dot chain loop reduction");
}
END_TEST

Suite *extents_suite(void) {
  Suite *s = suite_create("extents");
  TCase *t = tcase_create("extents");
  tcase_add_test(t, tutorials);
  suite_add_tcase(s, t);
  return s;
}
