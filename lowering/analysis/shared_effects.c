// SPDX-License-Identifier: Apache-2.0
// Collects buffers and scratch, and propagates buffers through control flow.
#include "lowering/analysis/shared_effects.h"

#include "lowering/analysis/scratch.h"

// ---- sets ----

static bool is_same(struct shared_part x, struct shared_part y) {
  return x.item == y.item && x.number == y.number && x.loop.ptr == y.loop.ptr;
}

static bool set_add(struct arena *a, struct part_set *s, struct shared_part part) {
  for (size_t i = 0; i < s->at.len; i++)
    if (is_same(s->at.at[i], part))
      return false;
  vec_push(a, &s->at, part);
  return true;
}

static void set_add_all(struct arena *a, struct part_set *s, const struct part_set *of) {
  for (size_t i = 0; i < of->at.len; i++)
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
                             .copies = 1,
                             .live = {at, at},
                             .offset = scratch_offset(op)};
  if (!mlirOperationIsNull(item.loop)) {
    item.loop_range.begin = liveness_point(k->live, item.loop);
    item.loop_range.end = liveness_end(k->live, item.loop);
    item.double_buffer = is_scratch ? scratch_double_buffer(op) : 0;
  }
  vec_push(k->s->arena, &k->s->items, item);
  return (uint32_t)k->s->items.len - 1;
}

static struct part_set *set_of(struct shared_items *s, MlirValue v) {
  struct part_set *set = ptrmap_get(&s->buffers, v.ptr);
  if (!set) {
    set = arena_new(s->arena, struct part_set);
    *set = (struct part_set){0};
    ptrmap_put(s->arena, &s->buffers, v.ptr, set);
  }
  return set;
}

static void add_buffer(struct collect *k, MlirOperation alloc) {
  struct shared_items *s = k->s;
  MlirValue buffer = mlirOperationGetResult(alloc, 0);
  MlirType type = mlirValueGetType(buffer);
  uint32_t at = add_item(k, alloc, false, alloc_bytes(s->c, alloc), buffer_alignment(s->c, type));
  struct shared_item *item = &s->items.at[at];
  item->copies = alloc_copies(alloc);
  item->stride = item->copies > 1 ? buffer_stride(s->c, type) : 0;
  set_add(s->arena, set_of(s, buffer), (struct shared_part){.item = at});
}

static bool collect_item(MlirOperation op, void *user) {
  struct collect *k = user;
  struct shared_items *s = k->s;
  if (op_is(s->c, op, OP_GPU_LOCAL_ALLOC)) {
    add_buffer(k, op);
    return true;
  }
  uint32_t bytes = scratch_bytes(s->c, op, k->num_warps);
  if (bytes) {
    uint32_t item = add_item(k, op, true, bytes, SCRATCH_ALIGNMENT);
    ptrmap_put(s->arena, &s->scratch, op.ptr, (void *)(uintptr_t)(item + 1));
  }
  return true;
}

// ---- buffers that a value may be ----

static bool take(struct collect *k, MlirValue to, struct shared_part part) {
  bool is_new = set_add(k->s->arena, set_of(k->s, to), part);
  k->changed |= is_new;
  return is_new;
}

// A phase names a buffer relative to the iteration: in the next iteration it is another one.
static void flow(MlirValue from, MlirValue to, void *user) {
  struct collect *k = user;
  if (!type_is_memdesc(k->s->c, mlirValueGetType(from)))
    return;
  const struct part_set *source = set_of(k->s, from);
  for (size_t i = 0; i < source->at.len; i++) {
    struct shared_part part = source->at.at[i];
    if (!mlirOperationIsNull(part.loop))
      part = (struct shared_part){.item = part.item, .number = SHARED_ANY};
    take(k, to, part);
  }
}

// The loop whose iterations a phase counts.
static MlirOperation for_around(struct ir_context *c, MlirOperation op) {
  do
    op = mlirOperationGetParentOperation(op);
  while (!mlirOperationIsNull(op) && !op_is(c, op, OP_SCF_FOR));
  return op;
}

