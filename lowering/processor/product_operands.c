// SPDX-License-Identifier: Apache-2.0
// Operands of matrix products in buffers of the sums' type, in the order in which blocks read them.
#include "lowering/analysis/axis_info.h"
#include "lowering/processor/strips.h"

enum { PAD = 16 };

unsigned fastest_dim(struct strip_emitter *e, MlirValue v) {
  unsigned rank = rank_of(v);
  MlirOperation op = deferred_op(e, v);
  if (mlirOperationIsNull(op))
    return rank - 1;
  if (op_is(e->c, op, OP_TILE_LOAD))
    return axis_contiguity(e->axis, operand(op, 0), rank - 1) > 1
               ? rank - 1
               : axis_fastest_dim(e->axis, operand(op, 0));
  if (op_is(e->c, op, OP_TILE_TRANS)) {
    int32_t order[MAX_RANK];
    op_attr_i32_array(op, "order", MAX_RANK, order);
    unsigned fastest = fastest_dim(e, operand(op, 0));
    for (unsigned d = 0; d < rank; d++)
      if ((unsigned)order[d] == fastest)
        return d;
  }
  if (op_flags(e->c, op) & OP_EW)
    for (unsigned i = 0; i < (unsigned)mlirOperationGetNumOperands(op); i++)
      if (rank_of(operand(op, i)) == rank && reads_memory(e, operand(op, i)))
        return fastest_dim(e, operand(op, i));
  return rank - 1;
}

// ---- columns of B ----

// Rows of a square of vectors become its columns: each stage exchanges what differs in one bit of
// the numbers of row and lane.
void transpose_square(struct strip_emitter *e, LLVMValueRef *rows) {
  for (unsigned bit = 1; bit < STRIP; bit *= 2) {
    LLVMValueRef low[STRIP], high[STRIP];
    for (unsigned lane = 0; lane < STRIP; lane++) {
      bool is_set = lane & bit;
      low[lane] = LLVMConstInt(e->i32, is_set ? STRIP + (lane ^ bit) : lane, false);
      high[lane] = LLVMConstInt(e->i32, is_set ? STRIP + lane : lane | bit, false);
    }
    LLVMValueRef to_low = LLVMConstVector(low, STRIP), to_high = LLVMConstVector(high, STRIP);
    for (unsigned i = 0; i < STRIP; i++) {
      if (i & bit)
        continue;
      LLVMValueRef a = rows[i], b = rows[i | bit];
      rows[i] = LLVMBuildShuffleVector(e->b, a, b, to_low, "");
      rows[i | bit] = LLVMBuildShuffleVector(e->b, a, b, to_high, "");
    }
  }
}

// Stores the vectors of one element of k, or, transposed in registers, of as many as a vector has.
static void copy_square(struct strip_emitter *e, MlirValue v, struct buffer *to, struct position *p,
                        bool transposes) {
  unsigned row = p->rank - 2, column = p->rank - 1, count = transposes ? STRIP : 1;
  LLVMValueRef rows[STRIP], first = p->at[row], first_column = p->at[column];
  p->lane = (int)(transposes ? row : column);
  p->lanes = STRIP;
  for (unsigned i = 0; i < count; i++) {
    p->at[column] = index_plus(e, first_column, i);
    rows[i] = copied_value(e, v, to, repeat(e, evaluate(e, v, p), STRIP));
  }
  if (transposes)
    transpose_square(e, rows);
  p->at[column] = first_column;
  p->lane = (int)column;
  for (unsigned i = 0; i < count; i++) {
    p->at[row] = index_plus(e, first, i);
    scratch_store(e, to, p, rows[i]);
  }
  p->at[row] = first;
}

// A vector of columns after the other: what depends on the column alone is computed once.
static void copy_columns(struct strip_emitter *e, MlirValue v, struct buffer *to, bool transposes) {
  MlirType type = mlirValueGetType(v);
  unsigned rank = rank_of(v), row = rank - 2, column = rank - 1;
  struct position p = {.rank = rank};
  struct loop batch;
  flush(e);
  levels_begin(e);
  if (rank == 3) {
    batch = loop_begin(e, 0, tensor_dim(type, 0), 1);
    p.at[0] = batch.index;
  }
  struct loop columns = loop_begin(e, 0, tensor_dim(type, column), STRIP);
  p.at[column] = columns.index;
  struct loop rows = loop_begin(e, 0, tensor_dim(type, row), transposes ? STRIP : 1);
  p.at[row] = rows.index;
  copy_square(e, v, to, &p, transposes);
  loop_end(e, &rows);
  loop_end(e, &columns);
  if (rank == 3)
    loop_end(e, &batch);
  levels_end(e);
}

// Do addresses or masks of v contain a quotient, as those of images?
static bool has_division(struct strip_emitter *e, MlirValue v, unsigned depth) {
  enum { MOST_DEPTH = 24 };
  MlirOperation op = deferred_op(e, v);
  if (mlirOperationIsNull(op) || depth > MOST_DEPTH)
    return false;
  if (op_is(e->c, op, OP_ARITH_DIVSI) || op_is(e->c, op, OP_ARITH_REMSI))
    return rank_of(v) > 0;
  for (unsigned i = 0; i < (unsigned)mlirOperationGetNumOperands(op); i++)
    if (has_division(e, operand(op, i), depth + 1))
      return true;
  return false;
}

// The operand in a buffer of the sums' type. The columns of B are lanes; rows of A may lie side by
// side. Rows of a power of two are padded, so that they do not meet in the cache.
struct buffer *product_operand(struct strip_emitter *e, MlirOperation op, unsigned i,
                               LLVMTypeRef type, enum operand_order order) {
  MlirValue v = operand(op, i);
  int64_t shape[MAX_RANK];
  unsigned rank = rank_of(v), row = rank - 2, column = rank - 1;
  for (unsigned d = 0; d < rank; d++)
    shape[d] = tensor_dim(mlirValueGetType(v), d);
  struct value *known = known_value(e, v);
  if (known && known->kind == VALUE_BUFFER && known->buffer->type == type)
    return known->buffer;
  bool by_columns = i == 0 && order == ANY_ORDER && fastest_dim(e, v) == row && shape[row] >= STRIP;
  int64_t padded[MAX_RANK];
  memcpy(padded, shape, sizeof padded);
  if (by_columns) {
    padded[row] = shape[column];
    padded[column] = shape[row];
  }
  padded[rank - 1] += padded[rank - 1] >= 4 * STRIP ? PAD : 0;
  struct buffer *b = buffer_of_type(e, type, rank, padded);
  if (by_columns) {
    int64_t other = b->stride[row];
    b->stride[row] = b->stride[column];
    b->stride[column] = other;
  }
  b->widened = storage_type(e, element_type(mlirValueGetType(v))) != type;
  if (i == 1 && shape[column] >= STRIP &&
      (fastest_dim(e, v) == row ? shape[row] >= STRIP : has_division(e, v, 0)))
    copy_columns(e, v, b, fastest_dim(e, v) == row);
  else
    copy_to(e, v, b, (int)(by_columns ? row : i == 1 ? column : fastest_dim(e, v)));
  return b;
}
