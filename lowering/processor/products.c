// SPDX-License-Identifier: Apache-2.0
// Matrix products: operands go to buffers of the accumulator's type, and blocks of rows and columns
// of the result stay in registers along K ("Anatomy of High-Performance Matrix Multiplication",
// Goto and van de Geijn, 2008). A block is a function: one vector of each column group of B, and
// one broadcast of each row of A, for each k. Products of 8-bit integers are of words that hold
// several elements along K (product_words.c).
#include "lowering/processor/strips.h"

enum { MAX_ROWS = 14, UNROLL = 4 };

struct product {
  MlirOperation op;
  bool is_batch;
  int64_t batches, m, n, k;
  LLVMTypeRef type;         // of the sums
  struct buffer *a, *b, *c; // strides: batch, row, column
  unsigned group;           // elements of k in one of a and b; `k` counts those groups
  struct buffer *excess;    // one row, which is taken off all rows; NULL: none
  unsigned lanes, vectors;  // columns of a block
  unsigned rows;            // of the largest block
  bool from_zero;
};

// ---- a block ----

static LLVMValueRef element_at(struct strip_emitter *e, LLVMTypeRef type, LLVMValueRef base,
                               LLVMValueRef k, int64_t k_stride, int64_t offset) {
  LLVMValueRef at = index_constant(e, offset);
  if (k)
    at = LLVMBuildNSWAdd(e->b, LLVMBuildNSWMul(e->b, k, index_constant(e, k_stride), ""), at, "");
  return LLVMBuildInBoundsGEP2(e->b, type, base, &at, 1, "");
}

static LLVMValueRef load_vector(struct strip_emitter *e, LLVMTypeRef type, LLVMValueRef at) {
  LLVMValueRef v = LLVMBuildLoad2(e->b, type, at, "");
  LLVMTypeRef element =
      LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
  LLVMSetAlignment(v, storage_bytes(e, element));
  return v;
}

struct sums {
  LLVMValueRef at[MAX_ROWS][4];
};

static void block_step(struct strip_emitter *e, const struct product *p, unsigned rows,
                       LLVMValueRef k, int64_t plus, struct sums *s) {
  LLVMTypeRef vector = vector_of(p->type, p->lanes);
  LLVMValueRef b[4], a = LLVMGetParam(e->function, 0), b_base = LLVMGetParam(e->function, 1);
  const int64_t *as = p->a->stride + p->is_batch, *bs = p->b->stride + p->is_batch;
  for (unsigned v = 0; v < p->vectors; v++)
    b[v] = load_vector(e, vector,
                       element_at(e, p->type, b_base, k, bs[0], plus * bs[0] + v * p->lanes));
  for (unsigned r = 0; r < rows; r++) {
    LLVMValueRef x =
        load_vector(e, p->type, element_at(e, p->type, a, k, as[1], plus * as[1] + r * as[0]));
    x = repeat(e, x, p->lanes);
    for (unsigned v = 0; v < p->vectors; v++)
      s->at[r][v] = multiply_add(e, p->group, x, b[v], s->at[r][v]);
  }
}

static void first_sums(struct strip_emitter *e, const struct product *p, unsigned rows,
                       struct sums *s) {
  LLVMTypeRef vector = vector_of(p->type, p->lanes);
  LLVMValueRef c = LLVMGetParam(e->function, 2), excess = LLVMGetParam(e->function, 3);
  int64_t row = p->c->stride[p->is_batch];
  for (unsigned v = 0; v < p->vectors; v++) {
    LLVMValueRef less = NULL;
    if (p->excess)
      less = load_vector(e, vector, element_at(e, p->type, excess, NULL, 0, v * p->lanes));
    for (unsigned r = 0; r < rows; r++) {
      LLVMValueRef at = element_at(e, p->type, c, NULL, 0, r * row + v * p->lanes);
      LLVMValueRef sum = p->from_zero ? LLVMConstNull(vector) : load_vector(e, vector, at);
      s->at[r][v] = less ? LLVMBuildSub(e->b, sum, less, "") : sum;
    }
  }
}

static void block_body(struct strip_emitter *e, const struct product *p, unsigned rows) {
  LLVMValueRef c = LLVMGetParam(e->function, 2);
  int64_t row = p->c->stride[p->is_batch], unroll = p->k < UNROLL ? p->k : UNROLL;
  struct sums s;
  first_sums(e, p, rows, &s);
  struct loop l = loop_begin(e, 0, p->k, unroll);
  for (unsigned r = 0; r < rows; r++)
    for (unsigned v = 0; v < p->vectors; v++)
      s.at[r][v] = loop_carry(e, &l, s.at[r][v]);
  for (int64_t u = 0; u < unroll; u++)
    block_step(e, p, rows, l.index, u, &s);
  for (unsigned r = 0; r < rows; r++)
    for (unsigned v = 0; v < p->vectors; v++)
      loop_next(&l, r * p->vectors + v, s.at[r][v]);
  loop_end(e, &l);
  for (unsigned r = 0; r < rows; r++)
    for (unsigned v = 0; v < p->vectors; v++) {
      LLVMValueRef at = element_at(e, p->type, c, NULL, 0, r * row + v * p->lanes);
      LLVMSetAlignment(LLVMBuildStore(e->b, s.at[r][v], at), storage_bytes(e, p->type));
    }
}

