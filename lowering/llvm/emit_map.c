// SPDX-License-Identifier: Apache-2.0
// tile.map_elementwise: the body of its function once for each `pack` registers. The last group is
// padded with its last register where a thread holds fewer.
//
// A function with a long branch that few elements take (sin of huge numbers) would repeat it in the
// code. Several groups share it: all skip the branch, and if one of them should not have, a loop
// computes all of them again:
//
//   y0, y1, ... = f(x0), f(x1), ... as if the condition were false
//   if condition(x0) | condition(x1) | ...:
//     for i in 0, 1, ...: yi = f(xi)
#include "lowering/llvm/emit.h"

enum {
  MAX_VALUES = 8,
  MAX_PACK = 32,
  MAX_SHARED = 8,
  MAX_WORDS = 32,
  LONG_BRANCH = 24,
  SHORT_BRANCH = 4
};

// ---- the function ----

static intptr_t ops_in(MlirOperation op, intptr_t region) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
  intptr_t n = 0;
  if (!mlirBlockIsNull(block))
    for (MlirOperation o = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(o);
         o = mlirOperationGetNextInBlock(o))
      n++;
  return n;
}

// The branch of the function's body that several groups should share; null: none.
static MlirOperation long_branch_of(struct emitter *e, MlirOperation function) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  for (MlirOperation o = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(o);
       o = mlirOperationGetNextInBlock(o))
    if (op_is(e->c, o, OP_SCF_IF) && ops_in(o, 0) >= LONG_BRANCH && ops_in(o, 1) <= SHORT_BRANCH)
      return o;
  return (MlirOperation){NULL};
}

// How many groups share it: their values stay in registers.
static unsigned groups_sharing(struct emitter *e, MlirOperation op, unsigned pack) {
  unsigned words = 0;
  for (intptr_t k = 0; k < mlirOperationGetNumOperands(op); k++)
    words += type_bits(e->c, element_type(operand_type(op, (unsigned)k))) > 32 ? 2 : 1;
  unsigned n = MAX_WORDS / (words * pack);
  return n < MAX_SHARED ? n : MAX_SHARED;
}

// ---- groups ----

struct mapping {
  MlirOperation op, function;
  unsigned n, m, pack, count; // values in and out, of a group each; distinct registers
  unsigned *at;               // these
  struct emitted *results[MAX_VALUES];
};

static void take_group(struct emitter *e, const struct mapping *s, unsigned g, LLVMValueRef *args) {
  for (unsigned k = 0; k < s->n; k++)
    for (unsigned i = 0; i < s->pack; i++) {
      unsigned r = g * s->pack + i;
      args[k * s->pack + i] = operand_of(e, s->op, k)->at[s->at[r < s->count ? r : s->count - 1]];
    }
}

static void give_group(const struct mapping *s, unsigned g, const LLVMValueRef *ret) {
  for (unsigned k = 0; k < s->m; k++)
    for (unsigned i = 0; i < s->pack && g * s->pack + i < s->count; i++)
      s->results[k]->at[s->at[g * s->pack + i]] = ret[k * s->pack + i];
}

static bool emit_group(struct emitter *e, const struct mapping *s, unsigned g) {
  LLVMValueRef args[MAX_VALUES * MAX_PACK], ret[MAX_VALUES * MAX_PACK];
  take_group(e, s, g, args);
  if (!emit_inlined(e, s->function, args, ret))
    return false;
  give_group(s, g, ret);
  return true;
}

// ---- groups that share a branch ----

struct sharing {
  unsigned first, count, in, out; // groups; values of one
  LLVMValueRef args[MAX_SHARED][MAX_SHARED], fast[MAX_SHARED][MAX_SHARED];
  LLVMValueRef slow[MAX_SHARED][MAX_SHARED], changed[MAX_SHARED][MAX_SHARED]; // in the loop
};

// All groups without the branch; returns the condition under which that is wrong.
static LLVMValueRef emit_fast(struct emitter *e, const struct mapping *s, struct sharing *h,
                              MlirOperation branch) {
  struct skipped_branch skip = {.op = branch};
  e->skipped = &skip;
  bool ok = true;
  for (unsigned g = 0; g < h->count && ok; g++) {
    take_group(e, s, h->first + g, h->args[g]);
    ok = emit_inlined(e, s->function, h->args[g], h->fast[g]);
  }
  e->skipped = NULL;
  return ok ? skip.taken : NULL;
}

// Argument k of group g: if the function returns it without the branch, the loop's carried value,
// which is the same until the group's iteration, so that it takes no register of its own.
static LLVMValueRef waiting(const struct sharing *h, unsigned g, unsigned k) {
  for (unsigned j = 0; j < h->out; j++)
    if (h->args[g][k] == h->fast[g][j])
      return h->slow[g][j];
  return h->args[g][k];
}

// Argument k of group i, without an array in memory.
static LLVMValueRef chosen(struct emitter *e, const struct sharing *h, unsigned k, LLVMValueRef i) {
  LLVMValueRef v = waiting(h, 0, k);
  for (unsigned g = 1; g < h->count; g++) {
    LLVMValueRef here = LLVMBuildICmp(e->b, LLVMIntEQ, i, const_i32(e, g), "");
    v = LLVMBuildSelect(e->b, here, waiting(h, g, k), v, "");
  }
  return v;
}

