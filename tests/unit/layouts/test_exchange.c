// SPDX-License-Identifier: Apache-2.0
// Exchanges through shared memory, performed: store, load, compare; and every access counted for
// bank conflicts. Matrix instructions are performed as the PTX ISA describes them.
#include "generate.h"
#include "layouts/banks.h"
#include "layouts/exchange_plan.h"
#include "suites.h"

enum { MAX_ELEMENTS = 1 << 12, NOTHING = MAX_ELEMENTS };

static uint32_t offset_of(const struct exchange_side *s, uint32_t reg, uint32_t lane,
                          uint32_t warp) {
  return element_of(&s->offsets, reg, lane, warp) ^ s->start;
}

static uint32_t register_in_vector(const struct exchange_side *s, unsigned vec_bits, uint32_t r,
                                   uint32_t i) {
  for (unsigned k = 0; k < vec_bits; k++)
    r += (i >> k & 1) << s->vec_register[k];
  return r;
}

static uint32_t register_of_matrix(const struct exchange_side *s, uint32_t r, uint32_t m) {
  for (unsigned k = 0; k < s->matrix_bits; k++)
    r += (m >> k & 1) << s->matrix_register[k];
  return r;
}

static void move(uint32_t *offset, uint32_t element, bool store) {
  if (store)
    *offset = element;
  else
    EXPECT(*offset == element);
}

// One ldmatrix or stmatrix of a warp: each lane has 32 bits of each matrix, made of two halves of
// 16 bits, which are parts of elements or hold several. Answers its wavefronts beyond one a matrix.
static unsigned run_matrices(const struct exchange_side *s, const struct linear_layout *layout,
                             unsigned element_bits, uint32_t r, uint32_t warp, bool store,
                             uint32_t *memory) {
  struct linear_layout rows = exchange_rows(s);
  unsigned bytes = element_bits / 8, conflicts = 0;
  EXPECT(ll_in_size(layout, LL_LANE) == 32 && bytes <= 4 && bytes << s->vec_bits == 4);
  for (uint32_t m = 0; m < 1u << s->matrix_bits; m++) {
    uint32_t address[8];
    for (uint32_t row = 0; row < 8; row++) {
      address[row] = (element_of(&rows, r, 8 * m + row, warp) ^ s->start) * bytes;
      EXPECT(address[row] % 16 == 0);
    }
    conflicts += bank_wavefronts(address, 8, 16) - 1;
    uint32_t first = register_of_matrix(s, r, m);
    for (uint32_t lane = 0; lane < 32; lane++)
      for (uint32_t byte = 0; byte < 4; byte += bytes) {
        uint32_t at = address[lane / 4] + lane % 4 * 4 + byte;
        if (s->form == EXCHANGE_TRANSPOSED)
          at = address[lane % 4 * 2 + byte / 2] + lane / 4 * 2;
        uint32_t reg = register_in_vector(s, s->vec_bits, first, byte / bytes);
        EXPECT(at / bytes < 1u << ll_total_out_bits(layout));
        move(&memory[at / bytes], element_of(layout, reg, lane, warp), store);
      }
  }
  return conflicts;
}

static unsigned run_vectors(const struct exchange_side *s, const struct linear_layout *layout,
                            unsigned element_bits, uint32_t r, uint32_t warp, bool store,
                            uint32_t *memory) {
  uint32_t lanes = ll_in_size(layout, LL_LANE), address[32];
  unsigned bytes = (element_bits / 8) << s->vec_bits;
  for (uint32_t lane = 0; lane < lanes; lane++) {
    uint32_t offset = offset_of(s, r, lane, warp);
    EXPECT(offset % (1u << s->vec_bits) == 0);
    address[lane] = offset * (element_bits / 8);
    for (uint32_t i = 0; i < 1u << s->vec_bits; i++) {
      uint32_t reg = register_in_vector(s, s->vec_bits, r, i);
      EXPECT(offset + i < 1u << ll_total_out_bits(layout));
      move(&memory[offset + i], element_of(layout, reg, lane, warp), store);
    }
  }
  unsigned groups = bytes > 4 ? (lanes * bytes + 127) / 128 : 1;
  return bank_wavefronts(address, lanes, bytes) - groups;
}