// void block(a, b, c, excess), for so many rows.
static LLVMValueRef block_function(struct strip_emitter *e, const struct product *p,
                                   unsigned rows) {
  LLVMTypeRef types[] = {e->ptr, e->ptr, e->ptr, e->ptr};
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->llvm), types, 4, false);
  LLVMValueRef caller = e->function;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
  e->function =
      LLVMAddFunction(e->module, arena_printf(e->arena, "product_%u", e->products++), type);
  LLVMSetLinkage(e->function, LLVMInternalLinkage);
  function_attribute(e, e->function, "noinline");
  LLVMPositionBuilderAtEnd(e->b, LLVMAppendBasicBlockInContext(e->llvm, e->function, "entry"));
  levels_begin(e);
  block_body(e, p, rows);
  levels_end(e);
  LLVMBuildRetVoid(e->b);
  LLVMValueRef made = e->function;
  e->function = caller;
  LLVMPositionBuilderAtEnd(e->b, here);
  return made;
}

// ---- all blocks ----

// A loop over blocks of rows that begin at `from`.
static void call_blocks(struct strip_emitter *e, const struct product *p, LLVMValueRef function,
                        unsigned rows, int64_t from, int64_t count, LLVMValueRef batch,
                        LLVMValueRef column) {
  struct loop l = loop_begin(e, from, count, rows);
  struct position a = {.lane = -1, .lanes = 1}, b = a, c = a;
  if (p->is_batch)
    a.at[a.rank++] = b.at[b.rank++] = c.at[c.rank++] = batch;
  a.at[a.rank++] = c.at[c.rank++] = l.index;
  a.at[a.rank++] = b.at[b.rank++] = index_constant(e, 0);
  b.at[b.rank++] = c.at[c.rank++] = column;
  LLVMValueRef args[] = {scratch_address(e, p->a, &a), scratch_address(e, p->b, &b),
                         scratch_address(e, p->c, &c),
                         p->excess ? scratch_address(e, p->excess, &b) : LLVMConstNull(e->ptr)};
  LLVMBuildCall2(e->b, LLVMGlobalGetValueType(function), function, args, 4, "");
  loop_end(e, &l);
}

// Rows are shared out evenly: blocks of `rows`, then blocks of one less.
static void multiply(struct strip_emitter *e, struct product *p) {
  int64_t parts = (p->m + p->rows - 1) / p->rows, rows = (p->m + parts - 1) / parts;
  int64_t large = p->m - parts * (rows - 1), columns = (int64_t)(p->lanes * p->vectors);
  LLVMValueRef functions[2] = {block_function(e, p, (unsigned)rows), NULL};
  if (large < parts)
    functions[1] = block_function(e, p, (unsigned)rows - 1);
  levels_begin(e);
  struct loop batch = loop_begin(e, 0, p->batches, 1);
  struct loop column = loop_begin(e, 0, p->n, columns);
  call_blocks(e, p, functions[0], (unsigned)rows, 0, large * rows, batch.index, column.index);
  if (functions[1])
    call_blocks(e, p, functions[1], (unsigned)rows - 1, large * rows, (parts - large) * (rows - 1),
                batch.index, column.index);
  loop_end(e, &column);
  loop_end(e, &batch);
  levels_end(e);
}

// ---- operands ----

static bool is_row_major(const struct buffer *b, unsigned rank, const int64_t *shape) {
  int64_t stride = 1;
  for (unsigned d = rank; d-- > 0; stride *= shape[d])
    if (b->stride[d] != stride)
      return false;
  return true;
}

static bool is_zero(struct strip_emitter *e, MlirValue v) {
  MlirOperation op = deferred_op(e, v);
  while (!mlirOperationIsNull(op) &&
         (op_is(e->c, op, OP_TILE_SPLAT) || op_is(e->c, op, OP_TILE_BROADCAST) ||
          op_is(e->c, op, OP_TILE_EXPAND_DIMS)))
    op = value_def(operand(op, 0));
  if (mlirOperationIsNull(op) || !op_is(e->c, op, OP_ARITH_CONSTANT))
    return false;
  int64_t n;
  double x;
  return (value_const_int(e->c, result(op, 0), &n) && n == 0) ||
         (value_const_float(e->c, result(op, 0), &x) && x == 0);
}