// The buffer of `ring` that a local_index gives.
static struct shared_part part_of(const struct shared_items *s, MlirOperation index,
                                  struct shared_part ring) {
  uint32_t copies = s->items.at[ring.item].copies;
  int64_t phase = op_attr_int(index, "phase", -1), number;
  MlirOperation loop = for_around(s->c, index);
  struct shared_part part = {.item = ring.item, .number = SHARED_ANY};
  if (ring.number != 0 || !mlirOperationIsNull(ring.loop))
    return part;
  if (phase >= 0 && !mlirOperationIsNull(loop)) {
    part.number = (uint32_t)(phase % copies);
    part.loop = loop;
  } else if (value_const_int(s->c, mlirOperationGetOperand(index, 1), &number) && number >= 0 &&
             number < copies) {
    part.number = (uint32_t)number;
  }
  return part;
}

static void view(struct collect *k, MlirOperation op, bool is_index) {
  const struct part_set *source = set_of(k->s, mlirOperationGetOperand(op, 0));
  for (size_t i = 0; i < source->at.len; i++) {
    struct shared_part part = source->at.at[i];
    take(k, mlirOperationGetResult(op, 0), is_index ? part_of(k->s, op, part) : part);
  }
}

static bool flow_through(MlirOperation op, void *user) {
  struct collect *k = user;
  enum op_id id = op_id(k->s->c, op);
  if (id == OP_GPU_LOCAL_INDEX || id == OP_GPU_LOCAL_TRANS)
    view(k, op, id == OP_GPU_LOCAL_INDEX);
  else
    flow_of_values(k->s->c, op, flow, k);
  return true;
}

// ---- live ranges of items ----

static void widen(struct live_range *live, struct live_range r) {
  live->begin = r.begin < live->begin ? r.begin : live->begin;
  live->end = r.end > live->end ? r.end : live->end;
}

static void widen_all(struct collect *k, const struct part_set *set, struct live_range r) {
  for (size_t i = 0; i < set->at.len; i++)
    widen(&k->s->items.at[set->at.at[i].item].live, r);
}

static bool waits_for_all(struct ir_context *c, MlirOperation op) {
  return op_is(c, op, OP_GPU_ASYNC_WAIT) && op_attr_int(op, "pending", 1) == 0;
}

// Until the first wait for all copies that is on every path from the copy. In a loop without such a
// wait after the copy, the copy may be in flight from the loop's head on.
static struct live_range under_way(struct collect *k, MlirOperation copy) {
  struct ir_context *c = k->s->c;
  struct live_range r = {liveness_point(k->live, copy), liveness_count(k->live)};
  for (MlirOperation at = copy; !op_is(c, at, OP_FUNC_FUNC);
       at = mlirOperationGetParentOperation(at)) {
    if (op_is_loop(c, at))
      r.begin = liveness_point(k->live, at);
    for (MlirOperation next = at; !mlirOperationIsNull(next);
         next = mlirOperationGetNextInBlock(next))
      if (waits_for_all(c, next)) {
        r.end = liveness_point(k->live, next);
        return r;
      }
  }
  return r;
}

// Until the first wait in its block that covers the product. A product in flight at the end of the
// block reads slots of rings, which are live for longer.
static struct live_range in_flight(struct collect *k, MlirOperation product) {
  struct ir_context *c = k->s->c;
  uint32_t point = liveness_point(k->live, product);
  int64_t younger = 0;
  for (MlirOperation next = product; !mlirOperationIsNull(next);
       next = mlirOperationGetNextInBlock(next)) {
    bool is_product = op_is(c, next, OP_GPU_WARP_GROUP_DOT);
    if (!is_product && !op_is(c, next, OP_GPU_WARP_GROUP_DOT_WAIT))
      continue;
    younger += is_product && !mlirOperationEqual(next, product);
    if (op_attr_int(next, "pending", 0) <= younger)
      return (struct live_range){point, liveness_point(k->live, next)};
  }
  return (struct live_range){point, point};
}

static bool see_asynchronous(MlirOperation op, void *user) {
  struct collect *k = user;
  if (op_is(k->s->c, op, OP_GPU_ASYNC_COPY))
    widen_all(k, set_of(k->s, mlirOperationGetOperand(op, 1)), under_way(k, op));
  for (intptr_t i = 0; op_is(k->s->c, op, OP_GPU_WARP_GROUP_DOT) && i < 2; i++)
    widen_all(k, set_of(k->s, mlirOperationGetOperand(op, i)), in_flight(k, op));
  return true;
}

