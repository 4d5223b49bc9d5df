// SPDX-License-Identifier: Apache-2.0
// Runs random loops with 1 to 5 stages: all must give the same bits as one stage. On the CPU
// every launch is checked for races and for out-of-bounds accesses, such as a load for an
// iteration that does not exist.
#include "loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STAGES = 5, ROWS_MAX = 32 };

static size_t bytes_of(const struct array *a) { return a->count * dtype_bytes(a->type); }

// Exactly the tiles that a loop may access, so that loads too far ahead are out of bounds.
static struct array *operand(struct suite *s, const struct loop *l, unsigned height, unsigned width,
                             const struct load *load) {
  bool walks = load->address == CARRIED || load->address == COUNTED;
  size_t tiles = walks ? l->trips + l->uses_end : TILES;
  struct array *a = case_input(s, l->type, (tiles ? tiles : 1) * height * width);
  array_draw(s, a, DRAW_SMALL);
  return a;
}

static void make_arrays(struct suite *s, const struct loop *l, struct array *ret[2]) {
  operand(s, l, l->rows, l->inner, &l->a);
  operand(s, l, l->inner, l->columns, &l->b);
  operand(s, l, l->columns, l->columns, &l->v);
  struct array *w = case_input(s, DTYPE_F32, (l->trips ? l->trips : 1) * (size_t)l->columns);
  array_draw(s, w, DRAW_SMALL);
  struct array *index = case_input(s, DTYPE_I32, TILES + ROWS_MAX);
  for (size_t i = 0; i < index->count; i++)
    array_set(index, i, num_number(DTYPE_I32, (double)(random_bits(s) % TILES)));
  size_t n = (size_t)l->rows * l->columns;
  ret[0] = case_output(s, DTYPE_F32, n);
  ret[1] = case_inout(s, DTYPE_F32, n * 8);
  memset(ret[1]->host, 0, bytes_of(ret[1]));
  case_int(s, (int32_t)l->trips);
}

static void compare(struct suite *s, const struct array *a, const char *want, unsigned stages) {
  for (size_t i = 0; i < a->count && !s->is_failed; i++)
    if (memcmp(a->host + 4 * i, want + 4 * i, 4) != 0) {
      float x, y;
      memcpy(&x, a->host + 4 * i, 4), memcpy(&y, want + 4 * i, 4);
      case_fail(s, "with %u stages element %zu is %g, with one it is %g", stages, i, (double)x,
                (double)y);
    }
}

static void run_stages(struct suite *s, const struct loop *l, struct array *const out[2]) {
  char *before[2], *want[2];
  for (int k = 0; k < 2; k++) {
    before[k] = arena_alloc(s->arena, bytes_of(out[k]), 16);
    want[k] = arena_alloc(s->arena, bytes_of(out[k]), 16);
    memcpy(before[k], out[k]->host, bytes_of(out[k]));
  }
  for (unsigned stages = 1; stages <= STAGES && !s->is_failed; stages++) {
    s->text.len = 0;
    write_loop(s, l, stages);
    case_stages(s, stages);
    for (int k = 0; k < 2; k++)
      memcpy(out[k]->host, before[k], bytes_of(out[k]));
    if (!case_run(s, 1))
      return;
    for (int k = 0; k < 2; k++)
      if (stages == 1)
        memcpy(want[k], out[k]->host, bytes_of(out[k]));
      else
        compare(s, out[k], want[k], stages);
  }
}

static void loop_case(struct suite *s, unsigned long seed) {
  if (!case_begin(s, "loop %lu", seed))
    return;
  struct loop l = random_loop(s);
  struct array *out[2];
  case_warps(s, l.warps);
  make_arrays(s, &l, out);
  run_stages(s, &l, out);
  case_end(s);
}

int main(int argc, char **argv) {
  struct suite s = {0};
  unsigned long count = 100, seed = 0;
  for (int i = 1; i < argc; i++) {
    const char *a = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;
    if (strcmp(a, "--print") == 0)
      s.o.print = true;
    else if (a[0] != '-' && !s.o.device)
      s.o.device = a;
    else if (!next)
      return 2;
    else if (strcmp(a, "--count") == 0)
      count = strtoul(argv[++i], NULL, 10);
    else if (strcmp(a, "--seed") == 0)
      seed = strtoul(argv[++i], NULL, 10);
    else if (strcmp(a, "--target") == 0)
      s.o.target = argv[++i];
    else if (strcmp(a, "--case") == 0)
      s.o.only = argv[++i];
    else
      return 2;
  }
  int skipped = suite_open(&s);
  if (skipped >= 0)
    return skipped;
  for (unsigned long k = 0; k < count; k++)
    loop_case(&s, seed + k);
  return suite_close(&s);
}
