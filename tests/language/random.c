// SPDX-License-Identifier: Apache-2.0
// Random numbers: Philox with ten rounds, of 32 and 64 bits, and functions that use it.
#include "suite.h"

#include <math.h>
#include <stdio.h>

__extension__ typedef unsigned __int128 wide;

// ---- the generator as its authors published it ----

static void philox32(uint32_t c[4], uint32_t k0, uint32_t k1, unsigned rounds) {
  for (; rounds > 0; rounds--) {
    uint64_t p0 = (uint64_t)0xD2511F53u * c[0], p1 = (uint64_t)0xCD9E8D57u * c[2];
    uint32_t next[4] = {(uint32_t)(p1 >> 32) ^ c[1] ^ k0, (uint32_t)p1,
                        (uint32_t)(p0 >> 32) ^ c[3] ^ k1, (uint32_t)p0};
    for (int i = 0; i < 4; i++)
      c[i] = next[i];
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
}

static void philox64(uint64_t c[4], uint64_t k0, uint64_t k1, unsigned rounds) {
  for (; rounds > 0; rounds--) {
    wide p0 = (wide)0xD2E7470EE14C6C93u * c[0], p1 = (wide)0xCA5A826395121157u * c[2];
    uint64_t next[4] = {(uint64_t)(p1 >> 64) ^ c[1] ^ k0, (uint64_t)p1,
                        (uint64_t)(p0 >> 64) ^ c[3] ^ k1, (uint64_t)p0};
    for (int i = 0; i < 4; i++)
      c[i] = next[i];
    k0 += 0x9E3779B97F4A7C15u;
    k1 += 0xBB67AE8584CAA73Bu;
  }
}

// The numbers of randint4x; a 64-bit offset's high word counts.
static void numbers(uint64_t seed, uint64_t offset, unsigned rounds, uint32_t ret[4]) {
  ret[0] = (uint32_t)offset;
  ret[1] = (uint32_t)(offset >> 32);
  ret[2] = ret[3] = 0;
  philox32(ret, (uint32_t)seed, (uint32_t)(seed >> 32), rounds);
}

static double uniform(uint32_t x) {
  int32_t i = (int32_t)x;
  return (double)(i < 0 ? -(int64_t)i - 1 : i) * 4.6566127342e-10;
}

static double normal(uint32_t x, uint32_t y, bool second) {
  double u1 = fmax(uniform(x), 1e-7), angle = 6.283185307179586 * uniform(y);
  return sqrt(-2 * log(u1)) * (second ? sin(angle) : cos(angle));
}

// ---- cases ----

enum what { BITS, UNIFORM, NORMAL };

struct row {
  const char *statement; // gives r; of seed and i
  enum what what;
  unsigned index, rounds; // which of the four
};

static const struct row rows[] = {
    {"r = tl.randint(seed, i)", BITS, 0, 10},
    {"r = tl.randint(seed, i, 7)", BITS, 0, 7},
    {"r = tl.randint(seed, i, n_rounds=6)", BITS, 0, 6},
    {"r, b, c, d = tl.randint4x(seed, i)", BITS, 0, 10},
    {"a, r, c, d = tl.randint4x(seed, i)", BITS, 1, 10},
    {"a, b, r, d = tl.randint4x(seed, i)", BITS, 2, 10},
    {"a, b, c, r = tl.randint4x(seed, i)", BITS, 3, 10},
    {"r = tl.rand(seed, i)", UNIFORM, 0, 10},
    {"a, r, c, d = tl.rand4x(seed, i)", UNIFORM, 1, 10},
    {"a, b, c, r = tl.rand4x(seed, i)", UNIFORM, 3, 10},
    {"r = tl.randn(seed, i)", NORMAL, 0, 10},
    {"a, r, c, d = tl.randn4x(seed, i)", NORMAL, 1, 10},
    {"a, b, r, d = tl.randn4x(seed, i)", NORMAL, 2, 10},
    {"a, b, c, r = tl.randn4x(seed, i)", NORMAL, 3, 10},
};

static struct num expected(const struct row *r, const uint32_t v[4]) {
  if (r->what == BITS)
    return num_int(DTYPE_U32, v[r->index]);
  if (r->what == UNIFORM)
    return num_float(DTYPE_F32, uniform(v[r->index]));
  unsigned first = r->index & 2u;
  return num_float(DTYPE_F32, normal(v[first], v[first + 1], r->index & 1));
}

static void run(struct suite *s, const struct row *r, int64_t seed, bool is_long, unsigned warps) {
  enum { N = 512 };
  if (!case_begin(s, "%s seed=%lld%s warps=%u", r->statement, (long long)seed,
                  is_long ? " offset of i64" : "", warps))
    return;
  uint64_t base = is_long ? UINT64_C(0x500000000) : 0;
  case_source(s,
              "@jit\ndef k(out, seed, n):\n    at = program_id(0) * 256 + arange(0, 256)\n"
              "    i = at%s\n    %s\n    store(out + at, r, mask=at < n)\n",
              is_long ? ".to(tl.int64) + 0x500000000" : "", r->statement);
  case_warps(s, warps);
  struct array *out = case_output(s, r->what == BITS ? DTYPE_U32 : DTYPE_F32, N);
  case_arg(s, tile_arg_int(seed == (int32_t)seed ? TILE_I32 : TILE_I64, seed));
  case_int(s, N);
  if (case_run(s, N / 256))
    for (unsigned i = 0; i < N; i++) {
      uint32_t v[4];
      numbers((uint64_t)seed, base + i, r->rounds, v);
      case_expect(s, out, i, expected(r, v), 2, r->what == NORMAL ? 4e-6 : 0);
    }
  case_end(s);
}

// All words of the counter and the key, in both widths.
static void whole(struct suite *s, bool is_wide, unsigned word) {
  enum { N = 64 };
  if (!case_begin(s, "philox of %d bits, word %u", is_wide ? 64 : 32, word))
    return;
  enum dtype t = is_wide ? DTYPE_U64 : DTYPE_U32;
  case_source(s,
              "@jit\ndef k(x, out):\n    i = arange(0, %d)\n"
              "    t = tl.philox(0x123456789abcdef, load(x + i), load(x + i + 1), load(x + i + 2), "
              "load(x + i + 3))\n    store(out + i, t[%u])\n",
              N, word);
  struct array *x = case_input(s, t, N + 3), *out = case_output(s, t, N);
  array_draw(s, x, DRAW_ANY);
  bool ran = case_run(s, 1);
  for (unsigned i = 0; ran && i < N; i++) {
    uint64_t c[4];
    uint32_t low[4];
    for (unsigned k = 0; k < 4; k++)
      low[k] = (uint32_t)(c[k] = (uint64_t)array_get(x, i + k).i);
    philox64(c, 0x123456789abcdef, 0, 10);
    philox32(low, 0x89abcdef, 0x1234567, 10);
    case_expect(s, out, i, num_int(t, (int64_t)(is_wide ? c[word] : low[word])), 0, 0);
  }
  case_end(s);
}

void family_random(struct suite *s) {
  static const int64_t seeds[] = {0, 1, 42, -7, INT64_C(0x123456789abcdef)};
  for (size_t k = 0; k < COUNT_OF(rows); k++)
    for (size_t i = 0; i < COUNT_OF(seeds); i++)
      for (int is_long = 0; is_long < 2; is_long++)
        run(s, &rows[k], seeds[i], is_long, 1u << (k + i) % 4);
  for (unsigned word = 0; word < 4; word++) {
    whole(s, false, word);
    whole(s, true, word);
  }
}