// One iteration of the loop: computes group i again.
static bool emit_iteration(struct emitter *e, const struct mapping *s, struct sharing *h,
                           LLVMValueRef i) {
  LLVMValueRef args[MAX_SHARED], ret[MAX_SHARED];
  for (unsigned k = 0; k < h->in; k++)
    args[k] = chosen(e, h, k, i);
  if (!emit_inlined(e, s->function, args, ret))
    return false;
  for (unsigned g = 0; g < h->count; g++) {
    LLVMValueRef here = LLVMBuildICmp(e->b, LLVMIntEQ, i, const_i32(e, g), "");
    for (unsigned k = 0; k < h->out; k++)
      h->changed[g][k] = LLVMBuildSelect(e->b, here, ret[k], h->slow[g][k], "");
  }
  return true;
}

// The loop, between the current block, where it is entered, and `after`.
static bool emit_slow(struct emitter *e, const struct mapping *s, struct sharing *h,
                      LLVMBasicBlockRef after) {
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b);
  LLVMBasicBlockRef loop = LLVMAppendBasicBlockInContext(e->llvm, e->function, "again");
  LLVMBuildBr(e->b, loop);
  LLVMPositionBuilderAtEnd(e->b, loop);
  LLVMValueRef i = LLVMBuildPhi(e->b, e->i32, ""), zero = const_i32(e, 0);
  LLVMAddIncoming(i, &zero, &before, 1);
  for (unsigned g = 0; g < h->count; g++)
    for (unsigned k = 0; k < h->out; k++) {
      h->slow[g][k] = LLVMBuildPhi(e->b, LLVMTypeOf(h->fast[g][k]), "");
      LLVMAddIncoming(h->slow[g][k], &h->fast[g][k], &before, 1);
    }
  if (!emit_iteration(e, s, h, i))
    return false;
  LLVMBasicBlockRef end = LLVMGetInsertBlock(e->b);
  LLVMValueRef next = LLVMBuildAdd(e->b, i, const_i32(e, 1), "");
  LLVMAddIncoming(i, &next, &end, 1);
  for (unsigned g = 0; g < h->count; g++)
    for (unsigned k = 0; k < h->out; k++)
      LLVMAddIncoming(h->slow[g][k], &h->changed[g][k], &end, 1);
  LLVMValueRef more = LLVMBuildICmp(e->b, LLVMIntULT, next, const_i32(e, h->count), "");
  LLVMBuildCondBr(e->b, more, loop, after);
  return true;
}

static bool emit_shared(struct emitter *e, const struct mapping *s, unsigned first, unsigned count,
                        MlirOperation branch) {
  struct sharing h = {.first = first, .count = count, .in = s->n * s->pack, .out = s->m * s->pack};
  LLVMValueRef wrong = emit_fast(e, s, &h, branch);
  if (!wrong)
    return false;
  LLVMBasicBlockRef fast = LLVMGetInsertBlock(e->b);
  LLVMBasicBlockRef slow = LLVMAppendBasicBlockInContext(e->llvm, e->function, "rare");
  LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(e->llvm, e->function, "mapped");
  LLVMBuildCondBr(e->b, wrong, slow, after);
  LLVMPositionBuilderAtEnd(e->b, slow);
  if (!emit_slow(e, s, &h, after))
    return false;
  LLVMBasicBlockRef from[] = {fast, LLVMGetInsertBlock(e->b)};
  LLVMPositionBuilderAtEnd(e->b, after);
  for (unsigned g = 0; g < count; g++) {
    LLVMValueRef ret[MAX_SHARED];
    for (unsigned k = 0; k < h.out; k++) {
      LLVMValueRef values[] = {h.fast[g][k], h.changed[g][k]};
      ret[k] = LLVMBuildPhi(e->b, LLVMTypeOf(values[0]), "");
      LLVMAddIncoming(ret[k], values, from, 2);
    }
    give_group(s, first + g, ret);
  }
  return true;
}

// ---- the op ----

bool emit_map(struct emitter *e, MlirOperation op) {
  struct mapping s = {.op = op,
                      .function = op_function(e->c, op, "function"),
                      .n = (unsigned)mlirOperationGetNumOperands(op),
                      .m = (unsigned)mlirOperationGetNumResults(op),
                      .pack = (unsigned)op_attr_int(op, "pack", 1)};
  if (s.n > MAX_VALUES || s.m > MAX_VALUES || s.pack > MAX_PACK || mlirOperationIsNull(s.function))
    return emit_unsupported(e, op, "this `tile.map_elementwise` has no lowering");
  const struct linear_layout *l = layout_of(e, result_type(op, 0));
  s.count = distinct_registers(e, l, &s.at);
  for (unsigned k = 0; k < s.m; k++)
    s.results[k] = result_of(e, op, k);
  unsigned groups = (s.count + s.pack - 1) / s.pack;
  unsigned most = groups_sharing(e, op, s.pack);
  bool fits = s.n * s.pack <= MAX_SHARED && s.m * s.pack <= MAX_SHARED;
  MlirOperation branch = fits ? long_branch_of(e, s.function) : (MlirOperation){NULL};
  for (unsigned g = 0; g < groups;) {
    unsigned left = groups - g, together = left < most ? left : most;
    if (mlirOperationIsNull(branch) || together < 2)
      together = 1;
    bool ok = together > 1 ? emit_shared(e, &s, g, together, branch) : emit_group(e, &s, g);
    if (!ok)
      return false;
    g += together;
  }
  for (unsigned k = 0; k < s.m; k++)
    fill_replicas(l, s.results[k]);
  return true;
}
