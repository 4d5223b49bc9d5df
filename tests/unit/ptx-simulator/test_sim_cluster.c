// SPDX-License-Identifier: Apache-2.0
// Clusters: barrier.cluster, accesses to the shared memory of other CTAs, arrivals at their
// mbarriers, multicast copies; and programs that use them wrongly.
#include "ptx_case.h"
#include "suites.h"

#include <string.h>

#define BARRIERS ".shared .align 8 .b64 bars[8];\n"

// %r10: the CTA's rank, %r11: that of the other one; %r12: the thread's number in the grid; %rd10:
// its word of `out`. 1 line.
#define RANKS                                                                                      \
  "mov.u32 %r10, %cluster_ctarank; xor.b32 %r11, %r10, 1; mov.u32 %r12, %ctaid.x; "                \
  "mad.lo.s32 %r12, %r12, 64, %r0; mad.wide.u32 %rd10, %r12, 4, %rd1;\n"
// %r4: the thread's word in smem, %r5: the same word of the other CTA. 1 line.
#define WORDS                                                                                      \
  "mov.b32 %r6, smem; shl.b32 %r7, %r0, 2; add.s32 %r4, %r6, %r7; "                                \
  "mapa.shared::cluster.u32 %r5, %r4, %r11;\n"
#define ARRIVE "barrier.cluster.arrive.release.aligned;\n"
#define WAIT "barrier.cluster.wait.acquire.aligned;\n"
#define SYNC ARRIVE WAIT
#define GIVE "st.global.b32 [%rd10], %r9;\n"
// %r3: the mbarrier, which expects `count` arrivals; %p1: thread 0. 2 lines, then 1.
#define INIT_ONLY(count)                                                                           \
  "mov.b32 %r3, bars; setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [%r3], " count   \
  ";\nfence.mbarrier_init.release.cluster;\n"
#define INIT(count) INIT_ONLY(count) "bar.sync 0;" SYNC
#define WAIT_FOR(label, parity)                                                                    \
  label ": mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r3], " parity           \
        "; @!%p2 bra " label ";\n"
// Half a block of 256 bytes for both CTAs: %r13: its place in smem; %rd11: in `in`. 1 line.
#define HALVES                                                                                     \
  "shl.b32 %r13, %r10, 7; cvt.u64.u32 %rd11, %r13; add.s64 %rd11, %rd2, %rd11; "                   \
  "mov.b32 %r6, smem; add.s32 %r13, %r6, %r13; mov.b16 %h1, 3;\n"
#define MULTICAST(mask)                                                                            \
  "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "     \
  "[%r13], [%rd11], 128, [%r3], " mask ";\n"
#define EXPECT(bytes) "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], " bytes ";\n"
#define READ_BLOCK "shl.b32 %r7, %r0, 2; add.s32 %r7, %r6, %r7; ld.shared.b32 %r9, [%r7];\n"

static struct ptx_case c;

static void set_up(void) {
  c = (struct ptx_case){
      .before = BARRIERS, .grid = 4, .threads = 64, .cluster = 2, .limit = 200000};
  for (unsigned i = 0; i < CASE_WORDS; i++)
    c.in[i] = i * 5 + 2;
}

static void expect_words(const char *body, uint32_t (*value)(unsigned cta, unsigned thread)) {
  case_accept(&c, body);
  for (unsigned i = 0; i < c.grid * c.threads; i++)
    ck_assert_msg(c.out[i] == value(i / c.threads, i % c.threads), "CTA %u, thread %u: %u",
                  i / c.threads, i % c.threads, c.out[i]);
}

static uint32_t other_word(unsigned cta, unsigned thread) { return 1000 * (cta ^ 1) + thread; }
static uint32_t block_word(unsigned cta, unsigned thread) { return (void)cta, thread * 5 + 2; }
static uint32_t place(unsigned cta, unsigned thread) {
  return (void)thread, cta % 2 + 10 * (cta / 2) + 100 * 2 + 1000 * 2;
}

// What the CTA stores in its word: 1000 * ctaid + thread. 1 line.
#define OWN "mov.u32 %r8, %ctaid.x; mad.lo.s32 %r8, %r8, 1000, %r0;\n"

