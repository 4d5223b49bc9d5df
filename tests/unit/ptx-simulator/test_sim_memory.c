// SPDX-License-Identifier: Apache-2.0
// Loads, stores, spaces, bounds, alignment, functions and printing of the simulator.
#include "ptx_case.h"
#include "suites.h"

#include <string.h>

START_TEST(vector_addition) {
  static struct ptx_case c;
  c = (struct ptx_case){.threads = 128,
                        .grid = 3,
                        .n = 300,
                        .check = true,
                        .body = "mov.u32 %r3, %ctaid.x; mad.lo.s32 %r4, %r3, 128, %r0;\n"
                                "setp.ge.s32 %p1, %r4, %r1; @%p1 bra DONE;\n"
                                "mul.wide.s32 %rd5, %r4, 4; add.s64 %rd6, %rd2, %rd5;\n"
                                "add.s64 %rd7, %rd1, %rd5;\n"
                                "ld.global.b32 %r5, [%rd6]; ld.global.nc.b32 %r6, [%rd6+4096];\n"
                                "add.f32 %r7, %r5, %r6; st.global.b32 [%rd7], %r7;\nDONE:"};
  for (unsigned i = 0; i < 300; i++) {
    float x = (float)i, y = 0.5f * (float)i;
    memcpy(&c.in[i], &x, 4);
    memcpy(&c.in[i + 1024], &y, 4);
  }
  case_run(&c);
  ck_assert_int_eq(c.status, SIM_OK);
  ck_assert_uint_eq(c.violation_count, 0);
  for (unsigned i = 0; i < 384; i++) {
    float x;
    memcpy(&x, &c.out[i], 4);
    ck_assert(x == (i < 300 ? 1.5f * (float)i : 0));
  }
}
END_TEST

START_TEST(vectors_and_narrow_types) {
  static struct ptx_case c;
  c = (struct ptx_case){
      .threads = 32,
      .body = "shl.b32 %r3, %r0, 4; cvt.u64.u32 %rd5, %r3; add.s64 %rd6, %rd2, %rd5;\n"
              "add.s64 %rd7, %rd1, %rd5;\n"
              "ld.global.L1::evict_last.v4.b32 {%r4, %r5, _, %r7}, [%rd6];\n"
              "ld.global.s8 %r6, [%rd6+8]; ld.global.u8 %r8, [%rd6+8];\n"
              "shl.b32 %r8, %r8, 16; add.s32 %r4, %r4, %r8;\n"
              "ld.global.s16 %r9, [%rd6+10]; add.s32 %r5, %r5, %r9;\n"
              "st.global.v2.b64 [%rd7], {%rd6, %rd6};\n"
              "st.global.cs.v4.b32 [%rd7], {%r4, %r5, %r6, %r7};"};
  for (unsigned i = 0; i < 128; i++)
    c.in[i] = i % 4 == 2 ? 0xfffd00f0 + i : i;
  case_run(&c);
  ck_assert_int_eq(c.status, SIM_OK);
  for (unsigned i = 0; i < 32; i++) {
    uint32_t word = 0xfffd00f0 + 4 * i + 2;
    ck_assert_uint_eq(c.out[4 * i], 4 * i + ((word & 0xff) << 16));
    ck_assert_uint_eq(c.out[4 * i + 1], 4 * i + 1 + (uint32_t)(int16_t)(word >> 16));
    ck_assert_uint_eq(c.out[4 * i + 2], (uint32_t)(int8_t)word);
    ck_assert_uint_eq(c.out[4 * i + 3], 4 * i + 3);
  }
}
END_TEST

