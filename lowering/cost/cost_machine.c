// SPDX-License-Identifier: Apache-2.0
// The table. Rates of mma.sync are those that the instruction reaches, on Hopper less than wgmma.
#include "lowering/cost/cost_machine.h"

enum { ALL_REGISTERS = 65536 };

// What the rows of GPUs have in common.
#define GPU                                                                                        \
  .registers = ALL_REGISTERS, .issue = 4, .arithmetic = 2.3, .special = 0.5, .wavefronts = 1,      \
  .sectors = 4, .l2_bytes = 64, .barrier = 10, .program_start = 700, .launch_us = 3

static const struct machine machines[] = {
    // The CPU: a multiprocessor is a core; barriers and starts are those of one thread.
    {.sm = 0,
     .warps = 64,
     .programs = 32,
     .registers = ALL_REGISTERS,
     .half_precision_flops = 0.11,
     .issue = 0.025,
     .arithmetic = 0.025,
     .special = 0.005,
     .wavefronts = 0.25,
     .sectors = 1,
     .l2_bytes = 64,
     .memory_latency = 100,
     .barrier = 300,
     .program_start = 100,
     .multiprocessors = 8,
     .clock_ghz = 3.0,
     .memory_gbs = 40,
     .l2_megabytes = 2,
     .launch_us = 5},
    {.sm = 80,
     GPU,
     .warps = 64,
     .programs = 32,
     .half_precision_flops = 2048,
     .memory_latency = 600,
     .multiprocessors = 108,
     .clock_ghz = 1.41,
     .memory_gbs = 1935,
     .l2_megabytes = 40},
    {.sm = 86,
     GPU,
     .warps = 48,
     .programs = 16,
     .half_precision_flops = 1024,
     .memory_latency = 600,
     .multiprocessors = 84,
     .clock_ghz = 1.7,
     .memory_gbs = 936,
     .l2_megabytes = 6},
    {.sm = 89,
     GPU,
     .warps = 48,
     .programs = 24,
     .half_precision_flops = 1024,
     .memory_latency = 600,
     .multiprocessors = 128,
     .clock_ghz = 2.5,
     .memory_gbs = 1008,
     .l2_megabytes = 72},
    {.sm = 90,
     GPU,
     .warps = 64,
     .programs = 32,
     .half_precision_flops = 2560,
     .memory_latency = 700,
     .multiprocessors = 132,
     .clock_ghz = 1.75,
     .memory_gbs = 4800,
     .l2_megabytes = 50},
    {.sm = 100,
     GPU,
     .warps = 64,
     .programs = 32,
     .half_precision_flops = 2560,
     .memory_latency = 800,
     .multiprocessors = 148,
     .clock_ghz = 1.9,
     .memory_gbs = 8000,
     .l2_megabytes = 126},
};

const struct machine *machine_of(const struct target *t) {
  for (unsigned i = 0; i < COUNT_OF(machines); i++)
    if (machines[i].sm == t->sm)
      return &machines[i];
  return &machines[COUNT_OF(machines) - 1];
}

double machine_tensor_flops(const struct machine *m, unsigned operand_bits, bool is_integer) {
  switch (operand_bits) {
  case 8: return m->half_precision_flops * (is_integer || m->sm == 89 ? 2 : 1);
  case 16: return m->half_precision_flops;
  case 32: return m->half_precision_flops / 2;
  default: return m->sm == 80 || m->sm == 90 ? m->half_precision_flops / 16 : 4;
  }
}

// Of 16-bit operands, fitted to the products of decision 008, whose loops reach 0.86 of the peak of
// 4096 at the nominal clock (the chip lowers it): what their operands cost in shared memory comes
// on top.
double machine_wgmma_flops(const struct machine *m, unsigned operand_bits) {
  return (m->sm == 90 ? 3800 : m->half_precision_flops) * 16 / operand_bits;
}
