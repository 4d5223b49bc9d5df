// SPDX-License-Identifier: Apache-2.0
// Global memory under `check`: races of programs and of warps, what orders them, reads of unwritten
// memory.
#include "ptx_case.h"
#include "suites.h"

#include <string.h>

static struct ptx_case last; // the run that was last

static bool found(enum sim_kind kind) {
  for (unsigned i = 0; i < last.violation_count; i++)
    if (last.violations[i].kind == kind)
      return true;
  return false;
}

// Whether one of 16 schedules shows a race; none may show another violation.
static bool races(const char *body, unsigned grid, unsigned threads) {
  bool any = false;
  for (uint64_t seed = 0; seed < 16; seed++) {
    last = (struct ptx_case){
        .body = body, .grid = grid, .threads = threads, .check = true, .seed = seed};
    case_run(&last);
    ck_assert_int_eq(last.status, SIM_OK);
    for (unsigned i = 0; i < last.violation_count; i++)
      ck_assert_msg(last.violations[i].kind == SIM_GLOBAL_RACE, "%s", last.violations[i].text);
    any |= last.violation_count > 0;
  }
  return any;
}

#define PROGRAM "mov.u32 %r3, %ctaid.x; setp.eq.u32 %p1, %r0, 0; setp.eq.u32 %p2, %r3, 0;\n"
#define FIRST                                                                                      \
  "and.pred %p3, %p1, %p2; xor.pred %p4, %p3, %p1;\n" // thread 0 of program 0, of others

// ---- programs ----

START_TEST(programs_that_write) {
  ck_assert(races(PROGRAM "@%p1 st.global.b32 [%rd1+8], %r3;", 2, 32));
  const struct sim_violation *f = &last.violations[0];
  ck_assert_uint_eq(f->buffer_offset, 8);
  ck_assert_uint_ne(f->at.ctaid[0], f->other.ctaid[0]);
  ck_assert_uint_eq(f->other.line, f->at.line);
  ck_assert_ptr_nonnull(strstr(f->text, "two writes of different values"));
  ck_assert(!races(PROGRAM "@%p1 st.global.b32 [%rd1+8], 7;", 3, 32)); // the same value
  ck_assert(!races("st.global.b32 [%rd3], %r0;", 2, 32));
  ck_assert(!races(PROGRAM "mul.wide.u32 %rd5, %r3, 128; add.s64 %rd5, %rd5, %rd3;\n"
                           "st.global.b32 [%rd5], %r3;",
                   4, 32));
}
END_TEST

START_TEST(programs_that_read) {
  ck_assert(
      races(PROGRAM FIRST "@%p3 st.global.b32 [%rd1], 7; @%p4 ld.global.b32 %r4, [%rd1];", 2, 32));
  ck_assert(
      races(PROGRAM FIRST "@%p3 st.global.b32 [%rd1], 7; @%p1 ld.global.b32 %r4, [%rd1];", 3, 32));
  // A store that does not change memory is no race.
  ck_assert(
      !races(PROGRAM FIRST "@%p3 st.global.b32 [%rd1], 0; @%p4 ld.global.b32 %r4, [%rd1];", 2, 32));
}
END_TEST

START_TEST(widths) {
  ck_assert(!races(PROGRAM "cvt.u64.u32 %rd5, %r3; add.s64 %rd5, %rd5, %rd1;\n"
                           "add.s32 %r4, %r3, 1; @%p1 st.global.b8 [%rd5], %r4;",
                   4, 32));
  ck_assert(
      races(PROGRAM FIRST "@%p3 st.global.b8 [%rd1+3], 1; @%p4 ld.global.b32 %r4, [%rd1];", 2, 32));
  ck_assert(races(PROGRAM FIRST
                  "@%p3 st.global.v4.b32 [%rd1], {%r0, %r0, %r0, 5}; @%p4 ld.global.b16 %h1, "
                  "[%rd1+12];",
                  2, 32));
  ck_assert(!races(PROGRAM FIRST
                   "@%p3 st.global.v2.b32 [%rd1], {1, 2}; @%p4 ld.global.b16 %h1, [%rd1+8];",
                   2, 32));
}
END_TEST

