// SPDX-License-Identifier: Apache-2.0
// Warp specialisation: setmaxnreg and its pool, named barriers of some warps, elect.sync.
#include "ptx_case.h"
#include "suites.h"

#include <string.h>

static struct ptx_case c;

// Three warpgroups: 65536 registers give each thread 168.
static void set_up(void) { c = (struct ptx_case){.threads = 384}; }

// %p3: the first warpgroup.
#define ROLES "setp.lt.u32 %p3, %r0, 128; @!%p3 bra B;\n"

START_TEST(registers_move_between_roles) {
  case_accept(&c, ROLES "setmaxnreg.dec.sync.aligned.u32 40; bra C;\n"
                        "B: setmaxnreg.inc.sync.aligned.u32 232;\n"
                        "C: st.global.b32 [%rd3], %r0;");
  for (unsigned i = 0; i < 384; i++)
    ck_assert_uint_eq(c.out[i], i);
}
END_TEST

// A producer hands over to a consumer at barrier 1, and back at barrier 2; one elected thread
// works.
START_TEST(named_barriers) {
  c.threads = 96;
  case_accept(&c, "mov.b32 %r3, smem; setp.lt.u32 %p3, %r0, 32; @!%p3 bra B;\n"
                  "mov.b32 %r4, 0;\n"
                  "P: elect.sync %r5|%p4, -1; @%p4 st.shared.b32 [%r3], %r4; bar.warp.sync -1;\n"
                  "bar.arrive 1, 96; bar.sync 2, 96; add.s32 %r4, %r4, 1;\n"
                  "setp.lt.u32 %p5, %r4, 4; @%p5 bra P; ret;\n"
                  "B: mov.b32 %r4, 0; mov.b32 %r6, 0;\n"
                  "Q: barrier.cta.sync.aligned 1, 96; ld.shared.b32 %r7, [%r3]; add.s32 %r6, %r6, "
                  "%r7;\n"
                  "barrier.cta.arrive.aligned 2, 96; add.s32 %r4, %r4, 1;\n"
                  "setp.lt.u32 %p5, %r4, 4; @%p5 bra Q; st.global.b32 [%rd3], %r6;");
  for (unsigned i = 32; i < 96; i++)
    ck_assert_uint_eq(c.out[i], 6);
}
END_TEST

static const struct wrong_program wrong[] = {
    // sums that the pool never has
    {ROLES "setmaxnreg.dec.sync.aligned.u32 40; bra C;\n"
           "B: setmaxnreg.inc.sync.aligned.u32 240;\nC: ret;",
     SIM_DEADLOCK, 3, "for 240 registers per thread, 72 more than it has; "},
    {"setmaxnreg.inc.sync.aligned.u32 160;", SIM_BAD_STATE, 1,
     "setmaxnreg.inc to 160 registers from 168"},
    {"setmaxnreg.dec.sync.aligned.u32 176;", SIM_BAD_STATE, 1,
     "setmaxnreg.dec to 176 registers from 168"},
    {"setp.lt.u32 %p3, %r0, 32; @!%p3 bra B; setmaxnreg.dec.sync.aligned.u32 40; bra C;\n"
     "B: setmaxnreg.dec.sync.aligned.u32 48;\nC: ret;",
     SIM_BAD_STATE, 0, "of the warpgroup has set"},
    {"setp.lt.u32 %p3, %r0, 32; @!%p3 bra B; setmaxnreg.dec.sync.aligned.u32 40;\nB: ret;",
     SIM_BAD_STATE, 2, "of its warpgroup after"},
    {"setp.lt.u32 %p3, %r2, 16; @%p3 setmaxnreg.dec.sync.aligned.u32 40;", SIM_DIVERGENCE, 1, ""},
    // one barrier in two roles; a role that does not arrive
    {ROLES "bar.sync 1, 256; bra C;\nB: bar.sync 1, 384;\nC: ret;", SIM_BAD_BARRIER, 0,
     "barrier 1 is for"},
    {ROLES "bar.sync 1, 384; bra C;\nB: bar.sync 2, 256;\nC: ret;", SIM_DEADLOCK, 2,
     "barrier 1 has 128 of 384 threads; it waits for warps 4 (exited)"},
};

START_TEST(wrong_programs) { case_reject(&c, &wrong[_i]); }
END_TEST

static const char *const unknown[] = {
    "setmaxnreg.inc.sync.aligned.u32 20;",  "setmaxnreg.inc.sync.aligned.u32 100;",
    "setmaxnreg.inc.sync.aligned.u32 264;", "setmaxnreg.inc.sync.u32 104;",
    "setmaxnreg.sync.aligned.u32 104;",
};

START_TEST(unknown_forms) {
  struct sim_error e = case_parse_body(unknown[_i]);
  ck_assert_msg(e.text[0], "accepted: %s", unknown[_i]);
}
END_TEST

TCase *sim_registers_tests(void) {
  TCase *t = tcase_create("sim_registers");
  tcase_add_checked_fixture(t, set_up, NULL);
  tcase_add_test(t, registers_move_between_roles);
  tcase_add_test(t, named_barriers);
  tcase_add_loop_test(t, wrong_programs, 0, COUNT_OF(wrong));
  tcase_add_loop_test(t, unknown_forms, 0, COUNT_OF(unknown));
  return t;
}
