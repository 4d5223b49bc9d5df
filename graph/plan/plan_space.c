// SPDX-License-Identifier: Apache-2.0
// The tuning space of a kernel, as text. It always includes the planned values.
#include "graph/plan/plan.h"

// A source without a mask for an axis is valid only for blocks that divide the axis; one with a
// mask for any.
static bool is_right(const struct expr *extent, unsigned block, unsigned other) {
  return !expr_is_multiple(extent, block) || expr_is_multiple(extent, other);
}

static void put_value(struct strbuf *out, unsigned value, const char *first, bool *is_first) {
  if (*is_first)
    strbuf_printf(out, "%s%s=%u", out->len ? ", " : "", first, value);
  else
    strbuf_printf(out, ",%u", value);
  *is_first = false;
}

void space_put_blocks(struct strbuf *out, const char *name, const struct expr *extent,
                      unsigned block, unsigned least, unsigned most) {
  assert(is_pow2(block) && is_pow2(least));
  int64_t n = expr_likely(extent);
  bool is_first = true;
  put_value(out, block, name, &is_first);
  for (unsigned b = least; b <= most; b *= 2)
    if (b != block && (b < block || b / 2 < n) && is_right(extent, block, b))
      put_value(out, b, name, &is_first);
}

void space_put_powers(struct strbuf *out, const char *name, unsigned chosen, unsigned least,
                      unsigned most) {
  assert(is_pow2(chosen) && is_pow2(least));
  bool is_first = true;
  put_value(out, chosen, name, &is_first);
  for (unsigned n = least; n <= most; n *= 2)
    if (n != chosen)
      put_value(out, n, name, &is_first);
}

const char *space_end(struct arena *a, struct strbuf *out) {
  const char *text = !out->len ? NULL : arena_strdup(a, strbuf_cstr(out));
  strbuf_finish(out);
  return text;
}
