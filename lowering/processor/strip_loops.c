// SPDX-License-Identifier: Apache-2.0
// Nests of loops with constant bounds. What depends on the outer indices only is emitted in the
// outer loop, in front of the inner one: each level has room for that, and remembers the values
// that were evaluated there.
//
//   level 0        br body1                     <- levels[0].end
//   level 1  body1: i = phi ...   br body2      <- levels[1].end
//   level 2  body2: j = phi ...   (the builder)
#include "lowering/processor/strips.h"

void levels_begin(struct strip_emitter *e) {
  e->level_count = 1;
  e->at_level = 0;
  e->levels[0] = (struct level){0};
  e->level_of = (struct map){0};
}

void levels_end(struct strip_emitter *e) { levels_begin(e); }

static LLVMBasicBlockRef new_block(struct strip_emitter *e, const char *name) {
  return LLVMAppendBasicBlockInContext(e->llvm, e->function, name);
}

static void note_level(struct strip_emitter *e, LLVMValueRef index, unsigned level) {
  ptrmap_put(e->arena, &e->level_of, index, (void *)(uintptr_t)(level + 1));
}

static unsigned level_of_index(struct strip_emitter *e, LLVMValueRef index) {
  uintptr_t known = (uintptr_t)ptrmap_get(&e->level_of, index);
  return known ? (unsigned)known - 1 : 0;
}

struct loop loop_begin(struct strip_emitter *e, int64_t from, int64_t count, int64_t step) {
  struct loop l = {.index = index_constant(e, from), .trips = count / step, .step = step};
  if (l.trips <= 1 || e->level_count == MAX_LEVELS)
    return l;
  l.before = LLVMGetInsertBlock(e->b);
  l.body = new_block(e, "loop");
  e->levels[e->level_count - 1].end = LLVMBuildBr(e->b, l.body);
  e->at_level = e->level_count++;
  e->levels[e->at_level] = (struct level){0};
  LLVMPositionBuilderAtEnd(e->b, l.body);
  LLVMValueRef first = l.index;
  l.index = LLVMBuildPhi(e->b, e->i64, "i");
  LLVMAddIncoming(l.index, &first, &l.before, 1);
  note_level(e, l.index, e->at_level);
  return l;
}

LLVMValueRef loop_carry(struct strip_emitter *e, struct loop *l, LLVMValueRef first) {
  unsigned i = l->phi_count++;
  if (l->body) {
    l->phis[i] = LLVMBuildPhi(e->b, LLVMTypeOf(first), "");
    LLVMAddIncoming(l->phis[i], &first, &l->before, 1);
  } else {
    l->phis[i] = first;
  }
  l->next[i] = l->phis[i];
  return l->phis[i];
}

void loop_next(struct loop *l, unsigned i, LLVMValueRef next) { l->next[i] = next; }

void loop_end(struct strip_emitter *e, struct loop *l) {
  if (!l->body)
    return;
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b), after = new_block(e, "after");
  LLVMValueRef first = LLVMGetIncomingValue(l->index, 0);
  int64_t end = LLVMConstIntGetSExtValue(first) + l->trips * l->step;
  LLVMValueRef next = LLVMBuildNSWAdd(e->b, l->index, index_constant(e, l->step), "");
  LLVMSetNUW(next, true);
  LLVMValueRef again = LLVMBuildICmp(e->b, LLVMIntNE, next, index_constant(e, end), "");
  LLVMBuildCondBr(e->b, again, l->body, after);
  LLVMAddIncoming(l->index, &next, &latch, 1);
  for (unsigned i = 0; i < l->phi_count; i++)
    LLVMAddIncoming(l->phis[i], &l->next[i], &latch, 1);
  LLVMPositionBuilderAtEnd(e->b, after);
  e->levels[--e->level_count] = (struct level){0};
  e->at_level = e->level_count - 1;
  e->levels[e->at_level].end = NULL;
}

LLVMValueRef index_plus(struct strip_emitter *e, LLVMValueRef index, int64_t n) {
  if (n == 0)
    return index;
  LLVMValueRef sum = LLVMBuildNSWAdd(e->b, index, index_constant(e, n), "");
  if (LLVMIsAInstruction(sum))
    note_level(e, sum, e->at_level);
  return sum;
}

LLVMValueRef index_difference(struct strip_emitter *e, LLVMValueRef from, LLVMValueRef index) {
  LLVMValueRef d = LLVMBuildNSWSub(e->b, from, index, "");
  if (LLVMIsAInstruction(d))
    note_level(e, d, e->at_level);
  return d;
}

// ---- levels ----

unsigned level_of_position(struct strip_emitter *e, const struct position *p) {
  unsigned level = 0;
  for (unsigned d = 0; d < p->rank; d++) {
    unsigned l = level_of_index(e, p->at[d]);
    level = l > level ? l : level;
  }
  return level;
}

unsigned go_to_level(struct strip_emitter *e, unsigned level) {
  unsigned old = e->at_level;
  if (level == old)
    return old;
  if (!e->levels[old].end)
    e->levels[old].inner = LLVMGetInsertBlock(e->b);
  if (e->levels[level].end)
    LLVMPositionBuilderBefore(e->b, e->levels[level].end);
  else
    LLVMPositionBuilderAtEnd(e->b, e->levels[level].inner);
  e->at_level = level;
  return old;
}

// ---- what was evaluated ----

struct memo_key {
  const void *value, *at[MAX_RANK];
  unsigned rank, lanes;
  int lane;
};

static struct str key_of(struct memo_key *k, MlirValue v, const struct position *p) {
  memset(k, 0, sizeof *k);
  k->value = v.ptr;
  k->rank = p->rank;
  k->lanes = p->lanes;
  k->lane = p->lane;
  for (unsigned d = 0; d < p->rank; d++)
    k->at[d] = p->at[d];
  return (struct str){(const char *)k, sizeof *k};
}

LLVMValueRef memo_get(struct strip_emitter *e, unsigned level, MlirValue v,
                      const struct position *p) {
  struct memo_key k;
  return map_get(&e->levels[level].memo, key_of(&k, v, p));
}

void memo_put(struct strip_emitter *e, unsigned level, MlirValue v, const struct position *p,
              LLVMValueRef x) {
  struct memo_key k;
  map_put(e->arena, &e->levels[level].memo, key_of(&k, v, p), x);
}
