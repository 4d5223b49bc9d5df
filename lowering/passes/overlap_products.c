// SPDX-License-Identifier: Apache-2.0
// overlap-products: in a loop with two products where the first one's result becomes operand A of
// the second, as in attention, the second product runs beside the computation between them, one
// iteration later (FlashAttention-3, arXiv 2407.08608, section 3.2).
//
//   for (%acc) {                       if (the loop has iterations) {
//     %s = dot %q, ring 0                %s = dot %q, ring 0        %p, %acc of the first iteration
//     %p = f(%s)                  ->     for (%acc, %p) {           from the second on
//     %t = %acc * g(%s)                    %s = dot %q, ring 0      in flight
//     %r = dot %p, ring 1, %t              %r = dot %p, ring 1, %acc   in flight
//     yield %r                             wait for %s, compute f(%s) and g(%s)
//   }                                      wait for %r
//                                          yield %r * g(%s), f(%s)
//                                        }
//                                        dot %p, ring 1, %acc
//                                      }
//
// Slots of the rings are released as soon as the product that reads them is complete.
#include "base/vec.h"
#include "base/wgmma.h"
#include "lowering/analysis/layout_flow.h"
#include "lowering/pass.h"
#include "lowering/passes/clone_ops.h"
#include "lowering/passes/loop_rewrite.h"
#include "mlir-dialects/build.h"
#include "mlir-dialects/rings.h"

enum { SLT = 2, FEW_REGISTERS = 8 }; // SLT: the predicate of arith.cmpi

// What becomes of an op of the loop's body.
enum part {
  FRONT,     // up to the first product
  MIDDLE,    // behind it
  SUM,       // reads the sum of the iteration before
  OPERAND,   // converts operand A of the second product: behind the wait for the one before
  PRODUCT,   // the second product and what it reads
  RESULT,    // its conversions to the layout that the loop carries
  RELEASE_1, // of the slot that the first product reads
  RELEASE_2
};

struct state {
  struct pass_context *p;
  struct ir_context *c;
  VEC(MlirOperation) loops;
  // of a loop
  MlirOperation loop, first, second;
  MlirValue sum;         // carried
  MlirValue unconverted; // operand A of the second product before its conversions
  MlirValue uses[WAIT_USES];
  size_t use_count;    // of what is computed from `unconverted` and carried
  MlirOperation entry; // of the warpgroups that compute
  bool has_ping_pong;
  intptr_t carried; // its number, of what the loop carries
  struct map parts; // op -> enum part + 1
};

static enum part part_of(const struct state *s, MlirOperation op) {
  uintptr_t part = (uintptr_t)ptrmap_get(&s->parts, op.ptr);
  return part ? (enum part)(part - 1) : MIDDLE;
}

static void set_part(struct state *s, MlirOperation op, enum part part) {
  ptrmap_put(s->p->scratch, &s->parts, op.ptr, (void *)(uintptr_t)(part + 1));
}

static bool has_part(const struct state *s, MlirOperation op) {
  return ptrmap_get(&s->parts, op.ptr) != NULL;
}

// ---- the body ----

static bool is_in_body(const struct state *s, MlirOperation op) {
  return !mlirOperationIsNull(op) && mlirBlockEqual(mlirOperationGetBlock(op), loop_body(s->loop));
}

// The two products; false: there are others, or they are in flight already.
static bool find_products(struct state *s) {
  unsigned count = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(loop_body(s->loop)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (!op_is(s->c, op, OP_GPU_WARP_GROUP_DOT))
      continue;
    if (op_attr_int(op, "pending", 0) != 0 || !mlirAttributeIsNull(op_attr(op, "promoted_every")) ||
        type_bits(s->c, element_type(mlirValueGetType(mlirOperationGetResult(op, 0)))) != 32)
      return false;
    *(count ? &s->second : &s->first) = op;
    count++;
  }
  return count == 2 && type_is_tensor(mlirValueGetType(mlirOperationGetOperand(s->second, 0)));
}

