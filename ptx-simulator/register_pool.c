// SPDX-License-Identifier: Apache-2.0
// setmaxnreg (PTX ISA, "setmaxnreg"): warps release registers to the pool of their CTA, and wait
// until it has as many as they ask for. A thread begins with .maxnreg registers; without it, with
// as many as 64 Ki registers give to each thread of the block, in steps of 8.
#include "ptx-simulator/register_pool.h"

#include <stdio.h>

enum { REGISTERS = 65536, STEP = 8, MOST = 248, LEAST = 24, LARGEST = 256, GROUP_WARPS = 4 };

struct resize {
  bool is_increase;
  unsigned count;
};

static unsigned entry_registers(const struct cta *c) {
  unsigned given = c->run->program->kernel.max_registers;
  unsigned share = REGISTERS / (SIM_LANES * c->warp_count) / STEP * STEP;
  return given ? given / STEP * STEP : share < MOST ? share : MOST;
}

void registers_start(struct cta *c) {
  struct register_pool *p = c->registers;
  if (!p)
    return;
  *p = (struct register_pool){.entry = entry_registers(c)};
  for (unsigned i = 0; i < c->warp_count; i++)
    p->per_thread[i] = p->entry;
}

static void wake_all(const struct cta *c) {
  for (unsigned i = 0; i < c->warp_count; i++)
    for (unsigned k = 0; k < c->warps[i].other_count; k++)
      if (c->warps[i].others[k].state == GROUP_REGISTERS)
        warp_wake(&c->warps[i], &c->warps[i].others[k]);
}

const char *registers_text(const struct warp *w, char *ret, size_t size) {
  const struct register_pool *p = w->cta->registers;
  const struct group *g = w->others;
  while (g->state != GROUP_REGISTERS)
    g++;
  const struct resize *x = w->program->code.at[g->pc].info;
  snprintf(ret, size, "%u registers per thread, %u more than it has; %u are free", x->count,
           x->count - p->per_thread[w->index], p->free);
  return ret;
}

// The warps of a warpgroup execute the same setmaxnreg.
static bool is_same(struct warp *w, const struct op *op) {
  const struct register_pool *p = w->cta->registers;
  const struct resize *x = op->info;
  unsigned first = w->index / GROUP_WARPS * GROUP_WARPS;
  for (unsigned i = first; i < first + GROUP_WARPS && i < w->cta->warp_count; i++) {
    const struct resize *other = p->last[i] ? p->last[i]->info : NULL;
    if (other && p->count[i] == p->count[w->index] + 1 &&
        (other->count != x->count || other->is_increase != x->is_increase)) {
      fault(w, op, 0, SIM_BAD_STATE, NULL,
            "setmaxnreg to %u, where warp %u of the warpgroup has set %u in line %u", x->count, i,
            other->count, p->last[i]->in->line);
      return false;
    }
  }
  return true;
}

static bool is_direction(struct warp *w, const struct op *op, unsigned has) {
  const struct resize *x = op->info;
  if (x->is_increase ? x->count >= has : x->count <= has)
    return true;
  fault(w, op, 0, SIM_BAD_STATE, NULL, "setmaxnreg.%s to %u registers from %u",
        x->is_increase ? "inc" : "dec", x->count, has);
  return false;
}

static void resize_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct resize *x = op->info;
  struct cta *c = w->cta;
  if (!c->registers) {
    c->registers = arena_new(c->arena, struct register_pool);
    registers_start(c);
  }
  struct register_pool *p = c->registers;
  unsigned has = p->per_thread[w->index];
  if (!warp_converge_whole(w, op, &lanes) || !is_same(w, op) || !is_direction(w, op, has))
    return;
  if (x->is_increase && x->count - has > p->free) {
    warp_block(w, lanes, (struct group){.pc = w->pc - 1, .state = GROUP_REGISTERS});
    return;
  }
  p->free = p->free + has - x->count;
  p->per_thread[w->index] = x->count;
  p->last[w->index] = op;
  p->count[w->index]++;
  wake_all(c);
}

// All warps of a warpgroup execute setmaxnreg equally often.
void registers_exit(struct warp *w, const struct op *op) {
  const struct register_pool *p = w->cta->registers;
  unsigned first = w->index / GROUP_WARPS * GROUP_WARPS;
  for (unsigned i = first; p && i < first + GROUP_WARPS && i < w->cta->warp_count; i++)
    if (w->cta->warps[i].live == 0 && p->count[i] != p->count[w->index])
      fault(w, op, 0, SIM_BAD_STATE, NULL,
            "warp %u ends after %u setmaxnreg, warp %u of its warpgroup after %u", w->index,
            p->count[w->index], i, p->count[i]);
}

bool decode_setmaxnreg(struct decoder *d) {
  struct resize *x = arena_new(d->arena, struct resize);
  uint64_t count;
  x->is_increase = take_part(d, "inc");
  if (!x->is_increase && !expect_part(d, "dec"))
    return false;
  if (!expect_part(d, "sync") || !expect_part(d, "aligned") || !expect_part(d, "u32") ||
      !expect_end(d) || !expect_operands(d, 1, 1) ||
      !constant_value(d, &d->in->operands[0], &count))
    return false;
  if (count < LEAST || count > LARGEST || count % STEP)
    return decode_error(d, "'setmaxnreg' wants a multiple of 8 from 24 to 256");
  x->count = (unsigned)count;
  emit(d, resize_op, NULL, 0, x);
  return !d->failed;
}
