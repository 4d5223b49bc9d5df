// SPDX-License-Identifier: Apache-2.0
// wgmma of every type of operands, against products computed here.
#include "base/dtype.h"
#include "ptx_case.h"
#include "suites.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 64, COLUMNS = 8, K_BYTES = 32, CORE = 128, B_OFFSET = ROWS * K_BYTES };

// Operands lie in core matrices of 8 rows of 16 bytes, those along K first.
static unsigned byte_of(unsigned outer, unsigned k) {
  return outer / 8 * (2 * CORE) + k / 16 * CORE + outer % 8 * 16 + k % 16;
}

struct wgmma_case {
  const char *instruction, *modifiers;
  enum dtype a, b;
};
static const struct wgmma_case cases[] = {
    {"m64n8k16.f32.f16.f16", ", 1, 1, 0, 0", DTYPE_F16, DTYPE_F16},
    {"m64n8k16.f32.bf16.bf16", ", 1, 1, 0, 0", DTYPE_BF16, DTYPE_BF16},
    {"m64n8k8.f32.tf32.tf32", ", 1, 1", DTYPE_F32, DTYPE_F32},
    {"m64n8k32.f32.e4m3.e4m3", ", 1, 1", DTYPE_F8E4NV, DTYPE_F8E4NV},
    {"m64n8k32.f32.e4m3.e5m2", ", 1, 1", DTYPE_F8E4NV, DTYPE_F8E5},
    {"m64n8k32.f32.e5m2.e4m3", ", 1, 1", DTYPE_F8E5, DTYPE_F8E4NV},
    {"m64n8k32.f32.e5m2.e5m2", ", 1, 1", DTYPE_F8E5, DTYPE_F8E5},
    {"m64n8k16.f16.f16.f16", ", 1, 1, 0, 0", DTYPE_F16, DTYPE_F16},
    {"m64n8k32.f16.e4m3.e4m3", ", 1, 1", DTYPE_F8E4NV, DTYPE_F8E4NV},
    {"m64n8k32.f16.e5m2.e4m3", ", 1, 1", DTYPE_F8E5, DTYPE_F8E4NV},
    {"m64n8k32.s32.s8.s8", "", DTYPE_I8, DTYPE_I8},
    {"m64n8k32.s32.u8.s8", "", DTYPE_U8, DTYPE_I8},
    {"m64n8k32.s32.s8.u8.satfinite", "", DTYPE_I8, DTYPE_U8},
};

// Small enough for exact sums in f32. tf32 has digits that the tensor core does not see.
static double value_at(enum dtype t, unsigned outer, unsigned k) {
  int n = (int)((outer * 7 + k * 5) % 13) - 6;
  return t == DTYPE_U8 ? 200 + n : t == DTYPE_F32 ? n + 0x1p-12 : n;
}

static double seen(enum dtype t, double v) {
  float f = (float)v;
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  bits &= ~0x1fffu;
  memcpy(&f, &bits, sizeof f);
  return t == DTYPE_F32 ? (double)f : v;
}

static void fill(uint8_t *to, enum dtype t, unsigned count) {
  unsigned bytes = dtype_bytes(t);
  for (unsigned i = 0; i < count; i++)
    for (unsigned k = 0; k < K_BYTES / bytes; k++)
      dtype_store(t, to + byte_of(i, k * bytes), value_at(t, i, k));
}

static const char body[] =
    "mov.b32 %%r3, smem; shl.b32 %%r4, %%r0, 2; add.s32 %%r4, %%r3, %%r4;\n"
    "ld.global.b32 %%r5, [%%rd4]; st.shared.b32 [%%r4], %%r5;\n"
    "ld.global.b32 %%r5, [%%rd4+512]; st.shared.b32 [%%r4+512], %%r5;\n"
    "ld.global.b32 %%r5, [%%rd4+1024]; st.shared.b32 [%%r4+1024], %%r5;\n"
    "ld.global.b32 %%r5, [%%rd4+1536]; st.shared.b32 [%%r4+1536], %%r5;\n"
    "ld.global.b32 %%r5, [%%rd4+2048]; st.shared.b32 [%%r4+2048], %%r5;\n"
    "fence.proxy.async; bar.sync 0;\n"
    "shr.u32 %%r6, %%r3, 4; cvt.u64.u32 %%rd5, %%r6;\n"
    "or.b64 %%rd5, %%rd5, 0x1000080000; add.s64 %%rd6, %%rd5, 128;\n"
    "setp.ne.u32 %%p1, %%r3, %%r3;\n"
    "mov.b32 %%r8, 0; mov.b32 %%r9, 0; mov.b32 %%r10, 0; mov.b32 %%r11, 0;\n"
    "wgmma.fence.sync.aligned;\n"
    "wgmma.mma_async.sync.aligned.%s {%s}, %%rd5, %%rd6, %%p1%s;\n"
    "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
    "shl.b32 %%r12, %%r0, 4; cvt.u64.u32 %%rd7, %%r12; add.s64 %%rd7, %%rd1, %%rd7;\n"
    "st.global.b32 [%%rd7], %%r8; st.global.b32 [%%rd7+4], %%r9;\n"
    "st.global.b32 [%%rd7+8], %%r10; st.global.b32 [%%rd7+12], %%r11;\n";

