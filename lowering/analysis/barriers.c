// SPDX-License-Identifier: Apache-2.0
// The flow: intervals of bytes that are pending, carried through blocks, joined where branches meet
// and around loops until nothing new comes back.
//
// Memory that is used by turns is seen from the turn of the loop at hand.
//  - Scratch with two places (scratch_toggle): its first interval is the place of this turn, its
//    second one that of the turn before and the next.
//  - A ring whose buffers have phases: place p is the buffer of phase p.
// On the way back to the loop's head they move by one place: phase 1 is phase 0 of the next turn.
// In turn 0 all is where it is; behind the loop any place may be meant.
#include "lowering/analysis/barriers.h"

static void join(struct arena *a, struct pending *p, const struct pending *of) {
  intervals_add_all(a, &p->reads, &of->reads);
  intervals_add_all(a, &p->writes, &of->writes);
  intervals_add_all(a, &p->under_way, &of->under_way);
}

static struct pending copy(struct arena *a, const struct pending *p) {
  struct pending r = {0};
  join(a, &r, p);
  return r;
}

static bool same_pending(const struct pending *p, const struct pending *q) {
  return intervals_same(&p->reads, &q->reads) && intervals_same(&p->writes, &q->writes) &&
         intervals_same(&p->under_way, &q->under_way);
}

static bool is_empty(const struct pending *p) {
  return p->reads.at.len == 0 && p->writes.at.len == 0;
}

// All threads meet.
static void clear(struct pending *p) {
  p->reads = (struct intervals){0};
  p->writes = (struct intervals){0};
}

// ---- one op ----

// A ring whose buffers have phases in the loop, in which nobody else has its memory.
struct rotation {
  uint32_t item;
  MlirOperation loop;
};

struct run {
  const struct shared_items *items;
  const struct map *calls;
  struct arena *a;
  void (*see)(void *user, MlirOperation op, const struct shared_effects *effects,
              const struct pending *pending);
  void *user;
  VEC(MlirOperation) before;
  struct map needed; // op -> non-NULL where it is in `before`
  bool *alternates;  // of each item: it has two places, and nobody else has them in its loop
  VEC(struct rotation) rotations;
  size_t steps;     // operations visited
  struct map heads; // loops gone through once -> struct pending *, what is pending at their head
  MlirOperation *turns; // of each item: the loop whose turns its places count; null: none
};

static void need(struct run *r, MlirOperation op) {
  vec_push(r->a, &r->before, op);
  ptrmap_put(r->a, &r->needed, op.ptr, op.ptr);
}

static bool is_needed(const struct run *r, MlirOperation op) {
  return ptrmap_get(&r->needed, op.ptr) != NULL;
}

static void take_back(struct run *r, size_t len) {
  while (r->before.len > len)
    ptrmap_put(r->a, &r->needed, vec_pop(&r->before).ptr, NULL);
}

// Each level of loops tries up to four placements of those within it. Beyond this many steps loops
// get the first that is right.
enum { MOST_STEPS = 50000 };

static bool is_spent(const struct run *r) { return r->steps > MOST_STEPS; }

static struct shared_interval interval_of(const struct run *r, const struct shared_part *part) {
  const struct shared_item *item = &r->items->items.at[part->item];
  uint32_t end = shared_item_end(item);
  if (item->copies > 1 && part->number != SHARED_ANY &&
      mlirOperationEqual(part->loop, r->turns[part->item])) {
    uint32_t begin = item->offset + part->number * item->stride;
    return (struct shared_interval){begin, begin + item->stride};
  }
  if (r->alternates[part->item])
    end = item->offset + item->bytes;
  return (struct shared_interval){item->offset, end};
}

static struct intervals intervals_of(const struct run *r, const struct part_set *s) {
  struct intervals ret = {0};
  for (size_t i = 0; i < s->at.len; i++)
    intervals_add(r->a, &ret, interval_of(r, &s->at.at[i]));
  return ret;
}

static void wait_if(struct run *r, MlirOperation op, struct pending *p, bool conflict) {
  if (conflict && !is_needed(r, op))
    need(r, op);
  if (is_needed(r, op))
    clear(p);
}

