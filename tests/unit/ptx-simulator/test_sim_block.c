// SPDX-License-Identifier: Apache-2.0
// Barriers, atomics, asynchronous copies and matrices of the simulator.
#include "ptx_case.h"
#include "suites.h"

#include <string.h>

// ---- barriers ----

START_TEST(reversal_through_shared_memory) {
  for (uint64_t seed = 0; seed < 8; seed++) {
    ALLOWED("mov.u32 %r3, smem; mad.lo.s32 %r4, %r0, 4, %r3; st.shared.b32 [%r4], %r0;\n"
            "bar.sync 0; sub.s32 %r5, 255, %r0; mad.lo.s32 %r6, %r5, 4, %r3;\n"
            "ld.shared.b32 %r7, [%r6]; st.global.b32 [%rd3], %r7;",
            .threads = 256, .check = true, .seed = seed);
    for (unsigned i = 0; i < 256; i++)
      ck_assert_uint_eq(c.out[i], 255 - i);
  }
}
END_TEST

START_TEST(named_barriers) {
  // Warp 0 produces and only arrives; warp 1 waits. Warps 2 and 3 use another barrier.
  ALLOWED(
      "shr.u32 %r3, %r0, 5; mov.u32 %r4, smem; and.b32 %r5, %r0, 31;\n"
      "mad.lo.s32 %r6, %r5, 4, %r4; setp.gt.u32 %p1, %r3, 1; @%p1 bra REST;\n"
      "setp.eq.u32 %p2, %r3, 1; @%p2 bra CONSUME;\n"
      "st.shared.b32 [%r6], %r0; bar.arrive 1, 64; bra DONE;\n"
      "CONSUME: bar.sync 1, 64; ld.shared.b32 %r7, [%r6]; st.global.b32 [%rd3], %r7; bra DONE;\n"
      "REST: setp.eq.u32 %p3, %r3, 3; barrier.cta.red.popc.aligned.u32 %r8, 2, 64, %p3;\n"
      "bar.red.or.pred %p4, 2, 64, %p3; bar.red.and.pred %p5, 2, 64, !%p3;\n"
      "selp.b32 %r9, 100, 0, %p4; selp.b32 %r10, 1000, 0, %p5; add.s32 %r8, %r8, %r9;\n"
      "add.s32 %r8, %r8, %r10; st.global.b32 [%rd3], %r8;\nDONE:",
      .threads = 128, .check = true);
  for (unsigned i = 0; i < 128; i++)
    ck_assert_uint_eq(c.out[i], i < 32 ? 0 : i < 64 ? i - 32 : 132);
}
END_TEST

// Two pairs of warps use barrier 1, one after the other.
#define PAIRS(between)                                                                             \
  "setp.lt.u32 %p1, %r0, 64; @!%p1 bra SECOND;\nbar.sync 1, 64; " between " bra DONE;\n"           \
  "SECOND: " between "\nbar.sync 1, 64;\nDONE:"

START_TEST(barriers_used_again) {
  static struct ptx_case c;
  for (uint64_t seed = 0; seed < 8; seed++) {
    c = (struct ptx_case){
        .threads = 128, .check = true, .seed = seed, .body = PAIRS("bar.sync 0, 128;")};
    case_run(&c);
    ck_assert_uint_eq(c.violation_count, 0);
    c = (struct ptx_case){.threads = 128, .check = true, .seed = seed, .body = PAIRS("")};
    case_run(&c);
    ck_assert_int_eq(c.violations[0].kind, SIM_BAD_BARRIER);
    ck_assert_ptr_nonnull(strstr(c.violations[0].text, "barrier 1 is used again, by warp"));
  }
}
END_TEST

START_TEST(deadlocks) {
  static struct ptx_case c;
  c = (struct ptx_case){.threads = 64,
                        .body = "setp.lt.u32 %p1, %r0, 32; @%p1 bra A;\n bar.sync 1; bra B;\n"
                                "A: bar.sync 2;\nB:"};
  case_run(&c);
  ck_assert_int_eq(c.violations[0].kind, SIM_DEADLOCK);
  ck_assert_ptr_nonnull(strstr(c.violations[0].text, "it waits for warps"));
  c = (struct ptx_case){.threads = 64,
                        .body = "setp.lt.u32 %p1, %r0, 48;\n@%p1 bar.sync 0;\nbar.warp.sync -1;"};
  case_run(&c);
  ck_assert_int_eq(c.violations[0].kind, SIM_DIVERGENCE);
  ck_assert_uint_eq(c.violations[0].at.line, 2);
  case_expect("bar.sync 16;", false, SIM_BAD_BARRIER, 1);
  case_expect("bar.sync 0, 40;", false, SIM_BAD_BARRIER, 1);
  case_expect("bar.arrive 0, 32; bar.arrive 0, 32;\nbar.sync 0, 64;", false, SIM_BAD_BARRIER, 2);
}
END_TEST

