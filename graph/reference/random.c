// SPDX-License-Identifier: Apache-2.0
// Random operators: Philox 4x32-10 as lang/std/random.tile computes it.
#include "graph/reference/reference.h"

#include <math.h>

static uint32_t multiply_high(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b >> 32); }

static void philox(uint64_t key, uint64_t index, uint32_t *ret) {
  uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
  uint32_t c[4] = {(uint32_t)index, (uint32_t)(index >> 32), 0, 0};
  for (int round = 0; round < 10; round++) {
    uint32_t even = c[0], odd = c[2];
    c[0] = multiply_high(odd, 0xcd9e8d57) ^ c[1] ^ k0;
    c[1] = odd * 0xcd9e8d57;
    c[2] = multiply_high(even, 0xd2511f53) ^ c[3] ^ k1;
    c[3] = even * 0xd2511f53;
    k0 += 0x9e3779b9;
    k1 += 0xbb67ae85;
  }
  for (int i = 0; i < 4; i++)
    ret[i] = c[i];
}

static float uniform(uint32_t x) {
  int32_t i = (int32_t)x;
  return (float)(i < 0 ? -i - 1 : i) * 4.6566127342e-10F;
}

float random_uniform(uint64_t seed, uint32_t which, uint64_t index) {
  uint32_t words[4];
  philox(seed + (uint64_t)which * RANDOM_STRIDE, index, words);
  return uniform(words[0]);
}

double random_normal(uint64_t seed, uint32_t which, uint64_t index) {
  double u = (double)random_uniform(seed, which, index);
  double angle = 6.283185307179586 * (double)random_uniform(seed, which + RANDOM_SECOND, index);
  return sqrt(-2.0 * log(u > 1e-7 ? u : 1e-7)) * cos(angle);
}

bool reference_rand(struct reference_call *c) {
  const uint32_t which = c->node->op == OP_TILE_RAND ? (uint32_t)call_int(c, 1) : c->stream;
  struct tensor *out = c->out[0];
  for (int64_t i = 0; i < out->numel; i++)
    out->at[i] = from_real((double)random_uniform(c->options->seed, which, (uint64_t)i));
  return true;
}

bool reference_randn(struct reference_call *c) {
  struct tensor *out = c->out[0];
  for (int64_t i = 0; i < out->numel; i++)
    out->at[i] = from_real(random_normal(c->options->seed, c->stream, (uint64_t)i));
  return true;
}

bool reference_bernoulli(struct reference_call *c) {
  const double p = (double)(float)call_real(c, 1); // rounded like the number it is compared with
  struct tensor *out = c->out[0];
  for (int64_t i = 0; i < out->numel; i++) {
    bool drawn = (double)random_uniform(c->options->seed, c->stream, (uint64_t)i) < p;
    out->at[i] = element_convert(from_int(drawn), DTYPE_I64, out->dtype);
  }
  return true;
}

bool reference_native_dropout(struct reference_call *c) {
  const struct tensor *in = call_tensor(c, 0);
  const double p = call_real(c, 1), scale = p < 1 ? 1 / (1 - p) : 0;
  const double bound = (double)(float)p; // rounded like the number it is compared with
  const bool trains = node_is_none(c->node, 2) || node_truth(c->node, 2);
  for (int64_t i = 0; i < in->numel; i++) {
    bool kept = !trains || (double)random_uniform(c->options->seed, c->stream, (uint64_t)i) > bound;
    if (c->out[0])
      c->out[0]->at[i] = trains ? from_real(in->at[i].real * kept * scale) : in->at[i];
    if (c->out[1])
      c->out[1]->at[i] = from_int(kept);
  }
  return true;
}
