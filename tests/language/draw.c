// SPDX-License-Identifier: Apache-2.0
// Operands: random numbers of every type, including special values.
#include "suite.h"

#include <math.h>

uint64_t random_bits(struct suite *s) {
  uint64_t z = s->random += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

double random_unit(struct suite *s) { return (double)(random_bits(s) >> 11) * 0x1p-53; }

static struct num draw_int(struct suite *s, enum dtype t, enum draw how) {
  uint64_t r = random_bits(s), pick = random_bits(s) % 16;
  bool is_signed = dtype_is_signed(t);
  switch (how) {
  case DRAW_SHIFT: return num_int(t, (int64_t)(r % dtype_bits(t)));
  case DRAW_SMALL: return num_int(t, (int64_t)(r % 9) * (is_signed && pick & 1 ? -1 : 1));
  case DRAW_BOOL: return num_int(t, (int64_t)(r & 1));
  case DRAW_NONZERO: {
    struct num v = num_int(t, (int64_t)(pick < 8 ? r : r % 100));
    return v.i == 0 || (is_signed && v.i == num_min(t)) ? num_int(t, 3) : v;
  }
  default:
    if (pick == 0)
      return num_int(t, num_min(t));
    if (pick == 1)
      return num_int(t, num_max(t));
    return num_int(t, pick < 5 ? (int64_t)(r % 5) - 2 : (int64_t)r);
  }
}

// A magnitude between 2^-range and 2^range.
static double magnitude(struct suite *s, double range) {
  return exp2((random_unit(s) * 2 - 1) * range);
}

static struct num draw_float(struct suite *s, enum dtype t, enum draw how) {
  static const double specials[] = {INFINITY, -INFINITY, NAN};
  double sign = random_bits(s) & 1 ? -1 : 1, v = 0;
  uint64_t pick = random_bits(s) % 32;
  switch (how) {
  case DRAW_SHIFT:
  case DRAW_SMALL: v = sign * floor(random_unit(s) * 9); break;
  case DRAW_BOOL: v = random_bits(s) & 1; break;
  case DRAW_UNIT: v = sign * random_unit(s); break;
  case DRAW_NONZERO: v = sign * magnitude(s, 6); break;
  case DRAW_ANY:
    if (pick < 4)
      return num_float(t, specials[pick % COUNT_OF(specials)]);
    // fall through
  case DRAW_FINITE: v = pick < 7 ? sign * 0.0 : sign * magnitude(s, pick < 20 ? 4 : 7); break;
  }
  return num_round(num_float(t, v));
}

struct num draw_num(struct suite *s, enum dtype t, enum draw how) {
  if (t == DTYPE_I1)
    return num_int(t, (int64_t)(random_bits(s) & 1));
  return dtype_is_float(t) ? draw_float(s, t, how) : draw_int(s, t, how);
}

void array_draw(struct suite *s, struct array *a, enum draw how) {
  for (size_t i = 0; i < a->count; i++)
    array_set(a, i, draw_num(s, a->type, how));
}