// ---- checks ----

START_TEST(missing_barriers) {
  static struct ptx_case c;
  c = (struct ptx_case){.threads = 64,
                        .check = true,
                        .body = "mov.u32 %r3, smem; mad.lo.s32 %r4, %r0, 4, %r3;\n"
                                "st.shared.b32 [%r4], %r0;\n"
                                "xor.b32 %r5, %r0, 32; mad.lo.s32 %r6, %r5, 4, %r3;\n"
                                "ld.shared.b32 %r7, [%r6];\nmov.b32 %r8, %r7;"};
  case_run(&c);
  ck_assert_int_eq(c.status, SIM_OK);
  bool found = false;
  for (unsigned i = 0; i < c.violation_count; i++)
    if (c.violations[i].kind == SIM_RACE) {
      const struct sim_violation *f = &c.violations[i];
      found = true;
      ck_assert(f->has_other && f->at.warp != f->other.warp);
      ck_assert(f->at.line + f->other.line == 2 + 4);
      ck_assert_int_eq(f->space, SIM_SHARED);
    }
  ck_assert(found);
  // A second write before all have read.
  c = (struct ptx_case){.threads = 64,
                        .check = true,
                        .body = "mov.u32 %r3, smem; mad.lo.s32 %r4, %r0, 4, %r3;\n"
                                "st.shared.b32 [%r4], %r0; bar.sync 0;\n"
                                "xor.b32 %r5, %r0, 32; mad.lo.s32 %r6, %r5, 4, %r3;\n"
                                "ld.shared.b32 %r7, [%r6];\nst.shared.b32 [%r4], %r7;"};
  case_run(&c);
  ck_assert_uint_ge(c.violation_count, 1);
  ck_assert_int_eq(c.violations[0].kind, SIM_RACE);
  // Lanes of one warp, too.
  case_expect("mov.u32 %r3, smem; mad.lo.s32 %r4, %r0, 4, %r3; st.shared.b32 [%r4], %r0;\n"
              "xor.b32 %r5, %r0, 1; mad.lo.s32 %r6, %r5, 4, %r3;\nld.shared.b32 %r7, [%r6];",
              true, SIM_RACE, 3);
  case_expect("\nst.shared.b32 [smem], %r0;", true, SIM_RACE, 2);
}
END_TEST

START_TEST(equal_values_of_many_lanes) {
  ALLOWED("mov.b32 %r3, 7; st.shared.b32 [smem], %r3; bar.warp.sync -1;\n"
          "ld.shared.b32 %r4, [smem]; st.global.b32 [%rd3], %r4;",
          .check = true);
}
END_TEST

START_TEST(values_never_written) {
  case_expect("\nst.global.b32 [%rd3], %r3;", true, SIM_UNINITIALISED, 2);
  case_expect("ld.shared.b32 %r3, [smem]; add.s32 %r4, %r3, 1;\nst.global.b32 [%rd3], %r4;", true,
              SIM_UNINITIALISED, 2);
  case_expect("ld.shared.b32 %r3, [smem]; setp.eq.s32 %p1, %r3, 0;\n@%p1 bra A;\nA:", true,
              SIM_UNINITIALISED, 2);
  case_expect(".local .align 4 .b8 d[8]; ld.local.b32 %r3, [d+4]; cvt.u64.u32 %rd5, %r3;\n"
              "shl.b64 %rd6, %rd5, 32; shr.u64 %rd6, %rd6, 63; shl.b64 %rd6, %rd6, 2; add.s64 "
              "%rd7, %rd3, %rd6;\n"
              "@%p2 st.global.b32 [%rd7], %r0;",
              true, SIM_UNINITIALISED, 3);
}
END_TEST

