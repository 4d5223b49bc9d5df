// SPDX-License-Identifier: Apache-2.0
// mbarriers: phases, counts, waits, what they order, and programs that use them wrongly.
#include "ptx_case.h"
#include "suites.h"

#include <string.h>

#define BARRIERS ".shared .align 8 .b64 bars[8];\n"

// %r3: the mbarrier, which expects `count` arrivals; 2 lines.
#define INIT(count)                                                                                \
  "mov.b32 %r3, bars; setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [%r3], " count   \
  ";\nfence.mbarrier_init.release.cluster; bar.sync 0;\n"
// %r4: the thread's word in smem, %r5: that of the thread 32 away.
#define WORDS                                                                                      \
  "mov.b32 %r6, smem; shl.b32 %r7, %r0, 2; add.s32 %r4, %r6, %r7;\n"                               \
  "xor.b32 %r7, %r7, 128; add.s32 %r5, %r6, %r7;\n"
#define WAIT(label, parity)                                                                        \
  label ": mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], " parity "; @!%p2 bra " label ";"  \
        "\n"

static struct ptx_case c;

static void set_up(void) {
  c = (struct ptx_case){.before = BARRIERS, .threads = 64, .limit = 100000};
  for (unsigned i = 0; i < CASE_WORDS; i++)
    c.in[i] = i * 3 + 1;
}

static void expect_words(const char *body, uint32_t (*value)(unsigned i)) {
  case_accept(&c, body);
  for (unsigned i = 0; i < c.threads; i++)
    ck_assert_msg(c.out[i] == value(i), "thread %u: %u, not %u", i, c.out[i], value(i));
}

static uint32_t far_word(unsigned i) { return (i ^ 32) + 100; }
static uint32_t last_lap(unsigned i) { return (i ^ 32) + 4; }
static uint32_t seven(unsigned i) { return (void)i, 7; }

// Each thread writes a word, arrives, waits, and reads the word of another warp.
START_TEST(arrivals_order_accesses) {
  expect_words(
      WORDS INIT("64") "add.s32 %r8, %r0, 100; st.shared.b32 [%r4], %r8;\n"
                       "mbarrier.arrive.shared::cta.b64 %rd5, [%r3];\n" WAIT(
                           "L", "0") "ld.shared.b32 %r9, [%r5]; st.global.b32 [%rd3], %r9;\n",
      far_word);
  expect_words(WORDS INIT("64") "add.s32 %r8, %r0, 100; st.shared.b32 [%r4], %r8;\n"
                                "mbarrier.arrive.release.cta.shared.b64 %rd5, [%r3], 1;\n"
                                "L: mbarrier.test_wait.acquire.cta.shared::cta.b64 %p2, [%r3], "
                                "%rd5; nanosleep.u32 20; @!%p2 bra L;\n"
                                "ld.shared.b32 %r9, [%r5]; st.global.b32 [%rd3], %r9;\n",
               far_word);
  // One arrival for each warp, after its lanes have met; with a time limit; generic addresses.
  expect_words(WORDS INIT("2") "add.s32 %r8, %r0, 100; st.shared.b32 [%r4], %r8; bar.warp.sync "
                               "-1;\n"
                               "cvt.u64.u32 %rd6, %r3; cvta.shared.u64 %rd6, %rd6;\n"
                               "setp.eq.u32 %p3, %r2, 0; @%p3 mbarrier.arrive.b64 _, [%rd6];\n"
                               "L: mbarrier.try_wait.parity.b64 %p2, [%rd6], 0, 1000; @!%p2 bra "
                               "L;\n"
                               "ld.shared.b32 %r9, [%r5]; st.global.b32 [%rd3], %r9;\n",
               far_word);
}
END_TEST