static MlirBlock block_of(MlirValue v) {
  MlirOperation def = value_def(v);
  return mlirOperationIsNull(def) ? mlirBlockArgumentGetOwner(v) : mlirOperationGetBlock(def);
}

// Sums may go on in the buffer of `acc` if nobody else reads it: not later, nor in the next
// iteration of a loop around.
static struct buffer *sum_buffer(struct strip_emitter *e, struct product *p) {
  MlirValue acc = operand(p->op, 2), out = result(p->op, 0);
  struct value *known = known_value(e, acc);
  int64_t shape[MAX_RANK];
  unsigned rank = rank_of(out);
  for (unsigned d = 0; d < rank; d++)
    shape[d] = tensor_dim(mlirValueGetType(out), d);
  if (known && known == ptrmap_get(&e->values, acc.ptr) && known->kind == VALUE_BUFFER &&
      known->buffer->type == p->type && !known->buffer->is_shared &&
      is_row_major(known->buffer, rank, shape) &&
      mlirBlockEqual(block_of(acc), mlirOperationGetBlock(p->op)) &&
      !is_needed_later(e, acc, &(struct map){0}, NULL))
    return known->buffer;
  struct buffer *to = ptrmap_get(&e->wanted, out.ptr);
  if (!to || to->type != p->type) {
    to = buffer_of_type(e, p->type, rank, shape);
    to->widened = storage_type(e, element_type(mlirValueGetType(out))) != p->type;
  }
  p->from_zero = is_zero(e, acc);
  if (!p->from_zero)
    copy_to(e, acc, to, (int)rank - 1);
  return to;
}

// ---- the op ----

static LLVMTypeRef sum_type(struct strip_emitter *e, MlirOperation op) {
  switch (dtype_of(operand(op, 2))) {
  case DTYPE_F16:
  case DTYPE_BF16:
  case DTYPE_F32: return dtype_of(operand(op, 0)) == DTYPE_F64 ? NULL : e->f32;
  case DTYPE_F64: return dtype_of(operand(op, 0)) == DTYPE_F64 ? e->f64 : NULL;
  case DTYPE_I32: return dtype_is_int(dtype_of(operand(op, 0))) ? e->i32 : NULL;
  default: return NULL;
  }
}

// As many rows as leave the sums, a row of B and a broadcast in registers.
static void choose_block(struct strip_emitter *e, struct product *p) {
  unsigned registers = e->registers.count, bytes = e->registers.bytes;
  p->lanes = p->n < STRIP ? (unsigned)p->n : STRIP;
  unsigned each = p->lanes * storage_bytes(e, p->type) / bytes; // registers of a vector
  each = each ? each : 1;
  p->vectors = p->n >= 2 * STRIP && each * 2 * 6 < registers ? 2 : 1;
  unsigned columns = each * p->vectors;
  p->rows = (registers - 2 - columns) / columns;
  p->rows = p->rows > MAX_ROWS ? MAX_ROWS : p->rows ? p->rows : 1;
}

static void pack_operands(struct strip_emitter *e, struct product *p) {
  if (p->group == 1) {
    p->a = product_operand(e, p->op, 0, p->type, ANY_ORDER);
    p->b = product_operand(e, p->op, 1, p->type, ANY_ORDER);
    return;
  }
  p->k /= p->group;
  p->a = product_words(e, p->op, 0, p->group, ANY_ORDER);
  p->b = product_words(e, p->op, 1, p->group, ANY_ORDER);
  p->excess = p->group == 4 ? product_excess(e, p->op, p->b) : NULL;
}

void emit_product(struct strip_emitter *e, MlirOperation op) {
  flush(e);
  MlirType a = mlirValueGetType(operand(op, 0)), b = mlirValueGetType(operand(op, 1));
  unsigned rank = tensor_rank(a);
  struct product p = {.op = op,
                      .is_batch = rank == 3,
                      .batches = rank == 3 ? tensor_dim(a, 0) : 1,
                      .m = tensor_dim(a, rank - 2),
                      .n = tensor_dim(b, rank - 1),
                      .k = tensor_dim(a, rank - 1),
                      .group = product_group(e, op),
                      .type = sum_type(e, op)};
  if (!p.type) {
    refuse(e, op, "a product of `%s` with sums of `%s`", dtype_name(dtype_of(operand(op, 0))),
           dtype_name(dtype_of(operand(op, 2))));
    return;
  }
  ptrmap_put(e->arena, &e->done, op.ptr, e);
  if (product_streams(e, op, p.type)) {
    p.c = sum_buffer(e, &p);
    emit_streamed_product(e, op, p.type, p.c, p.from_zero);
  } else {
    choose_block(e, &p);
    pack_operands(e, &p);
    p.c = sum_buffer(e, &p);
    if (!e->refusal.why)
      multiply(e, &p);
  }
  bind_buffer(e, result(op, 0), p.c);
}
