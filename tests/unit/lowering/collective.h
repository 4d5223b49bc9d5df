// SPDX-License-Identifier: Apache-2.0
// Kernels with one reduction or scan, in random layouts, for tests of their emission. The functions
// among which they choose cover all element types; some take several values, some do not commute.
#ifndef TEST_LOWERING_COLLECTIVE_H
#define TEST_LOWERING_COLLECTIVE_H

#include "cpu_run.h"
#include "layouts/encoding.h"

enum { MAX_TILE = 4096, MAX_VALUES = 3 };

enum collective { REDUCE, SCAN, SCAN_REVERSE };

struct function {
  const char *type;
  enum dtype dtype;
  unsigned count;
  const char *body; // of %a0, %a1, ... and %b0, ..., up to the return
  const char *returns;
  void (*combine)(int64_t *a, const int64_t *b); // a = a, then b
};

extern const struct function collective_functions[];
extern const unsigned collective_function_count;

struct tile {
  unsigned rank, bits[4], count;
  char shape[64]; // "4x8x"
};

void open_collective_run(void);
void close_collective_run(void);
uint32_t pick(uint32_t n); // a fixed sequence of numbers below n

struct tile tile_of(unsigned rank, const unsigned *bits);
struct tile random_tile(unsigned most); // of 2 to 2^most elements
struct tile reduced_tile(const struct tile *t, unsigned axis);
struct encoding random_distribution(unsigned rank, const unsigned *bits, unsigned warp_bits,
                                    bool tidy);
// Loads p0, p1, ..., reduces or scans them along the axis, stores to q0, q1, ...
const char *collective_kernel(const struct function *f, const struct tile *t, unsigned axis,
                              const struct encoding *layout, enum collective kind);

// What the kernel reads: random values, small ones for sums of floats.
extern int64_t collective_input[MAX_VALUES][MAX_TILE];
void collective_fill(const struct function *f, unsigned count);
void collective_launch(const struct function *f, const char *ir, unsigned warps, bool check);
int64_t collective_result(const struct function *f, unsigned i, unsigned at);

#endif