START_TEST(special_registers) {
  expect_words(RANKS "mov.u32 %r9, %clusterid.x; mad.lo.s32 %r9, %r9, 10, %r10;\n"
                     "mov.u32 %r8, %cluster_nctarank; mad.lo.s32 %r9, %r8, 100, %r9;\n"
                     "mov.u32 %r8, %nclusterid.x; mad.lo.s32 %r9, %r8, 1000, %r9;\n" GIVE,
               place);
}
END_TEST

START_TEST(other_memory) {
  // Each CTA reads what the other one wrote.
  expect_words(RANKS WORDS OWN "st.shared.b32 [%r4], %r8;\n" SYNC
                               "ld.shared::cluster.b32 %r9, [%r5];\n" SYNC GIVE,
               other_word);
  // It writes to the other one; through generic addresses; the barrier without .aligned.
  expect_words(RANKS OWN
               "barrier.cluster.arrive; barrier.cluster.wait;\n"
               "mov.b64 %rd12, smem; mad.wide.u32 %rd12, %r0, 4, %rd12;\n"
               "cvta.shared.u64 %rd12, %rd12; mapa.u64 %rd13, %rd12, %r11;\n"
               "st.b32 [%rd13], %r8; getctarank.u32 %r14, %rd13; setp.ne.u32 %p3, %r14, %r11;\n"
               "@%p3 trap;\n" SYNC "ld.b32 %r9, [%rd12];\n" GIVE,
               other_word);
  // Sums at the first CTA.
  c.grid = 2;
  case_accept(&c, RANKS "mov.b32 %r4, smem; setp.eq.u32 %p1, %r12, 0; mov.b32 %r8, 0;\n"
                        "@%p1 st.shared.b32 [%r4], %r8;\n" SYNC
                        "mapa.shared::cluster.u32 %r5, %r4, 0;\n"
                        "atom.relaxed.cluster.shared::cluster.add.u32 %r8, [%r5], %r0;\n" SYNC
                        "@%p1 ld.shared.b32 %r9, [%r4]; @%p1 st.global.b32 [%rd10], %r9;\n");
  ck_assert_uint_eq(c.out[0], 2 * 63 * 64 / 2);
}
END_TEST

// The threads of the other CTA arrive at the mbarrier: that orders their stores.
START_TEST(far_arrivals) {
  expect_words(RANKS WORDS INIT("64") OWN
               "st.shared::cluster.b32 [%r5], %r8; mapa.shared::cluster.u32 %r15, %r3, %r11;\n"
               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r15];\n" WAIT_FOR(
                   "L", "0") "ld.shared.b32 %r9, [%r4];\n" GIVE SYNC,
               other_word);
  // With bytes, which the CTA itself completes.
  expect_words(RANKS WORDS INIT("64") OWN
               "st.shared::cluster.b32 [%r5], %r8; mapa.shared::cluster.u32 %r15, %r3, %r11;\n"
               "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r15], 16;\n"
               "mbarrier.complete_tx.relaxed.cluster.shared::cta.b64 [%r3], 16;\n" WAIT_FOR(
                   "L", "0") "ld.shared.b32 %r9, [%r4];\n" GIVE SYNC,
               other_word);
}
END_TEST

START_TEST(multicast) {
  expect_words(RANKS INIT("1") HALVES EXPECT("256") MULTICAST("%h1") WAIT_FOR("L", "0")
                   READ_BLOCK GIVE SYNC,
               block_word);
  // Clusters of 4: a quarter each, in 4 warps' worth of words.
  c.cluster = 4;
  expect_words(
      RANKS INIT(
          "1") "shl.b32 %r13, %r10, 6; cvt.u64.u32 %rd11, %r13;\n"
               "add.s64 %rd11, %rd2, %rd11; mov.b32 %r6, smem;\n"
               "add.s32 %r13, %r6, %r13; mov.b16 %h1, 15;\n" EXPECT(
                   "256") "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                          ".multicast::cluster [%r13], [%rd11], 64, [%r3], %h1;\n" WAIT_FOR(
                              "L", "0") READ_BLOCK GIVE SYNC,
      block_word);
}
END_TEST

