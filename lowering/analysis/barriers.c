// SPDX-License-Identifier: Apache-2.0
// The flow: intervals of bytes that are pending, carried through blocks, joined where branches meet
// and around loops until nothing new comes back.
//
// Scratch with two places by turns (scratch_toggle) is seen from the turn at hand: its first
// interval is the place of this turn, its second one that of the turn before and the next. So the
// two change sides on the way back to the loop's head. Before turn 0 they are where they are;
// behind the loop either may be meant.
#include "lowering/analysis/barriers.h"

// ---- intervals ----

bool intervals_meet(const struct intervals *s, struct shared_interval i) {
  for (size_t k = 0; k < s->at.len; k++)
    if (s->at.at[k].begin < i.end && i.begin < s->at.at[k].end)
      return true;
  return false;
}

static bool all_meet(const struct intervals *s, const struct intervals *t) {
  for (size_t i = 0; i < t->at.len; i++)
    if (intervals_meet(s, t->at.at[i]))
      return true;
  return false;
}

// Inserts `i`, joined with what it overlaps or touches.
static void add(struct arena *a, struct intervals *s, struct shared_interval i) {
  size_t n = 0;
  if (i.begin == i.end)
    return;
  for (size_t k = 0; k < s->at.len; k++) {
    struct shared_interval at = s->at.at[k];
    if (at.end < i.begin || i.end < at.begin) {
      s->at.at[n++] = at;
    } else {
      i.begin = at.begin < i.begin ? at.begin : i.begin;
      i.end = at.end > i.end ? at.end : i.end;
    }
  }
  s->at.len = n;
  vec_push(a, &s->at, i);
  for (size_t k = n; k > 0 && s->at.at[k - 1].begin > i.begin; k--) {
    s->at.at[k] = s->at.at[k - 1];
    s->at.at[k - 1] = i;
  }
}

static void add_all(struct arena *a, struct intervals *s, const struct intervals *of) {
  for (size_t i = 0; i < of->at.len; i++)
    add(a, s, of->at.at[i]);
}

// Of scratch with two places: the interval that [begin, end) is when they change sides; `begin` and
// `end` are inside the same place, or outside both.
static struct shared_interval moved(const struct shared_item *item, struct shared_interval i) {
  uint32_t first = item->offset, second = item->offset + item->toggle;
  if (i.begin >= first && i.begin < first + item->bytes)
    return (struct shared_interval){i.begin + item->toggle, i.end + item->toggle};
  if (i.begin >= second && i.begin < second + item->bytes)
    return (struct shared_interval){i.begin - item->toggle, i.end - item->toggle};
  return i;
}

static void change_sides(struct arena *a, struct intervals *s, const struct shared_item *item) {
  struct intervals ret = {0};
  uint32_t first = item->offset, second = item->offset + item->toggle;
  const uint32_t bounds[] = {first, first + item->bytes, second, second + item->bytes};
  for (size_t k = 0; k < s->at.len; k++) {
    struct shared_interval rest = s->at.at[k];
    while (rest.begin < rest.end) {
      struct shared_interval piece = rest;
      for (size_t b = 0; b < COUNT_OF(bounds); b++)
        if (bounds[b] > piece.begin && bounds[b] < piece.end)
          piece.end = bounds[b];
      add(a, &ret, moved(item, piece));
      rest.begin = piece.end;
    }
  }
  *s = ret;
}

static bool same(const struct intervals *s, const struct intervals *t) {
  return s->at.len == t->at.len &&
         (s->at.len == 0 || memcmp(s->at.at, t->at.at, s->at.len * sizeof *s->at.at) == 0);
}

static void join(struct arena *a, struct pending *p, const struct pending *of) {
  add_all(a, &p->reads, &of->reads);
  add_all(a, &p->writes, &of->writes);
}

static struct pending copy(struct arena *a, const struct pending *p) {
  struct pending r = {0};
  join(a, &r, p);
  return r;
}

static bool same_pending(const struct pending *p, const struct pending *q) {
  return same(&p->reads, &q->reads) && same(&p->writes, &q->writes);
}

static bool is_empty(const struct pending *p) {
  return p->reads.at.len == 0 && p->writes.at.len == 0;
}

// ---- one op ----

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

static struct intervals intervals_of(const struct run *r, const struct item_set *s) {
  struct intervals ret = {0};
  for (size_t i = 0; i < s->at.len; i++) {
    const struct shared_item *item = &r->items->items.at[s->at.at[i]];
    uint32_t end = r->alternates[s->at.at[i]] ? item->offset + item->bytes : shared_item_end(item);
    add(r->a, &ret, (struct shared_interval){item->offset, end});
  }
  return ret;
}

static void wait_if(struct run *r, MlirOperation op, struct pending *p, bool conflict) {
  if (conflict && !is_needed(r, op))
    need(r, op);
  if (is_needed(r, op))
    *p = (struct pending){0};
}

static void visit_call(struct run *r, MlirOperation op, struct pending *p) {
  MlirOperation callee = op_function(r->items->c, op, "callee");
  const struct call_effects *e = r->calls ? ptrmap_get(r->calls, callee.ptr) : NULL;
  if (!e)
    return;
  wait_if(r, op, p, all_meet(&p->reads, &e->touches) || all_meet(&p->writes, &e->touches));
  join(r->a, p, &e->left); // it may return without having met
}

