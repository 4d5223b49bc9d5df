// SPDX-License-Identifier: Apache-2.0
// Names of violation kinds and state spaces.
#include "ptx-simulator/simulator.h"

const char *sim_kind_name(enum sim_kind kind) {
  switch (kind) {
  case SIM_OUT_OF_BOUNDS: return "out of bounds";
  case SIM_MISALIGNED: return "misaligned access";
  case SIM_READ_ONLY: return "write to read-only memory";
  case SIM_BAD_MASK: return "bad lane mask";
  case SIM_BAD_LANE: return "value of an inactive lane";
  case SIM_DIVERGENCE: return "divergent warp";
  case SIM_DEADLOCK: return "deadlock";
  case SIM_BAD_BARRIER: return "bad barrier";
  case SIM_BAD_MBARRIER: return "bad mbarrier";
  case SIM_BAD_CLUSTER: return "bad cluster";
  case SIM_BAD_STATE: return "illegal operand";
  case SIM_TRAP: return "trap";
  case SIM_TOO_LONG: return "instruction limit";
  case SIM_UNINITIALISED: return "uninitialised value";
  case SIM_RACE: return "race";
  case SIM_ASYNC_ORDER: return "unordered asynchronous access";
  case SIM_EARLY_READ: return "access before arrival";
  case SIM_GLOBAL_RACE: return "race in global memory";
  }
  return "unknown";
}

const char *sim_space_name(enum sim_space space) {
  switch (space) {
  case SIM_NO_SPACE: return "none";
  case SIM_GENERIC: return "generic";
  case SIM_GLOBAL: return "global";
  case SIM_SHARED: return "shared";
  case SIM_SHARED_CLUSTER: return "shared::cluster";
  case SIM_LOCAL: return "local";
  case SIM_PARAM: return "param";
  case SIM_CONST: return "const";
  }
  return "unknown";
}
