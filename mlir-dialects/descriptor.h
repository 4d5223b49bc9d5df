// SPDX-License-Identifier: Apache-2.0
// Tensor descriptors in the IR: the ops tile.descriptor_* name a tensor in global memory by its
// base, sizes and strides, and access a block of it. Elements of the block outside the tensor are
// padding when loaded, and are not written.
#ifndef TILE_MLIR_DIALECTS_DESCRIPTOR_H
#define TILE_MLIR_DIALECTS_DESCRIPTOR_H

#include "mlir-dialects/build.h"

enum {
  DESCRIPTOR_MAX_RANK = 5,
  // Bytes: the base and every stride but the last are multiples of it, and the last dimension of a
  // block has at least so many (CUDA driver API, cuTensorMapEncodeTiled).
  DESCRIPTOR_ALIGNMENT = 16,
};

struct descriptor {
  unsigned rank;                              // 1 to DESCRIPTOR_MAX_RANK
  MlirValue base;                             // !tile.ptr<T>
  MlirValue sizes[DESCRIPTOR_MAX_RANK];       // i64, in elements
  MlirValue strides[DESCRIPTOR_MAX_RANK - 1]; // i64, in elements; the last dimension's is 1
};

// The operands of an op. The block begins at `offsets`; gather and scatter instead access the rows
// `rows` from column offsets[1] on.
struct descriptor_access {
  struct descriptor of;
  MlirValue offsets[DESCRIPTOR_MAX_RANK]; // i32, in elements; offsets[0] is null with `rows`
  MlirValue rows;                         // tensor<Nxi32> of gather and scatter, else null
  MlirValue value;                        // of store, reduce and scatter, else null
};

bool op_is_descriptor_access(enum op_id id);
// False where the numbers of operands do not fit together.
bool descriptor_access_of(struct ir_context *c, MlirOperation op, struct descriptor_access *ret);

// The stride that is the same number as size `dim`, the row length of a dense tensor; -1: none.
int descriptor_stride_of_size(struct ir_context *c, const struct descriptor *d, unsigned dim);

// padding: "zero", or "nan" for floats. `type`: the block as a tile.
MlirValue build_descriptor_load(struct builder *b, const struct descriptor *d,
                                const MlirValue *offsets, const char *padding, MlirType type);
void build_descriptor_store(struct builder *b, const struct descriptor *d, const MlirValue *offsets,
                            MlirValue value);
// kind: add fadd and or xor max min umax umin, as of tile.atomic_rmw; relaxed, of the whole GPU.
void build_descriptor_reduce(struct builder *b, const char *kind, const struct descriptor *d,
                             const MlirValue *offsets, MlirValue value);
// Of descriptors of rank 2: `columns` elements of each of the rows.
MlirValue build_descriptor_gather(struct builder *b, const struct descriptor *d, MlirValue rows,
                                  MlirValue column, int64_t columns, const char *padding);
void build_descriptor_scatter(struct builder *b, const struct descriptor *d, MlirValue rows,
                              MlirValue column, MlirValue value);

#endif
