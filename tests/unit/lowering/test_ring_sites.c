// SPDX-License-Identifier: Apache-2.0
// Loads through tensor maps are grouped to rings: operands of a product together, equal tiles of
// loops that follow each other in one ring.
#include "lowering/plan/ring_sites.h"
#include "pass_session.h"
#include "suites.h"

#define X "tensor<64x32xf16>"
#define Y "tensor<32x64xf16>"
#define Z "tensor<64x64xf32>"
#define LOAD(name, map, type)                                                                      \
  name " = \"tile.map_load\"(%o, %o) {map = " map " : i32} : (i32, i32) -> " type "\n"
#define DOT(name, x, y)                                                                            \
  name " = \"tile.dot\"(" x ", " y ", %z) {allow_tf32 = false, input_precision = \"ieee\", "       \
       "max_num_imprecise_acc = 0 : i32} : (" X ", " Y ", " Z ") -> " Z "\n"
#define FOR(name, body) "scf.for " name " = %o to %n step %s : i32 {\n" body "}\n"
#define MAP(box)                                                                                   \
  "{base = 0 : i32, box = array<i32: " box                                                         \
  ">, dtype = \"f16\", offset = \"0\", pads_nan = false, "                                         \
  "sizes = [\"64\", \"64\"], strides = [\"64\"], swizzle = 0 : i32}"
#define MAPS "module attributes {tile.maps = [" MAP("64, 32") ", " MAP("32, 64") "]} {\n"
#define KERNEL(body)                                                                               \
  MAPS "func.func @k(%o: i32, %n: i32, %s: i32, %z: " Z ", %q: " X ") {\n" body "return } }"

struct found {
  struct ring_sites sites;
  uint64_t products, others;
};

static struct found find(struct pass_session *s, unsigned loads) {
  struct found f;
  MlirOperation ops[8];
  for (unsigned i = 0; i < loads; i++)
    ops[i] = pass_session_op(s, OP_TILE_MAP_LOAD, i);
  ring_sites_find(s->context.c, ops, loads, s->context.scratch, &f.sites);
  f.products = ring_sites_slot_bytes(s->context.c, &f.sites, false);
  f.others = ring_sites_slot_bytes(s->context.c, &f.sites, true);
  return f;
}

START_TEST(loops_in_a_row_share) {
  struct pass_session s = pass_session_open(
      KERNEL(FOR("%i", LOAD("%x", "0", X) LOAD("%y", "1", Y) DOT("%a", "%x", "%y"))
                 FOR("%j", LOAD("%u", "0", X) LOAD("%v", "1", Y) DOT("%b", "%u", "%v"))));
  struct found f = find(&s, 4);
  ck_assert_uint_eq(f.sites.at.len, 2);
  ck_assert_uint_eq(f.sites.at.at[0].count, 2);
  ck_assert_uint_eq(f.sites.ring_count, 1);
  ck_assert_uint_eq(f.products, 2 * 64 * 32 * 2);
  ck_assert_uint_eq(f.others, 0);
  pass_session_close(&s);
}
END_TEST

START_TEST(blocks_of_one_loop_do_not) {
  struct pass_session s = pass_session_open(KERNEL(FOR(
      "%i", LOAD("%y", "1", Y) DOT("%a", "%q", "%y") LOAD("%v", "1", Y) DOT("%b", "%q", "%v"))));
  struct found f = find(&s, 2);
  ck_assert_uint_eq(f.sites.at.len, 2);
  ck_assert_uint_eq(f.sites.ring_count, 2);
  ck_assert_uint_eq(f.products, 2 * 32 * 64 * 2);
  pass_session_close(&s);
}
END_TEST

// A loop inside of another one, tiles of another shape, and a tile that no product reads.
START_TEST(others_have_their_own) {
  struct pass_session s = pass_session_open(
      KERNEL(FOR("%i", LOAD("%y", "1", Y) DOT("%a", "%q", "%y")
                           FOR("%j", LOAD("%v", "1", Y) DOT("%b", "%q", "%v")) LOAD("%w", "1", Y))
                 FOR("%k", LOAD("%x", "0", X) LOAD("%u", "1", Y) DOT("%c", "%x", "%u"))));
  struct found f = find(&s, 5);
  ck_assert_uint_eq(f.sites.at.len, 4);
  ck_assert_uint_eq(f.sites.ring_count, 4);
  ck_assert_uint_eq(f.products, 4 * 64 * 32 * 2);
  ck_assert_uint_eq(f.others, 64 * 32 * 2);
  pass_session_close(&s);
}
END_TEST

// A tile that a loop multiplies again and again has one slot of its own.
START_TEST(tiles_that_are_held) {
  struct pass_session s = pass_session_open(
      KERNEL(LOAD("%x", "0", X) FOR("%i", LOAD("%y", "1", Y) DOT("%a", "%x", "%y"))
                 FOR("%j", LOAD("%v", "1", Y) DOT("%b", "%x", "%v"))));
  struct found f = find(&s, 3);
  ck_assert_uint_eq(f.sites.at.len, 3);
  ck_assert_uint_eq(f.sites.ring_count, 2);
  ck_assert(f.sites.at.at[0].is_held && !f.sites.at.at[1].is_held);
  ck_assert_uint_eq(f.products, 32 * 64 * 2);
  ck_assert_uint_eq(f.others, 64 * 32 * 2);
  pass_session_close(&s);
}
END_TEST

TCase *ring_sites_tests(void) {
  TCase *t = tcase_create("ring_sites");
  tcase_add_test(t, loops_in_a_row_share);
  tcase_add_test(t, blocks_of_one_loop_do_not);
  tcase_add_test(t, others_have_their_own);
  tcase_add_test(t, tiles_that_are_held);
  return t;
}
