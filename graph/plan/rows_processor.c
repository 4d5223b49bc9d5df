// SPDX-License-Identifier: Apache-2.0
// Blocks of rows on a processor (docs/decisions/015-processor.md): a program is one thread, whose
// rows need no registers of their own. A row that is read once is read whole, beside others, which
// reads several places of memory at once; columns are read in wide blocks of few elements each.
// Blocks of a looped row are combined before they are added to the accumulators.
//
// Product of a matrix of 4096 x 4096 with a vector, ms on one core (PyTorch in brackets): along
// rows f32 8.9 with lanes as on GPUs, 4.2 whole (4.3); bf16 24.2, 1.7 (1.6); along columns f32 5.4
// with 128 columns, 3.5 with 1024 (3.3); bf16 5.7, 2.0 (2.0).
#include "graph/plan/rows_plan.h"

enum { WARPS = 4 };

static unsigned pow2_from(int64_t n, int64_t most) {
  unsigned p = 1;
  while (p < n && p < most)
    p *= 2;
  return p;
}

static bool is_read_once(const struct rows *s) {
  for (size_t i = 0; i < s->write_count; i++)
    if (s->writes[i].is_full)
      return false;
  return s->levels == 1 && !s->keeps_rows;
}

// Halves blocks of x until there is work for all threads.
static void share_out(struct rows *s, int64_t x, unsigned least, unsigned programs_a_core) {
  int64_t wanted = programs_a_core * (int64_t)plan_multiprocessors(s->o);
  while (s->x_block > least && x < s->x_block * wanted)
    s->x_block /= 2;
}

// Parts of rows or columns for threads that would have no work.
static void split(struct rows *s, int64_t x, int64_t n) {
  int64_t programs = (x + s->x_block - 1) / s->x_block, cores = plan_multiprocessors(s->o);
  int64_t splits = cores / programs, most = n / ((int64_t)s->r_block * 2);
  splits = splits > most ? most : splits;
  if (programs < cores && !s->is_whole && splits >= 2)
    s->splits = (unsigned)splits;
}

static void plan_inner(struct rows *s, int64_t x, int64_t n, bool is_known) {
  enum { LONGEST = 1 << 16, LONG = 1 << 14, BLOCK = 4096, ROWS = 16, KEPT = 2048, MOST_ROWS = 64 };
  unsigned row = pow2_from(n, LONGEST * 2);
  s->x_block = 1;
  s->is_looped = !is_known || row > LONGEST || (n >= LONG && x < plan_multiprocessors(s->o));
  if (s->is_looped) {
    s->r_block = row < BLOCK ? row : BLOCK;
    split(s, x, n);
    return;
  }
  s->r_block = row < 2 ? 2 : row;
  unsigned kept = KEPT / s->r_block, once = is_read_once(s) ? ROWS : 1;
  s->x_block = kept > MOST_ROWS ? MOST_ROWS : kept > once ? kept : once;
  share_out(s, x, 1, 2);
}

static void plan_outer(struct rows *s, int64_t x, int64_t n) {
  enum { COLUMNS = 1024, LEAST = 128, ELEMENTS = 8 };
  s->is_looped = true;
  s->x_block = pow2_from(x, COLUMNS);
  s->x_block = s->x_block < 2 ? 2 : s->x_block;
  s->r_block = pow2_from(n, ELEMENTS);
  s->r_block = s->r_block < 2 ? 2 : s->r_block;
  share_out(s, x, LEAST, 1);
  split(s, x, n);
}

void rows_on_processor(struct rows *s, int64_t x, int64_t n, bool is_known) {
  s->num_warps = WARPS;
  if (s->is_inner)
    plan_inner(s, x, n, is_known);
  else
    plan_outer(s, x, n);
  if (!s->is_looped)
    return;
  rows_find_pairs(s);
  s->combines_blocks = true;
  for (size_t i = 0; i < s->reduction_count; i++)
    if (s->reductions[i].pair == PAIR_VARIANCE || reduce_is_index(&s->reductions[i]))
      s->combines_blocks = false;
}
