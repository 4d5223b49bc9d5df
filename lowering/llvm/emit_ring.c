// SPDX-License-Identifier: Apache-2.0
// Rings of buffers (mlir-dialects/rings.h). The positions of a ring are variables of each
// thread, which LLVM makes registers: the slot and the parity of its phase. A slot's mbarrier is
// full in phases of parity 0, 1, 0, ...; it is empty before its first phase, which a wait for the
// phase before parity 0 finds true at once (PTX ISA, "mbarrier.try_wait").
#include "lowering/llvm/emit.h"
#include "mlir-dialects/rings.h"

enum { MBARRIER_BYTES = 8 };

// Of the one who waits.
struct position {
  LLVMValueRef slot, parity; // i32 variables
};

struct ring_positions {
  int64_t number;
  struct position put, get;
  LLVMValueRef released, held; // the slot to release next; slots read and not released
  uint32_t ctas;               // that share copies to the ring; 0: none do
  LLVMValueRef shares;         // i1: do they?
  struct ring_positions *next;
};

struct ring {
  struct ring_positions *at;
  uint32_t slots;
  LLVMValueRef barriers; // address in shared memory, i32
};

static LLVMValueRef variable(struct emitter *e) {
  LLVMValueRef v = LLVMBuildAlloca(e->entry, e->i32, "");
  LLVMBuildStore(e->entry, const_i32(e, 0), v);
  return v;
}

static struct ring_positions *positions_of(struct emitter *e, int64_t number) {
  for (struct ring_positions *r = e->rings; r; r = r->next)
    if (r->number == number)
      return r;
  struct ring_positions *r = arena_new(e->arena, struct ring_positions);
  *r = (struct ring_positions){.number = number, .next = e->rings};
  r->put = (struct position){variable(e), variable(e)};
  r->get = (struct position){variable(e), variable(e)};
  r->released = variable(e), r->held = variable(e);
  e->rings = r;
  return r;
}

static LLVMValueRef shared_address(struct emitter *e, LLVMValueRef offset) {
  LLVMValueRef base = LLVMBuildPtrToInt(e->b, e->target->hooks->shared_base(e), e->i32, "");
  return LLVMBuildAdd(e->b, base, offset, "");
}

static struct ring ring_of(struct emitter *e, MlirOperation op, intptr_t barriers) {
  return (struct ring){.at = positions_of(e, op_attr_int(op, "ring", 0)),
                       .slots = (uint32_t)op_attr_int(op, "slots", 1),
                       .barriers = shared_address(e, operand_of(e, op, barriers)->at[0])};
}

static LLVMValueRef read_variable(struct emitter *e, LLVMValueRef v) {
  return LLVMBuildLoad2(e->b, e->i32, v, "");
}

static LLVMValueRef full(struct emitter *e, const struct ring *r, LLVMValueRef slot) {
  LLVMValueRef distance = LLVMBuildMul(e->b, slot, const_i32(e, MBARRIER_BYTES), "");
  return LLVMBuildAdd(e->b, r->barriers, distance, "");
}

static LLVMValueRef empty(struct emitter *e, const struct ring *r, LLVMValueRef slot) {
  return LLVMBuildAdd(e->b, full(e, r, slot), const_i32(e, MBARRIER_BYTES * r->slots), "");
}

// The slot after `slot`; *ret_wraps: it is the first.
static LLVMValueRef after(struct emitter *e, const struct ring *r, LLVMValueRef slot,
                          LLVMValueRef *ret_wraps) {
  LLVMValueRef next = LLVMBuildAdd(e->b, slot, const_i32(e, 1), "");
  *ret_wraps = LLVMBuildICmp(e->b, LLVMIntEQ, next, const_i32(e, r->slots), "");
  return LLVMBuildSelect(e->b, *ret_wraps, const_i32(e, 0), next, "");
}

static void advance(struct emitter *e, const struct ring *r, const struct position *p,
                    LLVMValueRef slot, LLVMValueRef parity) {
  LLVMValueRef wraps, next = after(e, r, slot, &wraps);
  LLVMBuildStore(e->b, next, p->slot);
  LLVMBuildStore(e->b, LLVMBuildXor(e->b, parity, LLVMBuildZExt(e->b, wraps, e->i32, ""), ""),
                 p->parity);
}

// ---- ops ----

// The CTAs share copies if all of them are in step, and if the launch has clusters.
static LLVMValueRef shares(struct emitter *e, MlirOperation op, uint32_t ctas) {
  LLVMValueRef size = e->target->hooks->cluster_size(e);
  LLVMValueRef whole = LLVMBuildICmp(e->b, LLVMIntEQ, size, const_i32(e, ctas), "");
  if (mlirOperationGetNumOperands(op) < 2)
    return whole;
  return LLVMBuildAnd(e->b, whole, operand_of(e, op, 1)->at[0], "");
}