// Runs one side for all threads; returns the wavefronts beyond one a group of lanes.
static unsigned run_side(const struct exchange_side *s, const struct linear_layout *layout,
                         unsigned element_bits, bool store, uint32_t *memory) {
  unsigned conflicts = 0, instructions = 0;
  for (uint32_t warp = 0; warp < ll_in_size(layout, LL_WARP); warp++)
    for (uint32_t r = 0; r < ll_in_size(layout, LL_REGISTER); r++) {
      if (r & s->skip_mask)
        continue;
      conflicts += (s->form == EXCHANGE_VECTORS ? run_vectors : run_matrices)(
          s, layout, element_bits, r, warp, store, memory);
      instructions += warp == 0;
    }
  EXPECT(instructions == exchange_instructions(s));
  return conflicts;
}

enum { BOTH = EXCHANGE_LDMATRIX | EXCHANGE_STMATRIX };

static void check_with(const struct linear_layout *src, const struct linear_layout *dst,
                       unsigned element_bits, unsigned instructions, struct exchange_plan *p) {
  static uint32_t memory[MAX_ELEMENTS];
  EXPECT(exchange_plan_make(src, dst, element_bits, instructions, p));
  EXPECT((element_bits / 8) << p->store.vec_bits <= 16);
  EXPECT((element_bits / 8) << p->load.vec_bits <= 16);
  EXPECT(p->store.form == EXCHANGE_VECTORS || instructions & EXCHANGE_STMATRIX);
  EXPECT(p->load.form == EXCHANGE_VECTORS || instructions & EXCHANGE_LDMATRIX);
  uint32_t size = 1u << ll_total_out_bits(src);
  for (uint32_t i = 0; i < size; i++)
    memory[i] = NOTHING;
  EXPECT(run_side(&p->store, src, element_bits, true, memory) == 0);
  for (uint32_t i = 0; i < size; i++)
    EXPECT(memory[i] != NOTHING);
  EXPECT(run_side(&p->load, dst, element_bits, false, memory) == 0);
}

// With matrix instructions it takes no more of them. ret: the plan without.
static void check(const struct linear_layout *src, const struct linear_layout *dst,
                  unsigned element_bits, struct exchange_plan *p) {
  struct exchange_plan with;
  check_with(src, dst, element_bits, 0, p);
  unsigned most = exchange_instructions(&p->store) + exchange_instructions(&p->load);
  for (unsigned instructions = 1; instructions <= BOTH; instructions++) {
    check_with(src, dst, element_bits, instructions, &with);
    EXPECT(exchange_instructions(&with.store) + exchange_instructions(&with.load) <= most);
  }
}

START_TEST(random_pairs) {
  struct random r = {41};
  unsigned vectors = 0, matrices[EXCHANGE_TRANSPOSED + 1] = {0};
  for (int round = 0; round < 600; round++) {
    bool simple = random_below(&r, 4) != 0;
    unsigned lanes = random_below(&r, 4) ? 5 : 3, out = random_below(&r, 11);
    unsigned a[LL_NO_IN] = {random_below(&r, 3), lanes, random_below(&r, 3)};
    unsigned b[LL_NO_IN] = {random_below(&r, 3), lanes, a[LL_WARP]};
    while (a[0] + lanes + a[LL_WARP] < out + 1)
      a[0]++;
    while (b[0] + lanes + b[LL_WARP] < out + 1)
      b[0]++;
    struct linear_layout shape = random_layout(&r, (unsigned[LL_NO_IN]){0}, out, true);
    struct linear_layout src = random_surjective(&r, a, &shape, simple);
    struct linear_layout dst = random_surjective(&r, b, &shape, simple);
    struct exchange_plan p;
    unsigned bits = 8u << random_below(&r, 4);
    check(&src, &dst, bits, &p);
    vectors += p.store.vec_bits > 0;
    EXPECT(exchange_plan_make(&src, &dst, bits, BOTH, &p));
    matrices[p.store.form]++;
    matrices[p.load.form]++;
  }
  ck_assert_uint_gt(vectors, 50);
  ck_assert_uint_gt(matrices[EXCHANGE_MATRICES] + matrices[EXCHANGE_TRANSPOSED], 20);
}
END_TEST

