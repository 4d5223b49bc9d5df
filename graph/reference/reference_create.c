// SPDX-License-Identifier: Apache-2.0
// Operators that create tensors.
#include "graph/reference/reference.h"

static bool fill(struct reference_call *c, union element value) {
  for (int64_t i = 0; i < c->out[0]->numel; i++)
    c->out[0]->at[i] = value;
  return true;
}

static bool fill_int(struct reference_call *c, int64_t value) {
  return fill(c, element_convert(from_int(value), DTYPE_I64, c->out[0]->dtype));
}

bool reference_full(struct reference_call *c) {
  return fill(c, call_element(c, 1, c->out[0]->dtype));
}

bool reference_new_full(struct reference_call *c) {
  return fill(c, call_element(c, 2, c->out[0]->dtype));
}

bool reference_scalar_tensor(struct reference_call *c) {
  return fill(c, call_element(c, 0, c->out[0]->dtype));
}

// Also for uninitialised tensors.
bool reference_zeros(struct reference_call *c) { return fill_int(c, 0); }
bool reference_ones(struct reference_call *c) { return fill_int(c, 1); }

// Element i is start + i * step, as integers or reals, by the result's dtype.
static bool progression(struct reference_call *c, union element start, union element step) {
  struct tensor *out = c->out[0];
  for (int64_t i = 0; i < out->numel; i++) {
    if (dtype_is_float(out->dtype))
      out->at[i].real = start.real + (double)i * step.real;
    else
      out->at[i].integer =
          (int64_t)((uint64_t)start.integer + (uint64_t)i * (uint64_t)step.integer);
  }
  return true;
}

static enum dtype progression_type(const struct reference_call *c) {
  return dtype_is_float(c->out[0]->dtype) ? DTYPE_F64 : DTYPE_I64;
}

static union element one(enum dtype t) { return element_convert(from_int(1), DTYPE_I64, t); }

bool reference_arange(struct reference_call *c) {
  return progression(c, (union element){.integer = 0}, one(progression_type(c)));
}

bool reference_arange_start(struct reference_call *c) {
  const enum dtype t = progression_type(c);
  return progression(c, call_element(c, 0, t), one(t));
}

bool reference_arange_step(struct reference_call *c) {
  const enum dtype t = progression_type(c);
  return progression(c, call_element(c, 0, t), call_element(c, 2, t));
}

bool reference_iota(struct reference_call *c) {
  const enum dtype t = progression_type(c);
  return progression(c, call_element(c, 1, t), call_element(c, 2, t));
}