// The ring_full whose slot is operand `i` of the product, in this loop; null if there is none.
// Marks the views between them as `part`.
static MlirOperation slot_of(struct state *s, MlirOperation product, intptr_t i, enum part part) {
  MlirOperation none = {NULL}, at = value_def(mlirOperationGetOperand(product, i));
  while (is_in_body(s, at) && op_is(s->c, at, OP_GPU_LOCAL_TRANS)) {
    set_part(s, at, part);
    at = value_def(mlirOperationGetOperand(at, 0));
  }
  if (!is_in_body(s, at) || !op_is(s->c, at, OP_GPU_LOCAL_INDEX))
    return none;
  set_part(s, at, part);
  MlirOperation full = value_def(mlirOperationGetOperand(at, 1));
  if (!is_in_body(s, full) || !op_is(s->c, full, OP_GPU_RING_FULL))
    return none;
  set_part(s, full, part);
  return full;
}

// The one release of the ring in the body.
static bool mark_release(struct state *s, int64_t ring, enum part part) {
  unsigned count = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(loop_body(s->loop)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (op_is(s->c, op, OP_GPU_RING_RELEASE) && op_attr_int(op, "ring", -1) == ring) {
      set_part(s, op, part);
      count += op_attr_int(op, "keep", 0) == 0 ? 1 : 2;
    }
  return count == 1;
}

static bool find_rings(struct state *s) {
  MlirOperation first = slot_of(s, s->first, 1, FRONT), second = slot_of(s, s->second, 1, PRODUCT);
  if (mlirOperationIsNull(first) || mlirOperationIsNull(second))
    return false;
  int64_t rings[] = {op_attr_int(first, "ring", 0), op_attr_int(second, "ring", 0)};
  set_part(s, s->second, PRODUCT);
  return rings[0] != rings[1] && mark_release(s, rings[0], RELEASE_1) &&
         mark_release(s, rings[1], RELEASE_2);
}

// What the loop carries is the second product's result, maybe in another layout.
static bool find_sum(struct state *s) {
  MlirOperation yield = mlirBlockGetTerminator(loop_body(s->loop));
  for (MlirValue v = mlirOperationGetResult(s->second, 0);;) {
    MlirOpOperand use = mlirValueGetFirstUse(v);
    if (mlirOpOperandIsNull(use) || !mlirOpOperandIsNull(mlirOpOperandGetNextUse(use)))
      return false;
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (mlirOperationEqual(user, yield)) {
      s->carried = mlirOpOperandGetOperandNumber(use);
      s->sum = mlirBlockGetArgument(loop_body(s->loop), s->carried + 1);
      return true;
    }
    if (!is_in_body(s, user) || !op_is(s->c, user, OP_GPU_CONVERT_LAYOUT))
      return false;
    set_part(s, user, RESULT);
    v = mlirOperationGetResult(user, 0);
  }
}

// Marks what is computed from `v`, up to the second product. False: something else needs it.
static bool mark_sum(struct state *s, MlirValue v) {
  for (MlirOpOperand use = mlirValueGetFirstUse(v); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (mlirOperationEqual(user, s->second) && mlirOpOperandGetOperandNumber(use) == 2)
      continue;
    if (!is_in_body(s, user) || !op_is_pure(s->c, user) || mlirOperationGetNumResults(user) != 1 ||
        mlirOperationGetNumRegions(user) != 0 || (has_part(s, user) && part_of(s, user) != SUM))
      return false;
    set_part(s, user, SUM);
    if (!mark_sum(s, mlirOperationGetResult(user, 0)))
      return false;
  }
  return true;
}

// The conversions at the end of operand A of the second product: their results take the registers
// that the product in flight reads.
static void mark_operand(struct state *s) {
  MlirValue v = mlirOperationGetOperand(s->second, 0);
  for (MlirOperation op = value_def(v);
       is_in_body(s, op) && !has_part(s, op) &&
       mlirOpOperandIsNull(mlirOpOperandGetNextUse(mlirValueGetFirstUse(v))) &&
       (op_is(s->c, op, OP_GPU_CONVERT_LAYOUT) || op_is(s->c, op, OP_ARITH_TRUNCF) ||
        op_is(s->c, op, OP_TILE_FP_TO_FP));
       op = value_def(v)) {
    set_part(s, op, OPERAND);
    v = mlirOperationGetOperand(op, 0);
  }
  s->unconverted = v;
}

// Everything else can be computed while the second product is in flight.
static bool mark_rest(struct state *s) {
  bool is_behind = false;
  for (MlirOperation op = mlirBlockGetFirstOperation(loop_body(s->loop)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (mlirOperationEqual(op, s->first))
      is_behind = true;
    if (op_is(s->c, op, OP_SCF_YIELD) || (has_part(s, op) && part_of(s, op) != FRONT)) {
      if (has_part(s, op) && !is_behind && part_of(s, op) != PRODUCT)
        return false;
      continue;
    }
    bool is_product = mlirOperationEqual(op, s->first), is_wait = part_of(s, op) == FRONT;
    if (!op_is_pure(s->c, op) && !op_is(s->c, op, OP_TILE_LOAD) && !is_product && !is_wait)
      return false;
    set_part(s, op, is_behind && !is_product ? MIDDLE : FRONT);
  }
  return true;
}

static bool is_from(struct state *s, MlirValue v, MlirOperation origin, struct map *seen) {
  MlirOperation def = value_def(v);
  if (!is_in_body(s, def) || ptrmap_get(seen, def.ptr))
    return false;
  ptrmap_put(s->p->scratch, seen, def.ptr, def.ptr);
  if (mlirOperationEqual(def, origin))
    return true;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(def); i++)
    if (is_from(s, mlirOperationGetOperand(def, i), origin, seen))
      return true;
  return false;
}

// Is `v` computed from a result of `origin` in the body?
static bool is_computed_from(struct state *s, MlirValue v, MlirOperation origin) {
  struct map seen = {0};
  return is_from(s, v, origin, &seen);
}

// Row sums and the like: few registers that need all of operand A. The wait for the second product
// uses them, so that all of that is computed before.
static void find_uses(struct state *s) {
  MlirOperation yield = mlirBlockGetTerminator(loop_body(s->loop));
  MlirOperation origin = value_def(s->unconverted);
  s->use_count = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(yield); i++) {
    MlirValue v = mlirOperationGetOperand(yield, i);
    MlirType t = mlirValueGetType(v);
    if (i != s->carried && s->use_count < WAIT_USES && type_is_tensor(t) &&
        type_bits(s->c, element_type(t)) == 32 && layout_registers(s->c, t) <= FEW_REGISTERS &&
        is_computed_from(s, v, origin))
      s->uses[s->use_count++] = v;
  }
}