// Conversions of kernels, and how wide they go.
START_TEST(known) {
  struct arena *a = arena_create();
  static const char row[] = "blocked<{order=[1,0], size_per_thread=[1,4], threads_per_warp=[8,4], "
                            "warps_per_cta=[4,1]}>";
  static const char column[] = "blocked<{order=[0,1], size_per_thread=[4,1], "
                               "threads_per_warp=[16,2], warps_per_cta=[1,4]}>";
  static const char wide[] = "blocked<{order=[1,0], size_per_thread=[1,8], threads_per_warp=[4,8], "
                             "warps_per_cta=[2,2]}>";
  static const char mma[] = "mma<{version=2, instr_shape=[16,8], warps_per_cta=[2,2]}>";
  static const char dot[] = "dot_op<{op_idx=0, k_width=2, parent=mma<{version=2, "
                            "instr_shape=[16,8], warps_per_cta=[2,2]}>}>";
  const struct {
    const char *src, *dst;
    unsigned bits, vec_bits;
  } cases[] = {
      {row, wide, 32, 2},   // four floats
      {row, wide, 16, 3},   // the repeated register, too
      {row, column, 32, 2}, // no common run, but common registers further up
      {mma, row, 32, 2},    {wide, dot, 16, 3}, {row, row, 64, 1}, {mma, wide, 8, 3},
  };
  const int64_t shape[] = {64, 64};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    struct linear_layout src = linear_must(a, cases[i].src, 2, shape);
    struct linear_layout dst = linear_must(a, cases[i].dst, 2, shape);
    struct exchange_plan p;
    check(&src, &dst, cases[i].bits, &p);
    ck_assert_msg(p.store.vec_bits == cases[i].vec_bits, "case %zu: %u", i, p.store.vec_bits);
    ck_assert_uint_ge(p.load.vec_bits, cases[i].vec_bits);
    ck_assert(ll_is_injective(&p.shared) && ll_is_surjective(&p.shared));
  }
  arena_destroy(a);
}
END_TEST

#define V2 "mma<{version=2, instr_shape=[16,8], warps_per_cta=[2,2]}>"
#define V3 "mma<{version=3, instr_shape=[16,64,16], warps_per_cta=[4,1]}>"

// Fragments of tensor cores: how each side goes, and the instructions of a thread, without matrices
// and with them. Repeated fragments often share registers enough with the other side for vectors of
// 16 bytes.
START_TEST(fragments) {
  struct arena *a = arena_create();
  static const char v2[] = V2, v3[] = V3;
  static const char dot_a[] = "dot_op<{op_idx=0, k_width=2, parent=" V2 "}>";
  static const char dot_b[] = "dot_op<{op_idx=1, k_width=2, parent=" V2 "}>";
  static const char bytes_a[] = "dot_op<{op_idx=0, k_width=4, parent=" V2 "}>";
  static const char floats_a[] = "dot_op<{op_idx=0, k_width=1, parent=" V2 "}>";
  static const char rows[] = "blocked<{order=[1,0], size_per_thread=[1,8], threads_per_warp=[4,8], "
                             "warps_per_cta=[4,1]}>";
  static const char columns[] = "blocked<{order=[0,1], size_per_thread=[8,1], "
                                "threads_per_warp=[4,8], warps_per_cta=[1,4]}>";
  static const char quads[] = "blocked<{order=[1,0], size_per_thread=[1,4], "
                              "threads_per_warp=[8,4], warps_per_cta=[4,1]}>";
  static const char words[] = "blocked<{order=[1,0], size_per_thread=[1,2], "
                              "threads_per_warp=[2,16], warps_per_cta=[4,1]}>";
  const enum exchange_form V = EXCHANGE_VECTORS, M = EXCHANGE_MATRICES, T = EXCHANGE_TRANSPOSED;
  const struct {
    const char *src, *dst;
    unsigned bits, instructions;
    enum exchange_form from, to;
    unsigned plain, with; // instructions of both sides
    int64_t shape[2];
  } cases[] = {
      {v3, rows, 16, BOTH, M, V, 32, 8, {64, 64}},
      {v3, rows, 16, EXCHANGE_LDMATRIX, V, M, 32, 8, {64, 64}},
      {v3, quads, 16, BOTH, V, V, 8, 8, {64, 64}},
      {v3, columns, 16, BOTH, T, V, 32, 8, {64, 64}},
      {v3, rows, 32, BOTH, M, V, 32, 16, {64, 64}},
      {v3, rows, 8, BOTH, V, V, 24, 24, {64, 64}},
      {v2, rows, 16, BOTH, M, V, 16, 8, {64, 64}},
      {v2, rows, 16, BOTH, M, V, 12, 3, {32, 32}},
      {v2, columns, 16, BOTH, M, T, 16, 2, {32, 32}},
      {v2, words, 16, BOTH, M, M, 4, 2, {32, 32}},
      {rows, v2, 16, BOTH, V, M, 12, 3, {32, 32}},
      {rows, dot_a, 16, BOTH, M, V, 24, 12, {64, 64}},
      {rows, dot_a, 16, BOTH, V, M, 16, 4, {32, 32}},
      {rows, dot_b, 16, BOTH, V, T, 24, 12, {64, 64}},
      {columns, dot_b, 16, BOTH, M, V, 12, 3, {32, 32}},
      {rows, bytes_a, 8, BOTH, V, M, 12, 4, {32, 64}},
      {rows, floats_a, 32, BOTH, V, V, 16, 16, {32, 32}},
      {v2, dot_b, 16, BOTH, T, M, 6, 3, {32, 32}},
      {v3, rows, 64, BOTH, V, V, 24, 24, {64, 32}},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    struct linear_layout src = linear_must(a, cases[i].src, 2, cases[i].shape);
    struct linear_layout dst = linear_must(a, cases[i].dst, 2, cases[i].shape);
    struct exchange_plan plain, p;
    check(&src, &dst, cases[i].bits, &plain);
    check_with(&src, &dst, cases[i].bits, cases[i].instructions, &p);
    unsigned without = exchange_instructions(&plain.store) + exchange_instructions(&plain.load);
    unsigned with = exchange_instructions(&p.store) + exchange_instructions(&p.load);
    ck_assert_msg(p.store.form == cases[i].from && p.load.form == cases[i].to, "case %zu: %d %d", i,
                  p.store.form, p.load.form);
    ck_assert_msg(without == cases[i].plain && with == cases[i].with, "case %zu: %u %u", i, without,
                  with);
  }
  arena_destroy(a);
}
END_TEST