// A ring of one slot, three laps: `full` counts the bytes, `empty` the threads of both CTAs. The
// body from `SETUP` on is the producer's and everyone's loop; n laps.
#define SETUP                                                                                      \
  RANKS                                                                                            \
  "mov.b32 %r3, bars; setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [%r3], "         \
  "1;\n@%p1 mbarrier.init.shared::cta.b64 [%r3+8], 128; fence.mbarrier_init.release.cluster;"      \
  "\nbar.sync 0;" SYNC HALVES
#define LAPS(wait_empty, release)                                                                  \
  "mov.b32 %r20, 0; mov.b32 %r21, 0; mov.b32 %r9, 0; add.s32 %r22, %r3, 8;\n"                      \
  "mapa.shared::cluster.u32 %r23, %r22, %r11; mapa.shared::cluster.u32 %r24, %r22, %r10;\n"        \
  "TOP: @!%p1 bra READ; xor.b32 %r25, %r21, 1;\n" wait_empty EXPECT("256")                         \
      MULTICAST("%h1") "READ: bar.warp.sync -1;\n" WAIT_FOR(                                       \
          "L", "%r21") "shl.b32 %r7, %r0, 2; add.s32 %r7, %r6, %r7; ld.shared.b32 %r8, [%r7]; "    \
                       "add.s32 %r9, %r9, %r8;\n" release                                          \
                       "xor.b32 %r21, %r21, 1; add.s32 %r20, %r20, 1; setp.lt.u32 %p4, %r20, 3;\n" \
                       "@%p4 bra TOP;\n"
#define WAIT_EMPTY                                                                                 \
  "E: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r22], %r25; @!%p2 bra E;\n"
#define RELEASE                                                                                    \
  "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r23];\n"                               \
  "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r24];\n"

static uint32_t three_blocks(unsigned cta, unsigned thread) { return 3 * block_word(cta, thread); }

// With the scope of the CTA, arrivals order reads: enough for a slot.
#define WAIT_EMPTY_CTA                                                                             \
  "E: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r22], %r25; @!%p2 bra E;\n"
#define RELEASE_READS                                                                              \
  "mbarrier.arrive.shared::cluster.b64 _, [%r23];\n"                                               \
  "mbarrier.arrive.shared::cluster.b64 _, [%r24];\n"
#define RELEASE_NOTHING                                                                            \
  "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r23];\n"                               \
  "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r24];\n"

START_TEST(ring) {
  expect_words(SETUP LAPS(WAIT_EMPTY, RELEASE) GIVE SYNC, three_blocks);
  expect_words(SETUP LAPS(WAIT_EMPTY_CTA, RELEASE_READS) GIVE SYNC, three_blocks);
}
END_TEST

