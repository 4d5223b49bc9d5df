// SPDX-License-Identifier: Apache-2.0
// The rows of mma.def with their numbers of registers.
#include "base/mma.h"

#define WORD(t) (DTYPE_##t == DTYPE_F64 ? 64 : 32)
#define BITS_F16 16
#define BITS_BF16 16
#define BITS_F32 32
#define BITS_I32 32
#define BITS_I8 8
#define BITS_F64 64
#define BITS_F8E4NV 8
#define BITS_F8E5 8
#define WORDS(elements, t) ((elements) / 32 * BITS_##t / WORD(t))

static const struct mma_instruction rows[] = {
#define MMA(id, a, b, c, m, k, sm, ptx)                                                            \
  {MMA_##id, DTYPE_##a,       DTYPE_##b,           DTYPE_##c,           m,  k,                     \
   sm,       WORDS(m * k, a), WORDS(MMA_N * k, b), WORDS(m * MMA_N, c), ptx},
#include "base/mma.def"
#undef MMA
};

const struct mma_instruction *mma_instruction(enum mma_id id) { return &rows[id]; }

// Rows of the same types are sorted by k.
const struct mma_instruction *mma_find(enum dtype a, enum dtype b, enum dtype c, unsigned sm,
                                       uint64_t k) {
  const struct mma_instruction *found = NULL;
  for (unsigned i = 0; i < MMA_COUNT; i++) {
    const struct mma_instruction *r = &rows[i];
    if (r->a == a && r->b == b && r->c == c && (sm == 0 || sm >= r->sm) && (!found || r->k <= k))
      found = r;
  }
  return found;
}