// Any two of them, and blocked layouts, of any size.
START_TEST(random_fragments) {
  struct arena *a = arena_create();
  struct random r = {42};
  unsigned matrices[EXCHANGE_TRANSPOSED + 1] = {0};
  static const char *const encodings[] = {V2,
                                          V3,
                                          "dot_op<{op_idx=0, k_width=2, parent=" V2 "}>",
                                          "dot_op<{op_idx=1, k_width=2, parent=" V2 "}>",
                                          "dot_op<{op_idx=0, k_width=1, parent=" V2 "}>",
                                          "dot_op<{op_idx=1, k_width=4, parent=" V2 "}>",
                                          "dot_op<{op_idx=0, k_width=4, parent=" V3 "}>"};
  for (int round = 0; round < 300; round++) {
    const int64_t shape[] = {16ll << random_below(&r, 3), 16ll << random_below(&r, 3)};
    struct linear_layout side[2];
    for (int i = 0; i < 2; i++) {
      unsigned which = random_below(&r, COUNT_OF(encodings) + 4), row = random_below(&r, 2);
      unsigned wide = random_below(&r, 4), lanes = random_below(&r, 6), warps = random_below(&r, 3);
      struct strbuf text = {0};
      unsigned size[2] = {1u << wide, 1}, lane[2] = {1u << lanes, 32u >> lanes};
      strbuf_printf(&text,
                    "blocked<{order=[%u,%u], size_per_thread=[%u,%u], threads_per_warp=[%u,%u], "
                    "warps_per_cta=[%u,%u]}>",
                    row, 1 - row, size[row], size[1 - row], lane[0], lane[1], 1u << warps,
                    4u >> warps);
      side[i] = linear_must(a, which < COUNT_OF(encodings) ? encodings[which] : strbuf_cstr(&text),
                            2, shape);
      strbuf_finish(&text);
    }
    struct exchange_plan p;
    unsigned bits = 8u << random_below(&r, 4);
    check(&side[0], &side[1], bits, &p);
    EXPECT(exchange_plan_make(&side[0], &side[1], bits, BOTH, &p));
    matrices[p.store.form]++;
    matrices[p.load.form]++;
  }
  ck_assert_uint_gt(matrices[EXCHANGE_MATRICES], 60);
  ck_assert_uint_gt(matrices[EXCHANGE_TRANSPOSED], 20);
  arena_destroy(a);
}
END_TEST

