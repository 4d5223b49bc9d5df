// SPDX-License-Identifier: Apache-2.0
// A forward data flow: intervals of bytes with pending accesses, carried through blocks, joined
// where branches join and around loops until a fixpoint.
//
// Slots of memory that alternates with iterations: barrier_plan_slots.c.
//
// Termination. What is pending at a loop's head only grows. The ends of its intervals are those of
// items, of their slots, and of pieces moved between slots: B numbers, in general 2 * items * (most
// copies of a ring), and never more than the bytes of shared memory. Each pass over the body adds a
// piece between two of them to one of S = 3 + PRODUCT_AGES sets, or is the last one: at most
// S B + 1 passes.
// visit_loop tries each loop up to four times per visit, which multiplies with the nesting, until
// MOST_STEPS operations were visited. From then on each visit of a loop starts from what was
// pending at its head in the visit before (`heads`), so that the passes over a loop at depth d are
// at most d (S B + 1): linear in the depth.
#include "lowering/plan/barrier_plan_slots.h"

#include <assert.h>

static void join(struct arena *a, struct pending *p, const struct pending *of) {
  intervals_add_all(a, &p->reads, &of->reads);
  intervals_add_all(a, &p->writes, &of->writes);
  intervals_add_all(a, &p->under_way, &of->under_way);
  for (unsigned i = 0; i < PRODUCT_AGES; i++)
    intervals_add_all(a, &p->products[i], &of->products[i]);
}

static struct pending copy(struct arena *a, const struct pending *p) {
  struct pending r = {0};
  join(a, &r, p);
  return r;
}

static bool same_pending(const struct pending *p, const struct pending *q) {
  bool same = intervals_same(&p->reads, &q->reads) && intervals_same(&p->writes, &q->writes) &&
              intervals_same(&p->under_way, &q->under_way);
  for (unsigned i = 0; same && i < PRODUCT_AGES; i++)
    same = intervals_same(&p->products[i], &q->products[i]);
  return same;
}

static bool is_empty(const struct pending *p) {
  return p->reads.at.len == 0 && p->writes.at.len == 0;
}

// A barrier of all threads.
static void clear(struct pending *p) {
  p->reads = (struct intervals){0};
  p->writes = (struct intervals){0};
}

// ---- one op ----

static enum scope needed(const struct barrier_run *r, MlirOperation op) {
  return (enum scope)(uintptr_t)ptrmap_get(&r->needed, op.ptr);
}

static void set_needed(struct barrier_run *r, MlirOperation op, enum scope scope) {
  ptrmap_put(r->a, &r->needed, op.ptr, (void *)(uintptr_t)scope);
}

static void need(struct barrier_run *r, MlirOperation op, enum scope scope) {
  enum scope before = needed(r, op);
  if (scope <= before)
    return;
  vec_push(r->a, &r->before, ((struct placed_barrier){op, scope, before}));
  set_needed(r, op, scope);
}

static void take_back(struct barrier_run *r, size_t len) {
  while (r->before.len > len) {
    struct placed_barrier last = vec_pop(&r->before);
    set_needed(r, last.op, last.before);
  }
}

// Each level of loops tries up to four placements for the loops within it. Beyond this many visited
// operations loops get the first correct one. It bounds compile time; how often kernels reach it
// was not measured.
enum { MOST_STEPS = 50000 };

static bool is_spent(const struct barrier_run *r) { return r->steps > MOST_STEPS; }

static struct shared_interval interval_of(const struct barrier_run *r,
                                          const struct shared_part *part) {
  const struct shared_item *item = &r->items->items.at[part->item];
  uint32_t end = shared_item_end(item);
  if (item->copies > 1 && part->number != SHARED_ANY &&
      mlirOperationEqual(part->loop, r->slot_loops[part->item])) {
    uint32_t begin = item->offset + part->number * item->stride;
    return (struct shared_interval){begin, begin + item->stride};
  }
  if (r->alternates[part->item])
    end = item->offset + item->bytes;
  return (struct shared_interval){item->offset, end};
}

static struct intervals intervals_of(const struct barrier_run *r, const struct part_set *s) {
  struct intervals ret = {0};
  for (size_t i = 0; i < s->at.len; i++)
    intervals_add(r->a, &ret, interval_of(r, &s->at.at[i]));
  return ret;
}

// Barriers do not help.
static void check_products(struct barrier_run *r, MlirOperation op, const struct pending *p,
                           const struct intervals *writes) {
  for (unsigned i = 0; i < PRODUCT_AGES; i++)
    if (mlirOperationIsNull(r->overwrites) && intervals_any_overlap(&p->products[i], writes))
      r->overwrites = op;
}

// The barrier in front of the op.
static void pass_barrier(struct barrier_run *r, MlirOperation op, struct pending *p) {
  if (p->writes.at.len)
    ptrmap_put(r->a, &r->behind_writes, op.ptr, op.ptr);
  if (needed(r, op) == SCOPE_OWN) {
    intervals_remove_all(r->a, &p->reads, &r->own);
    intervals_remove_all(r->a, &p->writes, &r->own);
  } else {
    clear(p);
  }
}

