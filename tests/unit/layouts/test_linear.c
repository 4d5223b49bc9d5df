// SPDX-License-Identifier: Apache-2.0
// Building, evaluating and questioning linear layouts; changes of shape.
#include "generate.h"
#include "suites.h"

static void random_bits(struct random *r, unsigned bits[LL_NO_IN]) {
  memset(bits, 0, LL_NO_IN * sizeof *bits);
  bits[LL_REGISTER] = random_below(r, 4);
  bits[LL_LANE] = random_below(r, 4);
  bits[LL_WARP] = random_below(r, 3);
}

// The worked example of the header.
START_TEST(worked_example) {
  unsigned out[] = {2, 2};
  struct linear_layout l = ll_empty(2, out);
  ll_push_basis(&l, LL_LANE, (uint32_t[]){0, 2});
  ll_push_basis(&l, LL_LANE, (uint32_t[]){1, 0});
  ll_push_basis(&l, LL_LANE, (uint32_t[]){2, 0});
  ll_push_basis(&l, LL_REGISTER, (uint32_t[]){0, 1});
  uint32_t at[2], index[LL_NO_IN] = {[LL_REGISTER] = 1, [LL_LANE] = 5};
  ll_apply(&l, index, at);
  ck_assert_uint_eq(at[0], 2);
  ck_assert_uint_eq(at[1], 3);
  // Inputs stand in the order register, lane, warp, however they were added.
  ck_assert_int_eq(ll_find_in(&l, LL_REGISTER), 0);
  ck_assert_int_eq(ll_find_in(&l, LL_LANE), 1);
  ck_assert_int_eq(ll_find_in(&l, LL_WARP), -1);
  ck_assert_uint_eq(ll_in_size(&l, LL_LANE), 8);
  ck_assert_uint_eq(ll_in_size(&l, LL_WARP), 1);
  ck_assert(ll_is_surjective(&l) && ll_is_injective(&l));
  struct strbuf text = {0};
  ll_print(&l, &text);
  ck_assert_str_eq(strbuf_cstr(&text), "register: [[0,1]], lane: [[0,2],[1,0],[2,0]]");
  strbuf_finish(&text);
}
END_TEST

START_TEST(apply_and_rank) {
  struct random r = {3};
  for (int round = 0; round < 600; round++) {
    unsigned bits[LL_NO_IN];
    random_bits(&r, bits);
    struct linear_layout l = random_layout(&r, bits, random_below(&r, 7), random_below(&r, 2));
    uint32_t hits[1 << 7] = {0}, reached = 0, most = 0;
    for (uint32_t i = 0; i < input_count(&l); i++) {
      uint32_t index[LL_NO_IN], at[LL_MAX_OUT];
      input_at(&l, i, index);
      ll_apply(&l, index, at);
      EXPECT(row_major(&l, at) == element_at(&l, index));
      uint32_t n = ++hits[element_at(&l, index)];
      reached += n == 1;
      most = n > most ? n : most;
    }
    EXPECT(ll_is_surjective(&l) == (reached == 1u << ll_total_out_bits(&l)));
    EXPECT(ll_is_injective(&l) == (most == 1));
  }
}
END_TEST

// With the free bits off, each element that is reached is reached once; a free bit is one whose
// basis is a sum of lower ones.
START_TEST(free_masks) {
  struct random r = {4};
  for (int round = 0; round < 600; round++) {
    unsigned bits[LL_NO_IN];
    random_bits(&r, bits);
    struct linear_layout l = random_layout(&r, bits, random_below(&r, 6), random_below(&r, 2));
    uint32_t masks[LL_NO_IN], reached = 0, kept_hits = 0;
    bool seen[64] = {false}, kept[64] = {false};
    ll_free_masks(&l, masks);
    uint32_t below = 1; // indices with all bits lower than the one looked at
    for (uint32_t i = 0; i < input_count(&l); i++) {
      uint32_t index[LL_NO_IN];
      input_at(&l, i, index);
      uint32_t e = element_at(&l, index);
      bool free = false;
      for (unsigned in = 0; in < LL_NO_IN; in++)
        free |= (index[in] & masks[in]) != 0;
      if (!free) {
        EXPECT(!kept[e]);
        kept[e] = true;
        kept_hits++;
      }
      if (i == below) { // a single bit: free exactly if lower indices reach its element
        EXPECT(free == seen[e]);
        below *= 2;
      }
      reached += !seen[e];
      seen[e] = true;
    }
    EXPECT(kept_hits == reached);
  }
}
END_TEST

// A run of 2^k aligned indices lies on 2^k aligned, ascending elements, whatever else is chosen;
// and 2^(k+1) does not.
static bool runs(const struct linear_layout *l, enum ll_in in, unsigned fast, uint32_t length) {
  if (length > ll_in_size(l, in))
    return false;
  unsigned order[LL_MAX_OUT], n = 0; // the other dimensions, then the fast one
  for (unsigned d = 0; d < l->out_count; d++)
    if (d != fast)
      order[n++] = d;
  order[n] = fast;
  for (uint32_t i = 0; i < input_count(l); i++) {
    uint32_t index[LL_NO_IN], at[LL_MAX_OUT], flat[2];
    input_at(l, i, index);
    for (unsigned k = 0; k < 2; k++) {
      index[in] = k ? index[in] / length * length : index[in];
      ll_apply(l, index, at);
      flat[k] = 0;
      for (unsigned d = 0; d < l->out_count; d++)
        flat[k] = flat[k] * (1u << l->out_bits[order[d]]) + at[order[d]];
    }
    uint32_t again[LL_NO_IN];
    input_at(l, i, again);
    if (flat[1] % length != 0 || flat[0] != flat[1] + again[in] % length)
      return false;
  }
  return true;
}

