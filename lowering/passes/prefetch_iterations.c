// SPDX-License-Identifier: Apache-2.0
// Prefetching across the iterations of a pipelined loop with one product: the first slice of an
// iteration is loaded before the last slice of the iteration before, and carried. The wait moves
// there too, since the next iteration's tiles must be complete; it is the wait from the next
// iteration's beginning, with as many groups in flight; the iteration's one barrier follows it.
//
//   for (%k = 0) {                          wait {ring[0]}    %f = load part 0 of ring[0]
//     wait {ring[%k], phase 0}              for (%k = 0, %s = %f) {
//     copy ... -> ring[...]                   copy ... -> ring[...]
//     %s = load part 0 of ring[%k]      ->    %t = load part 1 of ring[%k]
//     %t = load part 1 of ring[%k]            dot %s
//     dot %s                                  wait {ring[%next], phase 1}
//     dot %t                                  %u = load part 0 of ring[%next]
//     yield %next                             dot %t
//   }                                         yield %next, %u
//                                           }
#include "lowering/cost/registers.h"
#include "lowering/passes/loop_rewrite.h"
#include "lowering/passes/prefetch.h"

// Maximal registers per thread of the carried slice; chosen, not measured.
enum { MAX_CARRIED_WORDS = 64 };

// A ring's buffer that is read in an iteration: those of the first and of the next iteration.
struct view {
  MlirOperation index; // local_index {phase = 0}
  MlirValue first, next;
};

struct carried_slices {
  struct cut_dot *d;
  struct ir_context *c;
  MlirOperation loop;
  MlirBlock body;
  VEC(MlirOperation) waits;   // for the first slice
  VEC(struct view) views;     // the buffers they wait for
  VEC(MlirOperation) carried; // loads of the first slice
  int64_t pending;            // groups that may be in flight when an iteration begins
  int64_t behind;             // commits of an iteration after the product
  const char *why_not;
};

static MlirValue operand(MlirOperation op, intptr_t i) { return mlirOperationGetOperand(op, i); }

static bool is_in_body(const struct carried_slices *t, MlirOperation op) {
  return !mlirOperationIsNull(op) && mlirBlockEqual(mlirOperationGetBlock(op), t->body);
}

// ---- views ----

// The index of the buffer that an iteration reads must be carried by the loop, and the next one be
// defined before the product.
static bool add_view(struct carried_slices *t, MlirValue buffer) {
  MlirOperation index = value_def(buffer);
  if (!is_in_body(t, index) || !op_is(t->c, index, OP_GPU_LOCAL_INDEX) ||
      op_attr_int(index, "phase", -1) != 0)
    return false;
  MlirValue ring = operand(index, 0), number = operand(index, 1);
  MlirOperation alloc = value_def(ring);
  if (mlirOperationIsNull(alloc) || !op_is(t->c, alloc, OP_GPU_LOCAL_ALLOC) ||
      op_attr_int(alloc, "copies", 1) < 2 || loop_defines(t->loop, ring) ||
      !mlirValueIsABlockArgument(number) ||
      !mlirBlockEqual(mlirBlockArgumentGetOwner(number), t->body))
    return false;
  intptr_t at = mlirBlockArgumentGetArgNumber(number) - 1;
  if (at < 0)
    return false;
  struct view v = {index, operand(t->loop, at + 3), operand(mlirBlockGetTerminator(t->body), at)};
  MlirOperation def = value_def(v.next);
  if (is_in_body(t, def) && !mlirOperationIsBeforeInBlock(def, t->d->dot))
    return false;
  vec_push(t->d->p->scratch, &t->views, v);
  return true;
}

static const struct view *view_of(const struct carried_slices *t, MlirOperation index) {
  for (size_t i = 0; i < t->views.len; i++)
    if (mlirOperationEqual(t->views.at[i].index, index))
      return &t->views.at[i];
  return NULL;
}

