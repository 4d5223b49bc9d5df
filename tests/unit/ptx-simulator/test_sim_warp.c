// SPDX-License-Identifier: Apache-2.0
// Control flow and exchange between lanes: divergence, shuffles, votes, reductions of a warp, and
// violations by missing lanes.
#include "ptx_case.h"
#include "suites.h"

START_TEST(divergence_and_loops) {
  // Collatz lengths: the lanes leave the loop at different iterations.
  ALLOWED("add.s32 %r3, %r0, 1; mov.b32 %r4, 0;\n"
          "LOOP: setp.eq.s32 %p1, %r3, 1; @%p1 bra DONE;\n"
          "and.b32 %r5, %r3, 1; setp.eq.s32 %p2, %r5, 0; add.s32 %r4, %r4, 1; @%p2 bra EVEN;\n"
          "mad.lo.s32 %r3, %r3, 3, 1; bra.uni LOOP;\n"
          "EVEN: shr.u32 %r3, %r3, 1; bra.uni LOOP;\n"
          "DONE: activemask.b32 %r6; st.global.b32 [%rd3], %r4; st.global.b32 [%rd3+1024], %r6;",
          .threads = 96, .check = true);
  for (unsigned i = 0; i < 96; i++) {
    unsigned n = i + 1, steps = 0;
    for (; n != 1; steps++)
      n = n % 2 ? 3 * n + 1 : n / 2;
    ck_assert_uint_eq(c.out[i], steps);
    ck_assert_uint_eq(c.out[256 + i], ~0u); // all lanes reconverge
  }
}
END_TEST

START_TEST(branch_tables) {
  ALLOWED("{ .reg .b32 %r<5>; and.b32 %r3, %r4, 3; mov.b32 %r4, 8; }\n" // its own registers
          "and.b32 %r3, %r0, 3; mov.b32 %r4, 9;\n"
          "{ T: .branchtargets A, B, C, D; brx.idx %r3, T; }\n"
          "A: mov.b32 %r4, 10; bra E;\n B: mov.b32 %r4, 11; bra E;\n C: mov.b32 %r4, 12; bra E;\n"
          "D: mov.b32 %r4, 13;\nE: st.global.b32 [%rd3], %r4;",
          .seed = 1);
  for (unsigned i = 0; i < 32; i++)
    ck_assert_uint_eq(c.out[i], 10 + i % 4);
  case_expect("T: .branchtargets A, A;\nbrx.idx %r0, T;\nA:", false, SIM_BAD_STATE, 2);
}
END_TEST

START_TEST(shuffles) {
  ALLOWED("shfl.sync.idx.b32 %r3|%p1, %r0, 5, 31, -1; st.global.b32 [%rd3], %r3;\n"
          "shfl.sync.up.b32 %r3|%p2, %r0, 3, 0, -1; st.global.b32 [%rd3+128], %r3;\n"
          "shfl.sync.down.b32 %r3|%p3, %r0, 4, 31, -1; st.global.b32 [%rd3+256], %r3;\n"
          "shfl.sync.bfly.b32 %r3, %r0, 16, 31, -1; st.global.b32 [%rd3+384], %r3;\n"
          "shfl.sync.down.b32 %r3|%p4, %r0, 1, 0x1807, -1; st.global.b32 [%rd3+512], %r3;\n"
          "selp.b32 %r4, 1, 0, %p2; selp.b32 %r5, 2, 0, %p3; selp.b32 %r6, 4, 0, %p4;\n"
          "or.b32 %r4, %r4, %r5; or.b32 %r4, %r4, %r6; st.global.b32 [%rd3+640], %r4;",
          .check = true);
  for (unsigned i = 0; i < 32; i++) {
    ck_assert_uint_eq(c.out[i], 5);
    ck_assert_uint_eq(c.out[32 + i], i < 3 ? i : i - 3);
    ck_assert_uint_eq(c.out[64 + i], i + 4 > 31 ? i : i + 4);
    ck_assert_uint_eq(c.out[96 + i], i ^ 16);
    ck_assert_uint_eq(c.out[128 + i], i % 8 == 7 ? i : i + 1);
    ck_assert_uint_eq(c.out[160 + i], (i >= 3) + 2 * (i < 28) + 4 * (i % 8 != 7));
  }
}
END_TEST