static const struct wrong_program wrong[] = {
    // ---- the beginning and end of CTAs ----
    {RANKS WORDS OWN "st.shared.b32 [%r4], %r8;\n" SYNC "ld.shared::cluster.b32 %r9, [%r5];\n" GIVE,
     SIM_BAD_CLUSTER, 0, "end", 0},
    {RANKS WORDS OWN "st.shared::cluster.b32 [%r5], %r8;\n" SYNC "ld.shared.b32 %r9, [%r4];\n" GIVE,
     SIM_BAD_CLUSTER, 4, "may not have begun", 0},
    {RANKS WORDS INIT("64") "mapa.shared::cluster.u32 %r15, %r3, %r11;\n"
                            "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r15];\n"
                            "mov.b32 %r9, 1;\n" GIVE,
     SIM_BAD_CLUSTER, 0, "end", 0},
    // One CTA alone leaves before it has its half: the other one writes to it.
    {RANKS INIT("1") HALVES EXPECT("256")
         MULTICAST("%h1") "setp.eq.u32 %p3, %r10, 1; @%p3 bra END;\n" WAIT_FOR("L", "0")
             READ_BLOCK GIVE "END:\n",
     SIM_ASYNC_ORDER, 0, "the CTA ends", SIM_BAD_CLUSTER},
    // ---- races ----
    {RANKS WORDS OWN "st.shared.b32 [%r4], %r8; barrier.cluster.arrive.relaxed.aligned;\n" WAIT
                     "ld.shared::cluster.b32 %r9, [%r5];\n" SYNC GIVE,
     SIM_RACE, 0, "nothing orders them", SIM_BAD_CLUSTER},
    {RANKS WORDS OWN SYNC "st.shared::cluster.b32 [%r5], %r8; bar.sync 0;\n"
                          "ld.shared.b32 %r9, [%r4];\n" GIVE SYNC,
     SIM_RACE, 0, "nothing orders them", SIM_UNINITIALISED},
    {RANKS WORDS SYNC "mapa.shared::cluster.u32 %r5, %r4, 0; st.shared::cluster.b32 [%r5], %r12;"
                      "\n" SYNC,
     SIM_RACE, 5, "two writes of different values", 0},
    // The arrival orders nothing in the other CTA.
    {RANKS WORDS INIT("64") OWN
     "st.shared::cluster.b32 [%r5], %r8; mapa.shared::cluster.u32 %r15, %r3, %r11;\n"
     "mbarrier.arrive.shared::cluster.b64 _, [%r15];\n" WAIT_FOR(
         "L", "0") "ld.shared.b32 %r9, [%r4];\n" GIVE SYNC,
     SIM_RACE, 0, "nothing orders them", 0},
    {RANKS WORDS INIT("64") OWN
     "st.shared::cluster.b32 [%r5], %r8; mapa.shared::cluster.u32 %r15, %r3, %r11;\n"
     "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r15];\n"
     "L: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0; @!%p2 bra L;\n"
     "ld.shared.b32 %r9, [%r4];\n" GIVE SYNC,
     SIM_RACE, 0, "nothing orders them", 0},
    // Slots released to the own CTA only: both arrivals go there.
    {SETUP LAPS(WAIT_EMPTY, "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r24];\n"
                            "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r24];\n")
         GIVE SYNC,
     SIM_RACE, 0, "nothing orders them", SIM_EARLY_READ},
    {SETUP LAPS("", RELEASE) GIVE SYNC, SIM_RACE, 0, "nothing orders them", SIM_EARLY_READ},
    {SETUP LAPS(WAIT_EMPTY, RELEASE_NOTHING) GIVE SYNC, SIM_RACE, 0, "nothing orders them", 0},
    // ---- mbarriers ----
    {RANKS WORDS INIT_ONLY(
         "64") "mapa.shared::cluster.u32 %r15, %r3, %r11; bar.sync 0;\n"
               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r15];\n" WAIT_FOR("L", "0")
                   SYNC,
     SIM_BAD_MBARRIER, 0, "nothing orders this after its init", SIM_BAD_CLUSTER},
    {RANKS INIT("1") HALVES EXPECT("128") MULTICAST("%h1") WAIT_FOR("L", "0") READ_BLOCK GIVE SYNC,
     SIM_ASYNC_ORDER, 0, "expects too few", SIM_EARLY_READ},
    {RANKS INIT("1") HALVES EXPECT("512") MULTICAST("%h1") WAIT_FOR("L", "0") READ_BLOCK GIVE SYNC,
     SIM_DEADLOCK, 0, "256 bytes pending", 0},
    {RANKS WORDS INIT("32") "mapa.shared::cluster.u32 %r15, %r3, 0;\n"
                            "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r15];\n" SYNC
                            "setp.eq.u32 %p3, %r10, 1;\n@%p3 bra L;\nbra END;\n" WAIT_FOR(
                                "L", "0") "END: " SYNC,
     SIM_DEADLOCK, 0, "CTA 1 of the cluster: ", 0},
    {RANKS INIT("64") "mapa.shared::cluster.u32 %r3, %r3, %r11;\n"
                      "L: mbarrier.try_wait.parity.b64 %p2, [%rd14], 0; @!%p2 bra L;\n" SYNC,
     SIM_UNINITIALISED, 0, "", SIM_OUT_OF_BOUNDS},
    {RANKS INIT("64") "cvt.u64.u32 %rd14, %r3; cvta.shared.u64 %rd14, %rd14;\n"
                      "mapa.u64 %rd14, %rd14, %r11;\n"
                      "L: mbarrier.try_wait.parity.b64 %p2, [%rd14], 0; @!%p2 bra L;\n" SYNC,
     SIM_BAD_MBARRIER, 0, "only threads of its CTA", 0},
    // ---- ranks and masks ----
    {RANKS INIT("1") HALVES "mov.b16 %h1, 7;\n" EXPECT("256") MULTICAST("%h1"), SIM_BAD_CLUSTER, 0,
     "to the CTAs 0x7 of a cluster that has 2", 0},
    {RANKS INIT("1") HALVES "mov.b16 %h1, 0;\n" EXPECT("256") MULTICAST("%h1"), SIM_BAD_CLUSTER, 0,
     "to the CTAs 0x0", 0},
    {RANKS "mov.b32 %r4, smem; mapa.shared::cluster.u32 %r5, %r4, 2;\n", SIM_BAD_CLUSTER, 2,
     "CTA 2 of a cluster that has 2", 0},
    {RANKS SYNC "mov.b32 %r5, 0x5000000; ld.shared::cluster.b32 %r9, [%r5];\n" SYNC,
     SIM_OUT_OF_BOUNDS, 4, "the cluster has 2 CTAs", 0},
    {RANKS WORDS "st.shared.b32 [%r5], %r0;\n", SIM_OUT_OF_BOUNDS, 3, "shared memory", 0},
    // ---- the barrier ----
    {RANKS ARRIVE ARRIVE WAIT, SIM_BAD_CLUSTER, 3, "again", 0},
    {RANKS WAIT, SIM_BAD_CLUSTER, 2, "has not arrived", 0},
    {RANKS "setp.eq.u32 %p3, %r10, 1; @%p3 bra END;\n" SYNC "bra ALL;\n"
           "END: bar.sync 1; bar.sync 2, 96;\nALL:\n",
     SIM_BAD_BARRIER, 0, "", 0},
    {RANKS "setp.eq.u32 %p3, %r10, 1; @%p3 bra END;\n" SYNC "bra ALL;\n"
           "END: barrier.cluster.arrive;\nsetp.eq.u32 %p4, %r2, 0; @%p4 bra ALL; L: bra L;\nALL:\n",
     SIM_TOO_LONG, 0, "", 0},
    {RANKS INIT("1") "setp.eq.u32 %p3, %r10, 0; @%p3 bra ALL;\n" WAIT_FOR("L", "0") "ALL: " SYNC,
     SIM_DEADLOCK, 0, "missing: warp 0 of CTA 1", 0},
};