START_TEST(values_that_decide_nothing) {
  // Undefined values that are moved, masked and replaced, but decide nothing, are not reported.
  ALLOWED("mov.b32 %r4, {%h1, %h2}; cvt.u16.u32 %h3, %r0; mov.b32 %r5, {%h3, %h2};\n"
          "and.b32 %r6, %r5, 0xffff; setp.lt.u32 %p1, %r0, 40; selp.b32 %r7, %r6, %r4, %p1;\n"
          "mov.b32 {%h4, _}, %r5; cvt.u32.u16 %r8, %h4; add.s32 %r9, %r7, %r8;\n"
          "shl.b32 %r10, %r5, 16; shr.u32 %r10, %r10, 16; add.s32 %r9, %r9, %r10;\n"
          "ld.shared.b16 %h5, [smem+8]; st.global.b32 [%rd3], %r9;",
          .check = true);
  ck_assert_uint_eq(c.out[9], 27);
}
END_TEST

// ---- asynchronous copies ----

START_TEST(copies_that_arrive) {
  static struct ptx_case c;
  c = (struct ptx_case){.threads = 32,
                        .check = true,
                        .body =
                            "mov.u32 %r3, smem; mad.lo.s32 %r4, %r0, 16, %r3;\n"
                            "mad.wide.u32 %rd5, %r0, 16, %rd2; setp.eq.s32 %p1, %r0, 3;\n"
                            "cp.async.cg.shared.global [%r4], [%rd5], 16; cp.async.commit_group;\n"
                            "cp.async.ca.shared.global [%r4+512], [%rd5], 8, 4;\n"
                            "cp.async.ca.shared.global [%r4+520], [%rd5+4], 4, %p1;\n"
                            "cp.async.commit_group; cp.async.wait_group 1;\n"
                            "ld.shared.b32 %r5, [%r4+12]; st.global.b32 [%rd3], %r5;\n"
                            "cp.async.wait_group 0; ld.shared.v2.b32 {%r6, %r7}, [%r4+512];\n"
                            "ld.shared.b32 %r8, [%r4+520]; add.s32 %r6, %r6, %r7;\n"
                            "st.global.b32 [%rd3+128], %r6; st.global.b32 [%rd3+256], %r8;"};
  for (unsigned i = 0; i < 256; i++)
    c.in[i] = i + 1;
  case_run(&c);
  ck_assert_uint_eq(c.violation_count, 0);
  for (unsigned i = 0; i < 32; i++) {
    ck_assert_uint_eq(c.out[i], 4 * i + 4);
    ck_assert_uint_eq(c.out[32 + i], 4 * i + 1);
    ck_assert_uint_eq(c.out[64 + i], i == 3 ? 0 : 4 * i + 2);
  }
}
END_TEST

START_TEST(copies_read_too_early) {
  static const char body[] = "mov.u32 %r3, smem; mad.lo.s32 %r4, %r0, 4, %r3;\n"
                             "cp.async.ca.shared.global [%r4], [%rd4], 4; cp.async.commit_group;\n"
                             "cp.async.wait_group 1;\n"
                             "ld.shared.b32 %r5, [%r4];\nst.global.b32 [%rd3], %r5;";
  case_expect(body, true, SIM_EARLY_READ, 4);
  // Without `check` the value is wrong.
  static struct ptx_case c;
  c = (struct ptx_case){.body = body};
  case_run(&c);
  ck_assert_uint_eq(c.out[0], ~0u);
  // Arrived for the thread that copied, but not for others before a barrier.
  c = (struct ptx_case){
      .threads = 64,
      .check = true,
      .body = "mov.u32 %r3, smem; mad.lo.s32 %r4, %r0, 4, %r3; xor.b32 %r5, %r0, 32;\n"
              "cp.async.ca.shared.global [%r4], [%rd4], 4; cp.async.wait_all;\n"
              "mad.lo.s32 %r6, %r5, 4, %r3; ld.shared.b32 %r7, [%r6];"};
  case_run(&c);
  ck_assert_uint_ge(c.violation_count, 1);
}
END_TEST

// ---- atomics ----

