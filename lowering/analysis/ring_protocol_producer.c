// SPDX-License-Identifier: Apache-2.0
// Rules of the producer: what it copies to a slot; and of the registers of both sides.
#include "layouts/attr.h"
#include "lowering/analysis/ring_protocol_parts.h"
#include "mlir-dialects/rings.h"

enum { SM_REGISTERS = 65536, WARP = 32, GROUP_WARPS = 4 };

// ---- copies ----

// The bytes of the boxes of a copy or store; -1 if they are not those of the buffer.
static int64_t bytes_of_boxes(struct protocol *p, MlirOperation op) {
  struct kernel_map map;
  MlirType tile = memdesc_tile(p->c, mlirValueGetType(mlirOperationGetOperand(op, 0)));
  const struct encoding *e = encoding_of_attr(p->c, tensor_encoding(tile));
  unsigned bits = type_bits(p->c, element_type(tile));
  if (!module_map(p->c, p->module, (uint32_t)op_attr_int(op, "map", 0), &map))
    return -1;
  if (map.rank < 2 || 8 * dtype_bytes(map.dtype) != bits)
    return -1;
  int64_t warps = op_attr_int(op, "warps", 0); // that store their own rows
  int64_t ctas = op_attr_int(op, "ctas", 1);   // that copy a part of the rows each
  for (unsigned i = 0; i + 1 < map.rank; i++) {
    int64_t rows = warps ? warps * MAP_STORE_ROWS : tensor_dim(tile, 0);
    bool is_rows = i == kernel_map_rows(&map);
    if ((is_rows && rows % ctas) || map.box[i] != (is_rows ? rows / ctas : 1))
      return -1;
  }
  if (!e || e->kind != ENC_NVMMA_SHARED || e->nvmma.transposed || map.swizzle != e->nvmma.swizzle)
    return -1;
  int64_t columns = tensor_dim(tile, 1), inner = map.box[map.rank - 1];
  bool is_whole = map.swizzle ? inner * bits / 8 == map.swizzle && columns % inner == 0
                              : tensor_dim(tile, 0) == 1 && columns == inner; // one row, one box
  return is_whole ? tensor_numel(tile) * bits / 8 : -1;
}

static int64_t check_copy(struct protocol *p, MlirOperation copy, MlirOperation wait) {
  MlirValue slot;
  protocol_buffer_of(p, mlirOperationGetOperand(copy, 0), &slot);
  if (mlirValueIsNull(slot) || !mlirValueEqual(slot, mlirOperationGetOperand(copy, 2)))
    protocol_violation(p, copy, "fills another slot than the one whose mbarrier counts it");
  if (!mlirBlockEqual(mlirOperationGetBlock(copy), mlirOperationGetBlock(wait)))
    protocol_violation(p, copy, "is not executed as often as the wait for its slot");
  int64_t bytes = bytes_of_boxes(p, copy);
  if (bytes < 0)
    protocol_violation(p, copy, "has a map whose boxes or swizzle are not those of the buffer");
  return bytes < 0 ? 0 : bytes;
}

// The copies to the slot that `wait` returns.
static void check_slot(struct protocol *p, MlirOperation wait) {
  int64_t bytes = 0, expected = op_attr_int(wait, "bytes", 0);
  MlirValue slot = mlirOperationGetResult(wait, 0), filled[PROTOCOL_BUFFERS];
  unsigned count = 0;
  for (MlirOpOperand use = mlirValueGetFirstUse(slot); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation copy = mlirOpOperandGetOwner(use);
    if (!op_is(p->c, copy, OP_GPU_MAP_COPY) || mlirOpOperandGetOperandNumber(use) != 2)
      continue;
    MlirValue none, alloc = protocol_buffer_of(p, mlirOperationGetOperand(copy, 0), &none);
    bytes += check_copy(p, copy, wait);
    for (unsigned i = 0; i < count; i++)
      if (mlirValueEqual(filled[i], alloc))
        protocol_violation(p, copy, "fills a buffer of the slot a second time");
    if (count < PROTOCOL_BUFFERS)
      filled[count++] = alloc;
  }
  if (bytes != expected)
    protocol_violation(p, wait, "expects %lld bytes, and the copies to the slot have %lld",
                       (long long)expected, (long long)bytes);
}