static void visit_call(struct run *r, MlirOperation op, struct pending *p) {
  MlirOperation callee = op_function(r->items->c, op, "callee");
  const struct call_effects *e = r->calls ? ptrmap_get(r->calls, callee.ptr) : NULL;
  if (!e)
    return;
  wait_if(r, op, p,
          intervals_all_meet(&p->reads, &e->touches) ||
              intervals_all_meet(&p->writes, &e->touches));
  join(r->a, p, &e->left); // it may return without having met
}

// Copies that the thread has waited for: others learn of what they wrote behind a barrier. Which of
// several buffers a wait means may not be known, so that only one for everything ends copies.
static void land(struct run *r, const struct shared_effects *e, struct pending *p) {
  struct intervals landed = intervals_of(r, &e->landed);
  intervals_add_all(r->a, &p->writes, &landed);
  if (!e->lands_all)
    return;
  intervals_add_all(r->a, &p->writes, &p->under_way);
  p->under_way = (struct intervals){0};
}

static void visit_plain(struct run *r, MlirOperation op, struct pending *p) {
  struct shared_effects e = shared_effects_of(r->items, op);
  if (!shared_effects_any(&e))
    return;
  if (r->see)
    r->see(r->user, op, &e, p);
  struct intervals reads = intervals_of(r, &e.reads), writes = intervals_of(r, &e.writes);
  struct intervals late = intervals_of(r, &e.late_reads), starts = intervals_of(r, &e.starts);
  intervals_add_all(r->a, &writes, &starts);
  wait_if(r, op, p,
          intervals_all_meet(&p->writes, &reads) || intervals_all_meet(&p->writes, &writes) ||
              intervals_all_meet(&p->reads, &writes));
  intervals_add_all(r->a, &p->reads, &reads);
  intervals_add_all(r->a, &p->writes, &writes);
  intervals_add_all(r->a, &p->under_way, &starts);
  land(r, &e, p);
  if (e.meets)
    clear(p);
  intervals_add_all(r->a, &p->reads, &late);
}

// ---- memory by turns ----

struct meeting {
  const struct run *run;
  struct shared_interval where;
  bool found;
};

static bool see_call(MlirOperation op, void *user) {
  struct meeting *m = user;
  if (!m->run->calls || !op_is(m->run->items->c, op, OP_FUNC_CALL))
    return true;
  MlirOperation callee = op_function(m->run->items->c, op, "callee");
  const struct call_effects *e = ptrmap_get(m->run->calls, callee.ptr);
  m->found |= e && intervals_meet(&e->touches, m->where);
  return true;
}

// Others would not move from place to place.
static bool has_loop_alone(const struct run *r, size_t i, MlirOperation loop) {
  const struct shared_item *item = &r->items->items.at[i];
  struct meeting m = {.run = r, .where = {item->offset, shared_item_end(item)}};
  struct live_range range = {liveness_point(r->items->live, loop),
                             liveness_end(r->items->live, loop)};
  for (size_t k = 0; k < r->items->items.len; k++) {
    const struct shared_item *other = &r->items->items.at[k];
    if (k != i && other->offset < m.where.end && m.where.begin < shared_item_end(other) &&
        live_ranges_overlap(shared_item_live(other), range))
      return false;
  }
  ir_walk(loop, see_call, &m);
  return !m.found;
}

static void find_alternating(struct run *r) {
  size_t count = r->items->items.len;
  r->alternates = arena_array(r->a, bool, count + 1);
  r->turns = arena_array(r->a, MlirOperation, count + 1);
  for (size_t i = 0; i < count; i++) {
    const struct shared_item *item = &r->items->items.at[i];
    r->turns[i] = (MlirOperation){NULL};
    r->alternates[i] =
        item->toggle != 0 && item->toggle >= item->bytes && has_loop_alone(r, i, item->loop);
  }
}

static bool is_rotation(const struct run *r, uint32_t item, MlirOperation loop) {
  for (size_t i = 0; i < r->rotations.len; i++)
    if (r->rotations.at[i].item == item && mlirOperationEqual(r->rotations.at[i].loop, loop))
      return true;
  return false;
}