START_TEST(atomics) {
  ALLOWED("atom.global.add.u32 %r3, [%rd1], 2; red.global.max.s32 [%rd1+4], %r0;\n"
          "red.relaxed.gpu.global.add.f32 [%rd1+8], 0f3F000000;\n"
          "atom.global.or.b32 %r4, [%rd1+12], %r0; mov.b32 %r5, 0x3c003c00;\n"
          "red.global.add.noftz.f16x2 [%rd1+16], %r5; mov.b16 %h1, 0x3f80;\n"
          "red.global.add.noftz.bf16 [%rd1+20], %h1; atom.global.inc.u32 %r6, [%rd1+24], 9;\n"
          "mov.b16 %h2, 0; cvt.u16.u32 %h3, %r0; atom.acquire.cta.global.cas.b16 %h4, [%rd1+28], "
          "%h2, %h3;\n"
          "atom.global.exch.b64 %rd5, [%rd1+32], 77; red.global.add.u64 [%rd1+40], -1;\n"
          "red.relaxed.gpu.global.add.v4.f32 [%rd1+48], {%r7, %r7, %r7, %r7};\n"
          "st.global.b32 [%rd3+1024], %r3;",
          .before = "");
  static struct ptx_case d;
  d = c;
  ck_assert_uint_eq(c.out[0], 64);
  ck_assert_uint_eq(c.out[1], 31);
  ck_assert_uint_eq(c.out[2], 0x41800000); // 16
  ck_assert_uint_eq(c.out[3], 31);
  ck_assert_uint_eq(c.out[4], 0x50005000); // 32, twice
  ck_assert_uint_eq(c.out[5], 0x4200);     // 32
  ck_assert_uint_eq(c.out[6], 2);          // 32 increments modulo 10
  ck_assert_uint_eq(c.out[7], 1);          // lane 0 wrote 0, so lane 1 found 0
  ck_assert_uint_eq(c.out[8], 77);
  ck_assert_uint_eq(c.out[10], (uint32_t)-32);
  ck_assert_uint_eq(d.out[256 + 31], 62);
}
END_TEST

// PTX ISA, atom: add.f32 flushes subnormal inputs and results in global memory, and keeps them in
// shared memory; add.noftz and add.f64 never flush.
START_TEST(atomics_that_flush) {
  ALLOWED("setp.ne.u32 %p1, %r0, 0; @%p1 bra DONE;\n"
          "mov.b32 %r3, 0x00000005; mov.b32 %r4, 0x80000005; mov.b32 %r5, 0x00800001;\n"
          "mov.b32 %r6, 0x80800000; mov.b32 %r7, 0;\n"
          "st.global.b32 [%rd1], %r3; red.global.add.f32 [%rd1], %r3;\n"
          "st.global.b32 [%rd1+4], %r4; red.global.add.f32 [%rd1+4], %r4;\n"
          "st.global.b32 [%rd1+8], %r5; atom.global.add.f32 %r8, [%rd1+8], %r6;\n"
          "st.b32 [%rd1+12], %r3; red.add.f32 [%rd1+12], %r7;\n"
          "st.global.v2.b32 [%rd1+16], {%r3, %r5};\n"
          "red.global.add.v2.f32 [%rd1+16], {%r3, %r6};\n"
          "st.shared.b32 [smem], %r3; red.shared.add.f32 [smem], %r3;\n"
          "st.shared.b32 [smem+4], %r5; red.shared.add.f32 [smem+4], %r6;\n"
          "ld.shared.v2.b32 {%r9, %r10}, [smem]; st.global.v2.b32 [%rd1+24], {%r9, %r10};\n"
          "mov.b64 %rd5, 5; st.global.b64 [%rd1+32], %rd5; red.global.add.f64 [%rd1+32], %rd5;\n"
          "mov.b32 %r11, 0x00050005; st.global.b32 [%rd1+40], %r11;\n"
          "red.global.add.noftz.f16x2 [%rd1+40], %r11;\nDONE:",
          .check = true);
  const uint32_t want[] = {0, 0x80000000, 0, 0, 0, 0, 10, 1, 10, 0, 0x000a000a};
  for (unsigned i = 0; i < sizeof want / sizeof *want; i++)
    ck_assert_msg(c.out[i] == want[i], "word %u: 0x%08x", i, c.out[i]);
}
END_TEST

START_TEST(ctas_that_wait_for_ctas) {
  // Each of 40 CTAs waits until all have arrived, more than are resident at first.
  ALLOWED(
      "setp.ne.u32 %p1, %r0, 0; @%p1 bra DONE; atom.acq_rel.gpu.global.add.u32 %r3, [%rd1], 1;\n"
      "LOOP: ld.acquire.gpu.global.b32 %r4, [%rd1]; setp.lt.u32 %p2, %r4, 40; @%p2 bra LOOP;\n"
      "mov.u32 %r5, %ctaid.x; mad.wide.u32 %rd5, %r5, 4, %rd1; st.global.b32 [%rd5+4], 1;\nDONE:",
      .grid = 40, .limit = 100000000);
  for (unsigned i = 0; i < 40; i++)
    ck_assert_uint_eq(c.out[1 + i], 1);
}
END_TEST

// ---- matrices ----

