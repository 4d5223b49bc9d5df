// SPDX-License-Identifier: Apache-2.0
// Rewrites the map_makes of both branches of a kernel with a producer (producer_maps.h).
#include "lowering/passes/producer_maps.h"

#include "layouts/attr.h"
#include "lowering/passes/map_stores.h"

uint32_t producer_map_for(struct producer_maps *m, struct ir_context *c, MlirOperation module,
                          uint32_t from, struct kernel_map map, const struct encoding *buffer,
                          int32_t ring) {
  struct producer_map x = {.from = from, .ring = ring};
  for (size_t i = 0; i < m->at.len; i++) {
    struct kernel_map old;
    bool is_same = m->at.at[i].from == from && module_map(c, module, m->at.at[i].number, &old) &&
                   old.swizzle == buffer->nvmma.swizzle;
    x.number = m->at.at[i].number;
    if (is_same && m->at.at[i].ring == ring)
      return x.number;
    if (is_same) {
      vec_push(m->a, &m->at, x);
      return x.number;
    }
  }
  map.made = ++m->count;
  x.number = map_for_buffer(c, module, map, buffer);
  vec_push(m->a, &m->at, x);
  return x.number;
}

void producer_maps_open(struct producer_maps *m, struct builder *b) {
  if (!m->count)
    return;
  struct encoding e = {.kind = ENC_SHARED, .rank = 1};
  e.shared.vec = e.shared.per_phase = e.shared.max_phase = 1;
  int64_t words = MADE_MAP_WORDS;
  while (words < MADE_MAP_WORDS * (1 + (int64_t)m->count)) // one more, to align them
    words *= 2;
  MlirType type = tensor_type(1, &words, mlir_of_dtype(b->c, DTYPE_I64), encoding_attr(b->c, &e));
  m->buffer = build_local_alloc(b, (MlirValue){NULL}, type);
}

// Waits for copies by maps made from map `from`, or of any; each ring once.
static void drain(struct producer_maps *m, struct builder *b, const struct ring_ref *const *rings,
                  int64_t from) {
  for (size_t i = 0; i < m->at.len; i++) {
    bool is_first = from < 0 || m->at.at[i].from == from;
    for (size_t k = 0; k < i; k++)
      is_first &= m->at.at[k].ring != m->at.at[i].ring || (from >= 0 && m->at.at[k].from != from);
    if (is_first)
      build_ring_drain(b, rings[m->at.at[i].ring]);
  }
}

static void make(struct producer_maps *m, struct ir_context *c, MlirOperation op,
                 const struct ring_ref *const *rings) {
  struct builder b = builder_before(c, op);
  int64_t from = op_attr_int(op, "map", 0);
  unsigned count = (unsigned)mlirOperationGetNumOperands(op) - 1;
  MlirValue numbers[2 * KERNEL_MAP_RANK];
  for (unsigned i = 0; i < count; i++)
    numbers[i] = mlirOperationGetOperand(op, 1 + (intptr_t)i);
  drain(m, &b, rings, from);
  for (size_t i = 0; i < m->at.len; i++) {
    bool is_new = m->at.at[i].from == from;
    for (size_t k = 0; k < i; k++)
      is_new &= m->at.at[k].number != m->at.at[i].number;
    if (is_new)
      vec_push(m->a, &m->made,
               build_made_map(&b, m->at.at[i].number, m->buffer, count,
                              mlirOperationGetOperand(op, 0), numbers));
  }
  op_erase(op);
}

// Maps that are made one after the other, with nothing between that copies, are published together:
// behind the loads of all their fields, which so are under way at once.
static void join_makes(struct producer_maps *m, struct ir_context *c) {
  for (size_t i = m->made.len; i-- > 0;) {
    MlirOperation make = m->made.at[i], op = mlirOperationGetNextInBlock(make);
    while (!mlirOperationIsNull(op) && !op_is(c, op, OP_GPU_MAP_MAKE) &&
           (op_is(c, op, OP_GPU_RING_DRAIN) || !(op_flags(c, op) & (OP_EFFECT | OP_WRITE))) &&
           mlirOperationGetNumRegions(op) == 0)
      op = mlirOperationGetNextInBlock(op);
    if (mlirOperationIsNull(op) || !op_is(c, op, OP_GPU_MAP_MAKE))
      continue;
    map_make_joins(c, make);
    mlirOperationMoveBefore(make, op);
  }
}

void producer_maps_lower(struct producer_maps *m, struct ir_context *c, MlirBlock leader,
                         const struct ring_ref *const *rings, struct builder *end) {
  for (size_t i = 0; i < m->makes.len; i++)
    op_erase(m->makes.at[i]);
  for (size_t i = 0; i < m->copies.len; i++)
    make(m, c, m->copies.at[i], rings);
  join_makes(m, c);
  if (!m->count)
    return;
  struct builder first = builder_before(c, mlirBlockGetFirstOperation(leader));
  build_maps_open(&first, m->buffer);
  struct builder last = builder_before(c, mlirBlockGetTerminator(leader));
  drain(m, &last, rings, -1);
  build_maps_close(&last);
  build_ring_end(end, m->buffer);
}