START_TEST(consecutive) {
  struct random r = {5};
  unsigned longer = 0;
  for (int round = 0; round < 1500; round++) {
    unsigned bits[LL_NO_IN];
    random_bits(&r, bits);
    struct linear_layout l = random_layout(&r, bits, 1 + random_below(&r, 5), true);
    unsigned fast = random_below(&r, l.out_count);
    if (random_below(&r, 2)) { // make runs likely: registers begin with the fast dimension
      struct linear_layout fast_tile =
          ll_identity(LL_REGISTER, random_below(&r, 3), l.out_count, fast);
      l = ll_product(&fast_tile, &l);
    }
    uint32_t n = ll_consecutive(&l, LL_REGISTER, fast);
    EXPECT(runs(&l, LL_REGISTER, fast, n));
    EXPECT(!runs(&l, LL_REGISTER, fast, 2 * n));
    longer += n > 1;
  }
  ck_assert_uint_gt(longer, 100);
}
END_TEST

// Row-major order is what reshape keeps; transposing permutes coordinates.
START_TEST(shapes) {
  struct random r = {6};
  for (int round = 0; round < 400; round++) {
    unsigned bits[LL_NO_IN];
    random_bits(&r, bits);
    struct linear_layout l = random_layout(&r, bits, random_below(&r, 7), false);
    unsigned total = ll_total_out_bits(&l), rank = 1 + random_below(&r, 4), cut[4] = {0};
    for (unsigned b = 0; b < total; b++)
      cut[random_below(&r, rank)]++;
    struct linear_layout reshaped, flat = ll_flatten_outs(&l), wider, back;
    EXPECT(ll_reshape_outs(&l, rank, cut, &reshaped));
    unsigned order[LL_MAX_OUT];
    for (unsigned d = 0; d < l.out_count; d++)
      order[d] = d;
    for (unsigned d = l.out_count; d-- > 1;) {
      unsigned other = random_below(&r, d + 1), t = order[d];
      order[d] = order[other];
      order[other] = t;
    }
    struct linear_layout transposed = ll_transpose_outs(&l, order);
    unsigned at_dim = random_below(&r, l.out_count + 1), dropped = random_below(&r, l.out_count);
    wider = ll_insert_out(&l, at_dim);
    back = ll_remove_out(&wider, at_dim);
    EXPECT(ll_equal(&l, &back));
    struct linear_layout narrower = ll_remove_out(&l, dropped);
    unsigned all[LL_MAX_OUT], kept = 0;
    for (unsigned d = 0; d < l.out_count; d++)
      if (d != dropped)
        all[kept++] = d;
    const enum ll_in lane_and_register[] = {LL_LANE, LL_REGISTER};
    struct linear_layout sub = ll_sublayout(&l, 2, lane_and_register, kept, all);
    for (uint32_t i = 0; i < input_count(&l); i++) {
      uint32_t index[LL_NO_IN], at[LL_MAX_OUT] = {0}, to[LL_MAX_OUT] = {0};
      input_at(&l, i, index);
      ll_apply(&l, index, at);
      EXPECT(element_at(&reshaped, index) == element_at(&l, index));
      EXPECT(element_at(&flat, index) == element_at(&l, index));
      ll_apply(&transposed, index, to);
      for (unsigned d = 0; d < l.out_count; d++)
        EXPECT(to[d] == at[order[d]] && transposed.out_bits[d] == l.out_bits[order[d]]);
      ll_apply(&narrower, index, to);
      for (unsigned d = 0; d < kept; d++)
        EXPECT(to[d] == at[all[d]]);
      uint32_t no_warp[LL_NO_IN];
      memcpy(no_warp, index, sizeof no_warp);
      no_warp[LL_WARP] = 0;
      ll_apply(&l, no_warp, at);
      ll_apply(&sub, index, to);
      for (unsigned d = 0; d < kept; d++)
        EXPECT(to[d] == at[all[d]]);
    }
    cut[0]++;
    EXPECT(!ll_reshape_outs(&l, rank, cut, &reshaped));
  }
}
END_TEST

START_TEST(inputs) {
  struct linear_layout id = ll_identity(LL_REGISTER, 2, 2, 1), zero = ll_zeros(LL_REGISTER, 1, 2);
  struct linear_layout l = ll_product(&zero, &id);
  ck_assert_uint_eq(ll_in_bits(&l, LL_REGISTER), 3);
  struct linear_layout removed = ll_remove_zero_bases(&l, LL_REGISTER);
  ck_assert(ll_equal(&removed, &id) && !ll_equal(&l, &id));
  struct linear_layout small = ll_resize_in(&l, LL_REGISTER, 2),
                       large = ll_resize_in(&id, LL_REGISTER, 4);
  ck_assert_uint_eq(ll_in_bits(&small, LL_REGISTER), 2);
  ck_assert_uint_eq(ll_in_bits(&large, LL_REGISTER), 4);
  ck_assert(!ll_is_surjective(&small) && ll_is_surjective(&large) && !ll_is_injective(&large));
  // An input without bits is as good as none.
  struct linear_layout with_lane = id;
  ll_add_in(&with_lane, LL_LANE);
  ck_assert(ll_equal(&with_lane, &id));
}
END_TEST

TCase *linear_tests(void) {
  TCase *t = tcase_create("linear");
  tcase_add_test(t, worked_example);
  tcase_add_test(t, apply_and_rank);
  tcase_add_test(t, free_masks);
  tcase_add_test(t, consecutive);
  tcase_add_test(t, shapes);
  tcase_add_test(t, inputs);
  return t;
}
