// SPDX-License-Identifier: Apache-2.0
// The table. Rates of mma.sync are those that instruction reaches, which on Hopper is less than
// what wgmma does.
#include "lowering/analysis/machine.h"

enum { ALL_REGISTERS = 65536 };

static const struct machine machines[] = {
    // The host: a multiprocessor is a core; barriers and starts are those of one thread.
    {0,  64,  32, ALL_REGISTERS, 0.11, 0.025, 0.025, 0.005, 0.25, 1,
     64, 100, 10, 300,           100,  8,     3.0,   40,    2,    5},
    {80,  64, 32, ALL_REGISTERS, 2048, 4,    2.3,  0.5, 1, 4, 64,
     600, 30, 10, 700,           108,  1.41, 1935, 40,  3},
    {86, 48, 16, ALL_REGISTERS, 1024, 4, 2.3, 0.5, 1, 4, 64, 600, 30, 10, 700, 84, 1.7, 936, 6, 3},
    {89,  48, 24, ALL_REGISTERS, 1024, 4,   2.3,  0.5, 1, 4, 64,
     600, 30, 10, 700,           128,  2.5, 1008, 72,  3},
    {90,  64, 32, ALL_REGISTERS, 2560, 4,    2.3,  0.5, 1, 4, 64,
     700, 30, 10, 700,           132,  1.75, 4800, 50,  3},
    {100, 64, 32, ALL_REGISTERS, 2560, 4,   2.3,  0.5, 1, 4, 64,
     800, 30, 10, 700,           148,  1.9, 8000, 126, 3},
};

const struct machine *machine_of(const struct target *t) {
  for (unsigned i = 0; i < COUNT_OF(machines); i++)
    if (machines[i].sm == t->sm)
      return &machines[i];
  return &machines[COUNT_OF(machines) - 1];
}

double machine_tensor_flops(const struct machine *m, unsigned operand_bits, bool is_integer) {
  switch (operand_bits) {
  case 8: return m->half_flops * (is_integer || m->sm == 89 ? 2 : 1);
  case 16: return m->half_flops;
  case 32: return m->half_flops / 2;
  default: return m->sm == 80 || m->sm == 90 ? m->half_flops / 16 : 4;
  }
}