// A buffer is live where a value that may be it is live, while a copy to it is in flight, and while
// a product that reads it is.
static void find_ranges(struct collect *k, MlirOperation func) {
  size_t cursor = 0;
  for (struct map_entry e; map_next(&k->s->buffers, &cursor, &e);)
    widen_all(k, e.value, liveness_range(k->live, (MlirValue){e.key.ptr}));
  ir_walk(func, see_asynchronous, k);
}

struct shared_items *shared_items_of(struct ir_context *c, MlirOperation func, uint32_t num_warps,
                                     struct arena *a) {
  struct shared_items *s = arena_new(a, struct shared_items);
  *s = (struct shared_items){.c = c, .arena = a};
  struct collect k = {.s = s, .live = liveness_of(c, func, a), .num_warps = num_warps};
  s->live = k.live;
  ir_walk(func, collect_item, &k);
  // Sets only grow. A round adds a part to the set of some value, or is the last one, and an item
  // has at most copies * loops + copies + 1 parts: at most values * parts + 1 rounds.
  do {
    k.changed = false;
    ir_walk(func, flow_through, &k);
  } while (k.changed);
  find_ranges(&k, func);
  return s;
}

// ---- effects ----

const struct part_set *shared_parts_of(const struct shared_items *s, MlirValue buffer) {
  static const struct part_set none;
  const struct part_set *set = ptrmap_get(&s->buffers, buffer.ptr);
  return set ? set : &none;
}

static void add_buffers(const struct shared_items *s, struct part_set *to, MlirValue v) {
  set_add_all(s->arena, to, shared_parts_of(s, v));
}

static void wait_effects(const struct shared_items *s, MlirOperation op, struct shared_effects *e) {
  e->completes_all = waits_for_all(s->c, op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    add_buffers(s, &e->completed, mlirOperationGetOperand(op, i));
}

static void product_wait_effects(MlirOperation op, struct shared_effects *e) {
  e->waits_for_products = true;
  e->products_left = (unsigned)op_attr_int(op, "pending", 0);
}

static void scratch_effects(const struct shared_items *s, MlirOperation op,
                            struct shared_effects *e) {
  uintptr_t scratch = (uintptr_t)ptrmap_get(&s->scratch, op.ptr);
  if (!scratch)
    return;
  struct shared_part part = {.item = (uint32_t)scratch - 1};
  e->synchronizes = true;
  set_add(s->arena, &e->writes, part);
  set_add(s->arena, &e->late_reads, part);
}

struct shared_effects shared_effects_of(const struct shared_items *s, MlirOperation op) {
  struct shared_effects e = {0};
  switch (op_id(s->c, op)) {
  case OP_TILE_BARRIER:
  case OP_GPU_BARRIER: e.synchronizes = true; break;
  case OP_GPU_LOCAL_ALLOC:
    if (mlirOperationGetNumOperands(op) > 0)
      add_buffers(s, &e.writes, mlirOperationGetResult(op, 0));
    break;
  case OP_GPU_MAP_STORE:
  case OP_GPU_LOCAL_LOAD: add_buffers(s, &e.reads, mlirOperationGetOperand(op, 0)); break;
  case OP_GPU_WARP_GROUP_DOT: // of an operand in registers nothing
    add_buffers(s, &e.product_reads, mlirOperationGetOperand(op, 0));
    add_buffers(s, &e.product_reads, mlirOperationGetOperand(op, 1));
    product_wait_effects(op, &e);
    break;
  case OP_GPU_WARP_GROUP_DOT_WAIT: product_wait_effects(op, &e); break;
  case OP_GPU_LOCAL_STORE: add_buffers(s, &e.writes, mlirOperationGetOperand(op, 1)); break;
  case OP_GPU_ASYNC_COPY: add_buffers(s, &e.starts, mlirOperationGetOperand(op, 1)); break;
  case OP_GPU_ASYNC_WAIT: wait_effects(s, op, &e); break;
  default: scratch_effects(s, op, &e); break;
  }
  return e;
}

bool shared_effects_any(const struct shared_effects *e) {
  return e->synchronizes || e->completes_all || e->waits_for_products || e->reads.at.len ||
         e->writes.at.len || e->starts.at.len || e->completed.at.len;
}
