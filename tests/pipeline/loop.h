// SPDX-License-Identifier: Apache-2.0
// The description of a loop with loads.
#ifndef TESTS_PIPELINE_LOOP_H
#define TESTS_PIPELINE_LOOP_H

#include "../language/suite.h"

enum address { CARRIED, COUNTED, INDEXED, ROWS_INDEXED, INDEXED_TWICE, LINKED, ADDRESS_COUNT };
enum mask { NO_MASK, COLUMNS, ROWS, TURNS, MASK_COUNT };
enum other { NO_OTHER, ZERO, THREE, OTHER_COUNT };
enum work { DOT, SCALED_DOT, TWO_DOTS, SUM, DOT_IF, DOT_OF_LAST, TWO_SUMS, WORK_COUNT };
enum effect { NO_EFFECT, STORES, COUNTS, EFFECT_COUNT };
enum bounds { PLAIN, SHIFTED, DIVIDED, WIDE, BOUNDS_COUNT };

struct load {
  enum address address;
  enum mask mask;
  enum other other;
};

struct loop {
  enum dtype type;
  unsigned rows, inner, columns; // of the products: rows x inner by inner x columns
  struct load a, b, v;
  enum work work;
  enum effect effect;
  enum bounds bounds;
  bool asks; // tl.range(num_stages=)
  bool is_nested, uses_end;
  unsigned trips, warps;
};

enum { TILES = 12 }; // of each operand in memory; a loop has at most 7 iterations

struct loop random_loop(struct suite *s);
// The source of kernel `k(a, b, v, w, index, out, side, n)` with `stages` stages.
void write_loop(struct suite *s, const struct loop *l, unsigned stages);

#endif