static bool visit_slot(MlirOperation op, void *user) {
  struct protocol *p = user;
  if (op_is(p->c, op, OP_GPU_RING_EMPTY))
    check_slot(p, op);
  return true;
}

static bool visit_copy(MlirOperation op, void *user) {
  struct protocol *p = user;
  if (op_is(p->c, op, OP_GPU_MAP_STORE) && bytes_of_boxes(p, op) < 0)
    protocol_violation(p, op, "has a map whose boxes or swizzle are not those of the buffer");
  if (!op_is(p->c, op, OP_GPU_MAP_COPY))
    return true;
  MlirOperation wait = value_def(mlirOperationGetOperand(op, 2));
  if (mlirOperationIsNull(wait) || !op_is(p->c, wait, OP_GPU_RING_EMPTY) ||
      op_attr_int(wait, "ring", -1) != op_attr_int(op, "ring", -1))
    protocol_violation(p, op, "fills a slot that no ring_empty of its ring has waited for");
  return true;
}

void protocol_check_producer(struct protocol *p) {
  ir_walk(p->function, visit_copy, p);
  ir_walk(p->function, visit_slot, p);
}

// ---- registers ----

struct shares {
  struct protocol *p;
  MlirOperation producer, computing; // their set_registers
};

static bool visit_share(MlirOperation op, void *user) {
  struct shares *s = user;
  if (!op_is(s->p->c, op, OP_GPU_SET_REGISTERS))
    return true;
  enum protocol_role role = protocol_role_of(s->p, op);
  MlirOperation branch = mlirOperationGetParentOperation(op);
  MlirOperation *to = role == ROLE_PRODUCER ? &s->producer : &s->computing;
  bool is_direct = op_is(s->p->c, branch, OP_SCF_IF) &&
                   mlirOperationEqual(mlirOperationGetParentOperation(branch), s->p->function);
  if ((role != ROLE_PRODUCER && role != ROLE_COMPUTING) || !is_direct)
    protocol_violation(s->p, op, "is not executed once by whole warpgroups");
  else if (!mlirOperationIsNull(*to))
    protocol_violation(s->p, op, "is the second of its warpgroups");
  else
    *to = op;
  return true;
}

static void check_share(struct protocol *p, MlirOperation op, int64_t entry) {
  bool grows = op_attr_bool(op, "grows");
  int64_t count = op_attr_int(op, "count", 0);
  if (grows ? count < entry : count > entry)
    protocol_violation(p, op, "%s to %lld registers, and a thread begins with %lld",
                       grows ? "grows" : "shrinks", (long long)count, (long long)entry);
}

void protocol_check_registers(struct protocol *p) {
  struct shares s = {.p = p};
  ir_walk(p->function, visit_share, &s);
  if (mlirOperationIsNull(s.producer) && mlirOperationIsNull(s.computing))
    return;
  if (mlirOperationIsNull(s.producer) || mlirOperationIsNull(s.computing)) {
    protocol_violation(p, mlirOperationIsNull(s.producer) ? s.computing : s.producer,
                       "has no counterpart for the other warpgroups");
    return;
  }
  int64_t warps = op_attr_int(p->module, "tilegpu.num_warps", 0);
  int64_t fillers = op_attr_int(p->module, "tilegpu.producer_warps", 0), all = warps + fillers;
  int64_t entry = op_attr_int(p->module, "tilegpu.entry_registers", 0);
  int64_t sum = WARP * (warps * op_attr_int(s.computing, "count", 0) +
                        fillers * op_attr_int(s.producer, "count", 0));
  if (warps % GROUP_WARPS || fillers % GROUP_WARPS || !fillers)
    protocol_violation(p, s.producer, "needs whole warpgroups, not %lld and %lld warps",
                       (long long)warps, (long long)fillers);
  if (WARP * all * entry > SM_REGISTERS)
    protocol_violation(p, s.producer, "begins with %lld registers for each of %lld threads",
                       (long long)entry, (long long)(WARP * all));
  check_share(p, s.producer, entry);
  check_share(p, s.computing, entry);
  if (sum > WARP * all * entry)
    protocol_violation(p, s.computing,
                       "waits forever: the shares have %lld registers, and the program begins "
                       "with %lld",
                       (long long)sum, (long long)(WARP * all * entry));
}
