// SPDX-License-Identifier: Apache-2.0
// Bulk copies without tensor maps: cp.async.bulk in both directions, cp.reduce.async.bulk, groups,
// and programs that use the bytes too early, too late, or through the wrong proxy.
#include "ptx_case.h"
#include "suites.h"

#include <stdio.h>
#include <string.h>

#define BARRIERS ".shared .align 8 .b64 bars[8];\n"

// %p1: thread 0. %r3: an mbarrier for `count` arrivals. %r4: the thread's word in smem, %r5: that
// of the thread 32 away, %r6: smem. 4 lines.
#define BEGIN(count)                                                                               \
  "mov.b32 %r6, smem; shl.b32 %r7, %r0, 2; add.s32 %r4, %r6, %r7;\n"                               \
  "xor.b32 %r7, %r7, 128; add.s32 %r5, %r6, %r7; setp.eq.u32 %p1, %r0, 0;\n"                       \
  "mov.b32 %r3, bars; @%p1 mbarrier.init.shared::cta.b64 [%r3], " count ";\n"                      \
  "fence.mbarrier_init.release.cluster; bar.sync 0;\n"
#define EXPECT(bytes) "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], " bytes ";\n"
#define LOAD(to, from, bytes)                                                                      \
  "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [" to "], [" from        \
  "], " bytes ", [%r3];\n"
#define WAIT(label, parity)                                                                        \
  label ": mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], " parity "; @!%p2 bra " label ";"  \
        "\n"
#define STORE "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r6], 256;\n"
#define COMMIT "@%p1 cp.async.bulk.commit_group;\n"
#define OUT "ld.shared.b32 %r9, [%r5]; st.global.b32 [%rd3], %r9;\n"
#define FILL "add.s32 %r8, %r0, 50; st.shared.b32 [%r4], %r8;\n"

static struct ptx_case c;

static void set_up(void) {
  c = (struct ptx_case){.before = BARRIERS, .threads = 64};
  for (unsigned i = 0; i < CASE_WORDS; i++)
    c.in[i] = i * 3 + 1;
}

START_TEST(loads) {
  static const char *const bodies[] = {
      BEGIN("1") EXPECT("256") LOAD("%r6", "%rd2", "256") WAIT("L", "0") OUT,
      // two copies, before the bytes are expected; another form; a cache policy
      BEGIN("1") LOAD("%r6+128", "%rd2+128",
                      "128") "createpolicy.fractional.L2::evict_first.b64 %rd5;\n"
                             "@%p1 "
                             "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::"
                             "cache_hint [%r6], "
                             "[%rd2], 128, [%r3], %rd5;\n" EXPECT("256") WAIT("L", "0") OUT,
      // the other warp hears of it at a barrier
      BEGIN("1") EXPECT("256")
          LOAD("%r6", "%rd2", "256") "setp.lt.u32 %p3, %r0, 32; @!%p3 bra B;\n" WAIT(
              "L", "0") "B: bar.sync 0;\n" OUT,
      // a generic write before the copy, with a fence between
      BEGIN("1") FILL "fence.proxy.async.shared::cta; bar.sync 0;\n" EXPECT("256")
          LOAD("%r6", "%rd2", "256") WAIT("L", "0") OUT,
      "cp.async.bulk.prefetch.L2.global [%rd2], 256;\n" BEGIN("1") EXPECT("256")
          LOAD("%r6", "%rd2", "256") WAIT("L", "0") OUT,
  };
  case_accept(&c, bodies[_i]);
  for (unsigned i = 0; i < 64; i++)
    ck_assert_uint_eq(c.out[i], c.in[i ^ 32]);
}
END_TEST