// A second warpgroup computes while the products of the first one run. With one, a CTA needs the
// registers of another that would share the multiprocessor (458 instead of 315 TFLOP/s with 64x128
// blocks of depth 64 on an H200).
static bool has_warpgroups(const struct state *s) { return s->p->num_warps > WGMMA_WARPS; }

static bool is_match(struct state *s, MlirOperation loop) {
  s->loop = loop;
  s->parts = (struct map){0};
  if (!has_warpgroups(s) || !find_products(s) ||
      !is_computed_from(s, mlirOperationGetOperand(s->second, 0), s->first) || !find_rings(s) ||
      !find_sum(s) || !mark_sum(s, s->sum))
    return false;
  mark_operand(s);
  find_uses(s);
  return mark_rest(s);
}

// ---- rewriting ----

static void clone_part(struct state *s, struct clone_map *m, MlirBlock to, enum part part) {
  MlirBlock body = loop_body(s->loop);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (has_part(s, op) && part_of(s, op) == part)
      clone_op(m, op, to);
}

static void set_pending(struct state *s, MlirOperation product, int32_t pending) {
  mlirOperationSetAttributeByName(product, mlirStringRefCreateFromCString("pending"),
                                  attr_i32(s->c, pending));
}

// The product in flight, with this operand A and sum; returns its result.
static MlirValue clone_second(struct state *s, struct clone_map *m, MlirBlock to, MlirValue a,
                              MlirValue sum, int32_t pending) {
  clone_map_set(m, mlirOperationGetOperand(s->second, 0), a);
  clone_map_set(m, mlirOperationGetOperand(s->second, 2), sum);
  clone_part(s, m, to, PRODUCT);
  MlirValue result = clone_map_get(m, mlirOperationGetResult(s->second, 0));
  set_pending(s, mlirOpResultGetOwner(result), pending);
  return result;
}