START_TEST(atomics) {
  ck_assert(!races("atom.global.add.u32 %r4, [%rd1], 1; red.global.add.u32 [%rd3], 1;", 4, 64));
  ck_assert(races(PROGRAM FIRST "@%p3 red.global.add.u32 [%rd1], 1;\n"
                                "@%p4 ld.global.b32 %r4, [%rd1];",
                  2, 32));
  ck_assert(races(PROGRAM FIRST "@%p3 red.global.add.u32 [%rd1], 1;\n"
                                "@%p4 st.global.b32 [%rd1], 9;",
                  2, 32));
  ck_assert(!races(PROGRAM FIRST "@%p3 red.global.add.u32 [%rd1], 1;\n"
                                 "@%p4 ld.relaxed.gpu.global.b32 %r4, [%rd1];",
                   2, 32));
}
END_TEST

// ---- what orders programs ----

// Program 0 writes and raises a flag, program 1 waits for it and reads.
#define HANDOVER(fence, raise, wait)                                                               \
  PROGRAM "@!%p1 bra DONE; @!%p2 bra WAIT;\n"                                                      \
          "st.global.b32 [%rd1+64], 7; " fence raise " bra DONE;\n"                                \
          "WAIT: " wait " setp.eq.u32 %p5, %r4, 0; @%p5 bra WAIT;\n" fence                         \
          "ld.global.b32 %r5, [%rd1+64]; st.global.b32 [%rd1+128], %r5; DONE:"

START_TEST(order_by_atomics) {
  ck_assert(!races(HANDOVER("", "red.release.gpu.global.add.u32 [%rd1], 1;",
                            "ld.acquire.gpu.global.b32 %r4, [%rd1];"),
                   2, 32));
  ck_assert(!races(HANDOVER("", "atom.acq_rel.gpu.global.exch.b32 %r6, [%rd1], 1;",
                            "atom.acq_rel.gpu.global.or.b32 %r4, [%rd1], 0;"),
                   2, 32));
  ck_assert(races(HANDOVER("", "red.relaxed.gpu.global.add.u32 [%rd1], 1;",
                           "ld.acquire.gpu.global.b32 %r4, [%rd1];"),
                  2, 32));
  ck_assert(races(HANDOVER("", "red.release.gpu.global.add.u32 [%rd1], 1;",
                           "ld.relaxed.gpu.global.b32 %r4, [%rd1];"),
                  2, 32));
  ck_assert(!races(HANDOVER("fence.acq_rel.gpu;", "red.relaxed.gpu.global.add.u32 [%rd1], 1;",
                            "ld.relaxed.gpu.global.b32 %r4, [%rd1];"),
                   2, 32));
}
END_TEST

// The last program sums the others' results; a barrier orders a warp's work before the warp that
// increments the counter.
#define LAST(barrier)                                                                              \
  "mov.u32 %r3, %ctaid.x; mad.lo.s32 %r4, %r3, 64, %r0; mul.wide.u32 %rd5, %r4, 4;\n"              \
  "add.s64 %rd5, %rd5, %rd1; add.s32 %r5, %r4, 1; st.global.b32 [%rd5+128], %r5;\n" barrier        \
  "setp.ne.u32 %p1, %r0, 0; @%p1 bra DONE;\n"                                                      \
  "atom.acq_rel.gpu.global.add.u32 %r6, [%rd1], 1; setp.ne.u32 %p2, %r6, 3; @%p2 bra DONE;\n"      \
  "mov.u32 %r7, 0; mov.u64 %rd6, %rd1;\n"                                                          \
  "NEXT: ld.global.b32 %r8, [%rd6+128]; add.s64 %rd6, %rd6, 4; add.s32 %r7, %r7, 1;\n"             \
  "setp.lt.u32 %p3, %r7, 256; @%p3 bra NEXT; DONE:"

START_TEST(order_by_a_counter) {
  ck_assert(!races(LAST("bar.sync 0;"), 4, 64));
  ck_assert(races(LAST(""), 4, 64));
}
END_TEST

// ---- warps of a program ----

