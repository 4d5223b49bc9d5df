// SPDX-License-Identifier: Apache-2.0
// Races between programs of a checked launch on the CPU: two programs access the same bytes of a
// buffer, at least one of them by a plain store or an atomic operation beside a plain access, and
// no atomic operations order them. Stores of equal values are no race, and a store that leaves
// memory as it was races with no load. What threads of one program do is not looked at.
//
// Atomic operations of any memory order count as ordering: accesses are ordered if the first
// program performed one behind its access, and the second program one, later than the first access,
// before its own. So races may be missed, but none is reported that is none.
//
// Costs: 56 bytes for every 4 bytes that a launch accesses (for every byte or two where accesses
// are that narrow), up to CPU_RACES_BYTES in all; then the rest of the launch is not looked at,
// which cpu_races_are_partial tells. An access takes a lock of its page, one of 64.
#ifndef TILE_RUNTIME_CPU_RACES_H
#define TILE_RUNTIME_CPU_RACES_H

#include "runtime/cpu_device.h"

#define CPU_RACES_BYTES ((size_t)512 << 20)

struct cpu_races;

// Of a launch of that many programs, after its buffers are known; NULL when memory is out.
struct cpu_races *cpu_races_begin(const struct cpu_launch *l, uint64_t programs);
void cpu_races_end(struct cpu_races *r); // accepts NULL
// Whether accesses were not looked at, because the memory was used up.
bool cpu_races_are_partial(const struct cpu_races *r);

struct cpu_race_access {
  const struct cpu_location *location;
  int32_t param; // -1: unknown
  const void *addr;
  uint32_t bytes;
  enum cpu_access access;
  bool is_volatile;  // a load: it counts as an atomic operation
  const void *value; // of a store: what it writes; NULL: unknown
};
// Before an access that lies within a buffer. A race is recorded (cpu_check_record). Thread-safe.
void cpu_races_access(struct cpu_thread *t, const struct cpu_race_access *x);

#endif