// One slot of shared memory, filled five times: *full* (bars) and *empty* (bars + 8).
START_TEST(a_ring_of_one_slot) {
  case_accept(
      &c,
      BEGIN("1") "@%p1 mbarrier.init.shared::cta.b64 [%r3+8], 2; fence.proxy.async; bar.sync "
                 "0;\n"
                 "mov.b32 %r10, 0; mov.b32 %r11, 0; mov.b32 %r12, 0;\n"
                 "TOP: @!%p1 bra TAKE; xor.b32 %r13, %r11, 1;\n"
                 "E: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3+8], %r13; @!%p2 bra "
                 "E;\n" EXPECT("256") LOAD(
                     "%r6", "%rd2",
                     "256") "add.s64 %rd2, %rd2, 256;\n"
                            "TAKE: " WAIT(
                                "L", "%r11") "ld.shared.b32 %r9, [%r5]; add.s32 %r12, %r12, %r9;\n"
                                             "bar.warp.sync -1; setp.eq.u32 %p3, %r2, 0;\n"
                                             "@%p3 mbarrier.arrive.shared::cta.b64 _, [%r3+8];\n"
                                             "xor.b32 %r11, %r11, 1; add.s32 %r10, %r10, 1;\n"
                                             "setp.lt.u32 %p4, %r10, 5; @%p4 bra TOP;\n"
                                             "st.global.b32 [%rd3], %r12;\n");
  for (unsigned i = 0; i < 64; i++) {
    uint32_t sum = 0;
    for (unsigned k = 0; k < 5; k++)
      sum += c.in[64 * k + (i ^ 32)];
    ck_assert_uint_eq(c.out[i], sum);
  }
}
END_TEST

START_TEST(stores) {
  static const char *const bodies[] = {
      BEGIN("1") FILL "fence.proxy.async; bar.sync 0;\n" STORE COMMIT
                      "@%p1 cp.async.bulk.wait_group 0;\n",
      // the source is written again after its read
      BEGIN("1") FILL
      "fence.proxy.async.shared::cta; bar.sync 0;\n" STORE COMMIT
      "@%p1 cp.async.bulk.wait_group.read 0;\nbar.sync 0; st.shared.b32 [%r4], %r0;\n",
      // the storing thread fences for all; two groups, of which one stays pending
      BEGIN("1") FILL "bar.sync 0; fence.proxy.async;\n" STORE COMMIT STORE COMMIT
                      "@%p1 cp.async.bulk.wait_group 1; @%p1 cp.async.bulk.wait_group 0;\n"
                      "bar.sync 0; ld.global.b32 %r9, [%rd3]; st.global.b32 [%rd3], %r9;\n",
  };
  case_accept(&c, bodies[_i]);
  for (unsigned i = 0; i < 64; i++)
    ck_assert_uint_eq(c.out[i], i + 50);
}
END_TEST

static const struct {
  const char *text;
  uint32_t operand, expected; // on 0, twice
} reduced[] = {
    {"add.u32", 7, 14},
    {"add.s32", (uint32_t)-9, (uint32_t)-18},
    {"add.f32", 0x3fc00000, 0x40400000},
    {"add.noftz.f16", 0x3e003c00, 0x42004000},
    {"min.s32", (uint32_t)-9, (uint32_t)-9},
    {"max.u32", 3, 3},
    {"and.b32", 6, 0},
    {"or.b32", 6, 6},
    {"xor.b64", 5, 0},
    {"inc.u32", 9, 2},
    {"dec.u32", 9, 8},
    {"add.u64", 3, 6},
};

START_TEST(reductions) {
  static char body[2048];
  snprintf(body, sizeof body,
           "%smov.b32 %%r8, %u; st.shared.b32 [%%r4], %%r8; fence.proxy.async; bar.sync 0;\n"
           "@%%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.%s [%%rd1], [%%r6], 256;\n"
           "@%%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.%s [%%rd1], [%%r6], 256;\n"
           "@%%p1 cp.async.bulk.commit_group; @%%p1 cp.async.bulk.wait_group 0;\n",
           BEGIN("1"), reduced[_i].operand, reduced[_i].text, reduced[_i].text);
  case_accept(&c, body);
  for (unsigned i = 0; i < 64; i++)
    ck_assert_msg(c.out[i] == reduced[_i].expected, "%s: 0x%x", reduced[_i].text, c.out[i]);
}
END_TEST