// What the loop carries of the second product's result.
static MlirValue clone_result(struct state *s, struct clone_map *m, MlirBlock to) {
  clone_part(s, m, to, RESULT);
  MlirOperation yield = mlirBlockGetTerminator(loop_body(s->loop));
  return clone_map_get(m, mlirOperationGetOperand(yield, s->carried));
}

struct values {
  MlirValue *at;
  size_t count;
};

// What an iteration leaves: what it yields, the sum before the second product in its slot, and the
// product's operand A.
static struct values left_by(struct state *s, const struct clone_map *m) {
  MlirOperation yield = mlirBlockGetTerminator(loop_body(s->loop));
  size_t n = (size_t)mlirOperationGetNumOperands(yield);
  struct values v = {arena_array(s->p->scratch, MlirValue, n + 1), n + 1};
  for (size_t i = 0; i < n; i++)
    v.at[i] = clone_map_get(m, mlirOperationGetOperand(yield, (intptr_t)i));
  v.at[s->carried] = clone_map_get(m, mlirOperationGetOperand(s->second, 2));
  v.at[n] = clone_map_get(m, mlirOperationGetOperand(s->second, 0));
  return v;
}

static struct clone_map mapped(struct state *s, MlirValue iteration, const MlirValue *carried) {
  struct clone_map m = {.arena = s->p->scratch};
  MlirBlock body = loop_body(s->loop);
  clone_map_set(&m, mlirBlockGetArgument(body, 0), iteration);
  for (intptr_t i = 1; i < mlirBlockGetNumArguments(body); i++)
    clone_map_set(&m, mlirBlockGetArgument(body, i), carried[i - 1]);
  return m;
}

// The first iteration up to its second product.
static struct values build_first(struct state *s, MlirBlock to, MlirValue lower,
                                 const MlirValue *inits) {
  struct clone_map m = mapped(s, lower, inits);
  static const enum part order[] = {FRONT, RELEASE_1, MIDDLE, SUM, OPERAND};
  for (size_t i = 0; i < COUNT_OF(order); i++)
    clone_part(s, &m, to, order[i]);
  return left_by(s, &m);
}

// Ping-pong: the products of one warpgroup run beside the softmax of the other.
static void ping_pong(struct state *s, struct builder *b, enum ping_pong step) {
  if (s->has_ping_pong)
    build_ping_pong(b, step);
}

static void build_body(struct state *s, MlirBlock to) {
  size_t n = (size_t)mlirBlockGetNumArguments(to) - 1;
  MlirValue *carried = arena_array(s->p->scratch, MlirValue, n);
  for (size_t i = 0; i < n; i++)
    carried[i] = mlirBlockGetArgument(to, (intptr_t)i + 1);
  struct clone_map m = mapped(s, mlirBlockGetArgument(to, 0), carried), late = {.arena = m.arena};
  struct builder b = builder_at_end(s->c, to, mlirOperationGetLocation(s->first));
  ping_pong(s, &b, PING_PONG_BEGIN);
  clone_part(s, &m, to, FRONT);
  MlirValue first = clone_map_get(&m, mlirOperationGetResult(s->first, 0));
  set_pending(s, mlirOpResultGetOwner(first), 1);
  MlirValue sum = clone_second(s, &late, to, carried[n - 1], carried[s->carried], 2);
  ping_pong(s, &b, PING_PONG_END);
  clone_map_set(&m, mlirOperationGetResult(s->first, 0),
                build_warp_group_dot_wait(&b, first, 1, 0, NULL));
  clone_part(s, &m, to, RELEASE_1);
  clone_part(s, &m, to, MIDDLE);
  MlirValue uses[WAIT_USES];
  for (size_t i = 0; i < s->use_count; i++)
    uses[i] = clone_map_get(&m, s->uses[i]);
  clone_map_set(&m, mlirOperationGetResult(s->second, 0),
                build_warp_group_dot_wait(&b, sum, 0, s->use_count, uses));
  clone_map_set(&m, s->sum, clone_result(s, &m, to));
  clone_part(s, &m, to, RELEASE_2);
  clone_part(s, &m, to, SUM);
  clone_part(s, &m, to, OPERAND);
  struct values left = left_by(s, &m);
  build_yield(&b, left.count, left.at);
}

