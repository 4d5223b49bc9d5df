// SPDX-License-Identifier: Apache-2.0
// Products of matrix instructions: the words of 32 lanes are unpacked to matrices, multiplied once
// for the whole warp, and packed again. mma.h defines the arithmetic.
#include "base/mma.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { WARP = 32, MAX_M = 16, MAX_K = 32, TF32_DROPPED_BITS = 13 };

// ---- elements ----

static float float_of(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

// The exponent and mantissa bits, read as a float, are 2^-112 times the value.
static float half(uint32_t h) {
  uint32_t sign = (h & 0x8000) << 16, magnitude = h & 0x7fff;
  if (magnitude >= 0x7c00)
    return float_of(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  float value = float_of(magnitude << 13) * 0x1p112f;
  return sign ? -value : value;
}

static float e4m3(uint32_t x) {
  uint32_t magnitude = x & 0x7f;
  float value = magnitude == 0x7f ? NAN : float_of(magnitude << 20) * 0x1p120f;
  return x & 0x80 ? -value : value;
}

// Element i of a word.
static double element(enum dtype t, uint32_t word, unsigned i) {
  switch (t) {
  case DTYPE_F16: return (double)half(word >> 16 * i & 0xffff);
  case DTYPE_BF16: return (double)float_of(word >> 16 * i << 16);
  case DTYPE_F8E4NV: return (double)e4m3(word >> 8 * i & 0xff);
  case DTYPE_F8E5: return (double)half((word >> 8 * i & 0xff) << 8);
  case DTYPE_I8: return (double)(int8_t)(word >> 8 * i & 0xff);
  case DTYPE_U8: return (double)(word >> 8 * i & 0xff);
  default:
    assert(t == DTYPE_F32);
    return (double)float_of(word >> TF32_DROPPED_BITS << TF32_DROPPED_BITS);
  }
}

// ---- fragments ----

// A by rows and B by k, so that the innermost loops run along the columns.
struct operands {
  double a[MAX_M][MAX_K], b[MAX_K][MMA_N];
};

// The position of the first element of word w of a lane: its row of A, or column of B, and its
// index along K.
struct position {
  unsigned outer, k;
};

static struct position position_of(unsigned lane, unsigned word, unsigned halves,
                                   unsigned per_word) {
  return (struct position){lane / 4 + 8 * (word % halves),
                           (word / halves * 4 + lane % 4) * per_word};
}

static void read_word(enum dtype t, const void *words, unsigned w, unsigned per_word, double *ret) {
  if (t == DTYPE_F64) {
    memcpy(ret, (const double *)words + w, sizeof *ret);
    return;
  }
  uint32_t word;
  memcpy(&word, (const uint32_t *)words + w, sizeof word);
  for (unsigned i = 0; i < per_word; i++)
    ret[i] = element(t, word, i);
}

static void read_operands(const struct mma_instruction *in, const struct mma_lane *lanes,
                          struct operands *ret) {
  unsigned halves = in->m / 8, per_word = in->a == DTYPE_F64 ? 1 : 32 / dtype_bits(in->a);
  double x[4];
  for (unsigned lane = 0; lane < WARP; lane++) {
    for (unsigned w = 0; w < in->a_words; w++) {
      read_word(in->a, lanes[lane].a, w, per_word, x);
      struct position at = position_of(lane, w, halves, per_word);
      memcpy(&ret->a[at.outer][at.k], x, per_word * sizeof *x);
    }
    for (unsigned w = 0; w < in->b_words; w++) {
      read_word(in->b, lanes[lane].b, w, per_word, x);
      struct position at = position_of(lane, w, 1, per_word);
      for (unsigned i = 0; i < per_word; i++)
        ret->b[at.k + i][at.outer] = x[i];
    }
  }
}

// ---- products ----

// The sums of a row of A times B; for f64 they start from C.
static void multiply_row(const struct mma_instruction *in, const struct operands *x, unsigned row,
                         double sums[MMA_N]) {
  if (in->a == DTYPE_F64) {
    for (unsigned k = 0; k < in->k; k++)
      for (unsigned n = 0; n < MMA_N; n++)
        sums[n] = fma(x->a[row][k], x->b[k][n], sums[n]);
    return;
  }
  for (unsigned k = 0; k < in->k; k++)
    for (unsigned n = 0; n < MMA_N; n++)
      sums[n] += x->a[row][k] * x->b[k][n];
}

// Element `n` (0, 1) of half `h` of a lane's words of C, and its position in D.
static double read_c(enum dtype t, const void *c, unsigned h, unsigned n) {
  switch (t) {
  case DTYPE_F16: {
    uint16_t x;
    memcpy(&x, (const uint16_t *)c + 2 * h + n, sizeof x);
    return (double)half(x);
  }
  case DTYPE_F32: return (double)((const float *)c)[2 * h + n];
  case DTYPE_F64: return ((const double *)c)[2 * h + n];
  default: return 0;
  }
}

static uint32_t integer_sum(uint32_t c, double sum, bool saturate) {
  if (!saturate)
    return c + (uint32_t)(int32_t)sum;
  int64_t exact = (int64_t)(int32_t)c + (int64_t)sum;
  return (uint32_t)(exact > INT32_MAX ? INT32_MAX : exact < INT32_MIN ? INT32_MIN : exact);
}

static void write_d(enum dtype t, const struct mma_lane *lane, unsigned at, double sum,
                    bool saturate) {
  const uint64_t nan64 = 0xfff8000000000000;
  const uint32_t nan32 = 0x7fffffff;
  const uint16_t nan16 = 0x7fff;
  if (t == DTYPE_I32) { // sums of products of 8 bits are exact in double
    ((uint32_t *)lane->d)[at] = integer_sum(((const uint32_t *)lane->c)[at], sum, saturate);
    return;
  }
  double x = t == DTYPE_F64 ? sum : read_c(t, lane->c, at / 2, at % 2) + sum;
  const void *nan = t == DTYPE_F64   ? (const void *)&nan64
                    : t == DTYPE_F32 ? (const void *)&nan32
                                     : (const void *)&nan16;
  char *to = (char *)lane->d + (size_t)at * dtype_bytes(t);
  if (isnan(x))
    memcpy(to, nan, dtype_bytes(t));
  else if (t == DTYPE_F32)
    ((float *)lane->d)[at] = (float)x;
  else
    dtype_store(t, to, x);
}

void mma_product(const struct mma_instruction *in, bool saturate,
                 const struct mma_lane lanes[WARP]) {
  assert(in->m <= MAX_M && in->m % 8 == 0 && in->k <= MAX_K);
  struct operands x;
  double sums[MAX_M][MMA_N] = {0};
  read_operands(in, lanes, &x);
  for (unsigned lane = 0; in->a == DTYPE_F64 && lane < WARP; lane++)
    for (unsigned i = 0; i < in->c_words; i++)
      sums[lane / 4 + 8 * (i / 2)][2 * (lane % 4) + i % 2] =
          read_c(in->c, lanes[lane].c, i / 2, i % 2);
  for (unsigned row = 0; row < in->m; row++)
    multiply_row(in, &x, row, sums[row]);
  for (unsigned lane = 0; lane < WARP; lane++)
    for (unsigned i = 0; i < in->m / 4; i++)
      write_d(in->c, &lanes[lane], i, sums[lane / 4 + 8 * (i / 2)][2 * (lane % 4) + i % 2],
              saturate);
}
