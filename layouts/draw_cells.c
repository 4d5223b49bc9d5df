// SPDX-License-Identifier: Apache-2.0
// The grid of a drawing: which element each cell shows, and which thread holds it.
#include "layouts/banks.h"
#include "layouts/draw_internal.h"

enum { LINE_OF_RANK1 = 16 };

static uint32_t at_most(uint32_t x, unsigned limit) { return limit && x > limit ? limit : x; }

// Rows and columns of the tensor's grid: its last two dimensions; a tensor of rank 1 is cut into
// lines. By thread: threads by registers, or lines of all banks.
static void choose_grid(struct drawing *d) {
  const struct linear_layout *l = &d->layout;
  d->grids = 1;
  if (d->by_thread && d->shared) {
    uint32_t size = ll_in_size(l, LL_OFFSET), line = BANK_COUNT * BANK_BYTES * 8 / d->element_bits;
    d->cols = size < line ? size : line;
    d->rows = size / d->cols;
  } else if (d->by_thread) {
    d->cols = ll_in_size(l, LL_REGISTER);
    d->rows = ll_in_size(l, LL_LANE) * ll_in_size(l, LL_WARP);
  } else if (d->rank < 2) {
    uint32_t size = d->rank ? d->shape[0] : 1;
    d->cols = size < LINE_OF_RANK1 ? size : LINE_OF_RANK1;
    d->rows = size / d->cols;
  } else {
    d->rows = d->shape[d->rank - 2];
    d->cols = d->shape[d->rank - 1];
    for (unsigned k = 0; k + 2 < d->rank; k++)
      d->grids *= d->shape[k];
  }
}

bool drawing_prepare(const struct linear_layout *l, unsigned rank, const int64_t *shape,
                     struct draw_options opt, struct drawing *ret, const char **ret_why) {
  *ret_why = "the layout is of another shape";
  if (rank != l->out_count)
    return false;
  struct drawing d = {.layout = *l, .rank = rank, .by_thread = opt.by_thread};
  for (unsigned k = 0; k < rank; k++) {
    if (shape[k] != (int64_t)1 << l->out_bits[k])
      return false;
    d.shape[k] = (uint32_t)shape[k];
  }
  *ret_why = "the layout does not reach every element";
  if (!ll_pseudo_invert(l, &d.holder))
    return false;
  d.element_bits = opt.element_bits ? opt.element_bits : 32;
  d.shared = ll_find_in(l, LL_OFFSET) >= 0;
  d.replicas = 1u << (ll_total_in_bits(l) - ll_total_out_bits(l));
  choose_grid(&d);
  d.shown_rows = at_most(d.rows, opt.max_rows);
  d.shown_cols = at_most(d.cols, opt.max_cols);
  d.shown_grids = at_most(d.grids, opt.max_rows);
  *ret = d;
  return true;
}

// The index (by input) of a cell in a drawing by thread or by offset.
static void index_of_cell(const struct drawing *d, uint32_t row, uint32_t col,
                          uint32_t index[LL_NO_IN]) {
  unsigned lane_bits = ll_in_bits(&d->layout, LL_LANE);
  if (d->shared) {
    index[LL_OFFSET] = row * d->cols + col;
  } else {
    index[LL_REGISTER] = col;
    index[LL_LANE] = row & ((1u << lane_bits) - 1);
    index[LL_WARP] = row >> lane_bits;
  }
}

struct cell drawing_cell(const struct drawing *d, uint32_t grid, uint32_t row, uint32_t col) {
  struct cell c = {0};
  uint32_t index[LL_NO_IN] = {0};
  if (d->by_thread) {
    index_of_cell(d, row, col, index);
    ll_apply(&d->layout, index, c.coords);
  } else {
    uint32_t element = (grid * d->rows + row) * d->cols + col, flat = element;
    uint32_t in[LL_MAX_OUT], at[LL_NO_IN] = {[LL_OFFSET] = element};
    for (unsigned k = d->rank; k-- > 0;) {
      c.coords[k] = flat % d->shape[k];
      flat /= d->shape[k];
    }
    ll_apply(&d->holder, at, in);
    for (unsigned i = 0; i < d->layout.in_count; i++)
      index[d->layout.in[i]] = in[i];
  }
  c.thread = index[LL_WARP] << ll_in_bits(&d->layout, LL_LANE) | index[LL_LANE];
  c.reg = index[LL_REGISTER];
  c.offset = index[LL_OFFSET];
  c.bank = (uint32_t)((uint64_t)c.offset * d->element_bits / 8 / BANK_BYTES % BANK_COUNT);
  return c;
}

void drawing_cell_text(const struct drawing *d, const struct cell *c, struct strbuf *out) {
  if (d->by_thread) {
    for (unsigned k = 0; k < d->rank; k++)
      strbuf_printf(out, "%s%u", k ? "," : "", c->coords[k]);
    return;
  }
  if (d->shared)
    strbuf_printf(out, "%u b%u", c->offset, c->bank);
  else
    strbuf_printf(out, "T%u:%u", c->thread, c->reg);
  if (d->replicas > 1)
    strbuf_putc(out, '*');
}

static void count(uint32_t n, const char *what, struct strbuf *out) {
  strbuf_printf(out, "%u %s%s", n, what, n == 1 ? "" : "s");
}

void drawing_caption(const struct drawing *d, struct strbuf *out) {
  for (unsigned k = 0; k < d->rank; k++)
    strbuf_printf(out, "%s%u", k ? "x" : "", d->shape[k]);
  strbuf_puts(out, d->rank ? " elements: " : "one element: ");
  if (d->shared) {
    count(ll_in_size(&d->layout, LL_OFFSET), "offset", out);
    strbuf_printf(out, " of %u bits", d->element_bits);
  } else {
    count(ll_in_size(&d->layout, LL_REGISTER), "register", out);
    strbuf_puts(out, " x ");
    count(ll_in_size(&d->layout, LL_LANE), "lane", out);
    strbuf_puts(out, " x ");
    count(ll_in_size(&d->layout, LL_WARP), "warp", out);
  }
  if (d->replicas > 1)
    strbuf_printf(out, "; each is held %u times%s", d->replicas,
                  d->by_thread ? "" : ", shown (*) is the lowest holder");
  if (d->shown_rows < d->rows || d->shown_cols < d->cols)
    strbuf_printf(out, "; shown are %ux%u of %ux%u cells", d->shown_rows, d->shown_cols, d->rows,
                  d->cols);
  if (d->shown_grids < d->grids)
    strbuf_printf(out, "; shown are %u of %u tables", d->shown_grids, d->grids);
}

const char *drawing_axes(const struct drawing *d) {
  if (d->by_thread)
    return d->shared ? "rows: lines of all banks; columns: offsets in a line; cells: coordinates"
                     : "rows: threads; columns: registers; cells: coordinates";
  if (d->rank < 2)
    return d->rows > 1 ? "one dimension, in lines of 16" : "";
  return "";
}

void drawing_grid_title(const struct drawing *d, uint32_t grid, struct strbuf *out) {
  if (d->by_thread || d->rank < 3)
    return;
  uint32_t at[LL_MAX_OUT];
  for (unsigned k = d->rank - 2; k-- > 0;) {
    at[k] = grid % d->shape[k];
    grid /= d->shape[k];
  }
  strbuf_putc(out, '[');
  for (unsigned k = 0; k + 2 < d->rank; k++)
    strbuf_printf(out, "%u, ", at[k]);
  strbuf_puts(out, ":, :]");
}
