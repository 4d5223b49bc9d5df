// SPDX-License-Identifier: Apache-2.0
// Shared memory that an operation needs while it runs: reserved by allocate-shared, separated by
// insert-barriers, used by the emission. One routine per op family decides size and addresses
// (layouts/exchange_plan.h, layouts/reduce_plan.h, ...).
//
// An op with scratch writes it, has a barrier of its own, and reads it. insert-barriers ensures
// that earlier uses of that memory have finished.
#ifndef TILE_LOWERING_ANALYSIS_SCRATCH_H
#define TILE_LOWERING_ANALYSIS_SCRATCH_H

#include "layouts/linear.h"
#include "mlir-dialects/ir.h"

enum { SCRATCH_ALIGNMENT = 16 };

// Bytes of the CTA's shared memory that `op` (in tilegpu form) needs; 0 for most.
uint32_t scratch_bytes(struct ir_context *c, MlirOperation op, uint32_t num_warps);

// The same of one buffer: the operand of a local_load, one copy of a local_alloc.
uint32_t buffer_bytes(struct ir_context *c, MlirType memdesc);
// What the buffer's first byte must be a multiple of.
uint32_t buffer_alignment(struct ir_context *c, MlirType memdesc);
// The distance between the copies of a ring of such buffers.
uint32_t buffer_stride(struct ir_context *c, MlirType memdesc);
// Of a local_alloc: its copies, and the bytes of all of them.
uint32_t alloc_copies(MlirOperation alloc);
uint32_t alloc_bytes(struct ir_context *c, MlirOperation alloc);

// The offset of the op's scratch or buffer, after allocate-shared: attribute tilegpu.shared_offset
// (i32); 0 without it.
uint32_t scratch_offset(MlirOperation op);
// The scratch of an op in a loop may be double-buffered: in iterations 1, 3, ... of the innermost
// loop it is this many bytes higher. Attribute tilegpu.shared_double_buffer (i32); 0 without it.
uint32_t scratch_double_buffer(MlirOperation op);
// Bytes of the whole program: attribute tilegpu.shared_bytes of the module; -1 without it.
int64_t scratch_total(MlirModule module);

// ---- registers spilled to shared memory (passes/spill_to_shared.c) ----
// Row r of a thread is the 16 bytes at spill_offset + (r * threads + thread) * 16; both numbers are
// attributes of the kernel. An op with tilegpu.spill_rows has the first elements of its result, in
// the order of its registers without copies, in the rows from tilegpu.spill_row on.
enum { SPILL_ROW_BYTES = 16 };

// Bytes of all rows of the kernel.
uint32_t spill_bytes(MlirOperation kernel);
// Rows of the op's result; 0 for most.
uint32_t spill_row_count(MlirOperation op);
// Elements of the result that a thread holds, and those of a row.
unsigned spill_elements(struct ir_context *c, MlirOperation op);
unsigned spill_elements_per_row(struct ir_context *c, MlirOperation op);

// ---- replicated elements ----

// Bits of the thread's number (lane below, warp above) that are replication (Triton's free
// variables). NULL: a scalar, in all threads.
uint32_t thread_copies(const struct linear_layout *l, uint32_t num_warps);
// Bits of the register's number that are replication.
uint32_t register_copies(const struct linear_layout *l);

#endif