START_TEST(warps) {
#define MIRROR(barrier)                                                                            \
  "st.global.b32 [%rd3], %r0; " barrier "sub.s32 %r4, 127, %r0; mul.wide.u32 %rd5, %r4, 4;\n"      \
  "add.s64 %rd5, %rd5, %rd1; ld.global.b32 %r5, [%rd5]; st.global.b32 [%rd3+1024], %r5;"
  ck_assert(races(MIRROR(""), 1, 128));
  ck_assert(!races(MIRROR("bar.sync 0;"), 1, 128));
  ck_assert(races("st.global.b32 [%rd1], %r0;", 1, 64));
  ck_assert(!races("st.global.b32 [%rd1], 5;", 1, 64));
}
END_TEST

// All warps load the element, one increments and stores it.
START_TEST(copies_of_an_element) {
  static const char body[] =
      "mul.wide.u32 %rd5, %r2, 4; add.s64 %rd5, %rd5, %rd1; ld.global.b32 %r4, [%rd5];\n"
      "add.s32 %r4, %r4, 1; setp.lt.u32 %p1, %r0, 32; @%p1 st.global.b32 [%rd5], %r4;";
  ck_assert(races(body, 2, 128));
  ck_assert(!races(body, 1, 128));
}
END_TEST

// ---- reads of unwritten memory ----

START_TEST(unwritten) {
  last = (struct ptx_case){.check = true,
                           .unwritten = true,
                           .body = "ld.global.b32 %r4, [%rd3+256];\nst.global.b32 [%rd3], %r4;"};
  case_run(&last);
  ck_assert(found(SIM_UNINITIALISED));
  ck_assert_uint_eq(last.violations[0].at.line, last.violations[0].other.line + 1);
  ck_assert_int_eq(last.violations[0].buffer_offset, 256);
  last = (struct ptx_case){
      .check = true, .unwritten = true, .body = "atom.global.add.u32 %r4, [%rd1], 1;"};
  case_run(&last);
  ck_assert(found(SIM_UNINITIALISED));
  last =
      (struct ptx_case){.check = true,
                        .unwritten = true,
                        .body = "mov.u32 %r3, smem; cp.async.ca.shared.global [%r3], [%rd1], 16;\n"
                                "cp.async.wait_all; bar.warp.sync -1; ld.shared.b32 %r4, [%r3];\n"
                                "st.global.b32 [%rd3+512], %r4;"};
  case_run(&last);
  ck_assert(found(SIM_UNINITIALISED));
  ALLOWED("st.global.b32 [%rd3], %r0; ld.global.b32 %r4, [%rd3]; st.global.b32 [%rd3+256], %r4;\n"
          "ld.global.b32 %r5, [%rd3+1024];", // never used
          .check = true, .unwritten = true);
}
END_TEST

START_TEST(bits_of_buffers) {
  uint8_t a[8] = {0}, b[8] = {0};
  struct sim_buffer from = {.size = 64, .written = a}, to = {.size = 64, .written = b}, all = {0};
  sim_mark_written(&from, 3, 19);
  static const uint8_t marked[8] = {0xf8, 0xff, 0x3f};
  ck_assert_mem_eq(a, marked, 8);
  sim_copy_written(&to, 0, &from, 2, 16);
  static const uint8_t copied[8] = {0xfe, 0xff};
  ck_assert_mem_eq(b, copied, 8);
  sim_copy_written(&to, 1, &to, 0, 15);
  static const uint8_t moved[8] = {0xfc, 0xff};
  ck_assert_mem_eq(b, moved, 8);
  sim_copy_written(&to, 0, &all, 0, 3);
  ck_assert_uint_eq(b[0], 0xff);
}
END_TEST

TCase *sim_global_tests(void);
TCase *sim_global_tests(void) {
  TCase *t = tcase_create("sim_global");
  tcase_add_test(t, programs_that_write);
  tcase_add_test(t, programs_that_read);
  tcase_add_test(t, widths);
  tcase_add_test(t, atomics);
  tcase_add_test(t, order_by_atomics);
  tcase_add_test(t, order_by_a_counter);
  tcase_add_test(t, warps);
  tcase_add_test(t, copies_of_an_element);
  tcase_add_test(t, unwritten);
  tcase_add_test(t, bits_of_buffers);
  return t;
}