static const struct wrong_program wrong[] = {
    // no wait; the wrong parity; by another warp only; a wait that does not repeat
    {BEGIN("1") EXPECT("256") LOAD("%r6", "%rd2", "256") OUT, SIM_EARLY_READ, 7, "(`bars`)",
     SIM_RACE},
    {BEGIN("1") EXPECT("256") LOAD("%r6", "%rd2", "256") WAIT("L", "1") OUT, SIM_EARLY_READ, 8,
     "mbarrier 0x1000 (`bars`), phase", SIM_DEADLOCK},
    {BEGIN("1") EXPECT("256")
         LOAD("%r6", "%rd2", "256") "setp.lt.u32 %p3, %r0, 32; @!%p3 bra B;\n" WAIT(
             "L", "0") "B: ld.shared.b32 %r9, [%r5];",
     SIM_EARLY_READ, 9, "mbarrier 0x1000 (`bars`), phase", SIM_RACE},
    {BEGIN("1") EXPECT("256") LOAD(
         "%r6", "%rd2",
         "256") "mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r3], 1;\n" OUT WAIT("L", "0"),
     SIM_EARLY_READ, 8, ""},
    // a generic write to bytes under way, and another copy
    {BEGIN("1") EXPECT("256") LOAD("%r6", "%rd2", "256") FILL WAIT("L", "0"), SIM_EARLY_READ, 7,
     ""},
    {BEGIN("1") EXPECT("512") LOAD("%r6", "%rd2", "256") LOAD("%r6", "%rd2", "256") WAIT("L", "0"),
     SIM_EARLY_READ, 7, ""},
    // too few bytes; too many
    {BEGIN("1") EXPECT("128") LOAD("%r6", "%rd2", "128") LOAD("%r6+128", "%rd2+128", "128")
         WAIT("L", "0") OUT,
     SIM_EARLY_READ, 9, "", SIM_ASYNC_ORDER},
    {BEGIN("1") EXPECT("272") LOAD("%r6", "%rd2", "256") WAIT("L", "0") OUT, SIM_DEADLOCK, 7,
     "phase 0, 0 of 1 arrivals and 16 bytes pending"},
    {BEGIN("1") "@%p1 mbarrier.arrive.shared::cta.b64 _, [%r3];\n" LOAD("%r6", "%rd2", "256")
         WAIT("L", "0") OUT,
     SIM_EARLY_READ, 8, ""},
    // alignment, sizes, bounds
    {BEGIN("1") LOAD("%r6+8", "%rd2", "256"), SIM_MISALIGNED, 5, "shared address 0x8"},
    {BEGIN("1") LOAD("%r6", "%rd2+4", "256"), SIM_MISALIGNED, 5, "no multiple of 16"},
    {BEGIN("1") LOAD("%r6", "%rd2", "24"), SIM_BAD_STATE, 5, "24 bytes, no multiple of 16"},
    {BEGIN("1") LOAD("%r6", "%rd2+16384", "16"), SIM_OUT_OF_BOUNDS, 5, "outside of every buffer"},
    {BEGIN("1") LOAD("%r6+16384", "%rd2", "16"), SIM_OUT_OF_BOUNDS, 5, "shared memory"},
    {BEGIN("1") "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r6], 16;",
     SIM_READ_ONLY, 5, ""},
    // the mbarrier
    {BEGIN("1") "@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r6], [%rd2], "
                "16, [%r3+8];",
     SIM_BAD_MBARRIER, 5, "(`bars`+8): no mbarrier.init"},
    {"mov.b32 %r6, smem; mov.b32 %r3, bars; setp.eq.u32 %p1, %r0, 0;\n"
     "@%p1 mbarrier.init.shared::cta.b64 [%r3], 1;\n" EXPECT("16") LOAD("%r6", "%rd2", "16"),
     SIM_ASYNC_ORDER, 4, "no fence.mbarrier_init"},
    {BEGIN("1") EXPECT("256")
         LOAD("%r6", "%rd2", "256") "@%p1 mbarrier.inval.shared::cta.b64 [%r3];\n" WAIT("L", "0"),
     SIM_BAD_MBARRIER, 0, "mbarrier.inval in line"},
    // the CTA ends first
    {BEGIN("1") EXPECT("1024") LOAD("%r6", "%rd2", "256") LOAD("%r6+256", "%rd2", "256")
         LOAD("%r6+512", "%rd2", "256") LOAD("%r6+768", "%rd2", "256"),
     SIM_ASYNC_ORDER, 0, "is under way"},
    // proxies
    {BEGIN("1") FILL "bar.sync 0;\n" EXPECT("256") LOAD("%r6", "%rd2", "256") WAIT("L", "0") OUT,
     SIM_ASYNC_ORDER, 8, "writes shared memory through the async proxy"},
    {BEGIN("1") FILL "bar.sync 0;\n" STORE COMMIT "@%p1 cp.async.bulk.wait_group 0;",
     SIM_ASYNC_ORDER, 7, "a bulk store reads"},
    {BEGIN("1") FILL "fence.proxy.async;\n" STORE COMMIT "@%p1 cp.async.bulk.wait_group 0;",
     SIM_RACE, 0, "nothing orders them"},
    // the source of a store
    {BEGIN("1") FILL "fence.proxy.async; bar.sync 0;\n" STORE COMMIT
                     "bar.sync 0; st.shared.b32 [%r4], %r0; @%p1 cp.async.bulk.wait_group 0;",
     SIM_ASYNC_ORDER, 9, "is written while the bulk store of line"},
    {BEGIN("1") FILL "fence.proxy.async; bar.sync 0;\n" STORE COMMIT
                     "@%p1 cp.async.bulk.wait_group.read 1; bar.sync 0;\n"
                     "st.shared.b32 [%r4], %r0; @%p1 cp.async.bulk.wait_group 0;",
     SIM_ASYNC_ORDER, 10, "is written while the bulk store of line"},
    {BEGIN("1") FILL "fence.proxy.async; bar.sync 0;\n" STORE
                     "@%p1 cp.async.bulk.wait_group.read 0; bar.sync 0;\nst.shared.b32 [%r4], %r0;",
     SIM_ASYNC_ORDER, 9, "is written while the bulk store of line"},
    {BEGIN("1") FILL "fence.proxy.async; bar.sync 0;\n" STORE COMMIT
                     "@%p1 cp.async.bulk.wait_group.read 0;\nst.shared.b32 [%r4], %r0;",
     SIM_RACE, 10, "nothing orders them"},
    {BEGIN("1") FILL "fence.proxy.async; bar.sync 0;\n" STORE COMMIT, SIM_ASYNC_ORDER, 0,
     "exits while its bulk store"},
    {BEGIN("1") "fence.proxy.async; bar.sync 0;\n" STORE COMMIT "@%p1 cp.async.bulk.wait_group 0;",
     SIM_UNINITIALISED, 6, "never written"},
    // its destination
    {BEGIN("1") FILL
     "fence.proxy.async; bar.sync 0;\n" STORE COMMIT
     "@%p1 cp.async.bulk.wait_group.read 0; bar.sync 0;\nld.global.b32 %r9, [%rd3];\n"
     "@%p1 cp.async.bulk.wait_group 0;",
     SIM_EARLY_READ, 10, "bytes of global memory may not be complete"},
};