static void build_iterations(struct state *s, MlirBlock to, MlirValue lower, MlirValue upper,
                             MlirValue step) {
  struct builder b = builder_at_end(s->c, to, mlirOperationGetLocation(s->loop));
  intptr_t n = mlirOperationGetNumResults(s->loop);
  MlirValue *inits = arena_array(s->p->scratch, MlirValue, (size_t)n + 1);
  for (intptr_t i = 0; i < n; i++)
    inits[i] = mlirOperationGetOperand(s->loop, 3 + i);
  struct values first = build_first(s, to, lower, inits);
  MlirBlock body;
  MlirOperation loop = build_for(&b, build_binary(&b, OP_ARITH_ADDI, lower, step), upper, step,
                                 first.count, first.at, &body);
  build_body(s, body);
  for (intptr_t i = 0; i < n; i++)
    inits[i] = mlirOperationGetResult(loop, i);
  struct clone_map m = {.arena = s->p->scratch};
  clone_second(s, &m, to, mlirOperationGetResult(loop, n), inits[s->carried], 0);
  inits[s->carried] = clone_result(s, &m, to);
  clone_part(s, &m, to, RELEASE_2);
  build_yield(&b, (size_t)n, inits);
}

static void rewrite(struct state *s) {
  struct builder b = builder_before(s->c, s->loop);
  MlirValue lower = mlirOperationGetOperand(s->loop, 0),
            upper = mlirOperationGetOperand(s->loop, 1);
  size_t n = (size_t)mlirOperationGetNumResults(s->loop);
  MlirType *types = arena_array(s->p->scratch, MlirType, n);
  MlirValue *inits = arena_array(s->p->scratch, MlirValue, n);
  for (size_t i = 0; i < n; i++) {
    types[i] = mlirValueGetType(mlirOperationGetResult(s->loop, (intptr_t)i));
    inits[i] = mlirOperationGetOperand(s->loop, (intptr_t)i + 3);
  }
  MlirBlock some, none;
  MlirOperation branch = build_if(&b, build_cmpi(&b, SLT, lower, upper), n, types, &some, &none);
  build_iterations(s, some, lower, upper, mlirOperationGetOperand(s->loop, 2));
  struct builder in = builder_at_end(s->c, none, b.loc);
  build_yield(&in, n, inits);
  for (size_t i = 0; i < n; i++)
    value_replace(mlirOperationGetResult(s->loop, (intptr_t)i),
                  mlirOperationGetResult(branch, (intptr_t)i));
  op_erase(s->loop);
}

static bool collect(MlirOperation op, void *user) {
  struct state *s = user;
  if (op_is(s->c, op, OP_SCF_FOR))
    vec_push(s->p->scratch, &s->loops, op);
  return true;
}

// Where the warpgroups that compute begin; null if no others leave them registers.
static bool find_entry(MlirOperation op, void *user) {
  struct state *s = user;
  if (op_is(s->c, op, OP_GPU_SET_REGISTERS) && op_attr_bool(op, "grows"))
    s->entry = op;
  return true;
}

static void open_ping_pong(struct state *s) {
  struct builder b = builder_after(s->c, s->entry);
  build_ping_pong(&b, PING_PONG_OPEN);
}

enum pass_result pass_overlap_products(struct pass_context *p) {
  struct state s = {.p = p, .c = p->c};
  bool changed = false;
  ir_walk(mlirModuleGetOperation(p->module), collect, &s);
  ir_walk(mlirModuleGetOperation(p->module), find_entry, &s);
  s.has_ping_pong = !mlirOperationIsNull(s.entry);
  for (size_t i = 0; i < s.loops.len; i++)
    if (is_match(&s, s.loops.at[i])) {
      pass_remark(p, s.second, "dot",
                  "runs beside the computation of its operand in the next iteration");
      rewrite(&s);
      changed = true;
    }
  if (changed && s.has_ping_pong)
    open_ping_pong(&s);
  return changed ? PASS_CHANGED : PASS_UNCHANGED;
}
