// SPDX-License-Identifier: Apache-2.0
// reload-operands: an operand of a matrix product that is the same in every turn of a loop is read
// from its buffer once, in front of the loop, and then lives in registers through all of it. Where
// the loop has no registers to spare, it is read again in every turn, next to its product:
//
//   %q = local_load %buffer                      scf.for ... {
//   scf.for ... {                           ->     %q = local_load %buffer
//     %s = tile.dot %q, ...                        %s = tile.dot %q, ...
//
// Reading costs a matrix move for every few products; ptxas would otherwise spill, to memory that
// is a hundred times as far away. In attention with heads of 128 the queries are such an operand
// (FlashAttention-2 keeps them in shared memory too). `prefetch` then cuts what is read into
// slices.
#include "base/vec.h"
#include "lowering/analysis/layout_flow.h"
#include "lowering/analysis/liveness.h"
#include "lowering/analysis/scratch.h"
#include "lowering/pass.h"
#include "lowering/passes/prefetch.h"

enum {
  MOST_REGISTERS = 255, // of a thread
  RESERVE = 24,         // registers for addresses and temporaries
  WORTH = 64,           // registers of an operand: reading a smaller one costs more than it saves
};

struct state {
  struct pass_context *p;
  struct ir_context *c;
  struct liveness *live;
  VEC(MlirValue) tiles; // of floats, that are computed or loaded
  VEC(MlirOperation) dots, buffers;
  VEC(MlirOperation) left; // reads in front of loops that a product of them did without
  bool changed;
};

static bool is_of_floats(MlirValue v) {
  MlirType t = mlirValueGetType(v);
  return type_is_tensor(t) && mlirTypeIsAFloat(element_type(t));
}

// Tiles that hold no registers of their own: constants, copies of a smaller tile.
static bool is_free(struct ir_context *c, MlirOperation op) {
  return op_is(c, op, OP_ARITH_CONSTANT) || op_is(c, op, OP_TILE_BROADCAST) ||
         op_is(c, op, OP_TILE_EXPAND_DIMS) || op_is(c, op, OP_TILE_SPLAT);
}

static bool collect(MlirOperation op, void *user) {
  struct state *s = user;
  if (op_is(s->c, op, OP_TILE_DOT))
    vec_push(s->p->scratch, &s->dots, op);
  if (op_is(s->c, op, OP_GPU_LOCAL_ALLOC))
    vec_push(s->p->scratch, &s->buffers, op);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue v = mlirOperationGetResult(op, i);
    if (is_of_floats(v) && !is_free(s->c, op))
      vec_push(s->p->scratch, &s->tiles, v);
  }
  for (intptr_t r = 0; op_is_loop(s->c, op) && r < mlirOperationGetNumRegions(op); r++) {
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
    for (intptr_t i = 0; !mlirBlockIsNull(body) && i < mlirBlockGetNumArguments(body); i++)
      if (is_of_floats(mlirBlockGetArgument(body, i)))
        vec_push(s->p->scratch, &s->tiles, mlirBlockGetArgument(body, i));
  }
  return true;
}

static bool is_within(MlirOperation op, MlirOperation around) {
  for (; !mlirOperationIsNull(op); op = mlirOperationGetParentOperation(op))
    if (mlirOperationEqual(op, around))
      return true;
  return false;
}

// Registers that a thread holds while `dot` runs: what lives across it, and its result. What its
// loop reads from buffers comes in slices and does not count.
static unsigned registers_at(struct state *s, MlirOperation dot, MlirOperation loop) {
  uint32_t at = liveness_point(s->live, dot);
  unsigned words = 0;
  for (size_t i = 0; i < s->tiles.len; i++) {
    MlirValue v = s->tiles.at[i];
    struct live_range r = liveness_range(s->live, v);
    MlirOperation def = value_def(v);
    bool is_read = !mlirOperationIsNull(def) && op_is(s->c, def, OP_GPU_LOCAL_LOAD);
    bool is_own = !mlirOperationIsNull(def) && mlirOperationEqual(def, dot);
    if (is_own || (r.begin < at && r.end > at && !(is_read && is_within(def, loop))))
      words += prefetch_words(s->c, mlirValueGetType(v));
  }
  return words;
}

