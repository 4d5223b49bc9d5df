// SPDX-License-Identifier: Apache-2.0
// The CTA's shared memory: scratch of ops, buffers, and accesses.
#include "lowering/analysis/liveness.h"
#include "lowering/analysis/scratch.h"
#include "lowering/llvm/emit.h"

static bool is_planned(const struct emitter *e) { return e->shared_total >= 0; }

// What allocate-shared reserved for the op must be what its emission uses.
static void check_plan(struct emitter *e, MlirOperation op, uint32_t bytes) {
  uint32_t planned = scratch_bytes(e->c, op, e->num_warps);
  uint64_t end = (uint64_t)scratch_offset(op) + scratch_double_buffer(op) + bytes;
  if (bytes > planned || end > (uint64_t)e->shared_total)
    diag_error(e->c->diag, op_span(e->c, op), E0990,
               "`%s` uses %u bytes of shared memory at %u; %u of %lld were reserved",
               op_info(op_id(e->c, op))->name, bytes, scratch_offset(op), planned,
               (long long)e->shared_total);
}

LLVMValueRef shared_pointer(struct emitter *e, uint32_t offset) {
  LLVMValueRef at = const_i32(e, offset);
  return LLVMBuildGEP2(e->b, e->i8, e->target->hooks->shared_base(e), &at, 1, "");
}

// ---- scratch with two slots, alternating with a loop ----

// Carried by loops being emitted: the distance of the slots in odd iterations, 0 in even ones.
struct double_buffer {
  uint32_t distance;
  LLVMValueRef above;
  struct double_buffer *outer;
};

struct search {
  struct emitter *e;
  MlirOperation loop;
  LLVMBasicBlockRef before;
  struct double_buffer *outer;
};

static bool begin_double_buffer(MlirOperation op, void *user) {
  struct search *s = user;
  struct emitter *e = s->e;
  uint32_t distance = scratch_double_buffer(op);
  if (!distance || !mlirOperationEqual(op_loop_around(e->c, op), s->loop))
    return true;
  for (const struct double_buffer *t = e->double_buffers; t != s->outer; t = t->outer)
    if (t->distance == distance)
      return true;
  LLVMValueRef zero = const_i32(e, 0);
  struct double_buffer *t = arena_new(e->arena, struct double_buffer);
  *t = (struct double_buffer){distance, LLVMBuildPhi(e->b, e->i32, ""), e->double_buffers};
  LLVMAddIncoming(t->above, &zero, &s->before, 1);
  e->double_buffers = t;
  return true;
}

struct double_buffer *double_buffers_begin(struct emitter *e, MlirOperation loop,
                                           LLVMBasicBlockRef before) {
  struct search s = {e, loop, before, e->double_buffers};
  ir_walk(loop, begin_double_buffer, &s);
  return s.outer;
}

void double_buffers_end(struct emitter *e, struct double_buffer *outer) {
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
  for (; e->double_buffers != outer; e->double_buffers = e->double_buffers->outer) {
    LLVMValueRef next =
        LLVMBuildXor(e->b, e->double_buffers->above, const_i32(e, e->double_buffers->distance), "");
    LLVMAddIncoming(e->double_buffers->above, &next, &latch, 1);
  }
}

// NULL: nothing.
static LLVMValueRef double_buffer_offset(const struct emitter *e, uint32_t distance) {
  const struct double_buffer *t = e->double_buffers;
  while (distance && t && t->distance != distance)
    t = t->outer;
  return distance && t ? t->above : NULL;
}

// ---- accesses ----

LLVMValueRef scratch_begin(struct emitter *e, MlirOperation op, uint32_t bytes) {
  uint32_t offset = scratch_offset(op), end = offset + scratch_double_buffer(op) + bytes;
  if (is_planned(e))
    check_plan(e, op, bytes);
  if (end > e->shared_bytes) {
    e->shared_bytes = end;
    e->shared_op = op;
  }
  // A second exchange of one op: its threads may still read the first one's data.
  if (is_planned(e) && mlirOperationEqual(op, e->scratch_op))
    cta_barrier(e);
  e->scratch_op = op;
  LLVMValueRef base = shared_pointer(e, offset),
               above = double_buffer_offset(e, scratch_double_buffer(op));
  return above ? LLVMBuildGEP2(e->b, e->i8, base, &above, 1, "") : base;
}

// Any barrier, that of a conversion's scratch too, may be the one between what a thread wrote to a
// buffer and a product that reads it.
void cta_barrier(struct emitter *e) {
  e->uses_collectives = true;
  if (e->has_map_stores || (e->products_read_writes && !e->is_behind_products))
    e->target->hooks->async_proxy_fence(e);
  e->target->hooks->barrier(e);
}

void cta_barrier_behind_reads(struct emitter *e) {
  e->uses_collectives = true;
  e->target->hooks->barrier(e);
}

void group_barrier(struct emitter *e, uint32_t warps, bool reads_only) {
  e->uses_collectives = true;
  if (!reads_only)
    e->target->hooks->async_proxy_fence(e);
  e->target->hooks->group_barrier(e, warps);
}

// insert-barriers puts a barrier before the next use of the memory.
void scratch_end(struct emitter *e) {
  if (!is_planned(e))
    cta_barrier(e);
}

struct buffer_addresses buffer_addresses_of(struct emitter *e, const struct linear_layout *offsets,
                                            uint32_t start, unsigned element_bits,
                                            LLVMValueRef at) {
  uint32_t count = register_count(offsets);
  struct buffer_addresses p = {.element = LLVMIntTypeInContext(e->llvm, element_bits), .at = at};
  p.thread = arena_array(e->arena, LLVMValueRef, count);
  p.rest = arena_array(e->arena, uint32_t, count);
  layout_offsets(e, offsets, start, p.thread, p.rest);
  LLVMValueRef base = e->target->hooks->shared_base(e), last = NULL, pointer = NULL;
  for (uint32_t r = 0; r < count; r++) {
    if (p.thread[r] != last)
      pointer = LLVMBuildGEP2(e->entry, p.element, base, &p.thread[r], 1, "");
    last = p.thread[r];
    p.thread[r] = pointer;
  }
  return p;
}

LLVMValueRef buffer_address(struct emitter *e, const struct buffer_addresses *p, uint32_t r) {
  LLVMValueRef place = LLVMBuildGEP2(e->b, e->i8, p->thread[r], (LLVMValueRef[]){p->at}, 1, "");
  LLVMValueRef rest = const_i32(e, p->rest[r]);
  return p->rest[r] ? LLVMBuildGEP2(e->b, p->element, place, &rest, 1, "") : place;
}

LLVMValueRef shared_load(struct emitter *e, LLVMTypeRef type, LLVMValueRef ptr, unsigned bytes) {
  if (e->check && e->target->hooks->shared_check)
    e->target->hooks->shared_check(e, ptr, bytes, false);
  LLVMValueRef v = LLVMBuildLoad2(e->b, type, ptr, "");
  LLVMSetAlignment(v, bytes);
  return v;
}

void shared_store(struct emitter *e, LLVMValueRef value, LLVMValueRef ptr, unsigned bytes) {
  if (e->check && e->target->hooks->shared_check)
    e->target->hooks->shared_check(e, ptr, bytes, true);
  LLVMSetAlignment(LLVMBuildStore(e->b, value, ptr), bytes);
}
