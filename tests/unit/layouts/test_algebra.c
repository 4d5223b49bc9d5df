// SPDX-License-Identifier: Apache-2.0
// Composition, inverses, division: every result evaluated at every index.
#include "generate.h"
#include "suites.h"

// All layouts of 2 registers-bits and 1 lane bit on a 2x4 tensor: 8^3 of them.
static struct linear_layout listed(uint32_t number) {
  unsigned bits[] = {1, 2};
  struct linear_layout l = ll_empty(2, bits);
  for (unsigned b = 0; b < 3; b++, number /= 8)
    ll_push_basis(&l, b < 2 ? LL_REGISTER : LL_LANE, (uint32_t[]){number % 8 / 4, number % 4});
  return l;
}

enum { LISTED = 512 };

// Index into `l`, given the coordinates of a result whose outputs are l's inputs in order.
static void index_from(const struct linear_layout *l, const uint32_t *outs,
                       uint32_t index[LL_NO_IN]) {
  memset(index, 0, LL_NO_IN * sizeof *index);
  for (unsigned i = 0; i < l->in_count; i++)
    index[l->in[i]] = outs[i];
}

static uint32_t flat_index(const struct linear_layout *l, const uint32_t index[LL_NO_IN]) {
  uint32_t flat = 0;
  for (unsigned i = l->in_count; i-- > 0;)
    flat = flat << l->in_bits[i] | index[l->in[i]];
  return flat;
}

static void check_inverses(const struct linear_layout *l) {
  struct linear_layout inverse, pseudo, identity;
  bool onto = ll_is_surjective(l);
  EXPECT(ll_pseudo_invert(l, &pseudo) == onto);
  EXPECT(ll_invert(l, &inverse) == (onto && ll_is_injective(l)));
  if (!onto)
    return;
  for (uint32_t e = 0; e < 1u << ll_total_out_bits(l); e++) {
    uint32_t at[LL_NO_IN] = {[LL_OFFSET] = e}, outs[LL_MAX_OUT] = {0}, index[LL_NO_IN];
    ll_apply(&pseudo, at, outs);
    index_from(l, outs, index);
    EXPECT(element_at(l, index) == e);
    for (uint32_t i = 0; i < flat_index(l, index); i++) { // none smaller
      uint32_t other[LL_NO_IN];
      input_at(l, i, other);
      EXPECT(element_at(l, other) != e);
    }
  }
  if (!ll_is_injective(l))
    return;
  EXPECT(ll_equal(&inverse, &pseudo));
  EXPECT(ll_compose(l, &inverse, &identity)); // index -> element -> index
  for (uint32_t i = 0; i < input_count(l); i++) {
    uint32_t index[LL_NO_IN], outs[LL_MAX_OUT] = {0}, again[LL_NO_IN];
    input_at(l, i, index);
    ll_apply(&identity, index, outs);
    index_from(l, outs, again);
    EXPECT(memcmp(index, again, sizeof index) == 0);
  }
}

START_TEST(inverses) {
  unsigned bijections = 0;
  for (uint32_t n = 0; n < LISTED; n++) {
    struct linear_layout l = listed(n);
    check_inverses(&l);
    bijections += ll_is_surjective(&l);
  }
  ck_assert_uint_eq(bijections, 168); // the order of GL(3, 2)
  struct random r = {11};
  for (int round = 0; round < 300; round++) {
    unsigned bits[LL_NO_IN] = {random_below(&r, 4), random_below(&r, 3), random_below(&r, 3)};
    struct linear_layout l = random_layout(&r, bits, random_below(&r, 6), random_below(&r, 2));
    check_inverses(&l);
  }
}
END_TEST

// b at the answer is a at the question.
START_TEST(invert_and_compose) {
  for (uint32_t n = 0; n < LISTED; n += 3)
    for (uint32_t m = 1; m < LISTED; m += 7) {
      struct linear_layout a = listed(n), b = listed(m), map;
      bool ok = ll_invert_and_compose(&a, &b, &map);
      bool reachable = true;
      for (uint32_t i = 0; i < input_count(&a); i++) {
        uint32_t index[LL_NO_IN], outs[LL_MAX_OUT] = {0}, at[LL_NO_IN];
        input_at(&a, i, index);
        if (ok) {
          ll_apply(&map, index, outs);
          index_from(&b, outs, at);
          EXPECT(element_at(&b, at) == element_at(&a, index));
        }
        bool found = false;
        for (uint32_t k = 0; k < input_count(&b) && !found; k++) {
          uint32_t other[LL_NO_IN];
          input_at(&b, k, other);
          found = element_at(&b, other) == element_at(&a, index);
          if (found && ok) // the smallest
            EXPECT(k == flat_index(&b, at));
        }
        reachable &= found;
      }
      EXPECT(ok == reachable);
    }
}
END_TEST

START_TEST(compose) {
  struct random r = {12};
  for (int round = 0; round < 500; round++) {
    unsigned middle = random_below(&r, 6), outer_bits[LL_NO_IN] = {0};
    outer_bits[LL_REGISTER] = random_below(&r, middle + 1);
    outer_bits[LL_LANE] = middle - outer_bits[LL_REGISTER];
    unsigned inner_bits[LL_NO_IN] = {random_below(&r, 3), random_below(&r, 3), random_below(&r, 2)};
    struct linear_layout inner = random_layout(&r, inner_bits, middle, false);
    struct linear_layout outer = random_layout(&r, outer_bits, random_below(&r, 6), false), both;
    EXPECT(ll_compose(&inner, &outer, &both));
    for (uint32_t i = 0; i < input_count(&inner); i++) {
      uint32_t index[LL_NO_IN], at[LL_NO_IN];
      input_at(&inner, i, index);
      input_at(&outer, element_at(&inner, index), at);
      EXPECT(element_at(&both, index) == element_at(&outer, at));
    }
    unsigned more[LL_NO_IN] = {middle + 1};
    struct linear_layout wrong = random_layout(&r, more, 3, false);
    EXPECT(!ll_compose(&inner, &wrong, &both));
  }
}
END_TEST