// Five phases of one object: the parity alternates; a second one keeps writers from overtaking.
START_TEST(phases_alternate) {
  expect_words(
      WORDS INIT("64") "@%p1 mbarrier.init.shared::cta.b64 [%r3+8], 64; bar.sync 0;\n"
                       "mov.b32 %r10, 0; mov.b32 %r11, 0;\n"
                       "TOP: add.s32 %r8, %r0, %r10; st.shared.b32 [%r4], %r8;\n"
                       "mbarrier.arrive.shared::cta.b64 _, [%r3];\n" WAIT(
                           "L", "%r11") "ld.shared.b32 %r9, [%r5];\n"
                                        "mbarrier.arrive.shared::cta.b64 _, [%r3+8];\n"
                                        "M: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3+8], "
                                        "%r11; @!%p2 bra M;\n"
                                        "xor.b32 %r11, %r11, 1; add.s32 %r10, %r10, 1;\n"
                                        "setp.lt.u32 %p4, %r10, 5; @%p4 bra TOP;\n"
                                        "st.global.b32 [%rd3], %r9;\n",
      last_lap);
}
END_TEST

// Bytes are pending until as many were completed as expected; a fresh object has parity 1 behind
// it.
START_TEST(counts_and_bytes) {
  expect_words(INIT("3") WAIT("A", "1") "@!%p1 bra OTHERS;\n"
                                        "mbarrier.arrive.shared::cta.b64 %rd5, [%r3], 2;\n"
                                        "mbarrier.pending_count.b64 %r9, %rd5;\n"
                                        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r3], "
                                        "64;\n"
                                        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 32;\n"
                                        "mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r3], 0;\n"
                                        "@%p2 trap;\n"
                                        "mbarrier.complete_tx.shared::cta.b64 [%r3], 96;\n"
                                        "OTHERS: " WAIT("B", "0") "mov.b32 %r9, 7; st.global.b32 "
                                                                  "[%rd3], %r9;\n",
               seven);
  // A thread that drops out is not expected in the next phase.
  expect_words(INIT("64") "setp.ge.u32 %p3, %r0, 32; @%p3 mbarrier.arrive_drop.shared::cta.b64 _, "
                          "[%r3];\n"
                          "@!%p3 mbarrier.arrive.shared::cta.b64 _, [%r3];\n" WAIT(
                              "A", "0") "bar.sync 0; @!%p3 mbarrier.arrive.shared::cta.b64 _, "
                                        "[%r3];\n" WAIT(
                                            "B", "1") "bar.sync 0; @%p1 "
                                                      "mbarrier.inval.shared::cta.b64 [%r3];\n"
                                                      "@%p1 mbarrier.init.shared::cta.b64 [%r3], "
                                                      "5;\n"
                                                      "mov.b32 %r9, 7; st.global.b32 [%rd3], "
                                                      "%r9;\n",
               seven);
}
END_TEST

// cp.async arrives when its bytes have come.
START_TEST(arrivals_of_async_copies) {
  static const char noinc[] =
      WORDS INIT("64") "shl.b32 %r8, %r0, 2; cvt.u64.u32 %rd7, %r8; add.s64 %rd7, %rd2, %rd7;\n"
                       "cp.async.ca.shared.global [%r4], [%rd7], 4;\n"
                       "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r3];\n" WAIT(
                           "L", "0") "ld.shared.b32 %r9, [%r5]; st.global.b32 [%rd3], %r9;\n";
  static const char inc[] = WORDS INIT(
      "64") "shl.b32 %r8, %r0, 2; cvt.u64.u32 %rd7, %r8; add.s64 %rd7, %rd2, %rd7;\n"
            "cp.async.ca.shared.global [%r4], [%rd7], 4;\n"
            "cp.async.mbarrier.arrive.shared.b64 [%r3]; mbarrier.arrive.shared.b64 _, "
            "[%r3];\n" WAIT("L", "0") "ld.shared.b32 %r9, [%r5]; st.global.b32 [%rd3], %r9;\n";
  case_accept(&c, noinc);
  for (unsigned i = 0; i < 64; i++)
    ck_assert_uint_eq(c.out[i], c.in[i ^ 32]);
  case_accept(&c, inc);
  for (unsigned i = 0; i < 64; i++)
    ck_assert_uint_eq(c.out[i], c.in[i ^ 32]);
}
END_TEST