// Operands of tensor cores read from the offsets that encodings of shared memory give.
START_TEST(operands_in_buffers) {
  struct arena *a = arena_create();
  static const char swizzled[] = "shared<{vec=8, per_phase=1, max_phase=8, order=[1,0]}>";
  static const char plain[] = "shared<{vec=1, per_phase=1, max_phase=1, order=[1,0]}>";
  static const char dot_a[] = "dot_op<{op_idx=0, k_width=2, parent=" V2 "}>";
  static const char dot_b[] = "dot_op<{op_idx=1, k_width=2, parent=" V2 "}>";
  const struct {
    const char *shared, *operand;
    enum exchange_form form;
    unsigned instructions, conflicts;
  } cases[] = {
      {swizzled, dot_a, EXCHANGE_MATRICES, 8, 0},
      {swizzled, dot_b, EXCHANGE_TRANSPOSED, 8, 0},
      {plain, dot_a, EXCHANGE_MATRICES, 8, 7},
  };
  const int64_t shape[] = {64, 64};
  static uint32_t memory[MAX_ELEMENTS];
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    struct linear_layout shared = linear_must(a, cases[i].shared, 2, shape);
    struct linear_layout operand = linear_must(a, cases[i].operand, 2, shape);
    struct exchange_plan p;
    EXPECT(exchange_plan_with(&operand, &operand, &shared, 16, EXCHANGE_LDMATRIX, &p));
    for (uint32_t k = 0; k < 64 * 64; k++) {
      uint32_t index[LL_NO_IN] = {[LL_OFFSET] = k}, at[LL_MAX_OUT];
      ll_apply(&shared, index, at);
      memory[k] = at[0] * 64 + at[1];
    }
    unsigned conflicts = run_side(&p.load, &operand, 16, false, memory);
    unsigned matrices = 4 * 8 * ll_in_size(&operand, LL_WARP);
    ck_assert_int_eq(p.load.form, cases[i].form);
    ck_assert_uint_eq(exchange_instructions(&p.load), cases[i].instructions);
    ck_assert_uint_eq(conflicts, cases[i].conflicts * matrices);
  }
  arena_destroy(a);
}
END_TEST

// Parts of a tile, read from the offsets of the whole one; elements count from the part's corner.
START_TEST(parts_of_buffers) {
  struct arena *a = arena_create();
  static const char swizzled[] = "shared<{vec=8, per_phase=1, max_phase=8, order=[1,0]}>";
  static const char single[] = "shared<{vec=1, per_phase=1, max_phase=8, order=[1,0]}>";
  static const char dot_a[] = "dot_op<{op_idx=0, k_width=2, parent=" V2 "}>";
  static const char dot_b[] = "dot_op<{op_idx=1, k_width=2, parent=" V2 "}>";
  static const char rows[] = "blocked<{order=[1,0], size_per_thread=[1,4], "
                             "threads_per_warp=[2,16], warps_per_cta=[4,1]}>";
  const struct {
    const char *shared, *part;
    int64_t shape[2];
    unsigned instructions; // 0: any number
  } cases[] = {
      {swizzled, dot_a, {64, 16}, 2}, {swizzled, dot_a, {32, 32}, 2},
      {swizzled, dot_b, {16, 64}, 2}, {swizzled, rows, {8, 64}, 0},
      {single, rows, {1, 64}, 0},     {single, dot_a, {16, 32}, 0},
  };
  static uint32_t memory[MAX_ELEMENTS];
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const int64_t *shape = cases[i].shape;
    struct linear_layout shared = linear_must(a, cases[i].shared, 2, (const int64_t[]){64, 64});
    struct linear_layout part = linear_must(a, cases[i].part, 2, shape), wide = part;
    memcpy(wide.out_bits, shared.out_bits, sizeof wide.out_bits);
    for (uint32_t row = 0; row < 64; row += (uint32_t)shape[0])
      for (uint32_t col = 0; col < 64; col += (uint32_t)shape[1]) {
        struct exchange_side side;
        EXPECT(exchange_part_with(&part, &shared, (const uint32_t[]){row, col}, 16,
                                  EXCHANGE_LDMATRIX, &side));
        for (uint32_t k = 0; k < 64 * 64; k++) {
          uint32_t index[LL_NO_IN] = {[LL_OFFSET] = k}, at[LL_MAX_OUT];
          ll_apply(&shared, index, at);
          memory[k] = at[0] < row || at[1] < col ? NOTHING : (at[0] - row) * 64 + at[1] - col;
        }
        run_side(&side, &wide, 16, false, memory);
        if (cases[i].instructions)
          ck_assert_uint_eq(exchange_instructions(&side), cases[i].instructions);
      }
  }
  arena_destroy(a);
}
END_TEST

