// SPDX-License-Identifier: Apache-2.0
// Collecting buffers and scratch, and following buffers through control flow.
#include "lowering/analysis/shared_effects.h"

#include "lowering/analysis/scratch.h"

// ---- sets ----

static bool set_add(struct arena *a, struct item_set *s, uint32_t item) {
  size_t i = 0;
  while (i < s->at.len && s->at.at[i] < item)
    i++;
  if (i < s->at.len && s->at.at[i] == item)
    return false;
  vec_push(a, &s->at, item);
  for (size_t k = s->at.len - 1; k > i; k--)
    s->at.at[k] = s->at.at[k - 1];
  s->at.at[i] = item;
  return true;
}

static void set_add_all(struct arena *a, struct item_set *s, const struct item_set *of) {
  for (size_t i = 0; of && i < of->at.len; i++)
    set_add(a, s, of->at.at[i]);
}

// ---- items ----

struct collect {
  struct shared_items *s;
  struct liveness *live;
  uint32_t num_warps;
  bool changed;
};

static uint32_t add_item(struct collect *k, MlirOperation op, bool is_scratch, uint32_t bytes,
                         uint32_t alignment) {
  uint32_t at = liveness_point(k->live, op);
  struct shared_item item = {.op = op,
                             .loop = op_loop_around(k->s->c, op),
                             .is_scratch = is_scratch,
                             .bytes = bytes,
                             .alignment = alignment,
                             .live = {at, at},
                             .offset = scratch_offset(op)};
  if (!mlirOperationIsNull(item.loop)) {
    item.loop_range.begin = liveness_point(k->live, item.loop);
    item.loop_range.end = liveness_end(k->live, item.loop);
    item.toggle = is_scratch ? scratch_toggle(op) : 0;
  }
  vec_push(k->s->arena, &k->s->items, item);
  return (uint32_t)k->s->items.len - 1;
}

static struct item_set *set_of(struct shared_items *s, MlirValue v) {
  struct item_set *set = ptrmap_get(&s->buffers, v.ptr);
  if (!set) {
    set = arena_new(s->arena, struct item_set);
    *set = (struct item_set){0};
    ptrmap_put(s->arena, &s->buffers, v.ptr, set);
  }
  return set;
}

static bool collect_item(MlirOperation op, void *user) {
  struct collect *k = user;
  struct shared_items *s = k->s;
  if (op_is(s->c, op, OP_GPU_LOCAL_ALLOC)) {
    MlirValue buffer = mlirOperationGetResult(op, 0);
    MlirType type = mlirValueGetType(buffer);
    uint32_t item = add_item(k, op, false, buffer_bytes(s->c, type), buffer_alignment(s->c, type));
    set_add(s->arena, set_of(s, buffer), item);
    return true;
  }
  uint32_t bytes = scratch_bytes(s->c, op, k->num_warps);
  if (bytes) {
    uint32_t item = add_item(k, op, true, bytes, SCRATCH_ALIGNMENT);
    ptrmap_put(s->arena, &s->scratch, op.ptr, (void *)(uintptr_t)(item + 1));
  }
  return true;
}

static void flow(MlirValue from, MlirValue to, void *user) {
  struct collect *k = user;
  if (!type_is_memdesc(k->s->c, mlirValueGetType(from)))
    return;
  const struct item_set *source = set_of(k->s, from);
  struct item_set *target = set_of(k->s, to);
  for (size_t i = 0; i < source->at.len; i++)
    k->changed |= set_add(k->s->arena, target, source->at.at[i]);
}

static bool flow_through(MlirOperation op, void *user) {
  struct collect *k = user;
  flow_of_values(k->s->c, op, flow, k);
  return true;
}

// A buffer lives wherever a value that may be it lives.
static void find_ranges(struct collect *k) {
  size_t cursor = 0;
  for (struct map_entry e; map_next(&k->s->buffers, &cursor, &e);) {
    const struct item_set *set = e.value;
    struct live_range r = liveness_range(k->live, (MlirValue){e.key.ptr});
    for (size_t i = 0; i < set->at.len; i++) {
      struct live_range *live = &k->s->items.at[set->at.at[i]].live;
      live->begin = r.begin < live->begin ? r.begin : live->begin;
      live->end = r.end > live->end ? r.end : live->end;
    }
  }
}

struct shared_items *shared_items_of(struct ir_context *c, MlirOperation func, uint32_t num_warps,
                                     struct arena *a) {
  struct shared_items *s = arena_new(a, struct shared_items);
  *s = (struct shared_items){.c = c, .arena = a};
  struct collect k = {.s = s, .live = liveness_of(c, func, a), .num_warps = num_warps};
  ir_walk(func, collect_item, &k);
  do {
    k.changed = false;
    ir_walk(func, flow_through, &k);
  } while (k.changed);
  find_ranges(&k);
  return s;
}

// ---- effects ----

static const struct item_set *buffers_of(const struct shared_items *s, MlirValue v) {
  return ptrmap_get(&s->buffers, v.ptr);
}

struct shared_effects shared_effects_of(const struct shared_items *s, MlirOperation op) {
  struct shared_effects e = {0};
  switch (op_id(s->c, op)) {
  case OP_TILE_BARRIER:
  case OP_GPU_BARRIER: e.meets = true; return e;
  case OP_GPU_LOCAL_ALLOC:
    if (mlirOperationGetNumOperands(op) > 0)
      set_add_all(s->arena, &e.writes, buffers_of(s, mlirOperationGetResult(op, 0)));
    return e;
  case OP_GPU_LOCAL_LOAD:
    set_add_all(s->arena, &e.reads, buffers_of(s, mlirOperationGetOperand(op, 0)));
    return e;
  case OP_GPU_LOCAL_STORE:
    set_add_all(s->arena, &e.writes, buffers_of(s, mlirOperationGetOperand(op, 1)));
    return e;
  default: break;
  }
  uintptr_t scratch = (uintptr_t)ptrmap_get(&s->scratch, op.ptr);
  if (scratch) {
    e.meets = true;
    set_add(s->arena, &e.writes, (uint32_t)scratch - 1);
    set_add(s->arena, &e.late_reads, (uint32_t)scratch - 1);
  }
  return e;
}