// The local_index that the buffer is a view of; null if it is not one.
static MlirOperation index_of(const struct carried_slices *t, MlirValue buffer) {
  MlirOperation def = value_def(buffer);
  while (!mlirOperationIsNull(def) && op_is(t->c, def, OP_GPU_LOCAL_TRANS))
    def = value_def(operand(def, 0));
  return is_in_body(t, def) && op_is(t->c, def, OP_GPU_LOCAL_INDEX) ? def : (MlirOperation){NULL};
}

// ---- which loops ----

struct count {
  struct ir_context *c;
  enum op_id id;
  int64_t n;
};

static bool see_id(MlirOperation op, void *user) {
  struct count *k = user;
  k->n += op_is(k->c, op, k->id);
  return true;
}

static int64_t count_in(struct ir_context *c, MlirOperation op, enum op_id id) {
  struct count k = {c, id, 0};
  ir_walk(op, see_id, &k);
  return k.n;
}

// The slices must be the loop's only products.
static bool is_only_product(const struct carried_slices *t) {
  return count_in(t->c, t->loop, OP_TILE_DOT) == (int64_t)t->d->count;
}

static bool is_wait(const struct carried_slices *t, MlirOperation op) {
  for (size_t i = 0; i < t->waits.len; i++)
    if (mlirOperationEqual(t->waits.at[i], op))
      return true;
  return false;
}

// The only wait for the buffer before the product.
static bool find_wait(struct carried_slices *t, MlirOperation index) {
  MlirValue buffer = mlirOperationGetResult(index, 0);
  MlirOperation found = {NULL};
  for (MlirOpOperand use = mlirValueGetFirstUse(buffer); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (!op_is(t->c, user, OP_GPU_ASYNC_WAIT))
      continue;
    if (!mlirOperationIsNull(found))
      return false;
    found = user;
  }
  if (!is_in_body(t, found) || !mlirOperationIsBeforeInBlock(found, t->d->dot))
    return false;
  if (!is_wait(t, found))
    vec_push(t->d->p->scratch, &t->waits, found);
  return true;
}

static bool is_refused(struct carried_slices *t, const char *why_not) {
  t->why_not = why_not;
  return false;
}

static bool choose_carried(struct carried_slices *t) {
  unsigned words = 0;
  for (size_t i = 0; i < t->d->firsts.len; i++) {
    MlirOperation load = t->d->firsts.at[i], index = index_of(t, operand(load, 0));
    if (mlirOperationIsNull(index) || op_attr_int(index, "phase", -1) != 0)
      continue;
    if (!find_wait(t, index))
      return is_refused(t, "its operands are waited for one after the other");
    words += tile_words(t->c, mlirValueGetType(mlirOperationGetResult(load, 0)));
    vec_push(t->d->p->scratch, &t->carried, load);
  }
  if (t->carried.len > 0 && !is_only_product(t))
    return is_refused(t, "the loop has more products");
  // ptxas (12.8 to 13.0, -O3) then does not wait, in the next iteration, for the sums of the last
  // slice.
  if (dtype_of_mlir(element_type(mlirValueGetType(operand(t->d->dot, 2)))) == DTYPE_F64)
    return is_refused(t, "ptxas gets products of f64 wrong that begin an iteration");
  if (words > MAX_CARRIED_WORDS)
    return is_refused(t, "too many registers would be carried");
  return t->carried.len > 0;
}

// Groups that may be in flight at an iteration's begin so that its waits are satisfied. No other op
// may read buffers after the product, as that would need another barrier.
static bool count_commits(struct carried_slices *t) {
  bool seen_dot = false;
  int64_t commits = 0;
  t->pending = INT32_MAX;
  for (MlirOperation op = mlirBlockGetFirstOperation(t->body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    int64_t n = count_in(t->c, op, OP_GPU_ASYNC_COMMIT);
    if (n && mlirOperationGetNumRegions(op) > 0)
      return false;
    if (seen_dot && count_in(t->c, op, OP_GPU_LOCAL_LOAD))
      return is_refused(t, "buffers are read behind it");
    commits += n;
    t->behind += seen_dot ? n : 0;
    seen_dot |= mlirOperationEqual(op, t->d->dot);
    int64_t pending = is_wait(t, op) ? op_attr_int(op, "pending", 0) - commits : INT32_MAX;
    t->pending = pending < t->pending ? pending : t->pending;
  }
  return true;
}

static bool can_carry(struct carried_slices *t) {
  t->body = mlirOperationGetBlock(t->d->dot);
  t->loop = mlirBlockGetParentOperation(t->body);
  if (!op_is(t->c, t->loop, OP_SCF_FOR) || !choose_carried(t))
    return false;
  for (size_t w = 0; w < t->waits.len; w++)
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(t->waits.at[w]); i++)
      if (!add_view(t, operand(t->waits.at[w], i)))
        return is_refused(t, "the buffers of the next iteration are not known");
  return count_commits(t);
}

