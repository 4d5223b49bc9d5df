// SPDX-License-Identifier: Apache-2.0
// The table of matrix instructions (mma.def), shared by the layouts that feed them, the emission
// and the CPU executor, and their products, shared by the CPU executor and the simulator of PTX.
//
// Fragments, lane l of 32 (PTX ISA, 9.7.15 "Matrix Fragments for mma"): A has row l / 4 (and, with
// m = 16, row l / 4 + 8), B has column l / 4; along k a lane has words l % 4, l % 4 + 4, ... of
// 32 / bits elements each (f64: one). Words of A: rows fastest, then k. C has row l / 4 (then
// l / 4 + 8), columns 2 (l % 4) and the next.
#ifndef TILE_BASE_MMA_H
#define TILE_BASE_MMA_H

#include "base/dtype.h"

enum mma_id {
#define MMA(id, a, b, c, m, k, sm, ptx) MMA_##id,
#include "base/mma.def"
#undef MMA
  MMA_COUNT
};

enum { MMA_N = 8, MMA_MAX_WORDS = 8 };

struct mma_instruction {
  enum mma_id id;
  enum dtype a, b, c;
  unsigned m, k; // n is 8
  unsigned sm;
  unsigned a_words, b_words, c_words; // a lane's registers: of 32 bits, f64 of 64
  const char *ptx;                    // ".d.a.b.c"
};

const struct mma_instruction *mma_instruction(enum mma_id id);
// The instruction for these types on architecture `sm` (0: the CPU, which has all): the one with
// the largest k up to `k`, else with the smallest. NULL if there is none.
const struct mma_instruction *mma_find(enum dtype a, enum dtype b, enum dtype c, unsigned sm,
                                       uint64_t k);

// One lane's words of A, B, C, and storage for those of D, which may be that of C.
struct mma_lane {
  const void *a, *b, *c;
  void *d;
};

// D = A B + C for a warp. Of `in` it reads the types (a, b: U8, too), m, k and the words; k is at
// most 32. Thread-safe.
//
// Arithmetic. Products of floats are exact in double and are summed in double, in the order of k,
// from zero; the sum is added to the element of C in double, and the result is rounded to the type
// of D, to nearest even. f32 operands are tf32: only their upper 19 bits are used. f64 is a chain
// of fma starting with C, in the order of k. 8-bit integers are summed exactly and wrap around, or
// saturate. NaN is 0x7fffffff, 0x7fff or 0xfff8000000000000.
void mma_product(const struct mma_instruction *in, bool saturate, const struct mma_lane lanes[32]);

#endif
