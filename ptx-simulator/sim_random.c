// SPDX-License-Identifier: Apache-2.0
// Random numbers for schedules: splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
#include "ptx-simulator/sim_machine.h"

uint64_t run_random(struct run *r) {
  uint64_t x = r->random += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}