static void visit_plain(struct run *r, MlirOperation op, struct pending *p) {
  struct shared_effects e = shared_effects_of(r->items, op);
  if (!shared_effects_any(&e))
    return;
  if (r->see)
    r->see(r->user, op, &e, p);
  struct intervals reads = intervals_of(r, &e.reads), writes = intervals_of(r, &e.writes);
  struct intervals late = intervals_of(r, &e.late_reads);
  wait_if(r, op, p,
          all_meet(&p->writes, &reads) || all_meet(&p->writes, &writes) ||
              all_meet(&p->reads, &writes));
  add_all(r->a, &p->reads, &reads);
  add_all(r->a, &p->writes, &writes);
  if (e.meets)
    *p = (struct pending){0};
  add_all(r->a, &p->reads, &late);
}

// ---- scratch with two places ----

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

// Others would not change sides.
static bool has_its_loop_alone(const struct run *r, size_t i) {
  const struct shared_item *item = &r->items->items.at[i];
  struct meeting m = {.run = r, .where = {item->offset, shared_item_end(item)}};
  if (item->toggle < item->bytes)
    return false;
  for (size_t k = 0; k < r->items->items.len; k++) {
    const struct shared_item *other = &r->items->items.at[k];
    if (k != i && other->offset < m.where.end && m.where.begin < shared_item_end(other) &&
        live_ranges_overlap(shared_item_live(other), item->loop_range))
      return false;
  }
  ir_walk(item->loop, see_call, &m);
  return !m.found;
}

static void find_alternating(struct run *r) {
  size_t count = r->items->items.len;
  r->alternates = arena_array(r->a, bool, count + 1);
  for (size_t i = 0; i < count; i++)
    r->alternates[i] = r->items->items.at[i].toggle != 0 && has_its_loop_alone(r, i);
}

// The places of the loop's own scratch change sides; `either`: they may have.
static void turn(struct run *r, MlirOperation loop, struct pending *p, bool either) {
  struct pending before = either ? copy(r->a, p) : (struct pending){0};
  for (size_t i = 0; i < r->items->items.len; i++) {
    const struct shared_item *item = &r->items->items.at[i];
    if (!r->alternates[i] || !mlirOperationEqual(item->loop, loop))
      continue;
    change_sides(r->a, &p->reads, item);
    change_sides(r->a, &p->writes, item);
  }
  join(r->a, p, &before);
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

// Around the loop until nothing new comes back to its head.
static void fixpoint(struct run *r, MlirOperation op, struct pending *p) {
  bool is_while = op_is(r->items->c, op, OP_SCF_WHILE);
  struct pending left;
  for (bool more = true; more;) {
    struct pending around = copy(r->a, p), head;
    visit_block(r, region_block(op, 0), &around);
    left = copy(r->a, &around);
    if (is_while)
      visit_block(r, region_block(op, 1), &around);
    turn(r, op, &around, false);
    head = copy(r->a, p);
    join(r->a, &head, &around);
    more = !same_pending(&head, p);
    *p = head;
  }
  if (is_while) // it ends behind its condition
    *p = left;
  turn(r, op, p, true);
}

// What is pending before the loop may cost barriers inside that one barrier before it saves.
static void visit_loop(struct run *r, MlirOperation op, struct pending *p) {
  if (is_needed(r, op))
    *p = (struct pending){0};
  struct pending before = copy(r->a, p);
  size_t len = r->before.len;
  fixpoint(r, op, p);
  size_t with = r->before.len - len;
  if (with == 0 || is_empty(&before))
    return;
  take_back(r, len);
  *p = (struct pending){0};
  fixpoint(r, op, p);
  if (r->before.len - len < with) {
    need(r, op);
    return;
  }
  take_back(r, len);
  *p = before;
  fixpoint(r, op, p);
}

static void visit_block(struct run *r, MlirBlock block, struct pending *p) {
  if (mlirBlockIsNull(block))
    return;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
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
  visit_block(&r, region_block(func, 0), &plan.left);
  plan.before.at = r.before.at;
  plan.before.len = r.before.len;
  plan.before.cap = r.before.cap;
  return plan;
}

// ---- calls ----

struct summary {
  const struct shared_items *items;
  const struct map *calls;
  struct arena *a;
  struct call_effects *ret;
};

static bool sum_up(MlirOperation op, void *user) {
  struct summary *s = user;
  if (!op_is(s->items->c, op, OP_FUNC_CALL) || !s->calls)
    return true;
  MlirOperation callee = op_function(s->items->c, op, "callee");
  const struct call_effects *inner = ptrmap_get(s->calls, callee.ptr);
  if (inner)
    add_all(s->a, &s->ret->touches, &inner->touches);
  return true;
}

struct call_effects *call_effects_of(const struct shared_items *items, MlirOperation func,
                                     const struct map *calls, const struct barrier_plan *plan,
                                     struct arena *a) {
  struct call_effects *e = arena_new(a, struct call_effects);
  *e = (struct call_effects){.left = plan->left};
  for (size_t i = 0; i < items->items.len; i++) {
    const struct shared_item *item = &items->items.at[i];
    add(a, &e->touches, (struct shared_interval){item->offset, shared_item_end(item)});
  }
  struct summary s = {items, calls, a, e};
  ir_walk(func, sum_up, &s);
  return e;
}
