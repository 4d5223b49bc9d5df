// SPDX-License-Identifier: Apache-2.0
// A model of how long a product takes with some blocks: how they fill a device, what bounds them.
#ifndef TILE_GRAPH_PLAN_PRODUCT_TIME_H
#define TILE_GRAPH_PLAN_PRODUCT_TIME_H

#include "graph/plan/product_plan.h"

struct product_block {
  uint16_t m, n, k; // k counts elements of 16 bits; half for 32 bits, twice for 8 bits
  uint8_t warps, stages;
  uint8_t side_by_side; // programs per multiprocessor
  double rate;          // TFLOP/s of a full device, in half precision
};

// Elements of k in a block of the product; one that divides k needs no masks.
unsigned product_block_k(const struct product_block *c, const struct product_shape *s);
int64_t product_block_count(const struct product_block *c, const struct product_shape *s);

// Whether k may be divided into so many parts, of whole blocks, that programs of their own sum.
bool product_may_split(const struct product_block *c, const struct product_shape *s, unsigned split,
                       const struct program_options *o);
// The choice for a processor (graph/plan/product_processor.c).
struct product_plan product_on_processor(const struct product_shape *s,
                                         const struct program_options *o);

// Microseconds, by a program for each block and part of k.
double product_time(const struct product_block *c, const struct product_shape *s, unsigned split,
                    unsigned multiprocessors);
// Microseconds of a persistent kernel that loads through descriptors; split > 1: of k of the blocks
// that are left over.
double product_persistent_time(const struct product_block *c, const struct product_shape *s,
                               unsigned split, unsigned multiprocessors);
// Programs of a cluster of that kernel: 2 where they can share blocks of b and that pays.
unsigned product_ctas(const struct product_block *c, const struct product_shape *s, unsigned split,
                      unsigned multiprocessors);

// Of a persistent kernel that splits blocks: programs per multiprocessor, whole and split blocks,
// and bytes of partial sums.
struct product_left_over {
  int64_t whole, rest; // blocks
};
unsigned product_beside(const struct product_block *c);
struct product_left_over product_left_over_of(const struct product_block *c,
                                              const struct product_shape *s, unsigned split,
                                              unsigned multiprocessors);
int64_t product_parts_bytes(const struct product_block *c, int64_t parts);

#endif