START_TEST(local_and_generic_addresses) {
  ALLOWED(".local .align 8 .b8 depot[16]; .reg .b64 %SP, %SPL;\n"
          "mov.b64 %SPL, depot; cvta.local.u64 %SP, %SPL;\n"
          "st.local.b32 [%SPL+4], %r0; ld.b32 %r3, [%SP+4];\n"
          "mul.lo.s32 %r4, %r0, 8; mov.u32 %r5, smem; add.s32 %r6, %r5, %r4;\n"
          "st.shared.b32 [%r6], %r3; cvt.u64.u32 %rd5, %r6; cvta.shared.u64 %rd6, %rd5;\n"
          "isspacep.shared %p1, %rd6; isspacep.global %p2, %rd6; isspacep.local %p3, %SP;\n"
          "ld.b32 %r7, [%rd6]; selp.b32 %r8, 100, 0, %p1; selp.b32 %r9, 1000, 0, %p2;\n"
          "selp.b32 %r10, 10000, 0, %p3; add.s32 %r7, %r7, %r8; add.s32 %r7, %r7, %r9;\n"
          "add.s32 %r7, %r7, %r10; st.b32 [%rd3], %r7;",
          .threads = 64, .check = true);
  for (unsigned i = 0; i < 64; i++)
    ck_assert_uint_eq(c.out[i], i + 10100);
}
END_TEST

START_TEST(global_variables_and_constants) {
  ALLOWED("ld.global.b32 %r3, [table+4]; ld.const.b16 %h1, [halves+2]; cvt.u32.u16 %r4, %h1;\n"
          "mov.b64 %rd5, table; ld.global.b8 %r5, [%rd5+8]; add.s32 %r3, %r3, %r4;\n"
          "add.s32 %r3, %r3, %r5; st.global.b32 [%rd3], %r3;",
          .before = ".global .align 4 .b32 table[3] = {7, 0x100, 5};\n"
                    ".const .align 2 .b16 halves[2] = {1, 0x2000};\n");
  ck_assert_uint_eq(c.out[31], 0x100 + 0x2000 + 5);
}
END_TEST

START_TEST(functions) {
  ALLOWED("setp.lt.u32 %p1, %r0, 20;\n"
          "@!%p1 bra OTHER;\n"
          "{ .param .b32 a; .param .b32 b; .param .b32 r;\n"
          "st.param.b32 [a], %r0; st.param.b32 [b], 3; call.uni (r), twice_plus, (a, b);\n"
          "ld.param.b32 %r3, [r]; }\n"
          "bra JOIN;\n"
          "OTHER: { .param .b32 a; .param .b32 b; .param .b32 r;\n"
          "st.param.b32 [a], 5; st.param.b32 [b], %r0; call (r), twice_plus, (a, b);\n"
          "ld.param.b32 %r3, [r]; }\n"
          "JOIN: shfl.sync.bfly.b32 %r4, %r3, 1, 31, -1; st.global.b32 [%rd3], %r4;",
          .check = true,
          .before = ".func (.param .b32 result) twice_plus(.param .b32 x, .param .b32 y);\n"
                    ".func (.param .b32 result) twice(.param .b32 x)\n"
                    "{ .reg .b32 %r<3>; ld.param.b32 %r1, [x]; shl.b32 %r2, %r1, 1;\n"
                    "st.param.b32 [result], %r2; ret; }\n"
                    ".func (.param .b32 result) twice_plus(.param .b32 x, .param .b32 y)\n"
                    "{ .reg .b32 %r<5>; .reg .pred %p<2>; ld.param.b32 %r1, [x];\n"
                    "ld.param.b32 %r2, [y];\n"
                    "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r1;\n"
                    "call.uni (r), twice, (a); ld.param.b32 %r3, [r]; }\n"
                    "add.s32 %r4, %r3, %r2; st.param.b32 [result], %r4; ret; }\n");
  for (unsigned i = 0; i < 32; i++) {
    unsigned j = i ^ 1;
    ck_assert_uint_eq(c.out[i], j < 20 ? 2 * j + 3 : 10 + j);
  }
}
END_TEST