static struct linear_layout random_of_rank(struct random *r, unsigned rank, unsigned out_bits) {
  unsigned bits[LL_NO_IN] = {random_below(r, 3), random_below(r, 3)};
  struct linear_layout l;
  do
    l = random_layout(r, bits, out_bits, false);
  while (l.out_count != rank);
  return l;
}

// The product at an index is the tile at its low bits plus the rest, scaled, at its high bits.
START_TEST(product_and_division) {
  struct random r = {13};
  for (int round = 0; round < 500; round++) {
    unsigned rank = 1 + random_below(&r, 3);
    struct linear_layout a = random_of_rank(&r, rank, random_below(&r, 5));
    struct linear_layout b = random_of_rank(&r, rank, random_below(&r, 5));
    struct linear_layout l = ll_product(&a, &b), q, again;
    for (uint32_t i = 0; i < input_count(&l); i++) {
      uint32_t index[LL_NO_IN], low[LL_NO_IN] = {0}, high[LL_NO_IN] = {0};
      uint32_t at[LL_MAX_OUT], at_low[LL_MAX_OUT], at_high[LL_MAX_OUT];
      input_at(&l, i, index);
      for (unsigned in = 0; in < LL_NO_IN; in++) {
        low[in] = index[in] % ll_in_size(&a, (enum ll_in)in);
        high[in] = index[in] / ll_in_size(&a, (enum ll_in)in);
      }
      ll_apply(&l, index, at);
      ll_apply(&a, low, at_low);
      ll_apply(&b, high, at_high);
      for (unsigned d = 0; d < rank; d++)
        EXPECT(at[d] == at_low[d] + (at_high[d] << a.out_bits[d]));
    }
    EXPECT(ll_divide_left(&l, &a, &q) && ll_equal(&q, &b));
    EXPECT(ll_divide_right(&l, &b, &q) && ll_equal(&q, &a));
    // Whatever else divides it multiplies back.
    struct linear_layout tile = random_of_rank(&r, rank, random_below(&r, 3));
    if (ll_divide_left(&l, &tile, &q)) {
      again = ll_product(&tile, &q);
      EXPECT(ll_equal(&again, &l));
    }
    if (ll_divide_right(&l, &tile, &q)) {
      again = ll_product(&q, &tile);
      EXPECT(ll_equal(&again, &l));
    }
  }
}
END_TEST

START_TEST(no_factor) {
  struct linear_layout q, two = ll_identity(LL_REGISTER, 1, 1, 0);
  struct linear_layout l = ll_identity(LL_LANE, 2, 1, 0); // no registers at all
  ck_assert(!ll_divide_left(&l, &two, &q));
  unsigned bits[] = {2};
  l = ll_empty(1, bits); // the tile's basis is there, but another basis enters its elements
  ll_push_basis(&l, LL_REGISTER, (uint32_t[]){1});
  ll_push_basis(&l, LL_REGISTER, (uint32_t[]){3});
  ck_assert(!ll_divide_left(&l, &two, &q));
  ck_assert(!ll_divide_right(&l, &two, &q));
}
END_TEST

START_TEST(quotient) {
  // (register, lane, warp) -> (register, lane, warp), the warp alone, registers and lanes mixed.
  unsigned bits[] = {1, 2, 2};
  struct linear_layout l = ll_empty(3, bits), q;
  ll_push_basis(&l, LL_REGISTER, (uint32_t[]){0, 1, 0});
  ll_push_basis(&l, LL_LANE, (uint32_t[]){1, 0, 0});
  ll_push_basis(&l, LL_LANE, (uint32_t[]){0, 2, 0});
  ll_push_basis(&l, LL_WARP, (uint32_t[]){0, 0, 1});
  ll_push_basis(&l, LL_WARP, (uint32_t[]){0, 0, 2});
  ck_assert(ll_quotient(&l, LL_WARP, 2, &q));
  ck_assert_int_eq(ll_find_in(&q, LL_WARP), -1);
  ck_assert_uint_eq(ll_total_out_bits(&q), 3);
  for (uint32_t i = 0; i < input_count(&l); i++) {
    uint32_t index[LL_NO_IN], whole[LL_MAX_OUT], rest[LL_MAX_OUT];
    input_at(&l, i, index);
    ll_apply(&l, index, whole);
    ll_apply(&q, index, rest);
    ck_assert(whole[0] == rest[0] && whole[1] == rest[1] && rest[2] == 0 &&
              whole[2] == index[LL_WARP]);
  }
  ck_assert(!ll_quotient(&l, LL_LANE, 1, &q)); // lane 1 goes to registers
  ck_assert(!ll_quotient(&l, LL_BLOCK, 2, &q));
  l.basis[0][0][2] = 1; // a register moves between warps
  ck_assert(!ll_quotient(&l, LL_WARP, 2, &q));
}
END_TEST

TCase *algebra_tests(void) {
  TCase *t = tcase_create("algebra");
  tcase_add_test(t, inverses);
  tcase_add_test(t, invert_and_compose);
  tcase_add_test(t, compose);
  tcase_add_test(t, product_and_division);
  tcase_add_test(t, no_factor);
  tcase_add_test(t, quotient);
  return t;
}
