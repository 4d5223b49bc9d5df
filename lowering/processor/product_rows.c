// SPDX-License-Identifier: Apache-2.0
// Products of few rows: all elements of B come from memory once, so they are not packed. Sums of up
// to ROWS rows, for a few columns, stay in registers; further rows find B in the cache.
//
//   B along n   for columns, for k:  sums[row][lanes of columns] += A[row][k] * B[k][lanes]
//   B along k   for columns, for k:  sums[row][column] += A[row][lanes of k] * B[lanes][column],
//               whose lanes are added behind the loop
//
// 8-bit integers along k are words (product_words.c), of which B's are unsigned for vpdpbusd: B is
// B + 128, and 128 times the sum of its row of A is taken off each sum.
#include "lowering/processor/strips.h"

enum { MOST_ROWS = 16, ROWS = 8, MOST_COLUMNS = 4, UNROLL = 4 };

struct streamed {
  MlirValue b;
  bool is_along_k;
  bool from_zero;
  unsigned m, first, rows; // rows from `first` on are computed together
  unsigned group;          // elements of k in a word
  int64_t n, k;            // k in elements
  unsigned lanes, columns; // columns, or vectors of them, at a time
  LLVMTypeRef type;        // of the sums
  struct buffer *a, *c;
  struct buffer as_sums;                            // how elements of B are converted; no memory
  LLVMValueRef excess[MOST_ROWS], at[MOST_COLUMNS]; // at: indices of the columns
};

// Registers that hold sums: all but those of an operand each.
static unsigned most_sums(struct strip_emitter *e, unsigned lanes, LLVMTypeRef type) {
  unsigned each = lanes * storage_bytes(e, type) / e->registers.bytes;
  each = each ? each : 1;
  return (e->registers.count - 4) / each;
}

static bool reads_buffer(struct strip_emitter *e, MlirValue v, const struct buffer *b,
                         struct map *seen) {
  struct value *known = known_value(e, v);
  if (known)
    return known->kind == VALUE_BUFFER && known->buffer == b;
  MlirOperation op = deferred_op(e, v);
  if (mlirOperationIsNull(op) || ptrmap_get(seen, v.ptr))
    return false;
  ptrmap_put(e->arena, seen, v.ptr, seen);
  for (unsigned i = 0; i < (unsigned)mlirOperationGetNumOperands(op); i++)
    if (reads_buffer(e, operand(op, i), b, seen))
      return true;
  return false;
}

bool product_streams(struct strip_emitter *e, MlirOperation op, LLVMTypeRef type) {
  MlirValue a = operand(op, 0), b = operand(op, 1);
  struct value *sums = known_value(e, operand(op, 2));
  if (sums && sums->kind == VALUE_BUFFER && reads_buffer(e, b, sums->buffer, &(struct map){0}))
    return false;
  if (rank_of(a) != 2 || known_value(e, b) || !reads_memory(e, b))
    return false;
  int64_t m = tensor_dim(mlirValueGetType(a), 0), k = tensor_dim(mlirValueGetType(a), 1);
  int64_t n = tensor_dim(mlirValueGetType(b), 1);
  bool is_along_k = fastest_dim(e, b) == 0;
  if (product_group(e, op) > 1 && !is_along_k)
    return false;
  unsigned most = most_sums(e, STRIP, type);
  int64_t lanes_from = is_along_k ? k / product_group(e, op) : n;
  return m <= MOST_ROWS && m <= (int64_t)most && lanes_from >= STRIP;
}

// ---- operands ----

static LLVMValueRef b_at(struct strip_emitter *e, const struct streamed *s, LLVMValueRef k,
                         LLVMValueRef column) {
  struct position p = {.rank = 2, .at = {k, column}, .lane = s->is_along_k ? 0 : 1};
  p.lanes = s->lanes;
  if (s->group > 1)
    return streamed_words(e, s->b, s->group, &p);
  return copied_value(e, s->b, &s->as_sums, repeat(e, evaluate(e, s->b, &p), s->lanes));
}

// Of words, k / group.
static LLVMValueRef a_at(struct strip_emitter *e, const struct streamed *s, unsigned row,
                         LLVMValueRef k) {
  struct position p = {.rank = 2, .at = {index_constant(e, row), k}, .lane = -1, .lanes = 1};
  if (s->group > 1)
    p.at[1] = LLVMBuildUDiv(e->b, k, index_constant(e, s->group), "");
  if (s->is_along_k) {
    p.lane = 1;
    p.lanes = s->lanes;
  }
  return repeat(e, scratch_load(e, s->a, &p), s->lanes);
}

static void step(struct strip_emitter *e, const struct streamed *s, LLVMValueRef k,
                 LLVMValueRef (*sums)[MOST_COLUMNS]) {
  LLVMValueRef b[MOST_COLUMNS];
  for (unsigned v = 0; v < s->columns; v++)
    b[v] = b_at(e, s, k, s->at[v]);
  for (unsigned r = 0; r < s->rows; r++) {
    LLVMValueRef x = a_at(e, s, s->first + r, k);
    for (unsigned v = 0; v < s->columns; v++)
      sums[r][v] = multiply_add(e, s->group, b[v], x, sums[r][v]);
  }
}

// ---- sums ----

static LLVMValueRef added(struct strip_emitter *e, LLVMValueRef x, LLVMValueRef y) {
  return scalar_type(x) == e->i32 ? LLVMBuildAdd(e->b, x, y, "") : LLVMBuildFAdd(e->b, x, y, "");
}

// Halves are added, so that the order is the same on every processor.
static LLVMValueRef sum_of_lanes(struct strip_emitter *e, LLVMValueRef v) {
  while (lanes_of(v) > 1)
    v = added(e, half_of(e, v, 0), half_of(e, v, lanes_of(v) / 2));
  return v;
}