static void init(struct emitter *e, MlirOperation op) {
  struct ring r = ring_of(e, op, 0);
  LLVMValueRef readers = const_i32(e, e->num_warps);
  r.at->ctas = (uint32_t)op_attr_int(op, "ctas", 0);
  if (r.at->ctas) {
    r.at->shares = shares(e, op, r.at->ctas);
    readers =
        LLVMBuildSelect(e->b, r.at->shares, const_i32(e, e->num_warps * r.at->ctas), readers, "");
  }
  struct branch br =
      branch_begin(e, LLVMBuildICmp(e->b, LLVMIntEQ, e->thread_id, const_i32(e, 0), ""));
  for (uint32_t i = 0; i < r.slots; i++) {
    e->target->hooks->mbarrier_init(e, full(e, &r, const_i32(e, i)), const_i32(e, 1));
    e->target->hooks->mbarrier_init(e, empty(e, &r, const_i32(e, i)), readers);
  }
  branch_end(e, &br);
  e->target->hooks->mbarriers_ready(e);
}

static void wait_empty(struct emitter *e, MlirOperation op) {
  struct ring r = ring_of(e, op, 0);
  LLVMValueRef slot = read_variable(e, r.at->put.slot), parity = read_variable(e, r.at->put.parity);
  LLVMValueRef before = LLVMBuildXor(e->b, parity, const_i32(e, 1), "");
  e->target->hooks->mbarrier_wait(e, empty(e, &r, slot), before);
  e->target->hooks->mbarrier_expect(e, full(e, &r, slot), (unsigned)op_attr_int(op, "bytes", 0));
  advance(e, &r, &r.at->put, slot, parity);
  result_of(e, op, 0)->at[0] = slot;
}

// The last copy to each slot: in this lap up to the next slot to fill, in the one before from there
// on. Before the first lap a wait for the one before ends at once.
static void drain(struct emitter *e, MlirOperation op) {
  struct ring r = ring_of(e, op, 0);
  LLVMValueRef next = read_variable(e, r.at->put.slot), parity = read_variable(e, r.at->put.parity);
  LLVMValueRef before = LLVMBuildXor(e->b, parity, const_i32(e, 1), "");
  for (uint32_t i = 0; i < r.slots; i++) {
    LLVMValueRef slot = const_i32(e, i);
    LLVMValueRef is_new = LLVMBuildICmp(e->b, LLVMIntULT, slot, next, "");
    e->target->hooks->mbarrier_wait(e, full(e, &r, slot),
                                    LLVMBuildSelect(e->b, is_new, parity, before, ""));
  }
}

static void wait_full(struct emitter *e, MlirOperation op) {
  struct ring r = ring_of(e, op, 0);
  LLVMValueRef slot = read_variable(e, r.at->get.slot), parity = read_variable(e, r.at->get.parity);
  e->target->hooks->mbarrier_wait(e, full(e, &r, slot), parity);
  advance(e, &r, &r.at->get, slot, parity);
  LLVMValueRef held = read_variable(e, r.at->held);
  LLVMBuildStore(e->b, LLVMBuildAdd(e->b, held, const_i32(e, 1), ""), r.at->held);
  result_of(e, op, 0)->at[0] = slot;
}

// The warp arrives at the slot's mbarrier; if CTAs share copies, lane i at that of CTA i.
static void arrive_empty(struct emitter *e, const struct ring *r, LLVMValueRef slot,
                         LLVMValueRef any) {
  LLVMValueRef first = LLVMBuildICmp(e->b, LLVMIntEQ, e->lane, const_i32(e, 0), ""), cta = NULL;
  if (r->at->ctas) {
    LLVMValueRef each = LLVMBuildICmp(e->b, LLVMIntULT, e->lane, const_i32(e, r->at->ctas), "");
    first = LLVMBuildSelect(e->b, r->at->shares, each, first, "");
    cta = LLVMBuildSelect(e->b, r->at->shares, e->lane, e->target->hooks->cluster_rank(e), "");
  }
  LLVMValueRef pred = LLVMBuildAnd(e->b, any, first, "");
  e->target->hooks->mbarrier_arrive(e, empty(e, r, slot), pred, cta);
}

