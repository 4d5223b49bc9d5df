// SPDX-License-Identifier: Apache-2.0
// The block function of SHA-256, for sha256.c, by the processor's SHA instructions if it has them.
#ifndef TILE_BASE_SHA256_BLOCKS_H
#define TILE_BASE_SHA256_BLOCKS_H

#include "base/attrs.h"

extern const uint32_t sha256_round_constants[64];

void sha256_blocks_c(uint32_t state[8], const uint8_t *blocks, size_t count);
// Adds `count` blocks of 64 bytes to the state; false, with the state unchanged, if the processor
// has no such instructions.
bool sha256_blocks_x86(uint32_t state[8], const uint8_t *blocks, size_t count);

#endif