START_TEST(wrong_programs) { case_reject(&c, &wrong[_i]); }
END_TEST

START_TEST(launches) {
  c.grid = 3;
  c.body = "";
  case_run(&c);
  ck_assert_int_eq(c.status, SIM_INVALID);
  ck_assert_str_eq(c.report.text,
                   "a grid of 3 CTAs in dimension 0, which is no multiple of the 2 of a cluster");
  c.cluster = 17;
  case_run(&c);
  ck_assert_str_eq(c.report.text, "a cluster of more than 16 CTAs");
}
END_TEST

// All errors are found when the module is loaded.
START_TEST(instructions) {
  static const char *const bad[][2] = {
      {"barrier.cluster.sync;", "unknown modifier '.sync' of 'barrier'"},
      {"mapa.shared.u32 %r3, %r4, 0;", "unknown modifier '.shared' of 'mapa'"},
      {"mapa.shared::cluster.b32 %r3, %r4, 0;", "'mapa' is of .u32 or .u64"},
      {"getctarank.u64 %rd5, %rd6;", "'getctarank' is of .u32 or .u64"},
      {"mbarrier.try_wait.parity.shared::cluster.b64 %p1, [%r3], 0;",
       "an mbarrier is in shared memory"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    ck_assert_str_eq(case_parse_body(bad[i][0]).text, bad[i][1]);
}
END_TEST

TCase *sim_cluster_tests(void) {
  TCase *t = tcase_create("sim_cluster");
  tcase_add_checked_fixture(t, set_up, NULL);
  tcase_set_timeout(t, 60);
  tcase_add_test(t, special_registers);
  tcase_add_test(t, other_memory);
  tcase_add_test(t, far_arrivals);
  tcase_add_test(t, multicast);
  tcase_add_test(t, ring);
  tcase_add_loop_test(t, wrong_programs, 0, (int)(sizeof wrong / sizeof *wrong));
  tcase_add_test(t, launches);
  tcase_add_test(t, instructions);
  return t;
}