static double expected(const struct wgmma_case *x, unsigned row, unsigned column) {
  double sum = 0;
  for (unsigned k = 0; k < K_BYTES / dtype_bytes(x->a); k++)
    sum += seen(x->a, value_at(x->a, row, k)) * seen(x->b, value_at(x->b, column, k));
  return strstr(x->instruction, ".s32") ? sum : (double)(float)sum;
}

static bool has_halves(const struct wgmma_case *x) {
  return strstr(x->instruction, "k16.f16.") || strstr(x->instruction, "k32.f16.");
}

// Element i of 4 of a lane: a register each; of f16, half a register each.
static double result_at(const struct wgmma_case *x, const struct ptx_case *c, unsigned thread,
                        unsigned i) {
  const uint32_t *words = &c->out[4 * thread];
  float f;
  memcpy(&f, &words[i], sizeof f);
  if (has_halves(x))
    return dtype_load(DTYPE_F16, (const uint8_t *)words + 2 * i);
  return strstr(x->instruction, ".s32") ? (double)(int32_t)words[i] : (double)f;
}

START_TEST(products_by_warpgroups) {
  const struct wgmma_case *x = &cases[_i];
  static struct ptx_case c;
  static char text[2048];
  snprintf(text, sizeof text, body, x->instruction,
           has_halves(x) ? "%r8, %r9" : "%r8, %r9, %r10, %r11", x->modifiers);
  c = (struct ptx_case){.body = text, .threads = 128, .check = true};
  fill((uint8_t *)c.in, x->a, ROWS);
  fill((uint8_t *)c.in + B_OFFSET, x->b, COLUMNS);
  case_run(&c);
  ck_assert_msg(c.status == SIM_OK && c.violation_count == 0, "%s: %s", x->instruction,
                c.violation_count ? c.violations[0].text : c.report.text);
  for (unsigned i = 0; i < 128 * 4; i++) {
    unsigned lane = i / 4 % 32, row = i / 128 * 16 + lane / 4 + i % 4 / 2 * 8;
    unsigned column = lane % 4 * 2 + i % 2;
    double got = result_at(x, &c, i / 4, i % 4);
    ck_assert_msg(got == expected(x, row, column), "%s at %u, %u: %g, not %g", x->instruction, row,
                  column, got, expected(x, row, column));
  }
}
END_TEST

// Whether it is there at once, or only at the wait: both have to be right.
START_TEST(operands_that_are_not_ready) {
  static const struct {
    const char *before, *between;
    const char *text;
  } faults[] = {
      {"bar.sync 0;", "", "without a fence.proxy.async"},
      {"fence.proxy.async;", "", "nothing orders them"},
      {"fence.proxy.async; bar.sync 0;",
       "bar.sync 0; st.shared.b32 [%r4], %r0; fence.proxy.async; bar.sync 0;",
       "before wgmma.wait_group"},
  };
  static char text[2048];
  for (size_t i = 0; i < COUNT_OF(faults); i++) {
    static struct ptx_case c;
    snprintf(text, sizeof text,
             "mov.b32 %%r3, smem; shl.b32 %%r4, %%r0, 2; add.s32 %%r4, %%r3, %%r4;\n"
             "st.shared.b32 [%%r4], %%r0; st.shared.b32 [%%r4+512], %%r0;\n"
             "st.shared.b32 [%%r4+1024], %%r0; st.shared.b32 [%%r4+1536], %%r0;\n"
             "st.shared.b32 [%%r4+2048], %%r0; %s\n"
             "shr.u32 %%r6, %%r3, 4; cvt.u64.u32 %%rd5, %%r6;\n"
             "or.b64 %%rd5, %%rd5, 0x1000080000; add.s64 %%rd6, %%rd5, 128;\n"
             "setp.ne.u32 %%p1, %%r3, %%r3;\n"
             "mov.b32 %%r8, 0; mov.b32 %%r9, 0; mov.b32 %%r10, 0; mov.b32 %%r11, 0;\n"
             "wgmma.fence.sync.aligned;\n"
             "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%%r8, %%r9, %%r10, %%r11}, %%rd5, "
             "%%rd6, %%p1;\n"
             "wgmma.commit_group.sync.aligned; %s wgmma.wait_group.sync.aligned 0;\n"
             "st.global.b32 [%%rd3], %%r8;",
             faults[i].before, faults[i].between);
    c = (struct ptx_case){.body = text, .threads = 128, .check = true};
    case_run(&c);
    bool found = false;
    for (unsigned k = 0; k < c.violation_count; k++)
      found |= strstr(c.violations[k].text, faults[i].text) != NULL;
    ck_assert_msg(found, "fault %zu: %u reports, the first: %s", i, c.violation_count,
                  c.violation_count ? c.violations[0].text : "");
  }
}
END_TEST

