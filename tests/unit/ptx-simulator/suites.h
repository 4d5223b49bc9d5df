// SPDX-License-Identifier: Apache-2.0
// The suites of this executable: one test_<module>.c each.
#ifndef TESTS_UNIT_SIMULATOR_SUITES_H
#define TESTS_UNIT_SIMULATOR_SUITES_H

#include <check.h>

#define SUITES(X)                                                                                  \
  X(alu_convert)                                                                                   \
  X(alu_float)                                                                                     \
  X(alu_decode)                                                                                    \
  X(alu_integer)                                                                                   \
  X(matrix)                                                                                        \
  X(sim_memory)                                                                                    \
  X(sim_parse)                                                                                     \
  X(sim_warp)                                                                                      \
  X(sim_block)                                                                                     \
  X(sim_global)                                                                                    \
  X(sim_wgmma)                                                                                     \
  X(sim_mbarrier)                                                                                  \
  X(sim_bulk)                                                                                      \
  X(sim_tensor)                                                                                    \
  X(sim_registers)                                                                                 \
  X(sim_ring)                                                                                      \
  X(sim_cluster)

#define X(name) TCase *name##_tests(void);
SUITES(X)
#undef X

#endif