static void wait_if(struct barrier_run *r, MlirOperation op, struct pending *p, bool conflict,
                    enum scope scope) {
  if (conflict)
    need(r, op, scope);
  if (needed(r, op))
    pass_barrier(r, op, p);
}

static void visit_call(struct barrier_run *r, MlirOperation op, struct pending *p) {
  MlirOperation callee = op_function(r->items->c, op, "callee");
  const struct call_effects *e = r->calls ? ptrmap_get(r->calls, callee.ptr) : NULL;
  if (!e)
    return;
  check_products(r, op, p, &e->touches);
  wait_if(r, op, p,
          intervals_any_overlap(&p->reads, &e->touches) ||
              intervals_any_overlap(&p->writes, &e->touches),
          SCOPE_CTA);
  join(r->a, p, &e->left); // it may return without a barrier
}

// Copies that the thread has waited for: others see what they wrote after a barrier. The buffer of
// a wait may not be known, so only a wait for all copies completes them.
static void complete_copies(struct barrier_run *r, const struct shared_effects *e,
                            struct pending *p) {
  struct intervals completed = intervals_of(r, &e->completed);
  intervals_add_all(r->a, &p->writes, &completed);
  if (!e->completes_all)
    return;
  intervals_add_all(r->a, &p->writes, &p->under_way);
  p->under_way = (struct intervals){0};
}

// A group starts, which makes the others older; then groups complete. Others learn behind a barrier
// that they may write what those read.
static void advance_products(struct barrier_run *r, const struct shared_effects *e,
                             struct pending *p) {
  struct intervals *groups = p->products;
  if (e->product_reads.at.len) {
    intervals_add_all(r->a, &groups[PRODUCT_AGES - 1], &groups[PRODUCT_AGES - 2]);
    for (unsigned i = PRODUCT_AGES - 2; i > 0; i--)
      groups[i] = groups[i - 1];
    groups[0] = intervals_of(r, &e->product_reads);
  }
  for (unsigned i = e->products_left; e->waits_for_products && i < PRODUCT_AGES; i++) {
    intervals_add_all(r->a, &p->reads, &groups[i]);
    groups[i] = (struct intervals){0};
  }
}

// Of a barrier between accesses to these bytes.
static enum scope scope_of(const struct barrier_run *r, const struct intervals *reads,
                           const struct intervals *writes) {
  bool is_own = r->own_warps && intervals_cover(&r->own, reads) && intervals_cover(&r->own, writes);
  return is_own ? SCOPE_OWN : SCOPE_CTA;
}

static void visit_plain(struct barrier_run *r, MlirOperation op, struct pending *p) {
  struct shared_effects e = shared_effects_of(r->items, op);
  if (!shared_effects_any(&e))
    return;
  if (r->see)
    r->see(r->user, op, &e, p);
  struct intervals reads = intervals_of(r, &e.reads), writes = intervals_of(r, &e.writes);
  struct intervals late = intervals_of(r, &e.late_reads), starts = intervals_of(r, &e.starts);
  struct intervals product_reads = intervals_of(r, &e.product_reads);
  intervals_add_all(r->a, &writes, &starts);
  check_products(r, op, p, &writes);
  wait_if(r, op, p,
          intervals_any_overlap(&p->writes, &reads) || intervals_any_overlap(&p->writes, &writes) ||
              intervals_any_overlap(&p->writes, &product_reads) ||
              intervals_any_overlap(&p->reads, &writes),
          e.product_reads.at.len ? SCOPE_CTA : scope_of(r, &reads, &writes));
  intervals_add_all(r->a, &p->reads, &reads);
  intervals_add_all(r->a, &p->writes, &writes);
  intervals_add_all(r->a, &p->under_way, &starts);
  advance_products(r, &e, p);
  complete_copies(r, &e, p);
  if (e.synchronizes)
    clear(p);
  intervals_add_all(r->a, &p->reads, &late);
}

// ---- control flow ----

static void visit_block(struct barrier_run *r, MlirBlock block, struct pending *p);

static MlirBlock region_block(MlirOperation op, intptr_t i) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i));
}

static void visit_if(struct barrier_run *r, MlirOperation op, struct pending *p) {
  struct pending other = copy(r->a, p);
  visit_block(r, region_block(op, 0), p);
  visit_block(r, region_block(op, 1), &other);
  join(r->a, p, &other);
}

// Iterates over the loop until nothing new arrives at its head. `head`: assumed to be pending
// there; then what is. At most S B + 1 passes (see the top of the file).
static void fixpoint(struct barrier_run *r, MlirOperation op, struct pending *p,
                     struct pending *head) {
  bool is_while = op_is(r->items->c, op, OP_SCF_WHILE);
  struct pending left;
  const MlirOperation *outer = barrier_slots_enter(r, op, p);
  join(r->a, head, p);
  for (bool more = true; more;) {
    struct pending around = copy(r->a, head), next;
    visit_block(r, region_block(op, 0), &around);
    left = copy(r->a, &around);
    if (is_while)
      visit_block(r, region_block(op, 1), &around);
    barrier_slots_advance(r, op, &around);
    next = copy(r->a, head);
    join(r->a, &next, &around);
    more = !same_pending(&next, head);
    *head = next;
  }
  *p = is_while ? left : copy(r->a, head); // an scf.while ends after its condition
  barrier_slots_exit(r, op, outer, p);
}

