// SPDX-License-Identifier: Apache-2.0
// One kernel for all elementwise operations: loads, the expression, a
// store. Block size and warps vary from row to row, so that threads hold one to eight elements.
#include "suite.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {"a", "b", "c"};

struct shape {
  unsigned block, warps;
};

static struct shape shape_of(const char *name) {
  static const struct shape shapes[] = {{128, 4}, {256, 1},  {128, 2}, {512, 4},
                                        {64, 4},  {1024, 8}, {32, 1},  {256, 4}};
  unsigned h = 0;
  for (; *name; name++)
    h = h * 31 + (unsigned char)*name;
  return shapes[h % COUNT_OF(shapes)];
}

static void write_kernel(struct suite *s, const struct elementwise *e, struct shape shape) {
  case_source(s, "@jit\ndef k(");
  for (unsigned i = 0; i < e->arity; i++)
    case_source(s, "x%u, ", i);
  case_source(s,
              "out, n):\n"
              "    i = program_id(0) * %u + arange(0, %u)\n"
              "    m = i < n\n",
              shape.block, shape.block);
  for (unsigned i = 0; i < e->arity; i++)
    case_source(s, "    %s = load(x%u + i, mask=m)\n", names[i], i);
  case_source(s,
              "    r = %s\n"
              "    static_assert(r.dtype == tl.%s)\n"
              "    store(out + i, r, mask=m)\n",
              e->expr, dtype_language_name(e->out));
}

static void fill(struct suite *s, const struct elementwise *e, unsigned operand, struct array *a) {
  if (!(e->low < e->high)) {
    array_draw(s, a, e->draw[operand]);
    return;
  }
  for (size_t i = 0; i < a->count; i++)
    array_set(a, i, num_number(a->type, e->low + (e->high - e->low) * random_unit(s)));
}

static void run_length(struct suite *s, const struct elementwise *e, const char *name,
                       struct shape shape, unsigned n) {
  if (!case_begin(s, "%s n=%u B=%u warps=%u", name, n, shape.block, shape.warps))
    return;
  write_kernel(s, e, shape);
  case_warps(s, shape.warps);
  struct array *in[3] = {NULL};
  for (unsigned i = 0; i < e->arity; i++) {
    in[i] = case_input(s, e->in[i], n);
    fill(s, e, i, in[i]);
  }
  struct array *out = case_output(s, e->out, n);
  case_int(s, (int32_t)n);
  if (case_run(s, (n + shape.block - 1) / shape.block))
    for (size_t i = 0; i < n; i++) {
      struct num v[3] = {{0}};
      for (unsigned k = 0; k < e->arity; k++)
        v[k] = array_get(in[k], i);
      case_expect(s, out, i, e->reference(v, e->user), e->ulps, e->atol);
    }
  case_end(s);
}

void elementwise_lengths(struct suite *s, const struct elementwise *e, const char *name) {
  struct shape shape = shape_of(name);
  const unsigned lengths[] = {1, shape.block - 1, shape.block, shape.block + 1, 1009};
  for (size_t i = 0; i < COUNT_OF(lengths); i++)
    run_length(s, e, name, shape, lengths[i]);
}

void elementwise_once(struct suite *s, const struct elementwise *e, const char *name) {
  run_length(s, e, name, shape_of(name), 331);
}

void elementwise_refuse(struct suite *s, const struct elementwise *e, const char *name,
                        const char *code) {
  if (!case_begin(s, "%s is %s", name, code))
    return;
  struct elementwise copy = *e;
  copy.out = DTYPE_F32; // never reached
  write_kernel(s, &copy, (struct shape){32, 1});
  for (unsigned i = 0; i < e->arity; i++)
    case_input(s, e->in[i], 32);
  case_output(s, DTYPE_F32, 32);
  case_int(s, 32);
  case_refuse(s, code);
  case_end(s);
}