START_TEST(parts_of_a_warp) {
  // Each half of the warp has its own mask, in divergent branches.
  ALLOWED("setp.lt.u32 %p1, %r0, 16; @%p1 bra LOW;\n"
          "shfl.sync.idx.b32 %r3, %r0, 20, 31, 0xffff0000; bra JOIN;\n"
          "LOW: shfl.sync.idx.b32 %r3, %r0, 7, 31, 0xffff;\n"
          "JOIN: selp.b32 %r4, 0xffff, 0xffff0000, %p1;\n"
          "redux.sync.add.u32 %r5, %r0, %r4; bar.warp.sync -1;\n"
          "st.global.b32 [%rd3], %r3; st.global.b32 [%rd3+128], %r5;",
          .check = true);
  for (unsigned i = 0; i < 32; i++) {
    ck_assert_uint_eq(c.out[i], i < 16 ? 7 : 20);
    ck_assert_uint_eq(c.out[32 + i], i < 16 ? 120 : 376);
  }
}
END_TEST

START_TEST(votes_and_matches) {
  ALLOWED("and.b32 %r3, %r0, 3; setp.eq.s32 %p1, %r3, 1; setp.lt.s32 %p2, %r0, 99;\n"
          "vote.sync.ballot.b32 %r4, %p1, -1; st.global.b32 [%rd3], %r4;\n"
          "vote.sync.all.pred %p3, %p2, -1; vote.sync.any.pred %p4, %p1, -1;\n"
          "vote.sync.uni.pred %p5, %p1, -1; vote.sync.ballot.b32 %r9, !%p1, -1;\n"
          "selp.b32 %r5, 1, 0, %p3; selp.b32 %r6, 2, 0, %p4; selp.b32 %r7, 4, 0, %p5;\n"
          "add.s32 %r5, %r5, %r6; add.s32 %r5, %r5, %r7; st.global.b32 [%rd3+128], %r5;\n"
          "match.any.sync.b32 %r6, %r3, -1; st.global.b32 [%rd3+256], %r6;\n"
          "match.all.sync.b32 %r7|%p6, %r3, -1; st.global.b32 [%rd3+384], %r7;\n"
          "elect.sync _|%p7, -1; selp.b32 %r8, 1, 0, %p7; st.global.b32 [%rd3+512], %r8;\n"
          "st.global.b32 [%rd3+640], %r9;",
          .check = true);
  for (unsigned i = 0; i < 32; i++) {
    ck_assert_uint_eq(c.out[i], 0x22222222);
    ck_assert_uint_eq(c.out[32 + i], 3);
    ck_assert_uint_eq(c.out[64 + i], 0x11111111u << i % 4);
    ck_assert_uint_eq(c.out[96 + i], 0);
    ck_assert_uint_eq(c.out[128 + i], i == 0);
    ck_assert_uint_eq(c.out[160 + i], 0xdddddddd);
  }
}
END_TEST

START_TEST(reductions) {
  ALLOWED("sub.s32 %r3, %r0, 7; redux.sync.min.s32 %r4, %r3, -1; redux.sync.max.s32 %r5, %r3, -1;\n"
          "redux.sync.min.u32 %r6, %r3, -1; redux.sync.max.u32 %r7, %r3, -1;\n"
          "redux.sync.and.b32 %r8, %r3, -1; redux.sync.or.b32 %r9, %r0, -1;\n"
          "redux.sync.xor.b32 %r10, %r0, -1; redux.sync.add.s32 %r11, %r3, -1;\n"
          "st.global.v4.b32 [%rd1], {%r4, %r5, %r6, %r7};\n"
          "st.global.v4.b32 [%rd1+16], {%r8, %r9, %r10, %r11};",
          .check = true);
  static const uint32_t want[] = {(uint32_t)-7, 24, 0, ~0u, 0, 31, 0, 272};
  for (unsigned i = 0; i < 8; i++)
    ck_assert_uint_eq(c.out[i], want[i]);
}
END_TEST