static struct position sum_position(struct strip_emitter *e, const struct streamed *s, unsigned row,
                                    unsigned v) {
  struct position p = {.rank = 2, .at = {index_constant(e, row), s->at[v]}, .lane = -1};
  p.lanes = 1;
  if (!s->is_along_k) {
    p.lane = 1;
    p.lanes = s->lanes;
  }
  return p;
}

static LLVMValueRef first_sum(struct strip_emitter *e, const struct streamed *s, unsigned row,
                              unsigned v) {
  struct position p = sum_position(e, s, row, v);
  return s->is_along_k || s->from_zero ? LLVMConstNull(vector_of(s->type, s->lanes))
                                       : scratch_load(e, s->c, &p);
}

static void last_sum(struct strip_emitter *e, const struct streamed *s, unsigned row, unsigned v,
                     LLVMValueRef sum) {
  struct position p = sum_position(e, s, row, v);
  if (s->is_along_k)
    sum = sum_of_lanes(e, sum);
  if (s->is_along_k && !s->from_zero)
    sum = added(e, scratch_load(e, s->c, &p), sum);
  if (s->excess[row])
    sum = LLVMBuildSub(e->b, sum, s->excess[row], "");
  scratch_store(e, s->c, &p, sum);
}

// ---- all columns ----

static void find_excess(struct strip_emitter *e, struct streamed *s) {
  if (s->group != 4)
    return;
  levels_begin(e);
  struct loop l = loop_begin(e, 0, s->k, (int64_t)s->lanes * s->group);
  LLVMTypeRef type = vector_of(e->i32, s->lanes);
  LLVMValueRef offset = int_constant(type, 0x80808080);
  for (unsigned r = 0; r < s->m; r++)
    loop_carry(e, &l, LLVMConstNull(type));
  for (unsigned r = 0; r < s->m; r++)
    loop_next(&l, r, multiply_words(e, s->group, offset, a_at(e, s, r, l.index), l.phis[r]));
  loop_end(e, &l);
  for (unsigned r = 0; r < s->m; r++)
    s->excess[r] = sum_of_lanes(e, l.next[r]);
  levels_end(e);
}

// `rows` rows of the columns.
static void multiply_rows(struct strip_emitter *e, const struct streamed *s) {
  LLVMValueRef sums[ROWS][MOST_COLUMNS];
  int64_t k_step = s->is_along_k ? (int64_t)s->lanes * s->group : 1;
  int64_t unroll = s->k / k_step < UNROLL || s->rows * s->columns >= 8 ? 1 : UNROLL;
  for (unsigned r = 0; r < s->rows; r++)
    for (unsigned v = 0; v < s->columns; v++)
      sums[r][v] = first_sum(e, s, s->first + r, v);
  struct loop k = loop_begin(e, 0, s->k, k_step * unroll);
  for (unsigned r = 0; r < s->rows; r++)
    for (unsigned v = 0; v < s->columns; v++)
      sums[r][v] = loop_carry(e, &k, sums[r][v]);
  for (int64_t u = 0; u < unroll; u++)
    step(e, s, index_plus(e, k.index, u * k_step), sums);
  for (unsigned r = 0; r < s->rows; r++)
    for (unsigned v = 0; v < s->columns; v++)
      loop_next(&k, r * s->columns + v, sums[r][v]);
  loop_end(e, &k);
  for (unsigned r = 0; r < s->rows; r++)
    for (unsigned v = 0; v < s->columns; v++)
      last_sum(e, s, s->first + r, v, k.next[r * s->columns + v]);
}

static void multiply(struct strip_emitter *e, struct streamed *s) {
  levels_begin(e);
  struct loop column = loop_begin(e, 0, s->n, s->is_along_k ? s->columns : s->columns * s->lanes);
  for (unsigned v = 0; v < s->columns; v++)
    s->at[v] = index_plus(e, column.index, (int64_t)v * (s->is_along_k ? 1 : s->lanes));
  for (s->first = 0; s->first < s->m; s->first += s->rows)
    multiply_rows(e, s);
  loop_end(e, &column);
  levels_end(e);
}

void emit_streamed_product(struct strip_emitter *e, MlirOperation op, LLVMTypeRef type,
                           struct buffer *c, bool from_zero) {
  MlirType a = mlirValueGetType(operand(op, 0));
  MlirValue b = operand(op, 1);
  struct streamed s = {.b = b,
                       .is_along_k = fastest_dim(e, b) == 0,
                       .m = (unsigned)tensor_dim(a, 0),
                       .k = tensor_dim(a, 1),
                       .n = tensor_dim(mlirValueGetType(b), 1),
                       .lanes = STRIP,
                       .type = type,
                       .c = c,
                       .from_zero = from_zero,
                       .group = product_group(e, op)};
  LLVMTypeRef element = storage_type(e, element_type(mlirValueGetType(b)));
  s.as_sums = (struct buffer){.type = type, .widened = element != type};
  s.rows = s.m < ROWS ? s.m : ROWS;
  s.columns = most_sums(e, STRIP, type) / s.rows;
  int64_t vectors = s.is_along_k ? s.n : s.n / STRIP;
  s.columns = s.columns >= 4 && vectors >= 4 ? 4 : s.columns >= 2 && vectors >= 2 ? 2 : 1;
  s.a = s.group > 1 ? product_words(e, op, 0, s.group, ROWS_OF_K)
                    : product_operand(e, op, 0, type, ROWS_OF_K);
  find_excess(e, &s);
  multiply(e, &s);
}
