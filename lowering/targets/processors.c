// SPDX-License-Identifier: Apache-2.0
// What code of CPU targets is for, in LLVM's terms.
#include "lowering/target.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include <stdlib.h>

const char *processor_name(const struct target *t, struct arena *a) {
  if (t && t->processor)
    return t->processor->cpu;
  const char *asked = getenv("TILE_CPU_NAME");
  if (asked && *asked)
    return arena_printf(a, "%.*s", (int)strcspn(asked, ","), asked);
  char *name = LLVMGetHostCPUName();
  const char *r = arena_strdup(a, name);
  LLVMDisposeMessage(name);
  return r;
}

const char *processor_features(const struct target *t, struct arena *a) {
  if (t && t->processor)
    return t->processor->features;
  const char *asked = getenv("TILE_CPU_NAME");
  if (asked && *asked) { // those of its name, and those that follow it
    const char *more = strchr(asked, ',');
    return more ? arena_strdup(a, more + 1) : "";
  }
  char *features = LLVMGetHostCPUFeatures();
  const char *r = arena_strdup(a, features);
  LLVMDisposeMessage(features);
  return r;
}

const char *processor_triple(const struct target *t, struct arena *a) {
  if (t && t->processor)
    return t->processor->triple;
  char *triple = LLVMGetDefaultTargetTriple();
  const char *r = arena_strdup(a, triple);
  LLVMDisposeMessage(triple);
  return r;
}

static bool has(const char *features, const char *feature) {
  size_t n = strlen(feature);
  for (const char *at = features; (at = strstr(at, feature)); at += n)
    if (at > features && at[-1] == '+' && (at[n] == ',' || at[n] == 0))
      return true;
  return false;
}

struct vector_registers processor_registers(const struct target *t, struct arena *a) {
  const char *features = processor_features(t, a);
  if (!str_starts(str_from(processor_triple(t, a)), "x86_64"))
    return (struct vector_registers){32, 16, 1};
  if (has(features, "avx512f") && has(features, "avx512vl") && has(features, "avx512bw"))
    return (struct vector_registers){32, 64, has(features, "avx512vnni") ? 4 : 2};
  return (struct vector_registers){16, 32, has(features, "avxvnni") ? 4 : 2};
}

// Without the instructions that round to bf16 and take subnormal numbers as 0
// (lowering/llvm/cpu_bf16.c).
const char *processor_code_features(const struct target *t, struct arena *a) {
  static const char *const unwanted[] = {"avx512bf16", "avxneconvert"};
  const char *features = processor_features(t, a), *r = features;
  for (size_t i = 0; i < COUNT_OF(unwanted); i++)
    if (strstr(features,
               arena_printf(a, "+%s", unwanted[i]))) // on other CPUs LLVM does not know the name
      r = arena_printf(a, "%s,-%s", r, unwanted[i]);
  return r;
}