// The result of one placement of barriers in a loop.
struct attempt {
  struct pending after;
  struct placed_barrier *barriers;
  size_t count;
};

static struct attempt attempt_take(struct barrier_run *r, size_t len, const struct pending *after) {
  struct attempt t = {.after = *after, .count = r->before.len - len};
  t.barriers = arena_array(r->a, struct placed_barrier, t.count + 1);
  for (size_t i = 0; i < t.count; i++)
    t.barriers[i] = r->before.at[len + i];
  take_back(r, len);
  return t;
}

static void attempt_keep(struct barrier_run *r, const struct attempt *t, struct pending *p) {
  for (size_t i = 0; i < t->count; i++)
    need(r, t->barriers[i].op, t->barriers[i].scope);
  *p = t->after;
}

// Barriers in the loop with `p` pending before it. The first pass places barriers before it is
// known what the back edge brings, which may need a barrier further up that serves both: a second
// try starts with it.
static size_t place_barriers(struct barrier_run *r, MlirOperation op, struct pending *p) {
  const struct pending before = copy(r->a, p);
  size_t len = r->before.len;
  struct pending head = {0};
  fixpoint(r, op, p, &head);
  size_t count = r->before.len - len;
  if (count < 2 || is_spent(r))
    return count;
  struct attempt first = attempt_take(r, len, p);
  *p = copy(r->a, &before);
  fixpoint(r, op, p, &head);
  if (r->before.len - len < count)
    return r->before.len - len;
  take_back(r, len);
  attempt_keep(r, &first, p);
  return count;
}

// One try. What was pending at the loop's head in earlier visits still counts: heads only grow, so
// that nested loops take a number of passes that is linear in their depth, not exponential.
static void visit_loop_once(struct barrier_run *r, MlirOperation op, struct pending *p) {
  struct pending *head = ptrmap_get(&r->heads, op.ptr);
  if (!head) {
    head = arena_new(r->a, struct pending);
    ptrmap_put(r->a, &r->heads, op.ptr, head);
  }
  fixpoint(r, op, p, head);
}

// What is pending before the loop may cost barriers inside that a single barrier before it saves.
static void visit_loop(struct barrier_run *r, MlirOperation op, struct pending *p) {
  if (needed(r, op))
    pass_barrier(r, op, p);
  if (is_spent(r)) {
    visit_loop_once(r, op, p);
    return;
  }
  const struct pending before = copy(r->a, p);
  size_t len = r->before.len, with = place_barriers(r, op, p);
  if (with == 0 || is_empty(&before) || is_spent(r))
    return;
  struct attempt inside = attempt_take(r, len, p);
  *p = copy(r->a, &before);
  need(r, op, SCOPE_CTA);
  pass_barrier(r, op, p);
  if (place_barriers(r, op, p) < with)
    return;
  take_back(r, len);
  attempt_keep(r, &inside, p);
}

static void visit_block(struct barrier_run *r, MlirBlock block, struct pending *p) {
  if (mlirBlockIsNull(block))
    return;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    r->steps++;
    if (op_is(r->items->c, op, OP_SCF_IF))
      visit_if(r, op, p);
    else if (op_is_loop(r->items->c, op))
      visit_loop(r, op, p);
    else if (op_is(r->items->c, op, OP_FUNC_CALL))
      visit_call(r, op, p);
    else
      visit_plain(r, op, p);
  }
}

static struct planned_barrier planned(const struct barrier_run *r, MlirOperation op) {
  return (struct planned_barrier){
      .op = op,
      .warps = needed(r, op) == SCOPE_OWN ? r->own_warps : 0,
      .is_behind_writes = ptrmap_get(&r->behind_writes, op.ptr) != NULL,
  };
}

struct barrier_plan
barrier_plan_make(const struct shared_items *items, MlirOperation func, const struct map *calls,
                  void (*see)(void *user, MlirOperation op, const struct shared_effects *effects,
                              const struct pending *pending),
                  void *user, struct arena *a) {
  assert(items && !mlirOperationIsNull(func) && a);
  struct barrier_run r = {.items = items, .calls = calls, .a = a, .see = see, .user = user};
  struct barrier_plan plan = {0};
  barrier_slots_find(&r, func);
  visit_block(&r, region_block(func, 0), &plan.left);
  plan.overwrites = r.overwrites;
  for (size_t i = 0; i < r.before.len; i++)
    if (r.before.at[i].before == SCOPE_NONE)
      vec_push(a, &plan.before, planned(&r, r.before.at[i].op));
  return plan;
}
