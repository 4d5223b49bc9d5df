// SPDX-License-Identifier: Apache-2.0
// Encodings: text and back, errors with their location, and the blocked, slice, dot-of-blocked and
// linear ones against arithmetic on indices.
#include "generate.h"
#include "suites.h"

START_TEST(round_trip) {
  struct arena *a = arena_create();
  static const char *const texts[] = {
      "#tilegpu.blocked<{order = [1, 0], size_per_thread = [1, 4], threads_per_warp = [8, 4], "
      "warps_per_cta = [4, 1]}>",
      "#tilegpu.slice<{dim = 0, parent = #tilegpu.blocked<{order = [1, 0], size_per_thread = [1, "
      "4], threads_per_warp = [8, 4], warps_per_cta = [4, 1]}>}>",
      "#tilegpu.linear<{block = [], lane = [[0, 2], [1, 0], [2, 0]], register = [[0, 1]], warp = "
      "[]}>",
      "#tilegpu.mma<{instr_shape = [16, 8], version = 2, warps_per_cta = [4, 1]}>",
      "#tilegpu.mma<{instr_shape = [16, 128, 16], version = 3, warps_per_cta = [4, 1]}>",
      "#tilegpu.dot_op<{k_width = 2, op_idx = 1, parent = #tilegpu.mma<{instr_shape = [16, 8], "
      "version = 2, warps_per_cta = [4, 1]}>}>",
      "#tilegpu.shared<{max_phase = 8, order = [1, 0], per_phase = 1, vec = 8}>",
      "#tilegpu.nvmma_shared<{element_bits = 16, swizzle = 128, transposed = false}>",
  };
  for (size_t i = 0; i < COUNT_OF(texts); i++) {
    const struct encoding *e = encoding_must(a, texts[i]);
    struct strbuf out = {0};
    encoding_print(e, &out);
    ck_assert_str_eq(strbuf_cstr(&out), texts[i]);
    strbuf_finish(&out);
    for (size_t k = 0; k < COUNT_OF(texts); k++)
      ck_assert_int_eq(encoding_equal(e, encoding_must(a, texts[k])), i == k);
  }
  arena_destroy(a);
}
END_TEST

// What MLIR prints and what people type.
START_TEST(spellings) {
  struct arena *a = arena_create();
  const struct encoding *e =
      encoding_must(a, "mma<{version=2,instr_shape=[16,8],warps_per_cta=[1,1]}>");
  ck_assert(encoding_equal(e, encoding_must(a, "#tilegpu.mma<{ version = 2 : i64 }>  ")));
  ck_assert(
      encoding_equal(e, encoding_must(a, "mma<{instr_shape = [16 : i64, 8], version = 2 : i32}>")));
  arena_destroy(a);
}
END_TEST