static const struct wrong_program wrong[] = {
    // misuse of the object
    {"mov.b32 %r3, bars; bar.sync 0;\nmbarrier.arrive.shared::cta.b64 _, [%r3];", SIM_BAD_MBARRIER,
     2, "(`bars`): no mbarrier.init"},
    {INIT("64") "@%p1 mbarrier.inval.shared::cta.b64 [%r3]; bar.sync 0;\n"
                "mbarrier.arrive.shared::cta.b64 _, [%r3];",
     SIM_BAD_MBARRIER, 4, "after mbarrier.inval"},
    {INIT("0"), SIM_BAD_MBARRIER, 1, "of 0 arrivals"},
    {INIT("1048576"), SIM_BAD_MBARRIER, 1, "1 to 1048575"},
    {"mov.b32 %r3, bars; mbarrier.init.shared::cta.b64 [%r3+4], 1;", SIM_MISALIGNED, 1,
     "no multiple of 8"},
    {INIT("1") "@%p1 mbarrier.init.shared::cta.b64 [%r3], 1;", SIM_BAD_MBARRIER, 3,
     "mbarrier.init of an object that is in use"},
    {INIT("2") "@%p1 mbarrier.arrive.shared::cta.b64 _, [%r3];\n"
               "@%p1 mbarrier.arrive.shared::cta.b64 _, [%r3], 2;",
     SIM_BAD_MBARRIER, 4, "0x1000 (`bars`), phase 0, 1 of 2 arrivals"},
    {INIT("2") "@%p1 mbarrier.arrive.shared::cta.b64 _, [%r3], 3;", SIM_BAD_MBARRIER, 3,
     "phase 0, 2 of 2 arrivals and 0 bytes pending: one arrival more"},
    {INIT("2") "@%p1 mbarrier.expect_tx.shared::cta.b64 [%r3], 1000000;\n"
               "@%p1 mbarrier.expect_tx.shared::cta.b64 [%r3], 100000;",
     SIM_BAD_MBARRIER, 4, "more than 1048575 bytes"},
    {INIT("2") "ld.shared.b32 %r4, [%r3]; st.global.b32 [%rd3], %r4;", SIM_BAD_MBARRIER, 3,
     "which only mbarrier instructions"},
    {INIT("2") "@%p1 st.shared.b32 [%r3+4], %r0;", SIM_BAD_MBARRIER, 3, "mbarrier 0x1000 (`bars`)"},
    {INIT("64") "mbarrier.arrive.shared::cta.b64 %rd5, [%r3]; mov.b64 %rd6, 0x500000000;\n"
                "mbarrier.test_wait.shared::cta.b64 %p2, [%r3], %rd6;",
     SIM_BAD_MBARRIER, 4, "neither this one nor the one before"},
    {INIT("64") "mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r3], 2;", SIM_BAD_MBARRIER, 3,
     "it is 0 or 1"},
    // order
    {"mov.b32 %r3, bars; setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [%r3], 1;\n"
     "bar.warp.sync -1; setp.ge.u32 %p3, %r0, 32; L: @%p3 bra M; bra N; M: nanosleep.u32 100;\n"
     "mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r3], 1; N: ret;",
     SIM_BAD_MBARRIER, 3, ""},
    {WORDS INIT("64") "st.shared.b32 [%r4], %r0; mbarrier.arrive.relaxed.cta.shared::cta.b64 _, "
                      "[%r3];\n" WAIT("L", "0") "ld.shared.b32 %r9, [%r5];",
     SIM_RACE, 0, "nothing orders them"},
    {WORDS INIT("64") "mbarrier.arrive.shared::cta.b64 _, [%r3]; st.shared.b32 [%r4], %r0;\n" WAIT(
         "L", "0") "ld.shared.b32 %r9, [%r5];",
     SIM_RACE, 0, "nothing orders them"},
    {WORDS INIT("64") "st.shared.b32 [%r4], %r0; mbarrier.arrive.shared::cta.b64 _, [%r3];\n" WAIT(
         "L", "1") "ld.shared.b32 %r9, [%r5];",
     SIM_RACE, 0, "nothing orders them", SIM_DEADLOCK},
    // one lane arrives for its warp, and the others have not met it
    {WORDS INIT("2") "st.shared.b32 [%r4], %r0; setp.eq.u32 %p3, %r2, 0;\n"
                     "@%p3 mbarrier.arrive.shared::cta.b64 _, [%r3];\n" WAIT(
                         "L", "0") "ld.shared.b32 %r9, [%r5];",
     SIM_RACE, 0, "nothing orders them"},
    // a wait that returns early and is not repeated
    {WORDS INIT("64") "st.shared.b32 [%r4], %r0; mbarrier.arrive.shared::cta.b64 _, [%r3];\n"
                      "mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r3], 1;\n"
                      "ld.shared.b32 %r9, [%r5];",
     SIM_RACE, 0, "nothing orders them"},
    // waits that never end
    {INIT("64") "setp.lt.u32 %p3, %r0, 32; @%p3 mbarrier.arrive.shared::cta.b64 _, [%r3];\n" WAIT(
         "L", "0"),
     SIM_DEADLOCK, 4,
     "for mbarrier 0x1000 (`bars`), phase 0, 32 of 64 arrivals and 0 "
     "bytes pending"},
    {INIT("1") "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 512;\n" WAIT("L", "0"),
     SIM_DEADLOCK, 4, "phase 0, 0 of 1 arrivals and 512 bytes pending"},
    {INIT("64") "mbarrier.arrive.shared::cta.b64 _, [%r3];\n" WAIT("L", "0") WAIT("M", "1"),
     SIM_DEADLOCK, 5, "phase 1, 64 of 64 arrivals"},
    {INIT("64") "mbarrier.arrive.shared::cta.b64 _, [%r3]; setp.lt.u32 %p3, %r0, 32;\n"
                "@%p3 bra B; L: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 1; @!%p2 bra "
                "L;\nM: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3+0], 0; @!%p2 bra M;\n"
                "bar.sync 1; ret;\nB: bar.sync 2;",
     SIM_DEADLOCK, 0, "barrier 2 has 32 of 64 threads; it waits for warps 1"},
    {INIT("1") "L: mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r3], 0; @!%p2 bra L;",
     SIM_TOO_LONG, 0, "the warp polls mbarrier 0x1000 (`bars`), phase 0, 1 of 1 arrivals"},
    // the copies' arrival is forgotten
    {WORDS INIT("64") "cp.async.ca.shared.global [%r4], [%rd4], 4; mbarrier.arrive.shared::cta.b64 "
                      "_, [%r3];\n" WAIT("L", "0") "ld.shared.b32 %r9, [%r5];",
     SIM_EARLY_READ, 0, "cp.async"},
};