START_TEST(wrong_programs) { case_reject(&c, &wrong[_i]); }
END_TEST

static const char *const unknown[] = {
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.multicast::cluster [%r3], "
    "[%rd2], 16, [%r3], %h1;",
    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r3], [%r4], 16, "
    "[%r5];",
    "cp.async.bulk.shared::cta.global [%r3], [%rd2], 16, [%r4];",
    "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r3];",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.mul.u32 [%rd2], [%r3], 16;",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.and.f32 [%rd2], [%r3], 16;",
    "cp.async.bulk.wait_group %r3;",
    "cp.async.bulk.wait_group.write 0;",
};

START_TEST(unknown_forms) {
  struct sim_error e = case_parse_body(unknown[_i]);
  ck_assert_msg(e.text[0], "accepted: %s", unknown[_i]);
  ck_assert_uint_eq(e.line, 1);
}
END_TEST

TCase *sim_bulk_tests(void) {
  TCase *t = tcase_create("sim_bulk");
  tcase_add_checked_fixture(t, set_up, NULL);
  tcase_add_loop_test(t, loads, 0, 5);
  tcase_add_test(t, a_ring_of_one_slot);
  tcase_add_loop_test(t, stores, 0, 3);
  tcase_add_loop_test(t, reductions, 0, COUNT_OF(reduced));
  tcase_add_loop_test(t, wrong_programs, 0, COUNT_OF(wrong));
  tcase_add_loop_test(t, unknown_forms, 0, COUNT_OF(unknown));
  return t;
}