static bool see_index(MlirOperation op, void *user) {
  struct run *r = user;
  if (!op_is(r->items->c, op, OP_GPU_LOCAL_INDEX))
    return true;
  const struct part_set *parts = shared_parts_of(r->items, mlirOperationGetResult(op, 0));
  for (size_t i = 0; i < parts->at.len; i++) {
    struct rotation rot = {parts->at.at[i].item, parts->at.at[i].loop};
    const struct shared_item *item = &r->items->items.at[rot.item];
    if (mlirOperationIsNull(rot.loop) || item->copies == 1 || is_rotation(r, rot.item, rot.loop))
      continue;
    // A ring made in the loop is another one in each turn.
    bool is_outside =
        liveness_point(r->items->live, item->op) < liveness_point(r->items->live, rot.loop);
    if (is_outside && has_loop_alone(r, rot.item, rot.loop))
      vec_push(r->a, &r->rotations, rot);
  }
  return true;
}

static void rotate(struct run *r, struct pending *p, const struct places *places) {
  intervals_rotate(r->a, &p->reads, places);
  intervals_rotate(r->a, &p->writes, places);
  intervals_rotate(r->a, &p->under_way, places);
}

static void smear(struct run *r, struct pending *p, const struct places *places) {
  intervals_smear(r->a, &p->reads, places);
  intervals_smear(r->a, &p->writes, places);
  intervals_smear(r->a, &p->under_way, places);
}

static struct places ring_places(const struct run *r, uint32_t i) {
  const struct shared_item *item = &r->items->items.at[i];
  return (struct places){item->offset, item->stride, item->stride, item->copies};
}

// The places of the loop's own scratch change sides; `either`: they may have.
static void turn_scratch(struct run *r, MlirOperation loop, struct pending *p, bool either) {
  for (size_t i = 0; i < r->items->items.len; i++) {
    const struct shared_item *item = &r->items->items.at[i];
    struct places places = {item->offset, item->bytes, item->toggle, 2};
    if (!r->alternates[i] || !mlirOperationEqual(item->loop, loop))
      continue;
    if (either)
      smear(r, p, &places);
    else
      rotate(r, p, &places);
  }
}

static void next_turn(struct run *r, MlirOperation loop, struct pending *p) {
  turn_scratch(r, loop, p, false);
  for (size_t i = 0; i < r->rotations.len; i++) {
    struct places places = ring_places(r, r->rotations.at[i].item);
    if (mlirOperationEqual(r->rotations.at[i].loop, loop))
      rotate(r, p, &places);
  }
}

// From here on the rings' places count this loop's turns. Returns whose they counted before, by
// rotation.
static MlirOperation *enter_loop(struct run *r, MlirOperation loop, struct pending *p) {
  MlirOperation *outer = arena_array(r->a, MlirOperation, r->rotations.len + 1);
  for (size_t i = 0; i < r->rotations.len; i++) {
    const struct rotation *rot = &r->rotations.at[i];
    struct places places = ring_places(r, rot->item);
    outer[i] = r->turns[rot->item];
    if (!mlirOperationEqual(rot->loop, loop))
      continue;
    if (!mlirOperationIsNull(outer[i]))
      smear(r, p, &places);
    r->turns[rot->item] = loop;
  }
  return outer;
}

static void leave_loop(struct run *r, MlirOperation loop, const MlirOperation *outer,
                       struct pending *p) {
  turn_scratch(r, loop, p, true);
  for (size_t i = 0; i < r->rotations.len; i++) {
    const struct rotation *rot = &r->rotations.at[i];
    struct places places = ring_places(r, rot->item);
    if (!mlirOperationEqual(rot->loop, loop))
      continue;
    smear(r, p, &places);
    r->turns[rot->item] = outer[i];
  }
}

// ---- control flow ----

static void visit_block(struct run *r, MlirBlock block, struct pending *p);

static MlirBlock region_block(MlirOperation op, intptr_t i) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i));
}

static void visit_if(struct run *r, MlirOperation op, struct pending *p) {
  struct pending other = copy(r->a, p);
  visit_block(r, region_block(op, 0), p);
  visit_block(r, region_block(op, 1), &other);
  join(r->a, p, &other);
}

