// SPDX-License-Identifier: Apache-2.0
// Prints what attention with split keys (Flash-Decoding) has besides the loops: the part of a
// program, the stores of its sums, and their merge.
//
//   share = tl.cdiv(end - begin, SPLITS * BLOCK_N) * BLOCK_N
//   first = begin + part * share
//   last = min(first + share, end)
//   ...                                   acc, top and total of the keys first to last
//
//   for part in tl.static_range(SPLITS):  the merge
//       here = tl.load(tops + ...)
//       above = tl.maximum(top, here)
//       keep = tl.exp2(top - above)
//       now = tl.exp2(here - above)
//       total = total * keep + tl.load(totals + ...) * now
//       acc = acc * keep + tl.load(sums + ...) * now
//       top = above
#include "graph/emit/attention_internal.h"

enum { UNROLLED = 8, UNROLLED_WIDE = 4, WIDE = 128 }; // parts in flight, of so many columns

void attention_put_part(struct attention_writer *w, const char *begin, const char *end) {
  struct emitter *e = w->e;
  bool from_zero = strcmp(begin, "0") == 0;
  emit_line(e, 0, "share = tl.cdiv(%s%s%s, %u * BLOCK_N) * BLOCK_N", end, from_zero ? "" : " - ",
            from_zero ? "" : begin, w->p->blocks.splits);
  emit_line(e, 0, "first = %s%spart * share", from_zero ? "" : begin, from_zero ? "" : " + ");
  emit_line(e, 0, "last = min(first + share, %s)", end);
}

void attention_store_part(struct attention_writer *w) {
  struct emitter *e = w->e;
  const struct attention_parts *p = &w->p->parts;
  uint32_t rows = emit_index_axes(e, w->p->m);
  emit_line(e, 0, "row_top = top[:, None]");
  emit_line(e, 0, "row_total = total[:, None]");
  emit_store_name(e, p->tops, p->row_offset, "row_top", rows);
  emit_store_name(e, p->totals, p->row_offset, "row_total", rows);
  emit_store_name(e, p->sums, p->sum_offset, "acc", rows | emit_index_axes(e, w->p->n));
}

static const char *loaded(struct attention_writer *w, struct buffer *b, const struct expr *offset) {
  const struct scalar *v = scalar_load(w->s, b, offset);
  emit_count(w->e, v);
  return emit_operand(w->e, v, PREC_TERM);
}

// Maxima in units of log2 are subtracted as they are; others as in the loop over keys, where a row
// of -inf so far has no maximum to subtract.
static void put_factors(struct attention_writer *w) {
  struct emitter *e = w->e;
  if (!w->p->score.expr && !w->p->score.added) {
    emit_line(e, 1, "keep = tl.exp2(top - above)");
    emit_line(e, 1, "now = tl.exp2(here - above)");
    return;
  }
  emit_line(e, 1, "base = tl.maximum(above, %s)",
            w->p->sum == DTYPE_F64 ? "-1.797693e308" : "-3.4028234e38");
  emit_line(e, 1, "keep = tl.exp(top - base)");
  emit_line(e, 1, "now = tl.exp(here - base)");
}

void attention_merge_parts(struct attention_writer *w) {
  struct emitter *e = w->e;
  const struct attention_parts *p = &w->p->parts;
  const char *type = emit_type(w->p->sum);
  unsigned splits = w->p->blocks.splits, columns = w->p->blocks.columns;
  unsigned unrolled = columns > WIDE ? UNROLLED_WIDE : UNROLLED;
  bool is_log2 = !w->p->score.expr && !w->p->score.added;
  emit_line(e, 0, "top = tl.full([BLOCK_M, 1], %s, %s)", is_log2 ? "-1e30" : "float(\"-inf\")",
            type);
  emit_line(e, 0, "total = tl.zeros([BLOCK_M, 1], %s)", type);
  emit_line(e, 0, "acc = tl.zeros([BLOCK_M, %u], %s)", columns, type);
  emit_open(e, splits <= unrolled
                   ? arena_printf(e->arena, "for part in tl.static_range(%u):", splits)
                   : arena_printf(e->arena, "for part in tl.range(0, %u, loop_unroll_factor=%u):",
                                  splits, unrolled));
  emit_axis(e, p->part, "part", NULL, 1);
  emit_line(e, 1, "here = %s", loaded(w, p->tops, p->row_offset));
  emit_line(e, 1, "above = tl.maximum(top, here)");
  put_factors(w);
  emit_line(e, 1, "total = total * keep + %s * now", loaded(w, p->totals, p->row_offset));
  emit_line(e, 1, "acc = acc * keep + %s * now", loaded(w, p->sums, p->sum_offset));
  emit_line(e, 1, "top = above");
  emit_close(e);
}