START_TEST(wrong_programs) { case_reject(&c, &wrong[_i]); }
END_TEST

static const char *const unknown[] = {
    "mbarrier.arrive.noComplete.shared::cta.b64 %rd5, [%r3], 1;",
    "mbarrier.arrive.shared::cluster.b64 %rd5, [%r3];",
    "mbarrier.init.global.b64 [%rd3], 1;",
    "mbarrier.init.shared.b32 [%r3], 1;",
    "mbarrier.try_wait.shared.b64 %p1, [%r3];",
    "mbarrier.arrive.expect_tx.shared.b64 _, [%r3];",
    "fence.mbarrier_init.acquire.cluster;",
};

START_TEST(unknown_forms) {
  struct sim_error e = case_parse_body(unknown[_i]);
  ck_assert_msg(e.text[0], "accepted: %s", unknown[_i]);
  ck_assert_uint_eq(e.line, 1);
}
END_TEST

TCase *sim_mbarrier_tests(void) {
  TCase *t = tcase_create("sim_mbarrier");
  tcase_add_checked_fixture(t, set_up, NULL);
  tcase_add_test(t, arrivals_order_accesses);
  tcase_add_test(t, phases_alternate);
  tcase_add_test(t, counts_and_bytes);
  tcase_add_test(t, arrivals_of_async_copies);
  tcase_add_loop_test(t, wrong_programs, 0, COUNT_OF(wrong));
  tcase_add_loop_test(t, unknown_forms, 0, COUNT_OF(unknown));
  return t;
}
