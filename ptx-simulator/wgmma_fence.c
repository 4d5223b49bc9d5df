// SPDX-License-Identifier: Apache-2.0
// Which registers of products were accessed since the warp's last wgmma.fence.
#include "ptx-simulator/wgmma_fence.h"

// ---- decoding ----

static bool is_product(const struct instruction *in) {
  return in->part_count > 1 && str_is(in->parts[0], "wgmma") && str_is(in->parts[1], "mma_async");
}

enum { ACCUMULATOR, A, REGISTER_OPERANDS }; // of a product

const uint32_t *wgmma_registers_find(struct decoder *d, const struct function *f) {
  uint32_t *numbers = NULL;
  for (size_t i = 0; i < f->code.len; i++) {
    const struct instruction *in = &f->code.at[i];
    for (unsigned k = ACCUMULATOR; is_product(in) && k < REGISTER_OPERANDS; k++) {
      const struct operand *o = &in->operands[k];
      if (k >= in->operand_count || o->kind != OPERAND_VECTOR)
        continue;
      if (!numbers)
        numbers = arena_array(d->arena, uint32_t, f->regs.len + 1);
      for (unsigned n = 0; n < o->item_count; n++)
        if (o->items[n].kind == OPERAND_REGISTER && !numbers[o->items[n].reg])
          numbers[o->items[n].reg] = ++d->program->wgmma_registers;
    }
  }
  return numbers;
}

struct list {
  VEC(uint32_t) at;
};

static void collect(struct decoder *d, const struct operand *o, struct list *ret) {
  if (o->kind == OPERAND_REGISTER && d->wgmma_numbers[o->reg])
    vec_push(d->arena, &ret->at, d->wgmma_numbers[o->reg] - 1);
  for (unsigned i = 0; i < o->item_count; i++)
    collect(d, &o->items[i], ret);
}

const struct wgmma_registers *wgmma_registers_of(struct decoder *d) {
  struct list list = {0};
  const struct instruction *in = d->in;
  bool product = in->part_count && is_product(in);
  unsigned count = product ? REGISTER_OPERANDS : in->operand_count;
  for (unsigned i = 0; d->wgmma_numbers && i < count; i++)
    if (!product || in->operands[i].kind == OPERAND_VECTOR)
      collect(d, &in->operands[i], &list);
  if (!list.at.len)
    return NULL;
  struct wgmma_registers *r = arena_new(d->arena, struct wgmma_registers);
  *r = (struct wgmma_registers){product, (unsigned)list.at.len, list.at.at};
  return r;
}

// ---- execution ----

void wgmma_touch(struct warp *w, const struct op *op) {
  const struct wgmma_registers *r = op->wgmma;
  for (unsigned i = 0; !r->is_product && i < r->count; i++)
    w->touched[r->at[i]] = op;
}

void wgmma_fence(struct warp *w) {
  w->is_fenced = true;
  if (w->touched)
    memset(w->touched, 0, w->program->wgmma_registers * sizeof *w->touched);
}

void wgmma_check_fence(struct warp *w, const struct op *op, unsigned in_flight) {
  const struct wgmma_registers *r = op->wgmma;
  if (!w->is_fenced)
    warn(w, op, 0, SIM_ASYNC_ORDER, NULL, NULL,
         "the first wgmma of the warp, and no wgmma.fence was executed before it");
  for (unsigned i = in_flight; r && i < r->count; i++) {
    const struct op *other = w->touched[r->at[i]];
    if (!other)
      continue;
    struct sim_site site = site_of(w, other, 0);
    warn(w, op, 0, SIM_ASYNC_ORDER, NULL, &site,
         "register %u of this wgmma was accessed in line %u, and no wgmma.fence came after that", i,
         site.line);
    return;
  }
}
