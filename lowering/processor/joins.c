// SPDX-License-Identifier: Apache-2.0
// Pairs of values, and other shapes of a buffer. Recursion is the algorithm: part of the walk in
// ops.c.
#include "lowering/processor/strips.h"

static unsigned shape_of_value(MlirValue v, int64_t *shape) {
  unsigned rank = rank_of(v);
  for (unsigned d = 0; d < rank; d++)
    shape[d] = tensor_dim(mlirValueGetType(v), d);
  return rank;
}

struct join {
  MlirOperation op;
  struct buffer *to;
};

static void join_strip(struct strip_emitter *e, const struct position *p, void *user) {
  struct join *j = user;
  LLVMValueRef x[2], picks[2 * STRIP];
  struct position q = *p;
  q.at[q.rank++] = index_constant(e, 0);
  for (unsigned i = 0; i < 2; i++)
    x[i] = to_storage(e, evaluate(e, operand(j->op, i), p));
  if (p->lanes == 1) {
    for (unsigned i = 0; i < 2; i++) {
      q.at[p->rank] = index_constant(e, i);
      scratch_store(e, j->to, &q, x[i]);
    }
    return;
  }
  for (unsigned i = 0; i < 2 * p->lanes; i++)
    picks[i] = LLVMConstInt(e->i32, i / 2 + i % 2 * p->lanes, false);
  LLVMValueRef v =
      LLVMBuildShuffleVector(e->b, x[0], x[1], LLVMConstVector(picks, 2 * p->lanes), "");
  LLVMSetAlignment(LLVMBuildStore(e->b, v, scratch_address(e, j->to, &q)),
                   storage_bytes(e, j->to->type));
}

void emit_join_loops(struct strip_emitter *e, MlirOperation op) {
  int64_t shape[MAX_RANK];
  flush(e);
  for (unsigned i = 0; i < 2; i++)
    if (is_tile(operand(op, i)) && is_needed_later(e, operand(op, i), &(struct map){0}, NULL))
      in_buffer(e, operand(op, i));
  struct join j = {op, buffer_for(e, result(op, 0))};
  unsigned rank = shape_of_value(operand(op, 0), shape);
  each_strip(e, rank, shape, (int)rank - 1, join_strip, &j);
  bind_buffer(e, result(op, 0), j.to);
}

// Halves of a tile of two elements are scalars; others are read from its buffer where they are
// needed.
void emit_split_buffer(struct strip_emitter *e, MlirOperation op) {
  in_buffer(e, operand(op, 0));
  if (is_tile(result(op, 0)))
    return;
  for (unsigned i = 0; i < 2; i++) {
    struct position p = {.rank = 1, .at = {index_constant(e, i)}, .lane = -1, .lanes = 1};
    levels_begin(e);
    LLVMValueRef x = evaluate(e, operand(op, 0), &p);
    levels_end(e);
    bind_scalar(e, result(op, i), x);
  }
}

// Buffers are row-major, so another shape is the same memory.
void emit_reshape_view(struct strip_emitter *e, MlirOperation op) {
  MlirValue from = operand(op, 0), to = result(op, 0);
  int64_t shape[MAX_RANK];
  struct value *known = known_value(e, from);
  if (tensor_numel(mlirValueGetType(from)) == 1 && !(known && known->kind == VALUE_BUFFER)) {
    bind_scalar(e, to, single_element(e, from));
    return;
  }
  struct buffer *b = in_buffer(e, from), *view = arena_new(e->arena, struct buffer);
  unsigned rank = shape_of_value(to, shape);
  b->is_shared = true;
  *view = (struct buffer){.at = b->at, .type = b->type, .widened = b->widened, .is_shared = true};
  int64_t stride = 1;
  for (unsigned d = rank; d-- > 0; stride *= shape[d])
    view->stride[d] = stride;
  bind_buffer(e, to, view);
}
