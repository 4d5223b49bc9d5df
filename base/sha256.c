// SPDX-License-Identifier: Apache-2.0
// SHA-256 as FIPS 180-4 section 6.2 describes it.
#include "base/sha256.h"

#include "base/sha256_blocks.h"

#include <string.h>

// First 32 bits of the fractional parts of the cube roots of the first 64 primes.
const uint32_t sha256_round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, unsigned n) { return (x >> n) | (x << (32 - n)); }

static void compress(uint32_t state[8], const uint8_t block[64]) {
  uint32_t w[64];
  for (int t = 0; t < 16; t++)
    w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
           (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
  for (int t = 16; t < 64; t++) {
    uint32_t s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ (w[t - 15] >> 3);
    uint32_t s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ (w[t - 2] >> 10);
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
  uint32_t v[8]; // a to h
  memcpy(v, state, sizeof v);
  for (int t = 0; t < 64; t++) {
    uint32_t sum1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
    uint32_t choose = (v[4] & v[5]) ^ (~v[4] & v[6]);
    uint32_t t1 = v[7] + sum1 + choose + sha256_round_constants[t] + w[t];
    uint32_t sum0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
    uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
    memmove(v + 1, v, 7 * sizeof *v);
    v[4] += t1;
    v[0] = t1 + sum0 + majority;
  }
  for (int i = 0; i < 8; i++)
    state[i] += v[i];
}

void sha256_blocks_c(uint32_t state[8], const uint8_t *blocks, size_t count) {
  for (; count; count--, blocks += 64)
    compress(state, blocks);
}

static void compress_all(uint32_t state[8], const uint8_t *blocks, size_t count) {
  if (!sha256_blocks_x86(state, blocks, count))
    sha256_blocks_c(state, blocks, count);
}

void sha256_init(struct sha256 *h) {
  *h = (struct sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_update(struct sha256 *h, const void *data, size_t n) {
  const uint8_t *p = data;
  size_t have = h->bytes % 64;
  h->bytes += n;
  if (have) {
    size_t take = n < 64 - have ? n : 64 - have;
    if (take)
      memcpy(h->block + have, p, take);
    if (have + take < 64)
      return;
    compress_all(h->state, h->block, 1);
    p += take;
    n -= take;
  }
  if (n >= 64) {
    compress_all(h->state, p, n / 64);
    p += n / 64 * 64;
    n %= 64;
  }
  if (n)
    memcpy(h->block, p, n);
}

void sha256_field(struct sha256 *h, const void *data, size_t n) {
  uint8_t length[8];
  for (int i = 0; i < 8; i++)
    length[i] = (uint8_t)((uint64_t)n >> (8 * i));
  sha256_update(h, length, sizeof length);
  sha256_update(h, data, n);
}

void sha256_final(struct sha256 *h, uint8_t digest[32]) {
  uint64_t bits = h->bytes * 8;
  uint8_t end[72] = {0x80};
  size_t have = h->bytes % 64;
  size_t zeros_end = have < 56 ? 56 - have : 120 - have;
  for (size_t i = 0; i < 8; i++)
    end[zeros_end + i] = (uint8_t)(bits >> (56 - 8 * i));
  sha256_update(h, end, zeros_end + 8);
  for (int i = 0; i < 32; i++)
    digest[i] = (uint8_t)(h->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_hex(const uint8_t digest[32], char hex[65]) {
  static const char digits[] = "0123456789abcdef";
  for (int i = 0; i < 32; i++) {
    hex[2 * i] = digits[digest[i] >> 4];
    hex[2 * i + 1] = digits[digest[i] & 15];
  }
  hex[64] = 0;
}