// ---- moving ----

static MlirValue build_view(struct builder *b, const struct view *v, bool next) {
  return build_local_index(b, operand(v->index, 0), next ? v->next : v->first, next ? 1 : -1);
}

// `buffer` of another iteration, whose view is at[...].
static MlirValue buffer_there(struct carried_slices *t, struct builder *b, MlirValue buffer,
                              const MlirValue *at) {
  MlirOperation def = value_def(buffer);
  if (op_is(t->c, def, OP_GPU_LOCAL_INDEX))
    return at[view_of(t, def) - t->views.at];
  MlirOperation copy = mlirOperationClone(def);
  mlirOperationSetOperand(copy, 0, buffer_there(t, b, operand(def, 0), at));
  mlirBlockInsertOwnedOperationBefore(b->block, b->before, copy);
  return mlirOperationGetResult(copy, 0);
}

// The waits, as one, and the loads, for the first iteration or the next one.
static void build_there(struct carried_slices *t, struct builder *b, bool next, MlirValue *ret) {
  struct arena *a = t->d->p->scratch;
  MlirValue *at = arena_array(a, MlirValue, t->views.len + 1);
  int64_t pending = t->pending - (next ? t->behind : 0);
  b->loc = mlirOperationGetLocation(t->waits.at[0]);
  for (size_t i = 0; i < t->views.len; i++)
    at[i] = build_view(b, &t->views.at[i], next);
  build_async_wait(b, t->views.len, at, pending > 0 ? (int32_t)pending : 0);
  for (size_t i = 0; i < t->carried.len; i++) {
    MlirOperation copy = mlirOperationClone(t->carried.at[i]);
    mlirOperationSetOperand(copy, 0, buffer_there(t, b, operand(copy, 0), at));
    mlirBlockInsertOwnedOperationBefore(b->block, b->before, copy);
    ret[i] = mlirOperationGetResult(copy, 0);
  }
}

static void carry(struct carried_slices *t, size_t i, MlirValue first, MlirValue next) {
  struct arena *a = t->d->p->scratch;
  MlirOperation load = t->carried.at[i];
  MlirValue arg =
      mlirBlockAddArgument(t->body, mlirValueGetType(first), mlirOperationGetLocation(load));
  op_append_operand(t->loop, first, a);
  op_append_operand(mlirBlockGetTerminator(t->body), next, a);
  value_replace(mlirOperationGetResult(load, 0), arg);
  op_erase(load);
}

bool prefetch_across_iterations(struct cut_dot *d, const char **ret_why_not) {
  struct carried_slices t = {.d = d, .c = d->p->c};
  bool possible = can_carry(&t);
  *ret_why_not = t.why_not;
  if (!possible)
    return false;
  struct arena *a = d->p->scratch;
  MlirValue *first = arena_array(a, MlirValue, t.carried.len);
  MlirValue *next = arena_array(a, MlirValue, t.carried.len);
  struct builder before = builder_before(t.c, t.loop), late = builder_before(t.c, d->dot);
  build_there(&t, &before, false, first);
  build_there(&t, &late, true, next);
  for (size_t i = 0; i < t.waits.len; i++)
    op_erase(t.waits.at[i]);
  for (size_t i = 0; i < t.carried.len; i++)
    carry(&t, i, first[i], next[i]);
  loop_rebuild(t.loop, a);
  return true;
}