// Every element goes in one round, stored and loaded by those who take part.
static unsigned check_rounds(const struct linear_layout *src, const struct linear_layout *dst,
                             unsigned element_bits) {
  static uint32_t round_of[1 << 17];
  struct exchange_rounds x;
  exchange_rounds_of(src, dst, element_bits, &x);
  EXPECT(x.bytes == ((element_bits / 8) << ll_total_out_bits(src)) >> x.bits);
  const struct linear_layout *whole[] = {src, dst};
  const struct exchange_share *share[] = {&x.store, &x.load};
  for (int side = 0; side < 2; side++) {
    const struct linear_layout *part = &share[side]->layout;
    uint32_t seen = 0;
    EXPECT(ll_total_out_bits(part) + x.bits == ll_total_out_bits(src));
    for (uint32_t round = 0; round < 1u << x.bits; round++)
      for (uint32_t warp = 0; warp < ll_in_size(part, LL_WARP); warp++) {
        bool takes_part = true;
        for (unsigned i = 0; i < x.bits; i++) {
          uint32_t mask = share[side]->of_warp[i];
          takes_part &= !mask || ((warp & mask) != 0) == (round >> i & 1);
        }
        for (uint32_t r = 0; takes_part && r < ll_in_size(part, LL_REGISTER); r++)
          for (uint32_t lane = 0; lane < 32; lane++) {
            uint32_t reg = exchange_round_register(share[side], x.bits, round, r);
            uint32_t e = element_of(whole[side], reg, lane, warp);
            if (side == 0)
              round_of[e] = round;
            EXPECT(round_of[e] == round);
            seen++;
          }
      }
    EXPECT(seen == 1u << ll_total_in_bits(whole[side]));
  }
  struct exchange_plan p;
  EXPECT(exchange_plan_make(&x.store.layout, &x.load.layout, element_bits, BOTH, &p));
  return x.bits;
}

START_TEST(rounds) {
  struct arena *a = arena_create();
  static const char row[] = "blocked<{order=[1,0], size_per_thread=[1,4], threads_per_warp=[1,32], "
                            "warps_per_cta=[4,1]}>";
  static const char column[] = "blocked<{order=[0,1], size_per_thread=[4,1], "
                               "threads_per_warp=[32,1], warps_per_cta=[1,4]}>";
  static const char other[] =
      "blocked<{order=[1,0], size_per_thread=[1,8], threads_per_warp=[4,8], "
      "warps_per_cta=[4,1]}>";
  const struct {
    const char *src, *dst;
    unsigned bits, rounds; // log2
  } cases[] = {
      {row, column, 32, 1}, {row, column, 64, 2}, {row, column, 16, 0},
      {row, other, 32, 1},  {other, row, 64, 2},  {row, row, 64, 2},
  };
  const int64_t shape[] = {128, 128};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    struct linear_layout src = linear_must(a, cases[i].src, 2, shape);
    struct linear_layout dst = linear_must(a, cases[i].dst, 2, shape);
    ck_assert_uint_eq(check_rounds(&src, &dst, cases[i].bits), cases[i].rounds);
  }
  arena_destroy(a);
}
END_TEST

START_TEST(refused) {
  unsigned small[] = {2}, large[] = {3};
  struct linear_layout a = ll_identity(LL_LANE, 2, 1, 0), b = ll_identity(LL_LANE, 3, 1, 0);
  struct linear_layout holes = ll_empty(1, small), more = ll_empty(1, large);
  struct exchange_plan p;
  ck_assert(exchange_plan_make(&a, &a, 32, 0, &p));
  ck_assert(!exchange_plan_make(&a, &b, 32, 0, &p));
  ck_assert(!exchange_plan_make(&a, &holes, 32, 0, &p));
  ck_assert(!exchange_plan_make(&more, &b, 32, 0, &p));
  ck_assert(!exchange_plan_make(&a, &a, 1, 0, &p));
  ck_assert(!exchange_plan_make(&a, &a, 128, 0, &p));
}
END_TEST

TCase *exchange_tests(void) {
  TCase *t = tcase_create("exchange");
  tcase_add_test(t, random_pairs);
  tcase_add_test(t, known);
  tcase_add_test(t, fragments);
  tcase_add_test(t, random_fragments);
  tcase_add_test(t, operands_in_buffers);
  tcase_add_test(t, parts_of_buffers);
  tcase_add_test(t, rounds);
  tcase_add_test(t, refused);
  return t;
}