// Around the loop until nothing new comes back to its head. `head`: assumed to be pending there;
// then what is. It ends: a head only grows, and the bounds of its intervals are those of items, of
// their buffers and of parts moved between these, which are finitely many.
static void fixpoint(struct run *r, MlirOperation op, struct pending *p, struct pending *head) {
  bool is_while = op_is(r->items->c, op, OP_SCF_WHILE);
  struct pending left;
  const MlirOperation *outer = enter_loop(r, op, p);
  join(r->a, head, p);
  for (bool more = true; more;) {
    struct pending around = copy(r->a, head), next;
    visit_block(r, region_block(op, 0), &around);
    left = copy(r->a, &around);
    if (is_while)
      visit_block(r, region_block(op, 1), &around);
    next_turn(r, op, &around);
    next = copy(r->a, head);
    join(r->a, &next, &around);
    more = !same_pending(&next, head);
    *head = next;
  }
  *p = is_while ? left : copy(r->a, head); // an scf.while ends behind its condition
  leave_loop(r, op, outer, p);
}

// What one way of placing barriers in a loop came to.
struct attempt {
  struct pending after;
  MlirOperation *barriers;
  size_t count;
};

static struct attempt attempt_take(struct run *r, size_t len, const struct pending *after) {
  struct attempt t = {.after = *after, .count = r->before.len - len};
  t.barriers = arena_array(r->a, MlirOperation, t.count + 1);
  for (size_t i = 0; i < t.count; i++)
    t.barriers[i] = r->before.at[len + i];
  take_back(r, len);
  return t;
}

static void attempt_keep(struct run *r, const struct attempt *t, struct pending *p) {
  for (size_t i = 0; i < t->count; i++)
    need(r, t->barriers[i]);
  *p = t->after;
}

// Barriers in the loop with `p` pending before it. The first time around, barriers are found before
// it is known what comes back to the head, which may call for one further up that does for both: a
// second try knows.
static size_t settle(struct run *r, MlirOperation op, struct pending *p) {
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

// One try. What was pending at the loop's head before, on the way here along another iteration of
// the loop around it, still counts: each loop's head only grows, so that loops in loops are gone
// through a number of times that is linear in their depth, not exponential.
static void visit_loop_once(struct run *r, MlirOperation op, struct pending *p) {
  struct pending *head = ptrmap_get(&r->heads, op.ptr);
  if (!head) {
    head = arena_new(r->a, struct pending);
    ptrmap_put(r->a, &r->heads, op.ptr, head);
  }
  fixpoint(r, op, p, head);
}

// What is pending before the loop may cost barriers inside that one barrier before it saves.
static void visit_loop(struct run *r, MlirOperation op, struct pending *p) {
  if (is_needed(r, op))
    clear(p);
  if (is_spent(r)) {
    visit_loop_once(r, op, p);
    return;
  }
  const struct pending before = copy(r->a, p);
  size_t len = r->before.len, with = settle(r, op, p);
  if (with == 0 || is_empty(&before) || is_spent(r))
    return;
  struct attempt inside = attempt_take(r, len, p);
  *p = copy(r->a, &before);
  clear(p);
  if (settle(r, op, p) < with) {
    need(r, op);
    return;
  }
  take_back(r, len);
  attempt_keep(r, &inside, p);
}

static void visit_block(struct run *r, MlirBlock block, struct pending *p) {
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

struct barrier_plan
barrier_plan_make(const struct shared_items *items, MlirOperation func, const struct map *calls,
                  void (*see)(void *user, MlirOperation op, const struct shared_effects *effects,
                              const struct pending *pending),
                  void *user, struct arena *a) {
  struct run r = {.items = items, .calls = calls, .a = a, .see = see, .user = user};
  struct barrier_plan plan = {0};
  find_alternating(&r);
  ir_walk(func, see_index, &r);
  visit_block(&r, region_block(func, 0), &plan.left);
  plan.before.at = r.before.at;
  plan.before.len = r.before.len;
  plan.before.cap = r.before.cap;
  return plan;
}