// A fence comes first, and between an access of a register of the accumulator or of A and a
// product; not between products with one accumulator, nor behind accesses of other registers.
START_TEST(fences_of_registers) {
#define WITH_A                                                                                     \
  "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r8, %r9, %r10, %r11}, {%r12, %r13, %r14, "    \
  "%r15}, %rd6, %p1;\n"
#define WAITED "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
  static const struct {
    const char *text, *report; // NULL: none
  } runs[] = {
      {"wgmma.fence.sync.aligned;" WITH_A WITH_A WAITED WITH_A WAITED, NULL},
      {"wgmma.fence.sync.aligned;" WITH_A WAITED "mov.b32 %r1, 5;" WITH_A WAITED, NULL},
      {WITH_A WAITED, "no wgmma.fence was executed before it"},
      {"wgmma.fence.sync.aligned; mov.b32 %r9, 1;" WITH_A WAITED, "register 1 of this wgmma"},
      {"wgmma.fence.sync.aligned; mov.b32 %r15, 1;" WITH_A WAITED, "register 7 of this wgmma"},
      {"wgmma.fence.sync.aligned;" WITH_A "mov.b32 %r13, 1;" WITH_A WAITED,
       "register 5 of this wgmma"},
      {"wgmma.fence.sync.aligned;" WITH_A WAITED "add.s32 %r1, %r8, 1;" WITH_A WAITED,
       "register 0 of this wgmma"},
      {"wgmma.fence.sync.aligned;" WITH_A WAITED "st.global.b32 [%rd3], %r11;"
       "wgmma.fence.sync.aligned;" WITH_A WAITED,
       NULL},
  };
  for (size_t i = 0; i < COUNT_OF(runs); i++) {
    static struct ptx_case c;
    static char text[4096];
    snprintf(text, sizeof text,
             "mov.b32 %%r3, smem; shl.b32 %%r4, %%r0, 2; add.s32 %%r4, %%r3, %%r4;\n"
             "st.shared.b32 [%%r4], %%r0; fence.proxy.async; bar.sync 0;\n"
             "shr.u32 %%r6, %%r3, 4; cvt.u64.u32 %%rd6, %%r6; or.b64 %%rd6, %%rd6, 0x1000080000;\n"
             "setp.ne.u32 %%p1, %%r3, %%r3;\n"
             "mov.b32 %%r8, 0; mov.b32 %%r9, 0; mov.b32 %%r10, 0; mov.b32 %%r11, 0;\n"
             "mov.b32 %%r12, 0; mov.b32 %%r13, 0; mov.b32 %%r14, 0; mov.b32 %%r15, 0;\n"
             "%s",
             runs[i].text);
    c = (struct ptx_case){.body = text, .threads = 128, .check = true};
    case_run(&c);
    const char *first = c.violation_count ? c.violations[0].text : c.report.text;
    ck_assert_msg(c.status == SIM_OK, "run %zu: %s", i, first);
    if (runs[i].report)
      ck_assert_msg(c.violation_count && strstr(first, runs[i].report), "run %zu: %s", i, first);
    else
      ck_assert_msg(c.violation_count == 0, "run %zu: %s", i, first);
  }
}
END_TEST

TCase *sim_wgmma_tests(void) {
  TCase *t = tcase_create("sim_wgmma");
  tcase_add_loop_test(t, products_by_warpgroups, 0, COUNT_OF(cases));
  tcase_add_test(t, operands_that_are_not_ready);
  tcase_add_test(t, fences_of_registers);
  return t;
}