// An iteration reads one slot, so at most one is above `keep`.
static void release(struct emitter *e, MlirOperation op) {
  struct ring r = ring_of(e, op, 0);
  LLVMValueRef slot = read_variable(e, r.at->released), held = read_variable(e, r.at->held), wraps;
  LLVMValueRef keep = const_i32(e, (uint32_t)op_attr_int(op, "keep", 0));
  LLVMValueRef any = LLVMBuildICmp(e->b, LLVMIntUGT, held, keep, "");
  arrive_empty(e, &r, slot, any);
  LLVMValueRef next = after(e, &r, slot, &wraps);
  LLVMBuildStore(e->b, LLVMBuildSelect(e->b, any, next, slot, ""), r.at->released);
  LLVMBuildStore(e->b, LLVMBuildSub(e->b, held, LLVMBuildZExt(e->b, any, e->i32, ""), ""),
                 r.at->held);
}

// The boxes of a block, a matrix: its inner dimension in parts of one swizzle each, rows together
// (layouts/shared.c).
struct boxes {
  uint32_t map, rank, count, width; // width: elements of a row
  uint32_t row_axis;                // dimension of the map
  uint32_t rows, row_bytes, bytes;  // of the block's part of that width
  LLVMValueRef coords[KERNEL_MAP_RANK], buffer;
  struct str reduction; // of stores
};

static struct boxes boxes_of(struct emitter *e, MlirOperation op, intptr_t first_offset) {
  struct boxes x = {.map = (uint32_t)op_attr_int(op, "map", 0)};
  const struct kernel_map *map = &e->map_shapes[x.map];
  MlirType tile = memdesc_tile(e->c, operand_type(op, 0));
  x.rank = map->rank;
  x.width = map->box[map->rank - 1];
  x.row_axis = kernel_map_rows(map);
  x.count = (uint32_t)(tensor_dim(tile, 1) + x.width - 1) / x.width;
  x.buffer = shared_address(e, operand_of(e, op, 0)->at[0]);
  for (uint32_t i = 0; i < map->rank; i++)
    x.coords[i] = operand_of(e, op, first_offset + (intptr_t)i)->at[0];
  x.rows = (uint32_t)tensor_dim(tile, 0);
  x.row_bytes = x.width * dtype_bytes(map->dtype);
  x.bytes = x.rows * x.row_bytes;
  return x;
}

// The coordinates of box k of the block.
static void box_coords(struct emitter *e, const struct boxes *x, uint32_t k, LLVMValueRef *ret) {
  memcpy(ret, x->coords, sizeof x->coords);
  ret[x->rank - 1] = LLVMBuildAdd(e->b, ret[x->rank - 1], const_i32(e, k * x->width), "");
}

static LLVMValueRef box_buffer(struct emitter *e, const struct boxes *x, uint32_t k) {
  return LLVMBuildAdd(e->b, x->buffer, const_i32(e, k * x->bytes), "");
}

// Rows from part * box_rows on, those of one box; ctas: to so many CTAs.
static void copy_rows(struct emitter *e, const struct boxes *x, LLVMValueRef mbarrier,
                      LLVMValueRef part, uint32_t box_rows, unsigned ctas) {
  LLVMValueRef at[KERNEL_MAP_RANK], row = LLVMBuildMul(e->b, part, const_i32(e, box_rows), "");
  LLVMValueRef distance = LLVMBuildMul(e->b, row, const_i32(e, x->row_bytes), "");
  for (uint32_t k = 0; k < x->count; k++) {
    box_coords(e, x, k, at);
    at[x->row_axis] = LLVMBuildAdd(e->b, at[x->rank - 2], row, "");
    LLVMValueRef to = LLVMBuildAdd(e->b, box_buffer(e, x, k), distance, "");
    e->target->hooks->map_copy(e, e->maps[x->map], to, mbarrier, x->rank, at, ctas);
  }
}

// Each CTA of the cluster copies one part of the rows to all of them; or all parts to itself.
static void copy_shared(struct emitter *e, const struct ring *r, const struct boxes *x,
                        LLVMValueRef mbarrier, uint32_t ctas) {
  LLVMValueRef alone = LLVMBuildNot(e->b, r->at->shares, "");
  uint32_t rows = x->rows / ctas;
  struct branch br = branch_begin(e, r->at->shares);
  copy_rows(e, x, mbarrier, e->target->hooks->cluster_rank(e), rows, ctas);
  branch_end(e, &br);
  br = branch_begin(e, alone);
  for (uint32_t i = 0; i < ctas; i++)
    copy_rows(e, x, mbarrier, const_i32(e, i), rows, 0);
  branch_end(e, &br);
}

