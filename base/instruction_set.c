// SPDX-License-Identifier: Apache-2.0
// Which instruction sets this processor has, by CPUID and by the registers that the system saves.
#include "base/instruction_set.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

enum { YMM_STATE = 0x6, ZMM_STATE = 0xe6 }; // bits of XCR0: SSE and AVX; opmask and ZMM

// The registers that the operating system saves (Intel SDM volume 1, 13.3).
static uint32_t saved_state(void) {
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

static bool has_all(uint32_t word, uint32_t bits) { return (word & bits) == bits; }

static bool has_v3(void) {
  unsigned a, b, c, d;
  const unsigned leaf1 =
      bit_FMA | bit_SSE4_2 | bit_MOVBE | bit_POPCNT | bit_OSXSAVE | bit_AVX | bit_F16C;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !has_all(c, leaf1) || !has_all(saved_state(), YMM_STATE))
    return false;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !has_all(b, bit_AVX2 | bit_BMI | bit_BMI2))
    return false;
  return __get_cpuid(0x80000001, &a, &b, &c, &d) && has_all(c, bit_LZCNT);
}

static bool has_v4(void) {
  unsigned a, b, c, d;
  const unsigned leaf7 = bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL;
  return has_v3() && __get_cpuid_count(7, 0, &a, &b, &c, &d) && has_all(b, leaf7) &&
         has_all(saved_state(), ZMM_STATE);
}

bool instruction_set_exists(uint32_t number) {
  return number == ISA_X86_64_V3 ? has_v3() : number == ISA_X86_64_V4 ? has_v4() : false;
}
#elif defined(__aarch64__)
bool instruction_set_exists(uint32_t number) { return number == ISA_AARCH64; }
#else
bool instruction_set_exists(uint32_t number) {
  (void)number;
  return false;
}
#endif

bool instruction_set_runs(uint32_t number) {
  const char *most = getenv("TILE_CPU_NAME");
  if (most && strcmp(most, "x86-64-v3") == 0 && number == ISA_X86_64_V4)
    return false;
  return instruction_set_exists(number);
}