START_TEST(early_exits) {
  ALLOWED("setp.gt.u32 %p1, %r0, 23; @%p1 exit;\n"
          "shfl.sync.bfly.b32 %r3, %r0, 1, 31, -1; bar.sync 0; st.global.b32 [%rd3], %r3;",
          .threads = 64, .check = true);
  for (unsigned i = 0; i < 64; i++)
    ck_assert_uint_eq(c.out[i], i < 24 ? i ^ 1 : 0);
}
END_TEST

START_TEST(exits_while_others_wait) {
  // The lower half waits at the barrier while some of the others exit and the rest arrives.
  ALLOWED("setp.ge.u32 %p1, %r0, 16; @%p1 bra UPPER;\n"
          "JOIN: bar.sync 0; mov.b32 %r3, 5; st.global.b32 [%rd3], %r3; ret;\n"
          "UPPER: setp.ge.u32 %p2, %r0, 24; @%p2 exit; bra JOIN;",
          .check = true);
  for (unsigned i = 0; i < 32; i++)
    ck_assert_uint_eq(c.out[i], i < 24 ? 5 : 0);
}
END_TEST

START_TEST(masks_and_lanes_that_are_wrong) {
  case_expect("\nshfl.sync.idx.b32 %r3, %r0, 0, 31, 0xfffffffe;", false, SIM_BAD_MASK, 2);
  // Half of the warp never arrives: a hang on a GPU.
  case_expect("setp.lt.u32 %p1, %r0, 16;\n@%p1 shfl.sync.idx.b32 %r3, %r0, 0, 31, -1;\n"
              "bar.warp.sync -1;",
              false, SIM_BAD_MASK, 2);
  case_expect("setp.lt.u32 %p1, %r0, 16;\n@%p1 shfl.sync.bfly.b32 %r3, %r0, 16, 31, 0xffff;", false,
              SIM_BAD_LANE, 2);
  case_expect("mov.b64 %rd5, smem; setp.lt.u32 %p1, %r0, 16; @%p1 exit;\n"
              "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%rd5];",
              false, SIM_DIVERGENCE, 2);
  case_expect("trap;", false, SIM_TRAP, 1);
  static struct ptx_case c;
  c = (struct ptx_case){.body = "shfl.sync.idx.b32 %r3, %r0, 0, 31, -1;", .threads = 16};
  case_run(&c);
  ck_assert_int_eq(c.violations[0].kind, SIM_BAD_MASK);
}
END_TEST

START_TEST(lanes_that_wait_for_lanes) {
  // Lane 0 spins until lane 31, which is at a later instruction, has written.
  ALLOWED("setp.eq.u32 %p1, %r0, 31; @%p1 bra WRITE;\n"
          "LOOP: ld.volatile.global.b32 %r3, [%rd1+512]; setp.eq.s32 %p2, %r3, 0; @%p2 bra LOOP;\n"
          "bra JOIN;\nWRITE: st.volatile.global.b32 [%rd1+512], 5; mov.b32 %r3, 5;\n"
          "JOIN: bar.warp.sync -1; st.global.b32 [%rd3], %r3;",
          .seed = 1);
  for (unsigned i = 0; i < 32; i++)
    ck_assert_uint_eq(c.out[i], 5);
}
END_TEST

START_TEST(launches_without_end) {
  static struct ptx_case c;
  c = (struct ptx_case){.body = "\nLOOP: bra LOOP;", .limit = 20000};
  case_run(&c);
  ck_assert_int_eq(c.status, SIM_FAULT);
  ck_assert_int_eq(c.violations[0].kind, SIM_TOO_LONG);
  ck_assert_uint_eq(c.violations[0].at.line, 2);
}
END_TEST

TCase *sim_warp_tests(void) {
  TCase *t = tcase_create("sim_warp");
  tcase_add_test(t, divergence_and_loops);
  tcase_add_test(t, branch_tables);
  tcase_add_test(t, shuffles);
  tcase_add_test(t, parts_of_a_warp);
  tcase_add_test(t, votes_and_matches);
  tcase_add_test(t, reductions);
  tcase_add_test(t, early_exits);
  tcase_add_test(t, exits_while_others_wait);
  tcase_add_test(t, masks_and_lanes_that_are_wrong);
  tcase_add_test(t, lanes_that_wait_for_lanes);
  tcase_add_test(t, launches_without_end);
  return t;
}
