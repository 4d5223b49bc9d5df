// SPDX-License-Identifier: Apache-2.0
// Quantised operands of products: small integers or 8-bit floats, scaled by parameters of rows or
// groups. A product with few rows reads these and computes the operand itself; stored, the operand
// would be written and read in a dtype of twice or four times the size.
#include "graph/loops/loops_internal.h"

enum {
  GROUP = 16,      // parameters: at least so many times fewer than elements
  MOST_COST = 40,  // operations of an element
  MOST_ROWS = 512, // of the result: each block of rows computes the operand again
};

struct weights {
  double elements;
  bool has_integers, has_others;
};

// A byte an element at most, as packed integers have: the whole operand is in it.
static void note_load(void *user, const struct scalar *load) {
  struct weights *w = user;
  double count = (double)expr_hint(load->buffer->numel);
  enum dtype t = load->buffer->dtype;
  double bits = count * dtype_bits(t);
  if ((dtype_is_int(t) || dtype_bits(t) == 8) && bits <= 8 * w->elements && bits >= w->elements)
    w->has_integers = true;
  else
    w->has_others |= count * GROUP > w->elements;
}

bool loops_is_quantised(struct builder *b, const struct value *v, const struct scalar *body) {
  (void)b;
  struct weights w = {.elements = (double)expr_hint(value_numel(b->x, v))};
  if (!dtype_is_float(v->dtype) || body->is_expensive || scalar_cost(body) > MOST_COST)
    return false;
  scalar_loads(body, note_load, &w);
  return w.has_integers && !w.has_others;
}

bool loops_reads_quantised(struct builder *b, const struct value *v, const struct scalar *body) {
  const struct uses *u = &b->uses[v->id];
  return u->in_product && u->count == 1 && u->product_rows > 0 && u->product_rows <= MOST_ROWS &&
         loops_is_quantised(b, v, body);
}

static void note_bytes(void *user, const struct scalar *load) {
  if (load->buffer && dtype_bits(load->buffer->dtype) == 8)
    *(bool *)user = true;
}

bool loops_loads_bytes(const struct scalar *body) {
  bool found = false;
  scalar_loads(body, note_bytes, &found);
  return found;
}