// The most that any product of the loop finds.
static unsigned registers_of_loop(struct state *s, MlirOperation loop) {
  unsigned most = 0;
  for (size_t i = 0; i < s->dots.len; i++)
    if (is_within(s->dots.at[i], loop)) {
      unsigned words = registers_at(s, s->dots.at[i], loop);
      most = words > most ? words : most;
    }
  return most;
}

// Bytes of the buffers that live somewhere in `loop`, and of `buffer`.
static uint64_t shared_bytes_in(struct state *s, MlirOperation loop, MlirValue buffer) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < s->buffers.len; i++) {
    MlirOperation alloc = s->buffers.at[i];
    MlirValue v = mlirOperationGetResult(alloc, 0);
    struct live_range r = liveness_range(s->live, v);
    if (mlirValueEqual(v, buffer) ||
        (r.end > liveness_point(s->live, loop) && r.begin < liveness_end(s->live, loop)))
      bytes += alloc_bytes(s->c, alloc);
  }
  return bytes;
}

// The read in front of `loop` that operand `i` of the product is, if its buffer was filled once.
static MlirOperation read_before(struct state *s, MlirOperation dot, intptr_t i,
                                 MlirOperation loop) {
  MlirOperation none = {NULL}, load = value_def(mlirOperationGetOperand(dot, i));
  if (mlirOperationIsNull(load) || !op_is(s->c, load, OP_GPU_LOCAL_LOAD) || is_within(load, loop))
    return none;
  MlirOperation alloc = value_def(mlirOperationGetOperand(load, 0));
  bool is_filled_once = !mlirOperationIsNull(alloc) && op_is(s->c, alloc, OP_GPU_LOCAL_ALLOC) &&
                        mlirOperationGetNumOperands(alloc) == 1;
  return is_filled_once ? load : none;
}

static void note_left(struct state *s, MlirOperation load) {
  for (size_t i = 0; i < s->left.len; i++)
    if (mlirOperationEqual(s->left.at[i], load))
      return;
  vec_push(s->p->scratch, &s->left, load);
}

static void visit(struct state *s, MlirOperation dot) {
  MlirOperation loop = op_loop_around(s->c, dot);
  for (intptr_t i = 0; i < 2 && !mlirOperationIsNull(loop); i++) {
    MlirOperation load = read_before(s, dot, i, loop);
    if (mlirOperationIsNull(load))
      continue;
    MlirValue buffer = mlirOperationGetOperand(load, 0), whole = mlirOperationGetResult(load, 0);
    unsigned registers = registers_of_loop(s, loop);
    unsigned own = prefetch_words(s->c, mlirValueGetType(whole));
    if (own < WORTH || registers + RESERVE <= MOST_REGISTERS ||
        shared_bytes_in(s, loop, buffer) > s->p->target->shared_limit)
      continue;
    struct builder b = builder_before(s->c, dot);
    b.loc = mlirOperationGetLocation(load);
    mlirOperationSetOperand(dot, i,
                            build_local_load(&b, buffer, tensor_encoding(mlirValueGetType(whole))));
    pass_remark(s->p, dot, "dot",
                "reads operand %s from its buffer in every turn: held through the loop it would "
                "take %u of %u registers",
                i ? "B" : "A", own, registers);
    note_left(s, load);
    s->changed = true;
  }
}

enum pass_result pass_reload_operands(struct pass_context *p) {
  bool changed = false;
  MlirOperation f = mlirBlockGetFirstOperation(mlirModuleGetBody(p->module));
  for (; !mlirOperationIsNull(f); f = mlirOperationGetNextInBlock(f)) {
    struct state s = {.p = p, .c = p->c, .live = liveness_of(p->c, f, p->scratch)};
    ir_walk(f, collect, &s);
    for (size_t i = 0; i < s.dots.len; i++)
      visit(&s, s.dots.at[i]);
    for (size_t i = 0; i < s.left.len; i++)
      if (value_use_count(mlirOperationGetResult(s.left.at[i], 0)) == 0)
        op_erase(s.left.at[i]);
    changed |= s.changed;
  }
  return changed ? PASS_CHANGED : PASS_UNCHANGED;
}