START_TEST(printing) {
  ALLOWED(
      ".local .align 8 .b8 depot[32]; mov.b64 %rd5, depot; cvta.local.u64 %rd6, %rd5;\n"
      "st.local.b32 [%rd5], -7; mov.b64 %rd7, 0d3FF8000000000000; st.local.b64 [%rd5+8], %rd7;\n"
      "st.local.b64 [%rd5+16], 1099511627777;\n"
      "mov.b64 %rd8, text; cvta.global.u64 %rd9, %rd8;\n"
      "setp.eq.u32 %p1, %r0, 3; @!%p1 bra DONE;\n"
      "{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %rd9;\n"
      "st.param.b64 [b], %rd6; call.uni (r), vprintf, (a, b); ld.param.b32 %r3, [r]; }\n"
      "st.global.b32 [%rd1], %r3;\nDONE:",
      .check = true,
      .before = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
                // "%3d %g %llx %%\n"
                ".global .align 1 .b8 text[16] = {37, 51, 100, 32, 37, 103, 32, 37, 108, 108, "
                "120, 32, 37, 37, 10};\n");
  ck_assert_str_eq(c.printed, " -7 1.5 10000000001 %\n");
  ck_assert_uint_eq(c.out[0], strlen(c.printed));
}
END_TEST

START_TEST(bounds) {
  case_expect("\nld.global.b32 %r3, [%rd4+16384];", false, SIM_OUT_OF_BOUNDS, 2);
  case_expect("ld.global.b32 %r3, [%rd4+-4];", false, SIM_OUT_OF_BOUNDS, 1);
  case_expect("ld.global.v2.b32 {%r3, %r4}, [%rd1+16380];", false, SIM_MISALIGNED, 1);
  case_expect("add.s64 %rd5, %rd1, 16376; ld.global.v4.b32 {%r3, %r4, %r5, %r6}, [%rd5];", false,
              SIM_MISALIGNED, 1);
  case_expect("st.shared.b32 [smem+4096], %r0;", false, SIM_OUT_OF_BOUNDS, 1);
  case_expect("mov.u32 %r3, 4096; ld.shared.b32 %r4, [%r3];", false, SIM_OUT_OF_BOUNDS, 1);
  case_expect("ld.shared.b32 %r4, [smem+2];", false, SIM_MISALIGNED, 1);
  case_expect("st.global.b32 [%rd4], %r0;", false, SIM_READ_ONLY, 1);
  case_expect(".local .align 4 .b8 d[8]; ld.local.b32 %r3, [d+8];", false, SIM_OUT_OF_BOUNDS, 1);
  case_expect("ld.param.b32 %r9, [k_5+128];", false, SIM_OUT_OF_BOUNDS, 1);
  case_expect("mov.b64 %rd5, 0; ld.b32 %r3, [%rd5];", false, SIM_OUT_OF_BOUNDS, 1);
}
END_TEST

START_TEST(violations_have_locations) {
  static struct ptx_case c;
  c = (struct ptx_case){.body = ".loc 1 12 5\nsetp.eq.u32 %p1, %r0, 9;\n.loc 1 13 7\n"
                                "@%p1 ld.global.b32 %r3, [%rd4+16400];\n",
                        .before = ".file 1 \"dir/kernel.tile\"\n",
                        .grid = 1};
  case_run(&c);
  ck_assert_int_eq(c.status, SIM_FAULT);
  ck_assert_uint_eq(c.violation_count, 1);
  const struct sim_violation *f = &c.violations[0];
  ck_assert_uint_eq(f->at.lane, 9);
  ck_assert_uint_eq(f->at.line, 4);
  ck_assert_uint_eq(f->at.source.line, 13);
  ck_assert_uint_eq(f->at.source.column, 7);
  ck_assert_int_eq(f->space, SIM_GLOBAL);
  ck_assert_uint_eq(f->bytes, 4);
  ck_assert_int_eq(f->buffer_offset, 16400 + 36);
}
END_TEST

TCase *sim_memory_tests(void) {
  TCase *t = tcase_create("sim_memory");
  tcase_add_test(t, vector_addition);
  tcase_add_test(t, vectors_and_narrow_types);
  tcase_add_test(t, local_and_generic_addresses);
  tcase_add_test(t, global_variables_and_constants);
  tcase_add_test(t, functions);
  tcase_add_test(t, printing);
  tcase_add_test(t, bounds);
  tcase_add_test(t, violations_have_locations);
  return t;
}
