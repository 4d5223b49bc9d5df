// SPDX-License-Identifier: Apache-2.0
// Kernels as text, written by tests of the emission: tiles in layouts that are random on purpose,
// filled from memory and stored to it, element by element in row-major order.
#ifndef TEST_LOWERING_IR_TEXT_H
#define TEST_LOWERING_IR_TEXT_H

#include "layouts/encoding.h"

#include <stdint.h>

struct ir_text {
  struct arena *arena;
  struct strbuf body;
  unsigned next; // number of the next name
  const char *aliases;
};

struct ir_text ir_text_begin(struct arena *a);
// The module: a kernel with these parameters and the body written so far, then `functions`.
const char *ir_text_end(struct ir_text *t, const char *params, const char *functions);
// One line of the body.
void ir_line(struct ir_text *t, const char *fmt, ...) PRINTF(2, 3);

// "tensor<4x8xf32, #L0>"
const char *ir_tensor(struct ir_text *t, unsigned rank, const unsigned *bits, const char *element,
                      const char *layout);
// Names of values: the row-major numbers of the elements, as i32; a tile read from %ptr; and the
// same written.
const char *ir_numbers(struct ir_text *t, unsigned rank, const unsigned *bits, const char *layout);
const char *ir_load(struct ir_text *t, const char *ptr, unsigned rank, const unsigned *bits,
                    const char *element, const char *layout);
void ir_store(struct ir_text *t, const char *ptr, const char *value, unsigned rank,
              const unsigned *bits, const char *element, const char *layout);

// A random number below n, from *seed.
uint32_t ir_pick(uint32_t *seed, uint32_t n);
// An alias ("#L0") for a random surjective layout of a tile of 2^bits[0] x ... elements: its bits
// spread over registers, lanes and warps; locations left over are zero or repeat what is there.
const char *ir_random_layout(struct ir_text *t, uint32_t *seed, unsigned rank, const unsigned *bits,
                             unsigned warp_bits);
// An alias for a layout given as text.
const char *ir_layout(struct ir_text *t, const char *text);

#endif
