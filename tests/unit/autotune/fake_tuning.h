// SPDX-License-Identifier: Apache-2.0
// A fake builder, worker and clock for the event loop: nothing is compiled or launched, time passes
// only while the loop waits, and every configuration behaves as the test specifies.
#ifndef TESTS_UNIT_AUTOTUNE_FAKE_TUNING_H
#define TESTS_UNIT_AUTOTUNE_FAKE_TUNING_H

#include "autotune/tune_internal.h"

enum fake_conduct {
  FAKE_FINE,
  FAKE_NO_BUILD,    // the compiler rejects it
  FAKE_TOO_MUCH,    // needs more shared memory than the device has
  FAKE_NO_LOAD,     // the driver rejects it
  FAKE_CRASH,       // its first launch fails
  FAKE_HANG,        // its first launch never ends
  FAKE_WRONG,       // other results than the reference
  FAKE_CRASH_LATER, // crashes when it is measured
  FAKE_CONDUCT_COUNT
};

#define FAKE_CONFIGS 64

struct fake_tuning {
  double now_ms;
  enum fake_conduct conduct[FAKE_CONFIGS];
  double ms[FAKE_CONFIGS];
  int code[FAKE_CONFIGS]; // configurations of the same number have the same code
  int local_bytes[FAKE_CONFIGS], asked_bytes[FAKE_CONFIGS]; // of its code; declared by its source
  double build_ms, analyse_ms, timeout_ms;
  // Times grow by up to this factor within each period of the clock.
  double drift, drift_period_ms;
  unsigned crash_at[FAKE_CONFIGS]; // the number of the measurement that fails, from 1; 0: none
  const char *device_fails;        // NULL: opening succeeds
  bool is_cpu;
  // Recorded:
  unsigned submitted[FAKE_CONFIGS], loaded[FAKE_CONFIGS], checked[FAKE_CONFIGS],
      measured[FAKE_CONFIGS];
  uint32_t reference; // of the last comparison
  bool has_reference, is_ready, was_measured_while_building;
  unsigned building, open_builders, open_workers, device_told;
  unsigned char first_byte; // of the data when they were ready
};
extern struct fake_tuning fake;
extern const struct tune_hooks fake_hooks;

// All valid, with equal times and different code; `count` configurations of BLOCK = 16, 32, ...
void fake_reset(struct arena *a, size_t count, struct tune_space *ret);

#endif