static void copy(struct emitter *e, MlirOperation op) {
  struct ring r = ring_of(e, op, 1);
  struct boxes x = boxes_of(e, op, 3);
  LLVMValueRef coords[KERNEL_MAP_RANK], mbarrier = full(e, &r, operand_of(e, op, 2)->at[0]);
  uint32_t ctas = (uint32_t)op_attr_int(op, "ctas", 0);
  for (uint32_t k = 0; k < x.count && !ctas; k++) {
    box_coords(e, &x, k, coords);
    e->target->hooks->map_copy(e, e->maps[x.map], box_buffer(e, &x, k), mbarrier, x.rank, coords,
                               0);
  }
  if (ctas)
    copy_shared(e, &r, &x, mbarrier, ctas);
}

// ---- stores ----

// By the first thread of the CTA, or of each group of `warps`: groups of copies belong to the
// thread that issued them.
static struct branch first_thread(struct emitter *e, uint32_t warps) {
  LLVMValueRef id = e->thread_id;
  if (warps)
    id = LLVMBuildAnd(e->b, id, const_i32(e, 32 * warps - 1), "");
  return branch_begin(e, LLVMBuildICmp(e->b, LLVMIntEQ, id, const_i32(e, 0), ""));
}

// The rows of this thread's group, those of repetition i: box by box.
static void store_rows(struct emitter *e, const struct boxes *x, uint32_t warps, uint32_t i,
                       uint32_t box_rows) {
  LLVMValueRef at[KERNEL_MAP_RANK], row = const_i32(e, i * e->num_warps * MAP_STORE_ROWS);
  if (warps) {
    LLVMValueRef group = LLVMBuildUDiv(e->b, e->warp, const_i32(e, warps), "");
    row = LLVMBuildAdd(e->b, row, LLVMBuildMul(e->b, group, const_i32(e, box_rows), ""), "");
  }
  for (uint32_t k = 0; k < x->count; k++) {
    box_coords(e, x, k, at);
    if (warps)
      at[x->row_axis] = LLVMBuildAdd(e->b, at[x->row_axis], row, "");
    LLVMValueRef distance = LLVMBuildMul(e->b, row, const_i32(e, x->row_bytes), "");
    LLVMValueRef from = LLVMBuildAdd(e->b, box_buffer(e, x, k), distance, "");
    e->target->hooks->map_store(e, e->maps[x->map], from, x->rank, at, x->reduction);
  }
}

static void store(struct emitter *e, MlirOperation op) {
  struct boxes x = boxes_of(e, op, 1);
  x.reduction = op_attr_str(op, "reduction");
  uint32_t warps = (uint32_t)op_attr_int(op, "warps", 0);
  uint32_t rows = warps * MAP_STORE_ROWS, all = e->num_warps * MAP_STORE_ROWS;
  uint32_t repetitions = warps ? x.rows / all : 1;
  struct branch br = first_thread(e, warps);
  for (uint32_t i = 0; i < repetitions; i++)
    store_rows(e, &x, warps, i, rows);
  branch_end(e, &br);
}

static void wait_for_stores(struct emitter *e, MlirOperation op) {
  struct branch br = first_thread(e, (uint32_t)op_attr_int(op, "warps", 0));
  e->target->hooks->map_wait(e);
  branch_end(e, &br);
}

static void is_producer(struct emitter *e, MlirOperation op) {
  LLVMIntPredicate how = op_attr_bool(op, "leader") ? LLVMIntEQ : LLVMIntUGE;
  result_of(e, op, 0)->at[0] =
      LLVMBuildICmp(e->b, how, e->thread_id, const_i32(e, 32 * e->num_warps), "");
}

bool emit_ring(struct emitter *e, MlirOperation op) {
  if (!e->target->has_tma)
    return emit_unsupported(e, op, "this target has no TMA");
  e->uses_collectives = true;
  switch (op_id(e->c, op)) {
  case OP_GPU_IS_PRODUCER: is_producer(e, op); break;
  case OP_GPU_SET_REGISTERS:
    e->target->hooks->set_registers(e, (unsigned)op_attr_int(op, "count", 0),
                                    op_attr_bool(op, "grows"));
    break;
  case OP_GPU_PING_PONG:
    e->target->hooks->ping_pong(e, (enum ping_pong)op_attr_int(op, "step", 0));
    break;
  case OP_GPU_RING_INIT: init(e, op); break;
  case OP_GPU_CLUSTER_BARRIER: e->target->hooks->cluster_barrier(e); break;
  case OP_GPU_RING_EMPTY: wait_empty(e, op); break;
  case OP_GPU_RING_DRAIN: drain(e, op); break;
  case OP_GPU_RING_FULL: wait_full(e, op); break;
  case OP_GPU_RING_RELEASE: release(e, op); break;
  case OP_GPU_MAP_STORE: store(e, op); break;
  case OP_GPU_MAP_WAIT: wait_for_stores(e, op); break;
  default: copy(e, op); break;
  }
  return true;
}