START_TEST(matrices_through_shared_memory) {
  // Element (row, column) of four 8 x 8 matrices is 8 * row + column + 64 * matrix.
  ALLOWED("mov.u32 %r3, smem; mad.lo.s32 %r4, %r0, 16, %r3; shl.b32 %r5, %r0, 3; mov.b32 %r6, 0;\n"
          "LOOP: add.s32 %r7, %r5, %r6; mad.lo.s32 %r8, %r6, 2, %r4; cvt.u16.u32 %h1, %r7;\n"
          "st.shared.b16 [%r8], %h1; add.s32 %r6, %r6, 1; setp.lt.s32 %p1, %r6, 8; @%p1 bra LOOP;\n"
          "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r4];\n"
          "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r14, %r15}, [%r4];\n"
          "mad.wide.u32 %rd5, %r0, 24, %rd1; st.global.v2.b32 [%rd5], {%r10, %r11};\n"
          "st.global.v2.b32 [%rd5+8], {%r12, %r13}; st.global.v2.b32 [%rd5+16], {%r14, %r15};\n"
          "bar.warp.sync -1; stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r4+1024], {%r10, %r11};\n"
          "bar.warp.sync -1; ld.shared.b32 %r16, [%r4+1028]; setp.lt.s32 %p2, %r0, 16;\n"
          "@%p2 st.global.b32 [%rd3+4096], %r16;",
          .check = true);
  for (unsigned i = 0; i < 32; i++)
    for (unsigned k = 0; k < 6; k++) {
      unsigned row = i / 4, column = 2 * (i % 4), low, high;
      if (k < 4) {
        low = 64 * k + 8 * row + column;
        high = low + 1;
      } else {
        low = 64 * (k - 4) + 8 * column + row;
        high = low + 8;
      }
      ck_assert_uint_eq(c.out[6 * i + k], low | high << 16);
    }
  for (unsigned i = 0; i < 16; i++)
    ck_assert_uint_eq(c.out[1024 + i], (8 * i + 2) | (8 * i + 3) << 16);
}
END_TEST

START_TEST(products) {
  // A has ones, B the column's number, C the row's: D = 16 column + row.
  ALLOWED("mov.b32 %r3, 0x3c003c00; shr.u32 %r4, %r0, 2; cvt.rn.f16.u32 %h1, %r4;\n"
          "mov.b32 %r5, {%h1, %h1}; cvt.rn.f32.u32 %r6, %r4; add.f32 %r7, %r6, 0f41000000;\n"
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r8, %r9, %r10, %r11},\n"
          "  {%r3, %r3, %r3, %r3}, {%r5, %r5}, {%r6, %r6, %r7, %r7};\n"
          "cvt.rzi.s32.f32 %r8, %r8; cvt.rzi.s32.f32 %r9, %r9; cvt.rzi.s32.f32 %r10, %r10;\n"
          "cvt.rzi.s32.f32 %r11, %r11; mad.wide.u32 %rd5, %r0, 16, %rd1;\n"
          "st.global.v4.b32 [%rd5], {%r8, %r9, %r10, %r11};",
          .check = true);
  for (unsigned i = 0; i < 32; i++)
    for (unsigned k = 0; k < 4; k++)
      ck_assert_uint_eq(c.out[4 * i + k], 16 * (2 * (i % 4) + k % 2) + i / 4 + 8 * (k / 2));
  case_expect("ld.shared.b32 %r3, [smem]; mov.b32 %r4, 0;\n"
              "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r8, %r9, %r10, %r11},"
              "{%r4, %r3, %r4, %r4}, {%r4, %r4}, {%r4, %r4, %r4, %r4};\n"
              "st.global.b32 [%rd3], %r8;\nst.global.b32 [%rd3], %r10;",
              true, SIM_UNINITIALISED, 4);
}
END_TEST

TCase *sim_block_tests(void) {
  TCase *t = tcase_create("sim_block");
  tcase_add_test(t, reversal_through_shared_memory);
  tcase_add_test(t, named_barriers);
  tcase_add_test(t, barriers_used_again);
  tcase_add_test(t, deadlocks);
  tcase_add_test(t, missing_barriers);
  tcase_add_test(t, equal_values_of_many_lanes);
  tcase_add_test(t, values_never_written);
  tcase_add_test(t, values_that_decide_nothing);
  tcase_add_test(t, copies_that_arrive);
  tcase_add_test(t, copies_read_too_early);
  tcase_add_test(t, atomics);
  tcase_add_test(t, atomics_that_flush);
  tcase_add_test(t, ctas_that_wait_for_ctas);
  tcase_add_test(t, matrices_through_shared_memory);
  tcase_add_test(t, products);
  return t;
}
