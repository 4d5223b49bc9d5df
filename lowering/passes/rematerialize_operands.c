// SPDX-License-Identifier: Apache-2.0
// rematerialize-operands: a loop-invariant operand of a matrix product is loaded from its buffer
// once, before the loop, and occupies registers throughout. If the loop has no registers to spare,
// it is loaded in every iteration, next to its product:
//
//   %q = local_load %buffer                      scf.for ... {
//   scf.for ... {                           ->     %q = local_load %buffer
//     %s = tile.dot %q, ...                        %s = tile.dot %q, ...
//
// The load costs an ldmatrix for every few products; ptxas would otherwise spill to local memory.
// In attention with heads of 128 the queries are such an operand (FlashAttention-2 keeps them in
// shared memory too). `prefetch` then splits the load into slices.
#include "base/vec.h"
#include "lowering/analysis/liveness.h"
#include "lowering/analysis/scratch.h"
#include "lowering/cost/occupancy.h"
#include "lowering/cost/registers.h"
#include "lowering/pass.h"
#include "mlir-dialects/build.h"

// Minimal registers per thread of an operand: reloading a smaller one costs more than it saves.
// H200, flash attention, D 128, 4 warps: 361 TFLOP/s with it, 266 without (docs/performance.md).
enum { WORTH = 64 };

struct state {
  struct pass_context *p;
  struct ir_context *c;
  MlirOperation func;
  struct axis_analysis *axis;
  struct liveness *live; // this and the census: of the current IR; NULL: not computed
  struct register_census *census;
  VEC(MlirOperation) dots, buffers;
  VEC(MlirOperation) left; // loads before loops that a product no longer uses
  bool changed;
};

static bool collect(MlirOperation op, void *user) {
  struct state *s = user;
  if (op_is(s->c, op, OP_TILE_DOT))
    vec_push(s->p->scratch, &s->dots, op);
  if (op_is(s->c, op, OP_GPU_LOCAL_ALLOC))
    vec_push(s->p->scratch, &s->buffers, op);
  return true;
}

static void look_around(struct state *s) {
  struct arena *a = s->p->scratch;
  if (!s->axis)
    s->axis = axis_analyse(s->c, s->func, a);
  if (!s->live) {
    s->live = liveness_of(s->c, s->func, a);
    s->census = register_census_of(s->c, s->axis, s->live, s->func, a);
  }
}

static bool is_within(MlirOperation op, MlirOperation around) {
  for (; !mlirOperationIsNull(op); op = mlirOperationGetParentOperation(op))
    if (mlirOperationEqual(op, around))
      return true;
  return false;
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

// The load before `loop` that is operand `i` of the product, if its buffer is stored once.
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

// Does the loop need more registers than available, so that a buffer for the operand pays off?
static bool is_short(struct state *s, MlirOperation loop, MlirValue buffer, unsigned *ret_words) {
  look_around(s);
  *ret_words = registers_in_loop(s->census, loop);
  return *ret_words + registers_reserved(s->census) >
             resource_registers(s->p->target, s->p->num_warps) &&
         shared_bytes_in(s, loop, buffer) <= s->p->target->shared_limit;
}

// Loads operand `i` of the product right before it.
static void read_again(struct state *s, MlirOperation dot, intptr_t i, MlirOperation load) {
  struct builder b = builder_before(s->c, dot);
  b.loc = mlirOperationGetLocation(load);
  MlirAttribute layout = tensor_encoding(mlirValueGetType(mlirOperationGetResult(load, 0)));
  mlirOperationSetOperand(dot, i, build_local_load(&b, mlirOperationGetOperand(load, 0), layout));
}

// For all products of the loop: kept for one of them it would still occupy registers.
static void read_in_each_iteration(struct state *s, MlirOperation loop, MlirOperation load,
                                   unsigned own, unsigned all) {
  for (size_t n = 0; n < s->dots.len; n++) {
    MlirOperation dot = s->dots.at[n];
    for (intptr_t i = 0; i < 2; i++) {
      if (!mlirOperationEqual(value_def(mlirOperationGetOperand(dot, i)), load) ||
          !mlirOperationEqual(op_loop_around(s->c, dot), loop))
        continue;
      read_again(s, dot, i, load);
      pass_remark(
          s->p, dot, "dot",
          "reads operand %s from its buffer in every iteration: held through the loop it would "
          "take %u of %u registers",
          i ? "B" : "A", own, all);
    }
  }
  note_left(s, load);
  s->live = NULL;
  s->changed = true;
}

static void visit(struct state *s, MlirOperation dot) {
  MlirOperation loop = op_loop_around(s->c, dot);
  for (intptr_t i = 0; i < 2 && !mlirOperationIsNull(loop); i++) {
    MlirOperation load = read_before(s, dot, i, loop);
    if (mlirOperationIsNull(load))
      continue;
    unsigned own = tile_words(s->c, mlirValueGetType(mlirOperationGetResult(load, 0))), all;
    if (own >= WORTH && is_short(s, loop, mlirOperationGetOperand(load, 0), &all))
      read_in_each_iteration(s, loop, load, own, all);
  }
}

enum pass_result pass_rematerialize_operands(struct pass_context *p) {
  bool changed = false;
  MlirOperation f = mlirBlockGetFirstOperation(mlirModuleGetBody(p->module));
  for (; !mlirOperationIsNull(f); f = mlirOperationGetNextInBlock(f)) {
    struct state s = {.p = p, .c = p->c, .func = f};
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