START_TEST(errors) {
  struct arena *a = arena_create();
  static const struct {
    const char *text;
    size_t at;
    const char *error;
  } cases[] = {
      {"", 0, "expected a layout: `blocked<{...}>`, `mma<{...}>`, ..."},
      {"blokced<{}>", 0, "unknown layout `blokced`, did you mean `blocked`?"},
      {"#tilegpu.zzzz<{}>", 9, "unknown layout `zzzz`"},
      {"mma", 3, "expected `<` after the layout's name"},
      {"mma<version>", 4, "expected `{` after `<`"},
      {"mma<{verson = 2}>", 5, "`mma` has no field `verson`, did you mean `version`?"},
      {"mma<{version 2}>", 13, "expected `=` after the field's name"},
      {"mma<{version = two}>", 15, "`two` is no number up to 2^24"},
      {"mma<{version = 2, version = 2}>", 27, "`version` is given twice"},
      {"mma<{version = 4}>", 0, "`version` is 2 (mma.sync) or 3 (wgmma)"},
      {"mma<{version = 3, warps_per_cta = [2, 2]}>", 0,
       "version 3 needs a multiple of 4 warps along M (wgmma is one instruction of 4 warps)"},
      {"mma<{version = 2}> x", 19, "unexpected text after the layout"},
      {"shared<{vec = 8, per_phase = 1, max_phase = 8}>", 45, "`shared` needs the field `order`"},
      {"shared<{vec = 3, per_phase = 1, max_phase = 8, order = [1, 0]}>", 0,
       "`vec`, `per_phase` and `max_phase` are powers of two"},
      {"shared<{vec = 8, per_phase = 1, max_phase = 8, order = [1, 1]}>", 0,
       "`order` names every dimension once"},
      {"nvmma_shared<{swizzle = 48, transposed = false, element_bits = 16}>", 0,
       "`swizzle` is 0, 32, 64 or 128 bytes"},
      {"nvmma_shared<{swizzle = 32, transposed = maybe}>", 41, "expected `true` or `false`"},
      {"blocked<{order = [1, 0], size_per_thread = [1]}>", 43,
       "this list has 1 numbers, another has 2"},
      {"linear<{register = [[0, 1], [1]]}>", 28, "all bases need the same number of coordinates"},
      {"linear<{register = [[2]]}>", 0, "the bases do not reach every element"},
      {"linear<{register = []}>", 0, "a `linear` layout needs at least one basis"},
      {"slice<{dim = 2, parent = mma<{version = 2}>}>", 0, "`dim` is a dimension of the parent"},
      {"dot_op<{op_idx = 2, k_width = 2, parent = mma<{version = 2}>}>", 0,
       "`op_idx` is 0 for operand A, 1 for operand B"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const char *error = "none";
    size_t at = 0;
    ck_assert_ptr_null(encoding_parse(a, str_from(cases[i].text), &error, &at));
    ck_assert_str_eq(error, cases[i].error);
    ck_assert_msg(at == cases[i].at, "%s: at %zu", cases[i].text, at);
  }
  // Nesting has a limit.
  struct strbuf deep = {0};
  for (int i = 0; i < 40; i++)
    strbuf_puts(&deep, "slice<{dim = 0, parent = ");
  const char *error = "none";
  size_t at;
  ck_assert_ptr_null(encoding_parse(a, str_from(strbuf_cstr(&deep)), &error, &at));
  ck_assert_str_eq(error, "layouts are nested too deeply");
  strbuf_finish(&deep);
  arena_destroy(a);
}
END_TEST

// Any byte string is an encoding or an error at a location inside it.
START_TEST(damaged_text) {
  struct arena *a = arena_create();
  struct random r = {21};
  static const char good[] = "dot_op<{k_width = 2, op_idx = 1, parent = "
                             "blocked<{order=[1,0],size_per_thread=[1,4],threads_per_warp=[8,4],"
                             "warps_per_cta=[4,1]}>}>";
  for (int round = 0; round < 3000; round++) {
    char text[sizeof good];
    memcpy(text, good, sizeof good);
    for (uint32_t n = 1 + random_below(&r, 3); n > 0; n--)
      text[random_below(&r, sizeof good - 1)] = "0123456789[]{}<>=,x "[random_below(&r, 20)];
    struct str s = {text, random_below(&r, 4) ? sizeof good - 1 : random_below(&r, sizeof good)};
    const char *error = NULL;
    size_t at = 0;
    struct arena_mark mark = arena_mark(a);
    const struct encoding *e = encoding_parse(a, s, &error, &at);
    EXPECT((e == NULL) == (error != NULL));
    EXPECT(at <= s.len);
    if (e) {
      struct linear_layout l;
      const int64_t shape[] = {32, 16, 8};
      const char *why = NULL;
      EXPECT(encoding_to_linear(e, e->rank, shape, &l, &why) ? ll_is_surjective(&l) : why != NULL);
    }
    arena_release(a, mark);
  }
  arena_destroy(a);
}
END_TEST

// ---- blocked, by mixed-radix arithmetic ----

// Takes the lowest digits of *index off, radix sizes[order[0]] first.
static void take_digits(uint32_t *index, unsigned rank, const uint32_t *sizes,
                        const uint32_t *order, uint32_t *ret) {
  for (unsigned k = 0; k < rank; k++) {
    ret[order[k]] = *index % sizes[order[k]];
    *index /= sizes[order[k]];
  }
}

static void check_blocked(const struct encoding *e, const uint32_t *shape,
                          const struct linear_layout *l) {
  uint32_t size[LL_MAX_OUT], repeat[LL_MAX_OUT];
  for (unsigned d = 0; d < e->rank; d++) {
    uint32_t tile = e->blocked.size_per_thread[d] * e->blocked.threads_per_warp[d] *
                    e->blocked.warps_per_cta[d];
    size[d] = e->blocked.size_per_thread[d] < shape[d] ? e->blocked.size_per_thread[d] : shape[d];
    repeat[d] = tile < shape[d] ? shape[d] / tile : 1;
  }
  for (uint32_t i = 0; i < input_count(l); i++) {
    uint32_t index[LL_NO_IN], at[LL_MAX_OUT] = {0}, reg[LL_MAX_OUT], rep[LL_MAX_OUT];
    uint32_t lane[LL_MAX_OUT], warp[LL_MAX_OUT];
    input_at(l, i, index);
    ll_apply(l, index, at);
    take_digits(&index[LL_REGISTER], e->rank, size, e->blocked.order, reg);
    take_digits(&index[LL_REGISTER], e->rank, repeat, e->blocked.order, rep);
    take_digits(&index[LL_LANE], e->rank, e->blocked.threads_per_warp, e->blocked.order, lane);
    take_digits(&index[LL_WARP], e->rank, e->blocked.warps_per_cta, e->blocked.order, warp);
    EXPECT(index[LL_REGISTER] == 0 && index[LL_LANE] == 0 && index[LL_WARP] == 0);
    for (unsigned d = 0; d < e->rank; d++) {
      uint32_t x = rep[d] * e->blocked.warps_per_cta[d] + warp[d];
      x = x * e->blocked.threads_per_warp[d] + lane[d];
      x = x * e->blocked.size_per_thread[d] + reg[d];
      EXPECT(at[d] == x % shape[d]);
    }
  }
}

START_TEST(blocked) {
  struct random r = {22};
  for (int round = 0; round < 400; round++) {
    struct encoding e = {.kind = ENC_BLOCKED, .rank = 1 + random_below(&r, 3)};
    int64_t shape[LL_MAX_OUT];
    uint32_t small_shape[LL_MAX_OUT];
    for (unsigned d = 0; d < e.rank; d++) {
      e.blocked.size_per_thread[d] = 1u << random_below(&r, 3);
      e.blocked.threads_per_warp[d] = 1u << random_below(&r, 3);
      e.blocked.warps_per_cta[d] = 1u << random_below(&r, 2);
      e.blocked.order[d] = d;
      shape[d] = small_shape[d] = 1u << random_below(&r, 5);
    }
    for (unsigned d = e.rank; d-- > 1;) {
      unsigned other = random_below(&r, d + 1), t = e.blocked.order[d];
      e.blocked.order[d] = e.blocked.order[other];
      e.blocked.order[other] = t;
    }
    struct linear_layout l;
    const char *why;
    EXPECT(encoding_to_linear(&e, e.rank, shape, &l, &why));
    EXPECT(ll_is_surjective(&l));
    check_blocked(&e, small_shape, &l);
  }
}
END_TEST

// The set of elements (row-major) that thread (lane, warp) holds.
static void held(const struct linear_layout *l, uint32_t lane, uint32_t warp, bool *ret) {
  for (uint32_t reg = 0; reg < ll_in_size(l, LL_REGISTER); reg++)
    ret[element_of(l, reg, lane, warp)] = true;
}

// A thread of a slice holds what it holds of the parent, without the removed coordinate: that is
// what a reduction leaves and expand_dims takes.
START_TEST(slices) {
  struct arena *a = arena_create();
  static const char *const parents[] = {
      "blocked<{order=[1,0], size_per_thread=[2,4], threads_per_warp=[8,4], warps_per_cta=[2,2]}>",
      "blocked<{order=[0,1], size_per_thread=[4,1], threads_per_warp=[2,16], warps_per_cta=[1,4]}>",
      "mma<{version=2, instr_shape=[16,8], warps_per_cta=[2,2]}>",
      "mma<{version=3, instr_shape=[16,16,16], warps_per_cta=[4,1]}>",
      "dot_op<{op_idx=1, k_width=2, parent=mma<{version=2, instr_shape=[16,8], "
      "warps_per_cta=[2,2]}>}>",
  };
  const int64_t shape[] = {64, 32};
  for (size_t i = 0; i < COUNT_OF(parents); i++)
    for (unsigned dim = 0; dim < 2; dim++) {
      struct linear_layout parent = linear_must(a, parents[i], 2, shape);
      const char *text = arena_printf(a, "slice<{dim=%u, parent=%s}>", dim, parents[i]);
      struct linear_layout slice = linear_must(a, text, 1, &shape[1 - dim]);
      struct linear_layout projected = ll_remove_out(&parent, dim);
      for (uint32_t lane = 0; lane < 32; lane++)
        for (uint32_t warp = 0; warp < 4; warp++) {
          bool mine[64] = {false}, theirs[64] = {false};
          held(&slice, lane, warp, mine);
          held(&projected, lane, warp, theirs);
          EXPECT(memcmp(mine, theirs, sizeof mine) == 0);
        }
      // No register is a copy of another.
      uint32_t masks[LL_NO_IN];
      ll_free_masks(&slice, masks);
      ck_assert_uint_eq(masks[LL_REGISTER], 0);
    }
  arena_destroy(a);
}
END_TEST

START_TEST(nested_slices) {
  struct arena *a = arena_create();
  const int64_t shape[] = {16};
  struct linear_layout l = linear_must(
      a,
      "slice<{dim=0, parent=slice<{dim=1, parent=blocked<{order=[2,1,0], size_per_thread=[1,1,2], "
      "threads_per_warp=[2,2,8], warps_per_cta=[1,1,1]}>}>}>",
      1, shape);
  ck_assert_uint_eq(ll_in_size(&l, LL_REGISTER), 2);
  for (uint32_t lane = 0; lane < 32; lane++)
    for (uint32_t reg = 0; reg < 2; reg++)
      ck_assert_uint_eq(element_of(&l, reg, lane, 0), lane % 8 * 2 + reg);
  arena_destroy(a);
}
END_TEST

// A slice of a `linear` layout knows the removed size from it.
START_TEST(slice_of_linear) {
  struct arena *a = arena_create();
  static const char text[] = "linear<{register=[[0,1],[4,0]], lane=[[0,2],[1,0],[2,0]], warp=[], "
                             "block=[]}>";
  const int64_t rows[] = {8}, cols[] = {4}, wrong[] = {16}, own[] = {8, 4};
  struct linear_layout l =
      linear_must(a, arena_printf(a, "slice<{dim=1, parent=%s}>", text), 1, rows);
  ck_assert_uint_eq(ll_in_size(&l, LL_REGISTER), 2);
  l = linear_must(a, arena_printf(a, "slice<{dim=0, parent=%s}>", text), 1, cols);
  ck_assert_uint_eq(ll_in_size(&l, LL_REGISTER), 2);
  l = linear_must(a, text, 2, own);
  ck_assert(ll_equal(&l, &encoding_must(a, text)->linear));
  const char *why = NULL;
  const struct encoding *e = encoding_must(a, arena_printf(a, "slice<{dim=1, parent=%s}>", text));
  ck_assert(!encoding_to_linear(e, 1, wrong, &l, &why));
  ck_assert_str_eq(why, "a `linear` layout fits only tensors of its own size");
  arena_destroy(a);
}
END_TEST

// A tile that is broadcast to a `linear` layout's size holds copies along its dimensions of one;
// registers that would only repeat others are left out.
START_TEST(linear_of_broadcast) {
  struct arena *a = arena_create();
  static const char text[] = "linear<{register=[[0,1],[4,0]], lane=[[0,2],[1,0],[2,0]], "
                             "warp=[[0,0]], block=[]}>";
  static const struct {
    int64_t shape[2];
    const char *same;
  } cases[] = {
      {{8, 1}, "linear<{register=[[4,0]], lane=[[0,0],[1,0],[2,0]], warp=[[0,0]], block=[]}>"},
      {{1, 4}, "linear<{register=[[0,1]], lane=[[0,2],[0,0],[0,0]], warp=[[0,0]], block=[]}>"},
      {{1, 1}, "linear<{register=[], lane=[[0,0],[0,0],[0,0]], warp=[[0,0]], block=[]}>"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    struct linear_layout l = linear_must(a, text, 2, cases[i].shape);
    struct linear_layout want = linear_must(a, cases[i].same, 2, cases[i].shape);
    ck_assert_msg(ll_equal(&l, &want), "case %zu", i);
  }
  struct linear_layout l;
  const char *why = NULL;
  const int64_t smaller[] = {4, 4};
  ck_assert(!encoding_to_linear(encoding_must(a, text), 2, smaller, &l, &why));
  ck_assert_str_eq(why, "a `linear` layout fits only tensors of its own size");
  arena_destroy(a);
}
END_TEST

// A dot without tensor cores: each thread has the rows (columns) of its elements of the result,
// with all of K.
START_TEST(blocked_dot_operands) {
  struct arena *a = arena_create();
  static const char parent[] = "blocked<{order=[1,0], size_per_thread=[2,4], "
                               "threads_per_warp=[8,4], warps_per_cta=[2,2]}>";
  const int64_t result[] = {64, 32}, shapes[2][2] = {{64, 16}, {16, 32}};
  struct linear_layout c = linear_must(a, parent, 2, result);
  for (unsigned op = 0; op < 2; op++) {
    const char *text = arena_printf(a, "dot_op<{op_idx=%u, k_width=1, parent=%s}>", op, parent);
    struct linear_layout operand = linear_must(a, text, 2, shapes[op]);
    struct linear_layout mine = ll_remove_out(&c, 1 - op);
    for (uint32_t lane = 0; lane < 32; lane++)
      for (uint32_t warp = 0; warp < 4; warp++) {
        bool needed[64] = {false}, has[64 * 16] = {false};
        held(&mine, lane, warp, needed);
        held(&operand, lane, warp, has);
        for (uint32_t m = 0; m < (uint32_t)result[op]; m++)
          for (uint32_t k = 0; k < 16; k++)
            EXPECT(has[op == 0 ? m * 16 + k : k * 32 + m] == needed[m]);
      }
  }
  arena_destroy(a);
}
END_TEST

START_TEST(default_blocked) {
  const struct {
    int64_t shape[2];
    uint32_t size[2], order[2];
    unsigned warps;
    uint32_t threads[2], warps_per_cta[2];
  } cases[] = {
      {{128, 64}, {1, 4}, {1, 0}, 4, {2, 16}, {4, 1}},
      {{128, 64}, {1, 1}, {1, 0}, 4, {1, 32}, {2, 2}},
      {{64, 256}, {1, 1}, {1, 0}, 4, {1, 32}, {1, 4}},
      {{128, 64}, {4, 1}, {0, 1}, 8, {32, 1}, {1, 8}},
      {{1, 2}, {1, 4}, {1, 0}, 4, {32, 1}, {4, 1}}, // smaller than a warp: replicated
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    struct encoding e =
        encoding_blocked(2, cases[i].shape, cases[i].size, cases[i].order, cases[i].warps);
    ck_assert_mem_eq(e.blocked.threads_per_warp, cases[i].threads, sizeof cases[i].threads);
    ck_assert_mem_eq(e.blocked.warps_per_cta, cases[i].warps_per_cta, sizeof cases[i].threads);
    ck_assert_mem_eq(e.blocked.size_per_thread, cases[i].size, sizeof cases[i].threads);
    struct linear_layout l;
    const char *why;
    ck_assert(encoding_to_linear(&e, 2, cases[i].shape, &l, &why));
    ck_assert_uint_eq(ll_in_size(&l, LL_LANE), 32);
    ck_assert_uint_eq(ll_in_size(&l, LL_WARP), cases[i].warps);
  }
}
END_TEST

START_TEST(unfit_shapes) {
  struct arena *a = arena_create();
  const struct encoding *e = encoding_must(a, "mma<{version=2}>");
  struct linear_layout l;
  const char *why = NULL;
  const int64_t three[] = {16, 24}, huge[] = {1 << 20, 1 << 20}, none[] = {16, 0};
  ck_assert(!encoding_to_linear(e, 2, three, &l, &why));
  ck_assert_str_eq(why, "the dimensions of a tensor are powers of two");
  ck_assert(!encoding_to_linear(e, 2, none, &l, &why));
  ck_assert(!encoding_to_linear(e, 2, huge, &l, &why));
  ck_assert_str_eq(why, "the tensor has more than 2^24 elements");
  ck_assert(!encoding_to_linear(e, 1, three, &l, &why));
  ck_assert_str_eq(why, "the layout is of another rank than the tensor");
  arena_destroy(a);
}
END_TEST

TCase *encoding_tests(void) {
  TCase *t = tcase_create("encoding");
  tcase_add_test(t, round_trip);
  tcase_add_test(t, spellings);
  tcase_add_test(t, errors);
  tcase_add_test(t, damaged_text);
  tcase_add_test(t, blocked);
  tcase_add_test(t, slices);
  tcase_add_test(t, nested_slices);
  tcase_add_test(t, slice_of_linear);
  tcase_add_test(t, linear_of_broadcast);
  tcase_add_test(t, blocked_dot_operands);
  tcase_add_test(t, default_blocked);
  tcase_add_test(t, unfit_shapes);
  return t;
}
