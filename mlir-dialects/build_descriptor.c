// SPDX-License-Identifier: Apache-2.0
// Builders of the ops on tensor descriptors, and reading their operands.
#include "mlir-dialects/descriptor.h"
#include "mlir-dialects/ir_internal.h"

enum {
  SEGMENTS = 6, // at most: base, sizes, strides, two of offsets or rows, value
  MAX_OPERANDS = 3 * DESCRIPTOR_MAX_RANK + 1
};

bool op_is_descriptor_access(enum op_id id) {
  return id == OP_TILE_DESCRIPTOR_LOAD || id == OP_TILE_DESCRIPTOR_STORE ||
         id == OP_TILE_DESCRIPTOR_REDUCE || id == OP_TILE_DESCRIPTOR_GATHER ||
         id == OP_TILE_DESCRIPTOR_SCATTER;
}

static bool has_rows(enum op_id id) {
  return id == OP_TILE_DESCRIPTOR_GATHER || id == OP_TILE_DESCRIPTOR_SCATTER;
}

static bool has_value(enum op_id id) {
  return id != OP_TILE_DESCRIPTOR_LOAD && id != OP_TILE_DESCRIPTOR_GATHER;
}

// ---- reading ----

// The sizes of the segments in order; false where they are not those of a descriptor op.
static bool read_segments(MlirOperation op, enum op_id id, struct descriptor *d, size_t *ret_next) {
  int32_t n[SEGMENTS] = {0};
  bool rows = has_rows(id);
  size_t count = 4u + rows + has_value(id);
  if (op_attr_i32_array(op, "operandSegmentSizes", SEGMENTS, n) != count || n[1] < 1 ||
      n[1] > DESCRIPTOR_MAX_RANK || n[0] != 1 || n[2] != n[1] - 1 || n[3] != (rows ? 1 : n[1]))
    return false;
  int32_t sum = 0;
  for (size_t i = 0; i < count; i++) {
    if (i > 3 && n[i] != 1)
      return false;
    sum += n[i];
  }
  d->rank = (unsigned)n[1];
  *ret_next = 1;
  return sum == mlirOperationGetNumOperands(op) && (!rows || d->rank == 2);
}

bool descriptor_access_of(struct ir_context *c, MlirOperation op, struct descriptor_access *ret) {
  enum op_id id = op_id(c, op);
  size_t at;
  *ret = (struct descriptor_access){.of.rank = 0};
  if (!op_is_descriptor_access(id) || !read_segments(op, id, &ret->of, &at))
    return false;
  ret->of.base = mlirOperationGetOperand(op, 0);
  for (unsigned i = 0; i < ret->of.rank; i++)
    ret->of.sizes[i] = mlirOperationGetOperand(op, (intptr_t)at++);
  for (unsigned i = 0; i + 1 < ret->of.rank; i++)
    ret->of.strides[i] = mlirOperationGetOperand(op, (intptr_t)at++);
  if (has_rows(id))
    ret->rows = mlirOperationGetOperand(op, (intptr_t)at++);
  for (unsigned i = has_rows(id) ? 1 : 0; i < ret->of.rank; i++)
    ret->offsets[i] = mlirOperationGetOperand(op, (intptr_t)at++);
  if (has_value(id))
    ret->value = mlirOperationGetOperand(op, (intptr_t)at);
  return true;
}

// ---- building ----

struct operands {
  MlirValue at[MAX_OPERANDS];
  size_t count;
  int32_t sizes[SEGMENTS];
  size_t segment_count;
};

static void segment(struct operands *o, unsigned n, const MlirValue *values) {
  for (unsigned i = 0; i < n; i++)
    o->at[o->count++] = values[i];
  o->sizes[o->segment_count++] = (int32_t)n;
}

static struct operands operands_of(const struct descriptor *d) {
  struct operands o = {.count = 0};
  segment(&o, 1, &d->base);
  segment(&o, d->rank, d->sizes);
  segment(&o, d->rank - 1, d->strides);
  return o;
}

static MlirOperation build_access(struct builder *b, enum op_id id, const struct operands *o,
                                  const MlirType *result, const char *attr, const char *value) {
  MlirNamedAttribute a[2] = {
      named_attr(b->c, "operandSegmentSizes", attr_i32_array(b->c, o->segment_count, o->sizes))};
  if (attr)
    a[1] = named_attr(b->c, attr, attr_str(b->c, value));
  return build_op(b, id, o->count, o->at, result != NULL, result, attr ? 2 : 1, a);
}

MlirValue build_descriptor_load(struct builder *b, const struct descriptor *d,
                                const MlirValue *offsets, const char *padding, MlirType type) {
  struct operands o = operands_of(d);
  segment(&o, d->rank, offsets);
  return mlirOperationGetResult(
      build_access(b, OP_TILE_DESCRIPTOR_LOAD, &o, &type, "padding", padding), 0);
}

void build_descriptor_store(struct builder *b, const struct descriptor *d, const MlirValue *offsets,
                            MlirValue value) {
  struct operands o = operands_of(d);
  segment(&o, d->rank, offsets);
  segment(&o, 1, &value);
  build_access(b, OP_TILE_DESCRIPTOR_STORE, &o, NULL, NULL, NULL);
}

void build_descriptor_reduce(struct builder *b, const char *kind, const struct descriptor *d,
                             const MlirValue *offsets, MlirValue value) {
  struct operands o = operands_of(d);
  segment(&o, d->rank, offsets);
  segment(&o, 1, &value);
  build_access(b, OP_TILE_DESCRIPTOR_REDUCE, &o, NULL, "kind", kind);
}

MlirValue build_descriptor_gather(struct builder *b, const struct descriptor *d, MlirValue rows,
                                  MlirValue column, int64_t columns, const char *padding) {
  struct operands o = operands_of(d);
  segment(&o, 1, &rows);
  segment(&o, 1, &column);
  int64_t shape[] = {tensor_dim(mlirValueGetType(rows), 0), columns};
  MlirType type =
      tensor_type(2, shape, ptr_pointee(b->c, mlirValueGetType(d->base)), (MlirAttribute){NULL});
  return mlirOperationGetResult(
      build_access(b, OP_TILE_DESCRIPTOR_GATHER, &o, &type, "padding", padding), 0);
}

void build_descriptor_scatter(struct builder *b, const struct descriptor *d, MlirValue rows,
                              MlirValue column, MlirValue value) {
  struct operands o = operands_of(d);
  segment(&o, 1, &rows);
  segment(&o, 1, &column);
  segment(&o, 1, &value);
  build_access(b, OP_TILE_DESCRIPTOR_SCATTER, &o, NULL, NULL, NULL);
}

static MlirValue unextended(struct ir_context *c, MlirValue v) {
  MlirOperation def = value_def(v);
  bool extends = !mlirOperationIsNull(def) && op_is(c, def, OP_ARITH_EXTSI);
  return extends ? mlirOperationGetOperand(def, 0) : v;
}

int descriptor_stride_of_size(struct ir_context *c, const struct descriptor *d, unsigned dim) {
  for (unsigned i = 0; i + 1 < d->rank; i++)
    if (mlirValueEqual(unextended(c, d->sizes[dim]), unextended(c, d->strides[i])))
      return (int)i;
  return -1;
}
