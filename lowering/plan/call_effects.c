// SPDX-License-Identifier: Apache-2.0
// Effects of calls on shared memory: the function's own items, and those of the functions it calls.
#include "lowering/plan/barrier_plan.h"

struct summary {
  const struct shared_items *items;
  const struct map *calls;
  struct arena *a;
  struct call_effects *ret;
};

static bool sum_up(MlirOperation op, void *user) {
  struct summary *s = user;
  if (!op_is(s->items->c, op, OP_FUNC_CALL) || !s->calls)
    return true;
  MlirOperation callee = op_function(s->items->c, op, "callee");
  const struct call_effects *inner = ptrmap_get(s->calls, callee.ptr);
  if (inner)
    intervals_add_all(s->a, &s->ret->touches, &inner->touches);
  return true;
}

struct call_effects *call_effects_of(const struct shared_items *items, MlirOperation func,
                                     const struct map *calls, const struct barrier_plan *plan,
                                     struct arena *a) {
  struct call_effects *e = arena_new(a, struct call_effects);
  *e = (struct call_effects){.left = plan->left};
  for (size_t i = 0; i < items->items.len; i++) {
    const struct shared_item *item = &items->items.at[i];
    intervals_add(a, &e->touches, (struct shared_interval){item->offset, shared_item_end(item)});
  }
  struct summary s = {items, calls, a, e};
  ir_walk(func, sum_up, &s);
  return e;
}
