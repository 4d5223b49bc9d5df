// SPDX-License-Identifier: Apache-2.0
// Slots of memory that alternates with iterations are numbered relative to the current iteration of
// the loop.
//  - Scratch with two slots (scratch_double_buffer): slot 0 is that of this iteration, slot 1 that
//    of the iterations before and after it.
//  - A ring whose buffers have phases: slot p is the buffer of phase p.
// On the back edge they advance by one slot: phase 1 is phase 0 of the next iteration. In iteration
// 0 slot p has number p; after the loop it may be any.
#include "lowering/plan/barrier_plan_slots.h"

// ---- buffers of stores by groups of warps ----

// No other item may use the bytes, at any time.
static bool is_alone(const struct barrier_run *r, uint32_t item) {
  const struct shared_item *x = &r->items->items.at[item];
  for (uint32_t i = 0; i < r->items->items.len; i++) {
    const struct shared_item *other = &r->items->items.at[i];
    if (i != item && other->offset < shared_item_end(x) && x->offset < shared_item_end(other))
      return false;
  }
  return true;
}

static bool see_own(MlirOperation op, void *user) {
  struct barrier_run *r = user;
  uint32_t warps = (uint32_t)op_attr_int(op, "warps", 0);
  if (!op_is(r->items->c, op, OP_GPU_MAP_STORE) || !warps)
    return true;
  const struct part_set *parts = shared_parts_of(r->items, mlirOperationGetOperand(op, 0));
  for (size_t i = 0; i < parts->at.len; i++) {
    const struct shared_item *item = &r->items->items.at[parts->at.at[i].item];
    if (is_alone(r, parts->at.at[i].item))
      intervals_add(r->a, &r->own, (struct shared_interval){item->offset, shared_item_end(item)});
  }
  r->own_warps = warps; // all stores of a kernel have the same
  return true;
}

// ---- memory whose slots alternate ----

struct call_search {
  const struct barrier_run *run;
  struct shared_interval where;
  bool found;
};

static bool see_call(MlirOperation op, void *user) {
  struct call_search *m = user;
  if (!m->run->calls || !op_is(m->run->items->c, op, OP_FUNC_CALL))
    return true;
  MlirOperation callee = op_function(m->run->items->c, op, "callee");
  const struct call_effects *e = ptrmap_get(m->run->calls, callee.ptr);
  m->found |= e && intervals_overlap(&e->touches, m->where);
  return true;
}

// Accesses of other items to that memory would not advance from slot to slot.
static bool has_loop_alone(const struct barrier_run *r, size_t i, MlirOperation loop) {
  const struct shared_item *item = &r->items->items.at[i];
  struct call_search m = {.run = r, .where = {item->offset, shared_item_end(item)}};
  struct live_range range = {liveness_point(r->items->live, loop),
                             liveness_end(r->items->live, loop)};
  for (size_t k = 0; k < r->items->items.len; k++) {
    const struct shared_item *other = &r->items->items.at[k];
    if (k != i && other->offset < m.where.end && m.where.begin < shared_item_end(other) &&
        live_ranges_overlap(shared_item_live(other), range))
      return false;
  }
  ir_walk(loop, see_call, &m);
  return !m.found;
}

static void find_alternating(struct barrier_run *r) {
  size_t count = r->items->items.len;
  r->alternates = arena_array(r->a, bool, count + 1);
  r->slot_loops = arena_array(r->a, MlirOperation, count + 1);
  for (size_t i = 0; i < count; i++) {
    const struct shared_item *item = &r->items->items.at[i];
    r->slot_loops[i] = (MlirOperation){NULL};
    r->alternates[i] = item->double_buffer != 0 && item->double_buffer >= item->bytes &&
                       has_loop_alone(r, i, item->loop);
  }
}

static bool is_phased(const struct barrier_run *r, uint32_t item, MlirOperation loop) {
  for (size_t i = 0; i < r->phased_rings.len; i++)
    if (r->phased_rings.at[i].item == item && mlirOperationEqual(r->phased_rings.at[i].loop, loop))
      return true;
  return false;
}

