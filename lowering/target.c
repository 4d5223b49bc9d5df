// SPDX-License-Identifier: Apache-2.0
// The table of targets.
#include "lowering/target.h"

#include "layouts/exchange_plan.h"
#include "lowering/targets/cpu.h"
#include "lowering/targets/ptx.h"

// Least features of each set, so that code does not depend on what LLVM counts to a name.
static const struct processor v3 = {ISA_X86_64_V3, "x86_64-unknown-linux-gnu", "x86-64-v3",
                                    "+avx2,+fma,+f16c,+bmi,+bmi2,+lzcnt,+movbe,+popcnt,+sse4.2"};
static const struct processor v4 = {
    ISA_X86_64_V4, "x86_64-unknown-linux-gnu", "x86-64-v4",
    "+avx2,+fma,+f16c,+bmi,+bmi2,+lzcnt,+movbe,+popcnt,+sse4.2,+avx512f,+avx512bw,+avx512cd,"
    "+avx512dq,+avx512vl,+evex512"};
static const struct processor aarch64 = {ISA_AARCH64, "aarch64-unknown-linux-gnu", "generic",
                                         "+neon"};

enum { KIB = 1024, LD = EXCHANGE_LDMATRIX, LD_ST = EXCHANGE_LDMATRIX | EXCHANGE_STMATRIX };

// Shared memory is the opt-in maximum per CTA. PTX versions are the lowest that have the
// instructions the emission uses, since drivers refuse versions newer than themselves.
static const struct target targets[] = {
    {"cpu", true, 0, 0, 128, 227 * KIB, 32, LD_ST, false, false, &cpu_hooks, NULL},
    {"cpu:x86-64-v3", true, 0, 0, 128, 227 * KIB, 32, LD_ST, false, false, &cpu_hooks, &v3},
    {"cpu:x86-64-v4", true, 0, 0, 128, 227 * KIB, 32, LD_ST, false, false, &cpu_hooks, &v4},
    {"cpu:aarch64", true, 0, 0, 128, 227 * KIB, 32, LD_ST, false, false, &cpu_hooks, &aarch64},
    {"sm_80", false, 80, 80, 128, 163 * KIB, 32, LD, false, false, &ptx_hooks, NULL},
    {"sm_86", false, 86, 80, 128, 99 * KIB, 32, LD, false, false, &ptx_hooks, NULL},
    {"sm_89", false, 89, 81, 128, 99 * KIB, 32, LD, false, false, &ptx_hooks, NULL},
    {"sm_90a", false, 90, 83, 128, 227 * KIB, 32, LD_ST, true, true, &ptx_hooks, NULL},
    {"sm_100a", false, 100, 86, 128, 227 * KIB, 32, LD_ST, false, false, &ptx_hooks, NULL},
};

static const char *const names[] = {
    "cpu",   "cpu:x86-64-v3", "cpu:x86-64-v4", "cpu:aarch64", "sm_80",
    "sm_86", "sm_89",         "sm_90a",        "sm_100a",     NULL};

const struct target *target_find(struct str name) {
  for (size_t i = 0; i < COUNT_OF(targets); i++)
    if (str_is(name, targets[i].name))
      return &targets[i];
  return NULL;
}

const char *const *target_names(void) { return names; }
