// SPDX-License-Identifier: Apache-2.0
// Runs small programs for all types, shapes and values of n.
#include "program.h"

#include <stdio.h>

enum form { SCALAR, LINE, MATRIX };

static void run(struct suite *s, const struct program *p, enum dtype t, enum form form, int n,
                unsigned warps) {
  static const char *const form_names[] = {"scalar", "line", "matrix"};
  static const struct tile tiles[] = {{0, {0}}, {1, {128}}, {2, {16, 32}}};
  if (!case_begin(s, "%s: %s %s n=%d warps=%u", p->name, form_names[form], dtype_name(t), n, warps))
    return;
  const char *at = tile_offsets(s, tiles[form]);
  size_t elements = tile_count(tiles[form]);
  case_source(s,
              "%s@jit\ndef k(x, out, n):\n    at = program_id(0) * %zu + %s\n"
              "    a = load(x + at)\n%s    store(out + at, r)\n",
              p->prelude ? p->prelude : "", elements, at, p->body);
  case_warps(s, warps);
  unsigned programs = form == SCALAR ? 20 : 2;
  struct array *x = case_input(s, t, programs * elements),
               *out = case_output(s, t, programs * elements);
  for (size_t i = 0; i < x->count; i++)
    array_set(x, i, num_number(t, (double)(i * 7 % 23) + 1));
  case_int(s, n);
  if (case_run(s, programs))
    for (size_t i = 0; i < x->count; i++) {
      double want = p->reference(num_double(array_get(x, i)), n);
      case_expect(s, out, i, num_number(t, want), 0.5, 0);
    }
  case_end(s);
}

void program_cases(struct suite *s, const struct program *p) {
  static const enum dtype types[] = {DTYPE_I32, DTYPE_F32, DTYPE_I64};
  static const int counts[] = {0, 1, 2, 5, 16};
  unsigned variant = 0;
  for (size_t t = 0; t < COUNT_OF(types); t++)
    for (enum form f = SCALAR; f <= (p->scalar_only ? SCALAR : MATRIX); f++) {
      unsigned warps = 1u << variant++ % 4;
      for (size_t i = 0; i < COUNT_OF(counts); i++)
        run(s, p, types[t], f, counts[i], warps);
    }
}