static bool see_index(MlirOperation op, void *user) {
  struct barrier_run *r = user;
  if (!op_is(r->items->c, op, OP_GPU_LOCAL_INDEX))
    return true;
  const struct part_set *parts = shared_parts_of(r->items, mlirOperationGetResult(op, 0));
  for (size_t i = 0; i < parts->at.len; i++) {
    struct phased_ring ring = {parts->at.at[i].item, parts->at.at[i].loop};
    const struct shared_item *item = &r->items->items.at[ring.item];
    if (mlirOperationIsNull(ring.loop) || item->copies == 1 || is_phased(r, ring.item, ring.loop))
      continue;
    // A ring allocated in the loop is another one in each iteration.
    bool is_outside =
        liveness_point(r->items->live, item->op) < liveness_point(r->items->live, ring.loop);
    if (is_outside && has_loop_alone(r, ring.item, ring.loop))
      vec_push(r->a, &r->phased_rings, ring);
  }
  return true;
}

void barrier_slots_find(struct barrier_run *r, MlirOperation func) {
  find_alternating(r);
  ir_walk(func, see_index, r);
  ir_walk(func, see_own, r);
}

static void advance_slots(struct barrier_run *r, struct pending *p,
                          const struct ring_slots *slots) {
  intervals_advance(r->a, &p->reads, slots);
  intervals_advance(r->a, &p->writes, slots);
  intervals_advance(r->a, &p->under_way, slots);
  for (unsigned i = 0; i < PRODUCT_AGES; i++)
    intervals_advance(r->a, &p->products[i], slots);
}

static void widen_to_slots(struct barrier_run *r, struct pending *p,
                           const struct ring_slots *slots) {
  intervals_widen(r->a, &p->reads, slots);
  intervals_widen(r->a, &p->writes, slots);
  intervals_widen(r->a, &p->under_way, slots);
  for (unsigned i = 0; i < PRODUCT_AGES; i++)
    intervals_widen(r->a, &p->products[i], slots);
}

static struct ring_slots slots_of_ring(const struct barrier_run *r, uint32_t i) {
  const struct shared_item *item = &r->items->items.at[i];
  return (struct ring_slots){item->offset, item->stride, item->stride, item->copies};
}

// The two slots of the loop's own scratch are exchanged; `either`: they may have been.
static void advance_scratch(struct barrier_run *r, MlirOperation loop, struct pending *p,
                            bool either) {
  for (size_t i = 0; i < r->items->items.len; i++) {
    const struct shared_item *item = &r->items->items.at[i];
    struct ring_slots slots = {item->offset, item->bytes, item->double_buffer, 2};
    if (!r->alternates[i] || !mlirOperationEqual(item->loop, loop))
      continue;
    if (either)
      widen_to_slots(r, p, &slots);
    else
      advance_slots(r, p, &slots);
  }
}

void barrier_slots_advance(struct barrier_run *r, MlirOperation loop, struct pending *p) {
  advance_scratch(r, loop, p, false);
  for (size_t i = 0; i < r->phased_rings.len; i++) {
    struct ring_slots slots = slots_of_ring(r, r->phased_rings.at[i].item);
    if (mlirOperationEqual(r->phased_rings.at[i].loop, loop))
      advance_slots(r, p, &slots);
  }
}

MlirOperation *barrier_slots_enter(struct barrier_run *r, MlirOperation loop, struct pending *p) {
  MlirOperation *outer = arena_array(r->a, MlirOperation, r->phased_rings.len + 1);
  for (size_t i = 0; i < r->phased_rings.len; i++) {
    const struct phased_ring *ring = &r->phased_rings.at[i];
    struct ring_slots slots = slots_of_ring(r, ring->item);
    outer[i] = r->slot_loops[ring->item];
    if (!mlirOperationEqual(ring->loop, loop))
      continue;
    if (!mlirOperationIsNull(outer[i]))
      widen_to_slots(r, p, &slots);
    r->slot_loops[ring->item] = loop;
  }
  return outer;
}

void barrier_slots_exit(struct barrier_run *r, MlirOperation loop, const MlirOperation *outer,
                        struct pending *p) {
  advance_scratch(r, loop, p, true);
  for (size_t i = 0; i < r->phased_rings.len; i++) {
    const struct phased_ring *ring = &r->phased_rings.at[i];
    struct ring_slots slots = slots_of_ring(r, ring->item);
    if (!mlirOperationEqual(ring->loop, loop))
      continue;
    widen_to_slots(r, p, &slots);
    r->slot_loops[ring->item] = outer[i];
  }
}
