// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4): cache keys and the integrity of cached binaries.
#ifndef TILE_BASE_SHA256_H
#define TILE_BASE_SHA256_H

#include "base/attrs.h"

struct sha256 {
  uint32_t state[8];
  uint64_t bytes;
  uint8_t block[64];
};

void sha256_init(struct sha256 *h);
void sha256_update(struct sha256 *h, const void *data, size_t n);
// Hashes the length first, so that a sequence of fields is unambiguous.
void sha256_field(struct sha256 *h, const void *data, size_t n);
void sha256_final(struct sha256 *h, uint8_t digest[32]);
void sha256_hex(const uint8_t digest[32], char hex[65]);

#endif
