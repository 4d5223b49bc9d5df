// SPDX-License-Identifier: Apache-2.0
// Elements of generated inputs, from bits that depend on the seed and the element.
#include "graph/reference/input_draw.h"

#include <math.h>

// 64 bits that depend on all bits of x: a linear congruence and two xor-shifts.
uint64_t input_scramble(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// Mean 0, deviation 1: the sum of four uniform numbers, approximately normal.
static double draw_normal(uint64_t bits) {
  const uint64_t sum =
      (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
  return ((double)sum / 65535 - 2) * 1.7320508075688772;
}

static union element draw(const struct input_hint *h, enum dtype t, uint64_t bits) {
  if (!dtype_is_float(t)) {
    const int64_t limit = t == DTYPE_I1 && h->limit > 2 ? 2 : h->limit;
    return element_convert((union element){.integer = (int64_t)((bits >> 1) % (uint64_t)limit)},
                           DTYPE_I64, t);
  }
  const double x = draw_normal(bits);
  double value = x * h->scale;
  if (h->use == INPUT_POSITIVE)
    value = 0.5 + 0.5 * fabs(x);
  else if (h->use == INPUT_LOGARITHM)
    value = log(h->scale > 1 ? h->scale : 1) + 0.1 * x;
  if (t == DTYPE_F32)
    return (union element){.real = (double)(float)value};
  return element_round((union element){.real = value}, t);
}

// Any position of window `at`, within the image.
static int64_t position_in(const struct input_window *w, int64_t at, uint64_t bits) {
  int64_t tap = (int64_t)(bits % (uint64_t)w->kernel);
  int64_t position = at * w->stride - w->padding + tap * w->dilation;
  return position < 0 ? 0 : position >= w->size ? w->size - 1 : position;
}

// Are the last two dimensions those of the windows? A view of the indices may have others.
static bool has_windows(const struct input_hint *h, const struct tensor *t) {
  return h->use == INPUT_WINDOWS && t->rank >= 2 && t->shape[t->rank - 2] == h->window[0].count &&
         t->shape[t->rank - 1] == h->window[1].count;
}

union element input_draw(const struct input_hint *h, const struct tensor *t, int64_t i,
                         uint64_t bits) {
  if (!has_windows(h, t))
    return draw(h, t->dtype, bits);
  const struct input_window *rows = &h->window[0], *columns = &h->window[1];
  int64_t row = position_in(rows, i / columns->count % rows->count, bits >> 32);
  int64_t column = position_in(columns, i % columns->count, bits & UINT32_MAX);
  return element_convert((union element){.integer = row * columns->size + column}, DTYPE_I64,
                         t->dtype);
}
