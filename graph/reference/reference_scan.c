// SPDX-License-Identifier: Apache-2.0
// Cumulative sums.
#include "graph/reference/reference.h"

struct scan {
  const struct tensor *in;
  struct tensor *out;
  struct lines lines;
};

static void cumsum_line(void *user, int64_t i) {
  const struct scan *s = user;
  const int64_t start = line_start(&s->lines, i);
  const enum dtype from = s->in->dtype, to = s->out->dtype;
  union element sum = {.integer = 0};
  for (int64_t j = 0; j < s->lines.length; j++) {
    const int64_t offset = line_offset(&s->lines, start, j);
    const union element e = element_convert(s->in->at[offset], from, to);
    if (dtype_is_float(to))
      sum.real += e.real;
    else
      sum.integer = (int64_t)((uint64_t)sum.integer + (uint64_t)e.integer);
    s->out->at[offset] = sum;
  }
}

bool reference_cumsum(struct reference_call *c) {
  struct scan s = {.in = call_tensor(c, 0), .out = c->out[0]};
  const int64_t dim = call_int(c, 1);
  const uint32_t d = (uint32_t)(dim < 0 ? dim + s.in->rank : dim);
  if (!lines_init(&s.lines, s.in, s.in->rank ? 1u << d : 0))
    return call_fail(c, "out of memory");
  call_for(c, s.lines.count, s.lines.length, cumsum_line, &s);
  lines_free(&s.lines);
  return true;
}
